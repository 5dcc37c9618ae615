/* The correction loop: rounds of iterations, and the check of the claims that end them.
 *
 * When the method claims convergence, START runs again and recomputes the residual from x. If the claim does not hold,
 * the method continues from there (a restart from the true residual), until two claims in a row bring no progress. After a
 * breakdown START sets a new shadow residual, which helps unless the method breaks down again at once, or x has only
 * become worse. "Indefinite" is not believed near the solution, nor of a method whose recurrences drift (it has a phase
 * REPLACE), unless it comes soon after START.
 *
 * Several right-hand sides iterate side by side. In a round all active ones iterate until each has stopped; then one
 * START checks their claims together, and those that do not hold make the next round. A right-hand side that is not
 * active has its stop set, and the device does not change its vectors.
 */
#include "solver/loop/loop.h"

int kcl_loop_set_state(kcl_loop *l) {
  double target[KCL_MAX_NRHS] = {0};
  for (int i = 0; i < l->nrhs; i++) target[i] = kcl_square(l->rhs[i].target);
  return l->engine->executor.set_state(&l->engine->executor, l->control, target);
}

static int start_once(kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  l->since = 0;
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active) l->control[i].stop = 0;
  KCL_CALL(kcl_loop_set_state(l));
  KCL_CALL(ex->run(ex, KCL_START, 1));
  return ex->poll(ex, l->control, l->rr);
}

/* START recomputes the residuals of the active right-hand sides from x; afterwards they are ready to iterate. Those that
 * are below the target stop there, and start again where that turns out to be too high. */
static int start_round(kcl_loop *l) {
  bool lowered = false;
  KCL_CALL(start_once(l));
  KCL_CALL(kcl_loop_set_targets(l, &lowered));
  return lowered ? start_once(l) : KCL_OK;
}

/* After the first START of an engine: active are those whose residual is above the target. */
static void activate(kcl_loop *l) {
  l->state = KCL_LOOP_ENDED;
  for (int i = 0; i < l->nrhs; i++) {
    kcl_rhs *v = &l->rhs[i];
    if (!v->active) continue;
    if (!l->method_changed) v->rr0 = l->rr[i];
    v->best = l->rr[i], v->claim = INFINITY, v->given_up = 0;
    v->rr_began = v->decade = l->rr[i], v->decade_at = l->control[i].iteration;
    v->began = v->best_at = l->control[i].iteration;
    v->report->reason = l->rr[i] < INFINITY ? KCL_CONVERGED : KCL_NOT_FINITE;
    v->active = l->rr[i] > kcl_square(v->target) && l->rr[i] < INFINITY;
    if (v->active) l->state = KCL_LOOP_READY;
  }
}

int kcl_loop_begin(kcl_loop *l) {
  int rc = start_round(l);
  kcl_snapshots_forget(l);
  if (!rc) activate(l);
  return rc;
}

void kcl_loop_exchange(kcl_loop *l, kcl_engine *e) {
  l->engine = e;
  kcl_snapshot_begin(l);
}

/* ---------------------------------------------------------------- a round of iterations */

/* Does the device still iterate on any? */
static bool any_open(const kcl_loop *l) {
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active && !l->control[i].stop) return true;
  return false;
}

/* Stops on the device those that are no longer active, and enqueues a first batch. */
static int begin_round(kcl_loop *l) {
  bool current = true;
  int rc = KCL_OK;
  l->state = KCL_LOOP_ITERATING;
  for (int i = 0; i < l->nrhs; i++)
    if (!l->rhs[i].active && !l->control[i].stop) l->control[i].stop = 1, current = false;
  if (!current) rc = kcl_loop_set_state(l);
  for (int i = 0; i < l->nrhs; i++) l->rhs[i].round_began = l->control[i].iteration;
  return rc ? rc : kcl_loop_enqueue(l);
}

static int run_next_batch(kcl_loop *l) {
  int rc = l->enqueued ? KCL_OK : kcl_loop_enqueue(l);
  if (!rc && !l->every) rc = kcl_loop_enqueue(l); /* one ahead */
  if (!rc) rc = kcl_loop_poll(l);
  if (!rc && l->every) rc = kcl_loop_observe(l);
  if (!rc) l->interrupted = kcl_loop_progress(l) != 0;
  return rc;
}

/* Every active right-hand side has a reason to stop: its own, the user's, or no progress. */
static int stop_round(kcl_loop *l) {
  int64_t most = 0;
  int rc = any_open(l) ? kcl_loop_poll(l) : KCL_OK; /* the batch ahead */
  l->enqueued = false;
  for (int i = 0; i < l->nrhs; i++) {
    if (l->rhs[i].active && !l->control[i].stop)
      l->control[i].stop = l->interrupted ? 1 + KCL_INTERRUPTED : l->rhs[i].given_up;
    int64_t done = l->control[i].iteration - l->rhs[i].round_began;
    if (done > most) most = done;
  }
  l->shared += most;
  return rc ? rc : l->engine->executor.finish(&l->engine->executor);
}

/* ---------------------------------------------------------------- claims */

