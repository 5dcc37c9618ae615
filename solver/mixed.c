/* Mixed precision that ends in double: the method runs in float (matrix, vectors and scalars: half the
 * bytes), and now and then the device adds its x to the double one and computes r = b - A x in double,
 * which the float method goes on with (iterative refinement: Wilkinson 1963; for Krylov methods Strzodka &
 * Goddeke 2006). The double solver of solver/solve.c checks the end, and takes over where float gets nowhere.
 *
 * A restart would cost CG what it learnt. A method with a phase RESUME keeps its direction: the residual
 * is replaced within it as soon as it has fallen to a tenth, before the float recurrence has drifted far
 * ("reliable updates": Sleijpen & van der Vorst 1996; in mixed precision Clark et al. 2010). Others start
 * anew, seldom.
 *
 * What float sees is scaled by powers of two: A so that its largest entries are near 1, residuals so that
 * the first is. Both are exact, and neither squares nor entries leave float's range sooner than need be.
 */
#include "core/context.h"
#include "core/transfer.h"
#include "solver/rounds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kcl_mixed {
  kcl_solver *inner; /* NULL: does not pay, or cannot be */
  kcl_csr A;         /* unit A in single; the indices are the caller's */
  double unit;
  char why[256]; /* for reports: bytes, or why it is not used */
  /* of the last solve: */
  double first;                /* scaled squared residual before it */
  int64_t iterations, lanczos; /* lanczos: those of corrections that went on with one search */
  int corrections;
} kcl_mixed;

/* Residuals fall to these fractions before the next correction: where that resumes, where it starts anew.
 * Measured: docs/performance.md. */
static const double resumed = 0.1, anew = 1e-4;
enum {
  RANGE = -40, /* scaled residuals below 2^RANGE are scaled anew: their squares are still floats */
  PATIENCE = 5000 /* iterations without a new least residual, at most; then double does better */
};

/* ---------------------------------------------------------------- making ready */

/* Does r of START stay b - A x? */
static bool keeps_residual(const kcl_program *k) {
  int writes = 0;
  for (int i = 0; i < k->stages[KCL_START]; i++)
    for (int o = 0; o < k->stage[KCL_START][i].vectors; o++) {
      const kcl_op *op = &k->stage[KCL_START][i].vector[o];
      writes += op->code != KCL_OP_DOT && op->y == k->residual;
    }
  return writes == 1;
}

static int usable(const kcl_solver *s) {
  kcl_type type = s->options.precision;
  if (type != KCL_D && type != KCL_Z)
    return kcl_fail(s->ctx, KCL_USAGE,
                    "mixed precision computes in float and ends in double: it is asked for with "
                    "precision %c, not %c",
                    kcl_type_complex(type) ? 'z' : 'd', kcl_type_letter(type));
  if (s->method->least_squares)
    return kcl_fail(
        s->ctx, KCL_USAGE,
        "%s has no mixed precision: it minimises |b - A x|, which need not become small, "
        "and corrections are measured by it",
        s->method->name);
  if (!keeps_residual(s->program))
    return kcl_fail(
        s->ctx, KCL_USAGE,
        "%s has no mixed precision: its start goes on beyond the residual b - A x, which "
        "corrections begin with; cg leaves it",
        s->method->name);
  return KCL_OK;
}

/* unit A in single; unit is near 1 / |A|. */
static int narrow_matrix(kcl_solver *s, double norm) {
  kcl_mixed *m = s->mixed;
  const kcl_csr *A = s->A;
  int exponent = norm > 0 && norm < INFINITY ? ilogb(norm) : 0;
  m->unit = ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
  m->A = *A;
  m->A.type = s->options.precision == KCL_D ? KCL_S : KCL_C;
  m->A.val = NULL, m->A.mapped = NULL;
  int rc = kcl_alloc(s->ctx, A->nnz, kcl_type_size(m->A.type), "the matrix in single precision",
                     &m->A.val);
  if (!rc) kcl_copy(m->A.type, m->A.val, A->type, A->val, A->nnz, m->unit);
  return rc;
}

/* Real numbers in a vector of A's rows. */
static int64_t reals(const kcl_solver *s) {
  return s->A->rows * (kcl_type_complex(s->program->type) ? 2 : 1);
}

/* b of the inner solver = scale r; x = x + scale (x of the inner solver); and that x = 0. */
static int give(kcl_solver *s, double scale) {
  kcl_executor *to = &s->mixed->inner->executor, *from = &s->executor;
  return kcl_narrow(s->ctx, to->memory(to, s->mixed->inner->program->b),
                    from->memory(from, s->program->residual), reals(s), scale);
}
static int take(kcl_solver *s, double scale) {
  kcl_executor *to = &s->executor, *from = &s->mixed->inner->executor;
  return kcl_collect(s->ctx, to->memory(to, s->program->x),
                     from->memory(from, s->mixed->inner->program->x), reals(s), scale);
}
static int clear(kcl_solver *s) {
  kcl_executor *to = &s->mixed->inner->executor, *from = &s->executor;
  return kcl_narrow(s->ctx, to->memory(to, s->mixed->inner->program->x),
                    from->memory(from, s->program->b), reals(s), 0);
}

