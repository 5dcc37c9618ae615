/* kcl_solve: runs a recorded method, looks at it now and then, and believes no claim unchecked.
 *
 * The device tests every iteration and stops itself; the host enqueues batches of iterations, one
 * batch ahead, and reads a few numbers after each. A batch is an eighth of what has been done so
 * far, between 4 and what takes a tenth of a second (one pass over LOOP at least, which may stand for
 * several): iterations enqueued after the stop only pass the state on. When the method claims convergence the residual is recomputed from x by running
 * START again; if the claim does not hold, that residual is what the method goes on with
 * (residual replacement; van der Vorst & Ye 2000), until two claims in a row bring no progress.
 * What is reported is recomputed once more on the host, in double and with compensated sums.
 *
 * b and x are scaled by a power of two so that 1/2 <= |b| < 1: exact, and squares of tiny norms
 * do not vanish in single precision.
 */
#include "core/context.h"
#include "solver/solver.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
  kcl_solver *s;
  kcl_executor *ex;
  kcl_report *report;
  double start, norm_b, scale; /* scale: power of two applied to b and x */
  double target;               /* norm to reach, scaled */
  double best;                 /* least squared residual so far, and where */
  int64_t best_at, max_iter;
  int64_t since;   /* passes over LOOP since vectors were replaced */
  int64_t lanczos; /* iterations before the first replacement: one Lanczos process */
} run;

/* ---------------------------------------------------------------- history */

static int keep_history(run *r, const kcl_head *head) {
  kcl_solver *s = r->s;
  int64_t to = head->iteration;
  if (to > s->history_capacity) {
    int64_t room = 2 * to + 1024;
    double *more = realloc(s->history, (size_t)room * KCL_LOG * sizeof *more);
    if (!more)
      return kcl_fail(s->ctx, KCL_MEMORY, "out of memory: the history of %lld iterations",
                      (long long)to);
    s->history = more, s->history_capacity = room;
  }
  int rc = r->ex->history(r->ex, s->history_size, to, s->history + s->history_size * KCL_LOG);
  for (int64_t i = s->history_size; !rc && i < to; i++)
    if (s->history[i * KCL_LOG] < r->best) r->best = s->history[i * KCL_LOG], r->best_at = i;
  if (!rc) s->history_size = to;
  return rc;
}

static int finish_history(run *r, double rr0) {
  kcl_solver *s = r->s;
  free(s->residuals);
  int rc = kcl_alloc(s->ctx, s->history_size + 1, sizeof *s->residuals, "the history",
                     (void **)&s->residuals);
  if (rc) return rc;
  double unit = 1 / (r->norm_b * r->scale);
  s->residuals[0] = sqrt(rr0) * unit;
  for (int64_t i = 0; i < s->history_size; i++)
    s->residuals[i + 1] = sqrt(s->history[i * KCL_LOG]) * unit;
  r->report->history = s->residuals, r->report->history_size = s->history_size + 1;
  return KCL_OK;
}

/* ---------------------------------------------------------------- the loop */

static int progress(const run *r, const kcl_head *head, double rr) {
  const kcl_options *o = &r->s->options;
  if (!o->progress) return 0;
  double unit = 1 / (r->norm_b * r->scale);
  kcl_progress p = {.iteration = head->iteration,
                    .max_iter = r->max_iter,
                    .relative_residual = sqrt(fmax(rr, 0)) * unit,
                    .target = r->target * unit,
                    .seconds = kcl_now() - r->start};
  return o->progress(o->user, &p);
}

/* Passes over LOOP. */
static int64_t next_batch(const run *r, const kcl_head *head) {
  double each = head->iteration ? (kcl_now() - r->start) / head->iteration : 0;
  int64_t batch = head->iteration / 8, most = each > 0 ? (int64_t)(0.1 / each) : 4;
  if (batch > most) batch = most;
  if (batch > KCL_HISTORY / 4) batch = KCL_HISTORY / 4;
  int64_t least = r->ex->least ? r->ex->least : 4;
  if (batch < least) batch = each > 0.03 ? 1 : least;
  batch = (batch + r->s->program->steps - 1) / r->s->program->steps;
  int64_t left = kcl_replacement_interval(r->s->program) - r->since;
  return batch < left ? batch : left;
}

