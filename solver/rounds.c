/* The loop of a solve: runs a recorded method, looks at it now and then, and believes no claim unchecked.
 *
 * The device tests every iteration and stops itself; the host enqueues batches of iterations, one
 * batch ahead, and reads a few numbers after each. A batch is an eighth of what has been done so
 * far, between 4 and what takes a tenth of a second (one pass over LOOP at least, which may stand for
 * several): iterations enqueued after the stop only pass the state on. When the method claims
 * convergence the residual is recomputed from x by running START again; if the claim does not hold, that
 * residual is what the method goes on with (residual replacement; van der Vorst & Ye 2000), until two
 * claims in a row bring no progress. After a breakdown START brings a new shadow residual, which helps unless
 * it breaks down at once, or x has only become worse. That A is indefinite is not believed near the solution, nor of a
 * method whose recurrences drift (it has a phase REPLACE), unless it says so soon after START.
 *
 * Several right-hand sides iterate side by side, in rounds: all active columns go on until each has
 * stopped, then the claims of a round are checked together by one START, and those that do not hold
 * make the next round. A column that is not active has its stop set, and the device leaves it alone.
 */
#include "solver/rounds.h"
#include <float.h>
#include <limits.h>
#include <math.h>

static double squared(double a) { return a * a; }

static bool runs(const kcl_rounds *r, int c) {
  return r->column[c].active && !r->head[c].stop && !r->column[c].plateau;
}

static int running(const kcl_rounds *r) {
  int count = 0;
  for (int c = 0; c < r->columns; c++) count += runs(r, c);
  return count;
}

/* Does one go on, for all that the device knows? */
static bool open_columns(const kcl_rounds *r) {
  for (int c = 0; c < r->columns; c++)
    if (r->column[c].active && !r->head[c].stop) return true;
  return false;
}

/* Of the most advanced column. */
static int64_t iterations(const kcl_rounds *r) {
  int64_t most = 0;
  for (int c = 0; c < r->columns; c++)
    if (r->head[c].iteration > most) most = r->head[c].iteration;
  return most;
}

/* The running column that is furthest from its target tells how it goes. */
static int progress(const kcl_rounds *r) {
  const kcl_options *o = &r->s->options;
  int worst = -1;
  if (!o->progress) return 0;
  for (int c = 0; c < r->columns; c++)
    if (runs(r, c) && (worst < 0 || r->rr[c] / squared(r->column[c].target) >
                                        r->rr[worst] / squared(r->column[worst].target)))
      worst = c;
  if (worst < 0) return 0;
  const kcl_column *w = &r->column[worst];
  kcl_progress p = {.iteration = r->head[worst].iteration,
                    .max_iter = r->max_iter,
                    .relative_residual = sqrt(fmax(r->rr[worst], 0)) * kcl_unit(w),
                    .target = w->target * kcl_unit(w),
                    .seconds = kcl_now() - r->start,
                    .running = running(r)};
  return o->progress(o->user, &p);
}

/* Passes over LOOP that REPLACE, unless the executor sees to that itself, comes after. */
static int64_t until_replacement(const kcl_solver *s, int64_t since) {
  return s->executor.replaces ? INT64_MAX : kcl_replacement_interval(s->program) - since;
}

/* Passes over LOOP. */
static int64_t next_batch(const kcl_rounds *r) {
  int64_t done = iterations(r);
  double each = done ? (kcl_now() - r->start) / (double)done : 0;
  int64_t batch = done / 8, most = each > 0 ? (int64_t)(0.1 / each) : 4;
  if (batch > most) batch = most;
  if (batch > KCL_HISTORY / 4) batch = KCL_HISTORY / 4;
  int64_t least = r->ex->least ? r->ex->least : 4;
  if (batch < least) batch = each > 0.03 ? 1 : least;
  batch = (batch + r->s->program->steps - 1) / r->s->program->steps;
  int64_t left = until_replacement(r->s, r->since);
  return batch < left ? batch : left;
}

int kcl_advance(kcl_solver *s, int64_t passes, int64_t *since) {
  kcl_executor *ex = &s->executor;
  int64_t every = until_replacement(s, 0), batch;
  int rc = KCL_OK;
  for (; passes > 0 && !rc; passes -= batch) {
    batch = passes < every - *since ? passes : every - *since;
    rc = ex->run(ex, KCL_LOOP, batch);
    if ((*since += batch) < every) continue;
    *since = 0;
    if (!rc) rc = ex->run(ex, KCL_REPLACE, 1);
  }
  return rc;
}

static int set_state(kcl_rounds *r) {
  double target[KCL_MOST_COLUMNS] = {0};
  for (int c = 0; c < r->columns; c++) target[c] = squared(r->column[c].target);
  return r->ex->set_state(r->ex, r->head, target);
}