/* Seconds an iteration, tests off; the least of three samples. */
static int sample(kcl_solver *s, double *each) {
  double t[3];
  int count = s->executor.least > 4 ? (int)s->executor.least : 4;
  int rc = kcl_time_loop(s, count, 3, t);
  if (!rc) *each = fmin(t[0], fmin(t[1], t[2]));
  return rc;
}

/* Float takes more iterations, from hardly any to twice as many (docs/performance.md): where the choice is
 * ours, an iteration must be a fifth faster, by the clock; with format "model" by its bytes. */
static int judge(kcl_solver *s) {
  static const double more_iterations = 1.2;
  kcl_mixed *m = s->mixed;
  double start = kcl_now(), single = kcl_bytes_per_iteration(m->inner) * 1e-6,
         twice = kcl_bytes_per_iteration(s) * 1e-6;
  const char *unit = "MB";
  int rc;
  if (s->open.format && !s->open.model) {
    if ((rc = sample(s, &twice)) || (rc = sample(m->inner, &single))) return rc;
    single *= 1e6, twice *= 1e6, unit = "us";
    s->open.seconds += kcl_now() - start;
  }
  if (s->open.format && single * more_iterations > twice) {
    kcl_solver_free(&m->inner);
    snprintf(
        m->why, sizeof m->why,
        "not used: an iteration in float takes %.3g %s, in double %.3g %s, and float takes more "
        "of them",
        single, unit, twice, unit);
    return KCL_OK;
  }
  snprintf(m->why, sizeof m->why,
           "float in %s, %.3g MB beside it; an iteration takes %.3g %s, in double %.3g %s",
           m->inner->matrix->format->name, kcl_stored_bytes(m->inner) * 1e-6, single, unit, twice,
           unit);
  return KCL_OK;
}

int kcl_mixed_setup(kcl_solver *s) {
  kcl_options options = s->options;
  int rc = usable(s);
  if (rc) return rc;
  KCL_TRY(kcl_alloc(s->ctx, 1, sizeof *s->mixed, "mixed precision", (void **)&s->mixed));
  kcl_mixed *m = s->mixed;
  double start = kcl_now();
  KCL_TRY(narrow_matrix(s, s->stats.norm_inf));
  s->seconds_convert += kcl_now() - start;
  options.precision = m->A.type, options.mixed = false, options.progress = NULL;
  options.solver = s->method->name, options.columns = 1;
  rc = kcl_setup_inner(s->ctx, &m->A, &options, &m->inner);
  if (rc == KCL_USAGE) { /* such as a diagonal with zeros, in float */
    snprintf(m->why, sizeof m->why, "not used: in float, %.200s", kcl_error(s->ctx));
    return KCL_OK;
  }
  if (rc) return rc;
  KCL_TRY(judge(s));
  if (!m->inner) return KCL_OK;
  KCL_TRY(clear(s)); /* what drivers do at a first launch, they do now */
  KCL_TRY(take(s, 0));
  rc = s->executor.finish(&s->executor);
done:
  return rc;
}

void kcl_mixed_free(kcl_solver *s) {
  if (!s->mixed) return;
  kcl_solver_free(&s->mixed->inner);
  free(s->mixed->A.val), free(s->mixed);
  s->mixed = NULL;
}

const char *kcl_mixed_why(const kcl_solver *s) { return s->mixed ? s->mixed->why : ""; }
const kcl_solver *kcl_mixed_inner(const kcl_solver *s) { return s->mixed ? s->mixed->inner : NULL; }

/* ---------------------------------------------------------------- one correction */

/* Logs of the inner solver up to iteration `to`, squared residuals in the units of the double one. */
static int keep_log(kcl_rounds *r, int64_t to, double scale) {
  kcl_history *h = r->column[0].history;
  int64_t from = h->size;
  int rc = kcl_history_fetch(r->s->mixed->inner, h, 0, to);
  for (; from < h->size; from++) h->log[from * KCL_LOG] /= scale * scale;
  return rc;
}

/* Passes over LOOP: a quarter of what this correction has taken, at most a tenth of a second. */
static int64_t batch(const kcl_mixed *m, int64_t done, double seconds) {
  int64_t least = m->inner->executor.least ? m->inner->executor.least : 4, count = done / 4;
  int64_t most = done ? (int64_t)(0.1 * (double)done / seconds) : 4;
  if (count > most) count = most;
  if (count > KCL_HISTORY / 4) count = KCL_HISTORY / 4;
  if (count < least) count = least;
  return (count + m->inner->program->steps - 1) / m->inner->program->steps;
}

