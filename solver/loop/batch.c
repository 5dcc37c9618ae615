/* Batches of iterations. The device tests every iteration and stops by itself; the host enqueues batches, one ahead, and polls
 * a few numbers after each. Iterations enqueued after the stop only pass the state on.
 *
 *   length  an eighth of the iterations done so far; half of them on several ranks, where a batch ends with the stop
 *   most    a tenth of a second
 *   least   the executor's least_iterations, else 4; 1 where an iteration takes longer than ten polls, which are sums over
 *           ranks where there are several. At least one pass over LOOP, which may hold several iterations
 *
 * On several ranks rank 0's length counts.
 *
 * A callback that is to see x (kcl_call.every) gets it at each `every` iterations: batches end there, and none is enqueued ahead.
 */
#include "solver/engine/given.h"
#include "solver/loop/loop.h"

static const double SLOW = 2e-4; /* seconds */

bool kcl_loop_runs(const kcl_loop *l, int i) {
  return l->rhs[i].active && !l->control[i].stop && !l->rhs[i].given_up;
}

static int count_running_rhs(const kcl_loop *l) {
  int count = 0;
  for (int i = 0; i < l->nrhs; i++) count += kcl_loop_runs(l, i);
  return count;
}

bool kcl_loop_running(const kcl_loop *l) { return count_running_rhs(l) > 0; }

/* Iterations until x is to be shown. */
static int64_t until_shown(const kcl_loop *l) {
  return l->shown.iteration + l->every - kcl_loop_iterations(l);
}

int kcl_loop_observe(kcl_loop *l) {
  l->enqueued = false;
  kcl_snapshot_save(l), kcl_snapshot_judge(l);
  return kcl_take_x(l->system, l->engine, 0, l->observed, l->rhs[0].b_norm.shift);
}

/* State of the running right-hand side that is furthest from its target; with `every` of the one there is. */
static int show_progress(kcl_loop *l) {
  const kcl_options *o = &l->system->options;
  int worst = -1;
  if (l->system->ctx->stopped || l->system->ctx->stop) return 1;
  if (!o->progress || (l->every && kcl_loop_running(l) && until_shown(l) > 0)) return 0;
  for (int i = 0; i < l->nrhs; i++)
    if ((l->every || kcl_loop_runs(l, i)) &&
        (worst < 0 ||
         l->rr[i] / kcl_square(l->rhs[i].target) > l->rr[worst] / kcl_square(l->rhs[worst].target)))
      worst = i;
  if (worst < 0) return 0;
  const kcl_rhs *w = &l->rhs[worst];
  l->shown = (kcl_progress){.iteration = l->control[worst].iteration,
                            .max_iter = l->control[worst].limit,
                            .relative_residual = sqrt(fmax(l->rr[worst], 0)) * kcl_unit(w),
                            .target = w->target * kcl_unit(w),
                            .seconds = kcl_now() - l->start,
                            .running = count_running_rhs(l),
                            .x = l->observed};
  return o->progress(o->user, &l->shown);
}

/* Where one rank is to stop, all do. */
int kcl_loop_progress(kcl_loop *l) {
  kcl_ranks *ranks = kcl_system_ranks(l->system);
  double stop = show_progress(l) != 0;
  const int rc = ranks ? ranks->sum(ranks, KCL_OK, 1, &stop) : KCL_OK;
  return rc || stop != 0;
}

static int ask(void *self) {
  kcl_loop *l = self;
  const kcl_options *o = &l->system->options;
  l->shown.seconds = kcl_now() - l->start;
  return o->progress ? o->progress(o->user, &l->shown) : 0;
}

void kcl_loop_ask(kcl_loop *l) {
  kcl_context *ctx = l->system->ctx;
  ctx->ask = ask, ctx->asker = l;
  ctx->asks = pthread_self(), ctx->stopped = false;
}

void kcl_loop_quiet(kcl_loop *l) {
  kcl_context *ctx = l->system->ctx;
  ctx->ask = NULL, ctx->stopped = false;
}

/* From iterations to passes over LOOP, up to the next REPLACE. */
static int64_t passes_of(const kcl_loop *l, int64_t iterations) {
  int64_t steps = l->engine->program->iterations, passes = (iterations + steps - 1) / steps,
          left = kcl_engine_until_replacement(l->engine, l->since);
  return passes < left ? passes : left;
}