/* Columns that are done are told so before others go on. */
static int freeze(kcl_rounds *r) {
  bool told = true;
  for (int c = 0; c < r->columns; c++)
    if (!r->column[c].active && !r->head[c].stop) r->head[c].stop = 1, told = false;
  return told ? KCL_OK : set_state(r);
}

static int look(kcl_rounds *r) {
  int rc = r->ex->look(r->ex, r->head, r->rr);
  for (int i = 0; i < r->columns && !rc; i++) {
    kcl_column *c = &r->column[i];
    int64_t seen = c->history->size;
    if (!c->active || (rc = kcl_history_fetch(r->s, c->history, i, r->head[i].iteration))) continue;
    for (; seen < c->history->size; seen++)
      if (c->history->log[seen * KCL_LOG] < c->best)
        c->best = c->history->log[seen * KCL_LOG], c->best_at = seen;
    /* no new least residual for this long: it will not come */
    c->plateau = r->head[i].iteration - c->best_at > 5000 + 2 * kcl_longer(r->s->A);
  }
  return rc;
}

/* Other formats are timed when that pays (solver/choose.c). What is enqueued is looked at before, and some
 * iterations are timed with nothing else under way. */
static int consider(kcl_rounds *r) {
  kcl_solver *s = r->s;
  int64_t done = iterations(r), passes, left, least = r->ex->least ? r->ex->least : 3;
  double seconds = kcl_now() - r->start, each = seconds / (double)done, t;
  int rc;
  if (!done || !kcl_choose_pays(s, seconds, each)) return KCL_OK;
  if ((rc = look(r)) || !running(r)) return rc;
  passes = (int64_t)(0.02 / each), left = until_replacement(s, r->since);
  if (passes > done / 8) passes = done / 8;
  if (passes > KCL_HISTORY / 4) passes = KCL_HISTORY / 4;
  if (passes < least) passes = least;
  passes = (passes + s->program->steps - 1) / s->program->steps;
  if (passes > left) passes = left;
  t = kcl_now();
  if ((rc = kcl_advance(s, passes, &r->since)) || (rc = look(r)) || !running(r)) return rc;
  each = (kcl_now() - t) / (double)(passes * s->program->steps);
  t = kcl_now();
  if ((rc = kcl_choose_under_way(s, seconds, each, iterations(r)))) return rc;
  r->start += kcl_now() - t;
  return kcl_advance(s, next_batch(r), &r->since); /* one ahead again */
}

/* Iterate until the device has stopped every active column, the user stops them, or they get nowhere. */
static int iterate(kcl_rounds *r) {
  int64_t most = 0;
  int rc = freeze(r);
  for (int c = 0; c < r->columns; c++) r->column[c].from = r->head[c].iteration;
  if (!rc) rc = kcl_advance(r->s, next_batch(r), &r->since);
  while (!rc && running(r)) {
    if ((rc = kcl_advance(r->s, next_batch(r), &r->since))) break; /* one ahead */
    if ((rc = look(r))) break;
    if ((r->interrupted = progress(r) != 0)) break;
    if (running(r)) rc = consider(r);
  }
  if (!rc && open_columns(r)) rc = look(r); /* where the batch ahead has brought them */
  for (int c = 0; c < r->columns; c++) {
    if (r->column[c].active && !r->head[c].stop)
      r->head[c].stop = 1 + (r->interrupted ? KCL_INTERRUPTED : KCL_STAGNATED);
    int64_t done = r->head[c].iteration - r->column[c].from;
    if (done > most) most = done;
  }
  r->shared += most;
  if (!rc) rc = r->ex->finish(r->ex);
  return rc;
}

/* START recomputes the residuals of the active columns from x; afterwards they are ready to go on. */
static int start(kcl_rounds *r) {
  int rc;
  r->since = 0;
  for (int c = 0; c < r->columns; c++)
    if (r->column[c].active) r->head[c].stop = 0;
  if ((rc = set_state(r))) return rc;
  if ((rc = r->ex->run(r->ex, KCL_START, 1))) return rc;
  return r->ex->look(r->ex, r->head, r->rr);
}

static bool begin(kcl_rounds *r) {
  bool any = false;
  for (int i = 0; i < r->columns; i++) {
    kcl_column *c = &r->column[i];
    if (!c->active) continue;
    if (!r->changed) c->rr0 = r->rr[i];
    c->best = r->rr[i], c->claim = INFINITY, c->plateau = false;
    c->report->reason = r->rr[i] < INFINITY ? KCL_CONVERGED : KCL_NOT_FINITE;
    c->active = r->rr[i] > squared(c->target) && r->rr[i] < INFINITY;
    any = any || c->active;
  }
  return any;
}