static int progress(const kcl_rounds *r) {
  const kcl_options *o = &r->s->options;
  const kcl_column *c = &r->column[0];
  int64_t done = c->history->size;
  if (!o->progress || !done) return 0;
  kcl_progress p = {.iteration = done,
                    .max_iter = r->max_iter,
                    .relative_residual = sqrt(c->history->log[(done - 1) * KCL_LOG]) * kcl_unit(c),
                    .target = c->target * kcl_unit(c),
                    .seconds = kcl_now() - r->start,
                    .running = 1};
  return o->progress(o->user, &p);
}

/* The inner method, from its b and x = 0 until its residual is `target`. */
static int descend(kcl_rounds *r, bool resumes, double scale, double target, kcl_reason *reason) {
  kcl_solver *inner = r->s->mixed->inner;
  kcl_executor *in = &inner->executor;
  kcl_history *h = r->column[0].history;
  kcl_head head = {.iteration = (int32_t)h->size, .limit = (int32_t)r->max_iter};
  int64_t since = 0, from = h->size, best_at = from, seen = from;
  int64_t patience = 100 + 2 * r->s->A->rows < PATIENCE ? 100 + 2 * r->s->A->rows : PATIENCE;
  double rr, best = INFINITY, start = kcl_now(), t2 = target * target;
  int rc, ended = 0;
  if ((rc = in->set_state(in, &head, &t2))) return rc;
  if ((rc = in->run(in, resumes ? KCL_RESUME : KCL_START, 1))) return rc;
  if ((rc = in->look(in, &head, &rr))) return rc;
  if (!head.stop) rc = kcl_advance(inner, batch(r->s->mixed, 0, 0), &since);
  while (!rc && !head.stop && !ended) {
    int64_t count = batch(r->s->mixed, head.iteration - from, kcl_now() - start);
    if ((rc = kcl_advance(inner, count, &since))) break; /* one ahead */
    if ((rc = in->look(in, &head, &rr))) break;
    if ((rc = keep_log(r, head.iteration, scale))) break;
    for (; seen < h->size; seen++)
      if (h->log[seen * KCL_LOG] < best) best = h->log[seen * KCL_LOG], best_at = seen;
    if (head.stop) break;
    if (head.iteration - best_at > patience) ended = 1 + KCL_STAGNATED;
    if (progress(r)) ended = 1 + KCL_INTERRUPTED;
  }
  if (!rc && ended && !(rc = in->look(in, &head, &rr))) { /* where the batch ahead has brought it */
    rc = keep_log(r, head.iteration, scale);
    if (!head.stop) head.stop = ended;
  }
  *reason = (kcl_reason)(head.stop - 1);
  return rc ? rc : in->finish(in);
}

/* ---------------------------------------------------------------- one solve */

/* |b - A x|^2 in double, and r on the device. */
static int residual(kcl_solver *s, double *rr) {
  kcl_executor *ex = &s->executor;
  const kcl_head head = {.limit = 1};
  const double target = 0;
  kcl_head after;
  int rc = ex->set_state(ex, &head, &target);
  if (!rc) rc = ex->run(ex, KCL_START, 1);
  return rc ? rc : ex->look(ex, &after, rr);
}

/* x = x + what the inner method finds for r, |r| = norm. *scale: of the residuals it saw last, 0: none yet.
 * *asked: the fraction that is to be left of r. */
static int correct(kcl_rounds *r, double norm, double *scale, double *asked, kcl_reason *reason) {
  kcl_solver *s = r->s;
  kcl_mixed *m = s->mixed;
  bool can = m->inner->program->stages[KCL_RESUME] > 0;
  bool resumes = can && *scale > 0 && norm * *scale > ldexp(1, RANGE) && norm * *scale < 2;
  double least = can ? resumed : anew, wanted = 0.9 * r->column[0].target / norm;
  if (!resumes) *scale = ldexp(1, -ilogb(norm));
  *asked = wanted > least ? wanted : least; /* no further than the end */
  int rc;
  if ((rc = clear(s))) return rc;
  if ((rc = give(s, *scale))) return rc;
  if ((rc = descend(r, resumes, *scale, *asked * norm * *scale, reason))) return rc;
  m->iterations = r->column[0].history->size;
  if (resumes || !m->corrections) m->lanczos = m->iterations;
  m->corrections++;
  return *reason == KCL_NOT_FINITE ? KCL_OK : take(s, m->unit / *scale);
}