int kcl_loop_enqueue(kcl_loop *l) {
  kcl_ranks *ranks = kcl_system_ranks(l->system);
  int64_t done = kcl_loop_iterations(l) - l->resumed_at,
          worth = l->engine->executor.least_iterations;
  double each = done > 0 ? (kcl_now() - l->start) / (double)done : 0;
  const bool ends = ranks && l->engine->executor.ends;
  int64_t batch = ends ? done / 2 : done / 8, most = each > 0 ? (int64_t)(0.1 / each) : 4,
          least = worth ? worth : 4;
  if (batch > most) batch = most;
  if (batch > KCL_HISTORY / 4) batch = KCL_HISTORY / 4;
  if (batch < least) batch = each > (worth || ranks ? 0.03 : SLOW) ? 1 : least;
  if (l->every) batch = until_shown(l) < KCL_HISTORY / 4 ? until_shown(l) : KCL_HISTORY / 4;
  batch = kcl_ranks_decide(ranks, batch);
  if (l->enqueued) kcl_snapshot_save(l); /* x after the batch that the next poll describes */
  l->enqueued = true;
  return kcl_engine_advance(l->engine, passes_of(l, batch), &l->since);
}

/* No new least residual for so long that none is expected; or, where there are other methods, no new decade. */
static bool plateau(const kcl_loop *l, const kcl_rhs *v, int64_t done) {
  if (done - v->best_at > 5000 + 2 * kcl_system_size(l->system)) return true;
  return l->impatient && done - v->decade_at > 1000 + (done - v->began) / 2;
}

/* At the mean slope of this method so far, three times the iterations of the limit would not do. */
static bool hopeless(const kcl_loop *l, const kcl_rhs *v, int64_t done) {
  const double own = (double)(done - v->began), fallen = log(v->rr_began / v->best),
               left = log(v->best / kcl_square(v->target));
  return l->impatient && own > 1000 && left * own > 3 * (double)l->max_iter * fallen;
}

/* Larger than rounding lets a residual recover from: 1e10 times the first, or |b|. */
static bool diverged(const kcl_rhs *v, double rr) {
  return rr > 1e20 * fmax(v->rr0, kcl_square(v->b_norm.norm));
}

static int32_t judge_batch(const kcl_loop *l, const kcl_rhs *v, int64_t done, double rr) {
  if (diverged(v, rr)) return 1 + KCL_DIVERGED;
  return plateau(l, v, done) || hopeless(l, v, done) ? 1 + KCL_STAGNATED : 0;
}

int kcl_loop_poll(kcl_loop *l) {
  int rc = l->engine->executor.poll(&l->engine->executor, l->control, l->rr);
  for (int i = 0; i < l->nrhs && !rc; i++) {
    kcl_rhs *v = &l->rhs[i];
    kcl_history *h = v->history;
    int64_t seen = h->size, done = l->control[i].iteration;
    if (!v->active || (rc = kcl_history_fetch(h, l->engine, i, done))) continue;
    for (; seen < h->size; seen++)
      if (kcl_history_rr(h, seen) < v->best) v->best = kcl_history_rr(h, seen), v->best_at = seen;
    if (v->best < 0.01 * v->decade) v->decade = v->best, v->decade_at = v->best_at;
    if (!v->given_up) v->given_up = judge_batch(l, v, done, l->rr[i]);
  }
  if (!rc) kcl_snapshot_judge(l);
  return rc;
}

int kcl_loop_measure(kcl_loop *l, double *each) {
  int64_t done = kcl_loop_iterations(l), worth = l->engine->executor.least_iterations,
          least = worth ? worth : 3;
  int rc = kcl_loop_poll(l);
  l->enqueued = false;
  if (rc || !count_running_rhs(l)) return rc;
  int64_t batch = (int64_t)(0.02 / *each);
  if (batch > done / 8) batch = done / 8;
  if (batch > KCL_HISTORY / 4) batch = KCL_HISTORY / 4;
  if (batch < least) batch = least;
  const int64_t passes = passes_of(l, batch);
  double t = kcl_now();
  KCL_CALL(kcl_engine_advance(l->engine, passes, &l->since));
  KCL_CALL(kcl_loop_poll(l));
  *each = (kcl_now() - t) / (double)(passes * l->engine->program->iterations);
  return KCL_OK;
}