static bool broke_down(kcl_reason r) {
  return r == KCL_BREAKDOWN_RHO || r == KCL_BREAKDOWN_SIGMA || r == KCL_BREAKDOWN_OMEGA;
}

/* Broken down under way; or p^H A p <= 0 came from recurrences that had time to drift, or from numbers that are mostly
 * rounding: the residual has fallen by the root of the unit roundoff. */
static bool may_recover(const kcl_rounds *r, int c) {
  const kcl_program *k = r->s->program;
  const double small = k->type == KCL_S || k->type == KCL_C ? FLT_EPSILON : DBL_EPSILON,
               rr0 = r->column[c].rr0;
  int64_t done = r->head[c].iteration - r->column[c].from;
  if (r->head[c].iteration >= r->max_iter) return false;
  if (broke_down(r->column[c].report->reason)) return done > 0 && r->rr[c] < rr0;
  return r->column[c].report->reason == KCL_INDEFINITE &&
         (r->rr[c] < small * rr0 ||
          (k->stages[KCL_REPLACE] && done > (int64_t)kcl_replacement_interval(k) * k->steps));
}

/* After a round: the reasons; active are those that claim convergence, or what is to be looked at again. */
static bool claims(kcl_rounds *r) {
  bool any = false;
  for (int i = 0; i < r->columns; i++) {
    kcl_column *c = &r->column[i];
    if (!c->active) continue;
    c->report->reason = (kcl_reason)(r->head[i].stop - 1);
    c->report->relative_residual = sqrt(fmax(r->rr[i], 0)) * kcl_unit(c);
    c->active = c->report->reason == KCL_CONVERGED || may_recover(r, i);
    any = any || c->active;
  }
  return any;
}

/* After START: active are the claims that do not hold, unless two in a row brought no progress. */
static bool unmet(kcl_rounds *r) {
  bool any = false;
  for (int i = 0; i < r->columns; i++) {
    kcl_column *c = &r->column[i];
    if (!c->active) continue;
    if (!c->lanczos) c->lanczos = r->head[i].iteration;
    kcl_reason before = c->report->reason;
    c->active = false, c->report->reason = KCL_CONVERGED;
    if (r->rr[i] <= squared(c->target)) continue;
    c->report->reason = r->interrupted       ? KCL_INTERRUPTED
                        : broke_down(before) ? before
                                             : KCL_STAGNATED;
    if (r->interrupted || !(r->rr[i] < 0.25 * c->claim) || c->report->restarts == 20) continue;
    c->claim = r->rr[i], c->report->restarts++;
    any = c->active = true;
  }
  return any;
}

/* Columns whose method gave up go on with the next, from where they are, or from the caller's x if that is
 * nearer; the others keep theirs. */
static int another_method(kcl_rounds *r, bool *more) {
  const kcl_program *k;
  kcl_reason reason = KCL_CONVERGED;
  bool another, again = false;
  *more = false;
  for (int i = r->columns - 1; i >= 0; i--) {
    kcl_column *c = &r->column[i];
    c->active = c->norm_b > 0 && kcl_gave_up(c->report->reason);
    if (c->active) reason = c->report->reason;
  }
  if (reason == KCL_CONVERGED) return KCL_OK;
  int rc = kcl_choose_next(r->s, reason, iterations(r), &another);
  if (rc || !another || (rc = start(r))) return rc;
  k = r->s->program;
  for (int i = 0; i < r->columns && !rc; i++) {
    kcl_column *c = &r->column[i];
    if (!c->active || r->rr[i] <= c->rr0) continue;
    again = true, rc = r->ex->put(r->ex, k->x, i, r->s->A->type, c->x, c->scale);
  }
  if (rc || (again && (rc = start(r)))) return rc;
  for (int i = 0; i < r->columns; i++)
    if (r->column[i].active) r->column[i].best_at = r->head[i].iteration;
  r->changed = true;
  *more = begin(r);
  return KCL_OK;
}

int kcl_rounds_run(kcl_rounds *r) {
  int rc = start(r);
  bool more = !rc && begin(r);
  while (more) {
    for (; more && !rc; more = !rc && unmet(r)) {
      if ((rc = iterate(r)) || !claims(r)) break;
      rc = start(r);
    }
    if (rc || (rc = another_method(r, &more))) break;
  }
  for (int i = 0; i < r->columns && !rc; i++) {
    kcl_column *c = &r->column[i];
    c->report->iterations = r->head[i].iteration;
    if (c->norm_b == 0) continue;
    if (!c->report->iterations) c->report->relative_residual = sqrt(c->rr0) * kcl_unit(c);
    rc = kcl_history_finish(r->s, c->history, c->rr0, kcl_unit(c));
    c->report->history = c->history->residuals, c->report->history_size = c->history->size + 1;
  }
  return rc;
}
