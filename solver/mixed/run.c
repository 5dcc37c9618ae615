/* Mixed precision, a solve: the method runs in float (matrix, vectors and scalars: half the bytes). From time to time the
 * device adds its x to the double one and computes r = b - A x in double, from which the float method continues
 * (iterative refinement: Wilkinson 1963; for Krylov methods Strzodka & Goddeke 2006). The double engine checks the end,
 * and takes over where float makes no progress.
 *
 * A restart would cost CG the directions it has built. A method with a phase RESUME keeps its direction: the residual is
 * replaced within it as soon as it has fallen to a tenth, before the float recurrence has drifted far ("reliable
 * updates": Sleijpen & van der Vorst 1996; in mixed precision Clark et al. 2010). Others start anew, less often.
 *
 * Residuals are scaled by a power of two so that the first is near 1: exact, and squares stay in float's range.
 */
#include "solver/engine/given.h"
#include "solver/mixed/mixed.h"
#include <stdio.h>

/* Residuals fall to these fractions before the next correction: where the method resumes, where it starts anew.
 * Measured: docs/performance.md. */
static const double resumed = 0.1, anew = 1e-4;
enum {
  RANGE = -40, /* scaled residuals below 2^RANGE are scaled anew: their squares are still floats */
  PATIENCE = 5000 /* iterations without a new least residual, at most; then double does better */
};

/* ---------------------------------------------------------------- one correction */

/* Entries of the float engine's history up to iteration `to`, squared residuals in the units of the double one. */
static int fetch_correction(const kcl_mixed *m, kcl_history *h, int64_t to, double scale) {
  int64_t from = h->size;
  int rc = kcl_history_fetch(h, m->selection.engine, 0, to);
  for (; from < h->size; from++) h->entry[from * KCL_HISTORY_FIELDS] /= scale * scale;
  return rc;
}

/* Passes over LOOP: a quarter of what this correction has taken, at most a tenth of a second. */
static int64_t run_mixed_batch(const kcl_engine *e, int64_t done, double seconds) {
  int64_t least = e->executor.least_iterations ? e->executor.least_iterations : 4, count = done / 4;
  int64_t most = done ? (int64_t)(0.1 * (double)done / seconds) : 4;
  if (count > most) count = most;
  if (count > KCL_HISTORY / 4) count = KCL_HISTORY / 4;
  if (count < least) count = least;
  return (count + e->program->iterations - 1) / e->program->iterations;
}

static int report_progress(const kcl_loop *l) {
  const kcl_options *o = &l->system->options;
  const kcl_rhs *v = &l->rhs[0];
  int64_t done = v->history->size;
  if (!o->progress || !done) return 0;
  kcl_progress p = {.iteration = done,
                    .max_iter = l->max_iter,
                    .relative_residual = sqrt(kcl_history_rr(v->history, done - 1)) * kcl_unit(v),
                    .target = v->target * kcl_unit(v),
                    .seconds = kcl_now() - l->start,
                    .running = 1};
  return o->progress(o->user, &p);
}

/* The float method, from its b and x = 0 until its residual is `target`. */
static int descend(const kcl_mixed *m, const kcl_loop *l, bool resumes, double scale, double target,
                   kcl_reason *reason) {
  kcl_engine *e = m->selection.engine;
  kcl_executor *ex = &e->executor;
  kcl_history *h = l->rhs[0].history;
  kcl_control control = {.iteration = (int32_t)h->size, .limit = (int32_t)l->max_iter};
  int64_t since = 0, from = h->size, best_at = from, seen = from, rows = m->A.rows;
  int64_t patience = 100 + 2 * rows < PATIENCE ? 100 + 2 * rows : PATIENCE;
  double rr, best = INFINITY, start = kcl_now(), t2 = target * target;
  int rc = KCL_OK, ended = 0;
  KCL_CALL(ex->set_state(ex, &control, &t2));
  KCL_CALL(ex->run(ex, resumes ? KCL_RESUME : KCL_START, 1));
  KCL_CALL(ex->poll(ex, &control, &rr));
  if (!control.stop) rc = kcl_engine_advance(e, run_mixed_batch(e, 0, 0), &since);
  while (!rc && !control.stop && !ended) {
    int64_t count = run_mixed_batch(e, control.iteration - from, kcl_now() - start);
    if ((rc = kcl_engine_advance(e, count, &since))) break; /* one ahead */
    if ((rc = ex->poll(ex, &control, &rr))) break;
    if ((rc = fetch_correction(m, h, control.iteration, scale))) break;
    for (; seen < h->size; seen++)
      if (kcl_history_rr(h, seen) < best) best = kcl_history_rr(h, seen), best_at = seen;
    if (control.stop) break;
    if (control.iteration - best_at > patience) ended = 1 + KCL_STAGNATED;
    if (report_progress(l)) ended = 1 + KCL_INTERRUPTED;
  }
  if (!rc && ended && !(rc = ex->poll(ex, &control, &rr))) { /* the batch ahead */
    rc = fetch_correction(m, h, control.iteration, scale);
    if (!control.stop) control.stop = ended;
  }
  *reason = (kcl_reason)(control.stop - 1);
  return rc ? rc : ex->finish(ex);
}