static bool broke_down(kcl_reason r) {
  return r == KCL_BREAKDOWN_RHO || r == KCL_BREAKDOWN_SIGMA || r == KCL_BREAKDOWN_OMEGA;
}

/* After a breakdown that did not come at once. And where p^H A p <= 0 came from recurrences that had time to drift, or
 * from numbers that are mostly rounding: the residual has fallen by the root of the unit roundoff. */
static bool may_recover(const kcl_loop *l, int i) {
  const kcl_program *k = l->engine->program;
  const kcl_rhs *v = &l->rhs[i];
  const double small = k->type == KCL_S || k->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  const int64_t done = l->control[i].iteration - v->round_began;
  if (l->control[i].iteration >= l->control[i].limit) return false;
  if (broke_down(v->report->reason)) return done > 0 && l->rr[i] < v->rr0;
  return v->report->reason == KCL_INDEFINITE &&
         (l->rr[i] < small * v->rr0 ||
          (k->stages[KCL_REPLACE] && done > (int64_t)kcl_replacement_interval(k) * k->iterations));
}

/* After a round: the reasons. Active are claims of convergence, and reasons to be checked like them. */
static bool claims(kcl_loop *l) {
  bool any = false;
  for (int i = 0; i < l->nrhs; i++) {
    kcl_rhs *v = &l->rhs[i];
    if (!v->active) continue;
    v->report->reason = (kcl_reason)(l->control[i].stop - 1);
    v->report->relative_residual = sqrt(fmax(l->rr[i], 0)) * kcl_unit(v);
    v->active = v->report->reason == KCL_CONVERGED || may_recover(l, i);
    any = any || v->active;
  }
  return any;
}

/* After START: active are the claims that do not hold, unless two in a row brought no progress. */
static bool unmet(kcl_loop *l) {
  bool any = false;
  for (int i = 0; i < l->nrhs; i++) {
    kcl_rhs *v = &l->rhs[i];
    kcl_report *report = v->report;
    if (!v->active) continue;
    if (!v->first_round) v->first_round = l->control[i].iteration;
    kcl_reason before = report->reason;
    v->active = false, report->reason = KCL_CONVERGED;
    if (l->rr[i] <= kcl_square(v->target)) continue;
    report->reason = l->interrupted ? KCL_INTERRUPTED : broke_down(before) ? before : KCL_STAGNATED;
    if (l->interrupted || !(l->rr[i] < 0.25 * v->claim) || report->residual_restarts == 20)
      continue;
    v->claim = l->rr[i], report->residual_restarts++;
    any = v->active = true;
  }
  return any;
}

static int run_and_check_batch(kcl_loop *l) {
  int rc = l->state == KCL_LOOP_READY ? begin_round(l) : KCL_OK;
  if (!rc && kcl_loop_running(l)) rc = run_next_batch(l);
  if (!rc && l->checkpoint) rc = l->checkpoint(l->owner, l);
  if (rc || (kcl_loop_running(l) && !l->interrupted)) return rc;
  KCL_CALL(stop_round(l));
  l->state = KCL_LOOP_ENDED;
  if (!claims(l)) return KCL_OK;
  KCL_CALL(start_round(l));
  if (unmet(l)) l->state = KCL_LOOP_READY;
  return KCL_OK;
}

int kcl_loop_advance(kcl_loop *l) {
  kcl_loop_guard *g = l->guard;
  int rc = g ? g->before(g, l) : KCL_OK;
  if (!rc) rc = run_and_check_batch(l);
  return rc || !g ? rc : g->after(g, l);
}

/* ---------------------------------------------------------------- another method; the end */

int kcl_loop_start_again(kcl_loop *l) {
  l->state = KCL_LOOP_READY;
  return start_round(l);
}

int kcl_loop_restart(kcl_loop *l) {
  bool again = false;
  if (!l->system->options.max_iter) /* a limit of ours is one for each method */
    for (int i = 0; i < l->nrhs; i++)
      l->control[i].limit =
          (int32_t)fmin(INT32_MAX - 1, (double)l->control[i].iteration + (double)l->max_iter);
  int rc = start_round(l);
  for (int i = 0; i < l->nrhs && !rc; i++) {
    const kcl_rhs *v = &l->rhs[i];
    if (!v->active || l->rr[i] <= v->rr0) continue;
    again = true;
    rc = kcl_loop_put_x(l, i);
  }
  if (rc || (again && (rc = start_round(l)))) return rc;
  l->method_changed = true;
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active) l->rhs[i].from_zero = false;
  activate(l);
  kcl_snapshot_begin(l);
  return KCL_OK;
}

int kcl_loop_end(kcl_loop *l) {
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++) {
    kcl_rhs *v = &l->rhs[i];
    v->report->iterations = l->control[i].iteration;
    if (v->b_norm.norm == 0) continue;
    if (!v->report->iterations && !v->answered)
      v->report->relative_residual = sqrt(v->rr0) * kcl_unit(v);
    rc = kcl_history_finish(v->history, l->system->ctx, v->rr0, kcl_unit(v));
    v->report->history = v->history->residuals, v->report->history_size = v->history->size + 1;
  }
  return rc;
}