static bool ends(kcl_reason r) { return r == KCL_ITERATION_LIMIT || r == KCL_INTERRUPTED; }

/* After a correction that broke down or brought less than half of what was asked; one that harmed is undone. */
static int fall_back(kcl_rounds *r, double before, double after, double scale, kcl_reason reason) {
  kcl_report *p = r->column[0].report;
  double unit = kcl_unit(&r->column[0]);
  snprintf(p->mixed_end, sizeof p->mixed_end,
           "in float the residual went from %.2e to %.2e only (%s): double precision goes on",
           before * unit, after * unit,
           reason == KCL_CONVERGED   ? "its own fell as asked"
           : reason == KCL_STAGNATED ? "no progress"
                                     : kcl_reason_text(reason));
  return reason == KCL_NOT_FINITE || after <= before ? KCL_OK
                                                     : take(r->s, -r->s->mixed->unit / scale);
}

/* Float as long as it brings something: x on the device, *rr its squared residual. */
static int corrections(kcl_rounds *r, kcl_reason *reason, double *rr) {
  double target = r->column[0].target, scale = 0, asked;
  int rc = residual(r->s, rr);
  r->s->mixed->first = *rr;
  while (!rc && *rr > target * target && *rr < INFINITY) {
    double before = sqrt(*rr);
    if ((rc = correct(r, before, &scale, &asked, reason))) break;
    if ((rc = residual(r->s, rr))) break;
    bool worth = *reason == KCL_CONVERGED && sqrt(*rr) < 0.5 * (1 + asked) * before;
    if (ends(*reason)) break;
    if (!worth) return fall_back(r, before, sqrt(*rr), scale, *reason);
  }
  return rc;
}

/* The double solver checks what float has left, and goes on where that is needed. */
int kcl_mixed_run(kcl_rounds *r) {
  kcl_mixed *m = r->s->mixed;
  kcl_column *c = &r->column[0];
  kcl_reason reason = KCL_CONVERGED;
  double rr;
  m->iterations = m->lanczos = 0, m->corrections = 0;
  int rc = corrections(r, &reason, &rr);
  if (rc) return rc;
  r->head[0].iteration = (int32_t)m->iterations;
  if (m->iterations >= r->max_iter && reason == KCL_CONVERGED && rr > c->target * c->target)
    reason = KCL_ITERATION_LIMIT;
  c->report->reason = reason, c->report->relative_residual = sqrt(rr) * kcl_unit(c);
  c->report->iterations = m->iterations;
  if (!(rr < INFINITY)) rc = r->ex->put(r->ex, r->s->program->x, 0, r->s->A->type, c->x, c->scale);
  if (rc) return rc;
  rc = ends(reason) ? kcl_history_finish(r->s, c->history, m->first, kcl_unit(c))
                    : kcl_rounds_run(r);
  if (rc) return rc;
  c->history->residuals[0] = sqrt(m->first) * kcl_unit(c);
  c->report->history = c->history->residuals, c->report->history_size = c->history->size + 1;
  return KCL_OK;
}

/* Extreme Ritz values of the corrections up to the last that resumed, or of what double did, where the
 * condition is larger. Float saw A scaled by unit, which M^-1 A does not notice. */
static void condition(const kcl_solver *s, const kcl_column *c) {
  const kcl_mixed *m = s->mixed;
  const double *log = c->history->log;
  double scale = s->precond->apply ? 1 : m->unit, least, most;
  kcl_report *p = c->report;
  kcl_ritz(log, m->lanczos, &p->ritz_min, &p->ritz_max);
  p->ritz_min /= scale, p->ritz_max /= scale;
  kcl_ritz(log + m->iterations * KCL_LOG,
           (c->lanczos ? c->lanczos : c->history->size) - m->iterations, &least, &most);
  if (least > 0 && !(p->ritz_min > 0 && p->ritz_max / p->ritz_min > most / least))
    p->ritz_min = least, p->ritz_max = most;
  if (p->ritz_min > 0) p->condition_estimate = p->ritz_max / p->ritz_min;
}

void kcl_mixed_report(kcl_rounds *r) {
  const kcl_solver *s = r->s;
  const kcl_mixed *m = s->mixed;
  kcl_report *p = r->column[0].report;
  int64_t own = p->iterations - m->iterations;
  double bytes = (double)m->iterations * kcl_bytes_per_iteration(m->inner) +
                 (double)own * kcl_bytes_per_iteration(s) +
                 (m->corrections + 1) * kcl_program_bytes(s->program, KCL_START, 1);
  p->mixed = true;
  p->inner_iterations = m->iterations, p->outer_iterations = m->corrections;
  if (p->iterations) p->bytes_per_iteration = bytes / (double)p->iterations;
  if (s->program->has_ritz && !r->changed) condition(s, &r->column[0]);
}