/* ---------------------------------------------------------------- all corrections */

/* |b - A x|^2 in double, and r on the device. */
static int recompute_residual(kcl_engine *wide, double *rr) {
  kcl_executor *ex = &wide->executor;
  const kcl_control control = {.limit = 1};
  const double target = 0;
  kcl_control after;
  KCL_CALL(ex->set_state(ex, &control, &target));
  KCL_CALL(ex->run(ex, KCL_START, 1));
  return ex->poll(ex, &after, rr);
}

/* x = x + what float finds for r, |r| = norm. *scale: of the residuals it saw last, 0: none yet. *asked: the fraction
 * that is to be left of r. */
static int correct_x(kcl_mixed *m, kcl_loop *l, double norm, double *scale, double *asked,
                     kcl_reason *reason) {
  bool can = m->selection.engine->program->stages[KCL_RESUME] > 0;
  bool resumes = can && *scale > 0 && norm * *scale > ldexp(1, RANGE) && norm * *scale < 2;
  double least = can ? resumed : anew, wanted = 0.9 * l->rhs[0].target / norm;
  if (!resumes) *scale = ldexp(1, -ilogb(norm));
  *asked = wanted > least ? wanted : least; /* no further than the end */
  KCL_CALL(kcl_mixed_clear(m, l->engine));
  KCL_CALL(kcl_mixed_give(m, l->engine, *scale));
  KCL_CALL(descend(m, l, resumes, *scale, *asked * norm * *scale, reason));
  m->iterations = l->rhs[0].history->size;
  if (resumes || !m->corrections) m->lanczos = m->iterations;
  m->corrections++;
  return *reason == KCL_NOT_FINITE ? KCL_OK : kcl_mixed_take(m, l->engine, m->unit / *scale);
}

static bool round_ends(kcl_reason r) { return r == KCL_ITERATION_LIMIT || r == KCL_INTERRUPTED; }

/* After a correction that broke down or brought less than half of what was asked; one that harmed is undone. */
static int fall_back(const kcl_mixed *m, const kcl_loop *l, double before, double after,
                     double scale, kcl_reason reason) {
  kcl_report *p = l->rhs[0].report;
  double unit = kcl_unit(&l->rhs[0]);
  snprintf(p->mixed_end, sizeof p->mixed_end,
           "in float the residual went from %.2e to %.2e only (%s): continued in double precision",
           before * unit, after * unit,
           reason == KCL_CONVERGED   ? "its own recurrence reached the target"
           : reason == KCL_STAGNATED ? "no progress"
                                     : kcl_reason_text(reason));
  return reason == KCL_NOT_FINITE || after <= before
             ? KCL_OK
             : kcl_mixed_take(m, l->engine, -m->unit / scale);
}

/* x is the double one between two corrections: it may be read back. */
static int tell_correction(const kcl_mixed *m, kcl_loop *l, double rr) {
  l->control[0].iteration = (int32_t)m->iterations, l->rr[0] = rr;
  return l->checkpoint ? l->checkpoint(l->owner, l) : KCL_OK;
}