static int64_t longer(const kcl_csr *A) { return A->rows > A->cols ? A->rows : A->cols; }

/* No new least residual for this long: it will not come. */
static bool plateau(const run *r, const kcl_head *head) {
  return head->iteration - r->best_at > 5000 + 2 * longer(r->s->A);
}

/* Rounding errors of recurrences grow with every iteration: measured on pipelined CG, these keep them
 * below what matters at the usual tolerances. */
int kcl_replacement_interval(const kcl_program *k) {
  bool single = k->type == KCL_S || k->type == KCL_C;
  if (!k->stages[KCL_REPLACE]) return INT_MAX;
  return ((single ? 16 : 64) + k->steps - 1) / k->steps;
}

int kcl_advance(kcl_solver *s, int64_t passes, int64_t *since) {
  kcl_executor *ex = &s->executor;
  int64_t every = kcl_replacement_interval(s->program), batch;
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

/* Iterate until the device stops, the user stops it, or it gets nowhere. */
static int iterate(run *r, kcl_head *head, double *rr) {
  int rc = kcl_advance(r->s, next_batch(r, head), &r->since);
  while (!rc && !head->stop) {
    if ((rc = kcl_advance(r->s, next_batch(r, head), &r->since))) break; /* one ahead */
    if ((rc = r->ex->look(r->ex, head, rr))) break;
    if ((rc = keep_history(r, head))) break;
    if (head->stop) break;
    if (plateau(r, head)) head->stop = 1 + KCL_STAGNATED;
    if (progress(r, head, *rr)) head->stop = 1 + KCL_INTERRUPTED;
  }
  if (!rc) rc = r->ex->finish(r->ex);
  return rc;
}

/* START recomputes the residual from x; afterwards the device is ready to go on from it. */
static int start(run *r, kcl_head *head, double *rr) {
  int rc;
  head->stop = 0, r->since = 0;
  if ((rc = r->ex->set_state(r->ex, head, r->target * r->target))) return rc;
  if ((rc = r->ex->run(r->ex, KCL_START, 1))) return rc;
  return r->ex->look(r->ex, head, rr);
}

static int run_to_end(run *r) {
  kcl_report *report = r->report;
  double t2 = r->target * r->target, rr, rr0, claim = INFINITY;
  kcl_head head = {.limit = (int32_t)r->max_iter};
  int rc = start(r, &head, &rr);
  if (rc) return rc;
  rr0 = r->best = rr;
  report->reason = rr < INFINITY ? KCL_CONVERGED : KCL_NOT_FINITE;
  while (rr > t2 && rr < INFINITY) {
    if ((rc = iterate(r, &head, &rr))) return rc;
    report->reason = (kcl_reason)(head.stop - 1);
    report->relative_residual = sqrt(fmax(rr, 0)) / (r->norm_b * r->scale);
    if (report->reason != KCL_CONVERGED) break;
    if ((rc = start(r, &head, &rr))) return rc;
    if (!r->lanczos) r->lanczos = head.iteration;
    if (rr <= t2) break;
    report->reason = KCL_STAGNATED;
    if (!(rr < 0.25 * claim) || report->restarts == 20) break; /* no progress between two claims */
    claim = rr, report->restarts++;
  }
  report->iterations = head.iteration;
  if (!report->iterations) report->relative_residual = sqrt(rr0) / (r->norm_b * r->scale);
  return finish_history(r, rr0);
}

/* ---------------------------------------------------------------- the certificate */

/* A vector of A's type in double: itself, or a copy. */
static int in_double(kcl *ctx, kcl_type type, const void *v, int64_t n, double **owned,
                     const double **out) {
  kcl_type wide = kcl_type_complex(type) ? KCL_Z : KCL_D;
  *owned = NULL, *out = v;
  if (type == wide) return KCL_OK;
  int rc = kcl_alloc(ctx, n, kcl_type_size(wide), "a vector", (void **)owned);
  if (!rc) kcl_copy(wide, *owned, type, v, n, 1.0);
  *out = *owned;
  return rc;
}

static int certify(run *r, const void *b, const void *x) {
  const kcl_csr *A = r->s->A;
  kcl_report *report = r->report;
  bool least = r->s->method->least_squares;
  double *b_own = NULL, *x_own = NULL;
  const double *bd, *xd;
  kcl_certificate c;
  int rc;
  KCL_TRY(in_double(r->s->ctx, A->type, b, A->rows, &b_own, &bd));
  KCL_TRY(in_double(r->s->ctx, A->type, x, A->cols, &x_own, &xd));
  KCL_TRY((least ? kcl_certify_least_squares : kcl_certify)(r->s->ctx, A, bd, xd, &c));
  report->normal_residual = c.normal_residual;
  report->true_relative_residual = c.relative_residual;
  report->backward_error = c.backward_error;
  double allowed = r->target / 0.999 / (r->norm_b * r->scale);
  if (report->reason == KCL_CONVERGED && !(c.relative_residual <= allowed)) {
    report->least_squares = least && c.normal_residual <= allowed;
    if (!report->least_squares) report->reason = KCL_STAGNATED;
  }
  report->converged = report->reason == KCL_CONVERGED;
done:
  free(b_own), free(x_own);
  return rc;
}

/* ---------------------------------------------------------------- one solve */

static int solve_nonzero(run *r, const void *b, void *x) {
  kcl_solver *s = r->s;
  kcl_report *report = r->report;
  const kcl_program *k = s->program;
  int rc;
  double t0 = kcl_now();
  if ((rc = r->ex->put(r->ex, k->b, s->A->type, b, r->scale))) return rc;
  if ((rc = r->ex->put(r->ex, k->x, s->A->type, x, r->scale))) return rc;
  if ((rc = r->ex->finish(r->ex))) return rc;
  r->start = kcl_now();
  report->seconds_upload = r->start - t0;
  if ((rc = run_to_end(r))) return rc;
  double t1 = kcl_now();
  report->seconds_solve = t1 - r->start;
  if (report->iterations)
    report->seconds_per_iteration = report->seconds_solve / (double)report->iterations;
  if ((rc = r->ex->get(r->ex, k->x, s->A->type, x, 1 / r->scale))) return rc;
  report->seconds_download = kcl_now() - t1;
  if (k->has_ritz)
    kcl_ritz(s->history, r->lanczos ? r->lanczos : s->history_size, &report->ritz_min,
             &report->ritz_max);
  if (report->ritz_min > 0) report->condition_estimate = report->ritz_max / report->ritz_min;
  return KCL_OK;
}

static int64_t default_limit(int64_t n) {
  int64_t limit = 10 * n;
  return limit < 1000 ? 1000 : limit > 100000 ? 100000 : limit;
}

int kcl_solve(kcl_solver *s, const void *b, void *x, kcl_report *report) {
  const kcl_options *o = &s->options;
  bool single = o->precision == KCL_S || o->precision == KCL_C;
  double tol = o->tol < 0 ? (single ? 1e-5 : 1e-8) : o->tol;
  run r = {.s = s,
           .ex = &s->executor,
           .report = report,
           .norm_b = kcl_norm2(s->A->type, b, s->A->rows),
           .max_iter = o->max_iter ? o->max_iter : default_limit(longer(s->A))};
  *report = (kcl_report){.bytes_per_iteration = kcl_bytes_per_iteration(s),
                         .normal_residual = s->method->least_squares ? 0 : -1};
  s->history_size = 0;
  if (r.max_iter > INT32_MAX - 1) r.max_iter = INT32_MAX - 1;
  if (!(r.norm_b < INFINITY))
    return kcl_fail(s->ctx, KCL_INPUT, "the right-hand side is not finite");
  if (r.norm_b == 0) { /* x = 0 is the answer, whatever the guess */
    memset(x, 0, (size_t)s->A->cols * kcl_type_size(s->A->type));
    report->converged = true;
    return KCL_OK;
  }
  r.scale = ldexp(1, r.norm_b < 1e-300 ? 997 : -ilogb(r.norm_b) - 1); /* finite below 2^-1022 too */
  r.target =
      0.999 * fmax(tol * r.norm_b, o->atol) * r.scale; /* a hair below: the host's sums differ */
  int rc = solve_nonzero(&r, b, x);
  return rc ? rc : certify(&r, b, x);
}