/* Float as long as it makes progress: x on the device, *rr its squared residual norm. */
static int corrections(kcl_mixed *m, kcl_loop *l, kcl_reason *reason, double *rr) {
  double target = l->rhs[0].target, scale = 0, asked;
  m->iterations = m->lanczos = 0, m->corrections = 0;
  int rc = recompute_residual(l->engine, rr);
  m->first = *rr;
  while (!rc && *rr > target * target && *rr < INFINITY) {
    double before = sqrt(*rr);
    if ((rc = correct_x(m, l, before, &scale, &asked, reason))) break;
    if ((rc = recompute_residual(l->engine, rr)) || (rc = tell_correction(m, l, *rr))) break;
    bool worth = *reason == KCL_CONVERGED && sqrt(*rr) < 0.5 * (1 + asked) * before;
    if (!round_ends(*reason) && !worth) return fall_back(m, l, before, sqrt(*rr), scale, *reason);
    if (!round_ends(*reason) && *rr > target * target && report_progress(l))
      *reason = KCL_INTERRUPTED;
    if (round_ends(*reason)) break;
  }
  return rc;
}

/* ---------------------------------------------------------------- one solve */

/* After the corrections the double engine checks what is left, and goes on where that is needed. */
int kcl_mixed_run(kcl_mixed *m, kcl_selection *wide, kcl_loop *l) {
  kcl_rhs *v = &l->rhs[0];
  kcl_reason reason = KCL_CONVERGED;
  double rr;
  KCL_CALL(corrections(m, l, &reason, &rr));
  l->control[0].iteration = (int32_t)m->iterations;
  if (m->iterations >= l->max_iter && reason == KCL_CONVERGED && rr > v->target * v->target)
    reason = KCL_ITERATION_LIMIT;
  v->report->reason = reason, v->report->relative_residual = sqrt(rr) * kcl_unit(v);
  v->report->iterations = m->iterations;
  if (!(rr < INFINITY)) KCL_CALL(kcl_loop_put_x(l, 0));
  KCL_CALL(round_ends(reason)
               ? kcl_history_finish(v->history, l->system->ctx, m->first, kcl_unit(v))
               : kcl_adapt_run(wide, l));
  v->history->residuals[0] = sqrt(m->first) * kcl_unit(v);
  v->report->history = v->history->residuals, v->report->history_size = v->history->size + 1;
  return KCL_OK;
}

/* Extreme Ritz values of the corrections up to the last that resumed, or of the iterations in double, where the
 * condition is larger. Float saw A scaled by unit, which M^-1 A does not notice. */
static void needs_correction(const kcl_mixed *m, const kcl_loop *l) {
  const kcl_rhs *v = &l->rhs[0];
  const double *entry = v->history->entry;
  double scale = l->engine->precond->apply ? 1 : m->unit, least, most;
  kcl_report *p = v->report;
  if (!entry) return; /* no iteration was needed */
  kcl_ritz(entry, m->lanczos, &p->ritz_min, &p->ritz_max);
  p->ritz_min /= scale, p->ritz_max /= scale;
  kcl_ritz(entry + m->iterations * KCL_HISTORY_FIELDS,
           (v->first_round ? v->first_round : v->history->size) - m->iterations, &least, &most);
  if (least > 0 && !(p->ritz_min > 0 && p->ritz_max / p->ritz_min > most / least))
    p->ritz_min = least, p->ritz_max = most;
  if (p->ritz_min > 0) p->condition_estimate = p->ritz_max / p->ritz_min;
}

void kcl_mixed_report(const kcl_mixed *m, const kcl_loop *l) {
  const kcl_engine *narrow = m->selection.engine, *wide = l->engine;
  kcl_report *p = l->rhs[0].report;
  int64_t own = p->iterations - m->iterations;
  double bytes = (double)m->iterations * kcl_engine_bytes(narrow, narrow->program->nrhs) +
                 (double)own * kcl_engine_bytes(wide, wide->program->nrhs) +
                 (m->corrections + 1) * kcl_program_bytes(wide->program, KCL_START, 1);
  p->mixed = true;
  p->inner_iterations = m->iterations, p->outer_iterations = m->corrections;
  if (p->iterations) p->bytes_per_iteration = bytes / (double)p->iterations;
  if (wide->program->has_ritz && !l->method_changed) needs_correction(m, l);
}
