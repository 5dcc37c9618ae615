/* kcl_solve and kcl_solve_columns: right-hand sides to the device, so many at a time, rounds of iterations
 * there (solver/rounds.c), answers back, and what they are worth.
 *
 * b and x are scaled by a power of two so that 1/2 <= |b| < 1: exact, and squares of tiny norms
 * do not vanish in single precision. What is reported is recomputed on the host, in double and with
 * compensated sums, column by column.
 */
#include "solver/rounds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int certify(const kcl_solver *s, const kcl_column *k) {
  const kcl_csr *A = s->A;
  kcl_report *report = k->report;
  bool least = s->method->least_squares;
  double *b_own = NULL, *x_own = NULL;
  const double *bd, *xd;
  kcl_certificate c;
  int rc;
  KCL_TRY(in_double(s->ctx, A->type, k->b, A->rows, &b_own, &bd));
  KCL_TRY(in_double(s->ctx, A->type, k->x, A->cols, &x_own, &xd));
  KCL_TRY((least ? kcl_certify_least_squares : kcl_certify)(s->ctx, A, bd, xd, &c));
  report->normal_residual = c.normal_residual;
  report->true_relative_residual = c.relative_residual;
  report->backward_error = c.backward_error;
  double allowed = k->target / 0.999 * kcl_unit(k);
  if (report->reason == KCL_CONVERGED && !(c.relative_residual <= allowed)) {
    report->least_squares = least && c.normal_residual <= allowed;
    if (!report->least_squares) report->reason = KCL_STAGNATED;
  }
  /* The device saw its own rounding above the target: what counts is this residual. */
  if (report->reason == KCL_STAGNATED && c.relative_residual <= allowed)
    report->reason = KCL_CONVERGED;
  report->converged = report->reason == KCL_CONVERGED;
done:
  free(b_own), free(x_own);
  return rc;
}

/* ---------------------------------------------------------------- a solve */

/* n steps would do without rounding; with it some take ten times as many, or more. */
static int64_t default_limit(int64_t n) {
  int64_t limit = 10 * n;
  return limit < 10000 ? 10000 : limit > 100000 ? 100000 : limit;
}

static int put_columns(kcl_rounds *r) {
  const kcl_program *k = r->s->program;
  kcl_type type = r->s->A->type;
  int rc = KCL_OK;
  for (int i = 0; i < r->columns && !rc; i++) {
    const kcl_column *c = &r->column[i];
    if (!c->active) continue;
    rc = r->ex->put(r->ex, k->b, i, type, c->b, c->scale);
    if (!rc) rc = r->ex->put(r->ex, k->x, i, type, c->x, c->scale);
  }
  return rc ? rc : r->ex->finish(r->ex);
}

static int get_columns(kcl_rounds *r) {
  const kcl_program *k = r->s->program;
  int rc = KCL_OK;
  for (int i = 0; i < r->columns && !rc; i++) {
    const kcl_column *c = &r->column[i];
    if (c->norm_b > 0) rc = r->ex->get(r->ex, k->x, i, r->s->A->type, c->x, 1 / c->scale);
  }
  return rc;
}

/* What was shared, in equal parts; an iteration's numbers are the mean over all columns. */
static void share(kcl_rounds *r, double upload, double solve, double download) {
  int nonzero = 0;
  int64_t all = 0;
  for (int i = 0; i < r->columns; i++)
    nonzero += r->column[i].norm_b > 0, all += r->head[i].iteration;
  double matrix = kcl_iteration_bytes(r->s, 0), vectors = kcl_iteration_bytes(r->s, 1) - matrix;
  for (int i = 0; i < r->columns; i++) {
    kcl_report *report = r->column[i].report;
    if (r->column[i].norm_b == 0) continue;
    report->seconds_upload = upload / nonzero;
    report->seconds_solve = solve / nonzero;
    report->seconds_download = download / nonzero;
    if (!report->iterations) continue;
    report->seconds_per_iteration = solve / (double)all;
    report->bytes_per_iteration = matrix * (double)r->shared / (double)all + vectors;
  }
}

static int solve_nonzero(kcl_rounds *r) {
  int rc;
  double t0 = kcl_now();
  if ((rc = put_columns(r))) return rc;
  const double start = r->start = kcl_now(); /* r->start leaves out what is no iteration */
  bool mixed = kcl_mixed_inner(r->s) != NULL;
  if ((rc = mixed ? kcl_mixed_run(r) : kcl_rounds_run(r))) return rc;
  double t1 = kcl_now();
  if ((rc = get_columns(r))) return rc;
  share(r, start - t0, t1 - r->start, kcl_now() - t1);
  if (mixed) kcl_mixed_report(r);
  for (int i = 0; i < r->columns && r->s->program->has_ritz && !r->changed && !mixed; i++) {
    const kcl_column *c = &r->column[i];
    kcl_report *report = c->report;
    if (c->norm_b == 0) continue;
    kcl_ritz(c->history->log, c->lanczos ? c->lanczos : c->history->size, &report->ritz_min,
             &report->ritz_max);
    if (report->ritz_min > 0) report->condition_estimate = report->ritz_max / report->ritz_min;
  }
  return KCL_OK;
}

/* x = 0 is the answer to b = 0, whatever the guess. */
static void begin_column(const kcl_solver *s, kcl_column *c) {
  const kcl_options *o = &s->options;
  bool single = o->precision == KCL_S || o->precision == KCL_C;
  double tol = o->tol < 0 ? (single ? 1e-5 : 1e-8) : o->tol;
  c->norm_b = kcl_norm2(s->A->type, c->b, s->A->rows);
  c->active = c->norm_b > 0;
  *c->report = (kcl_report){.bytes_per_iteration = kcl_iteration_bytes(s, 1),
                            .converged = !c->active,
                            .normal_residual = s->method->least_squares ? 0 : -1,
                            .changes = s->changes};
  if (!c->active) memset(c->x, 0, (size_t)s->A->cols * kcl_type_size(s->A->type));
  c->scale =
      ldexp(1, c->norm_b < 1e-300 ? 997 : -ilogb(c->norm_b) - 1); /* finite below 2^-1022 too */
  c->target =
      0.999 * fmax(tol * c->norm_b, o->atol) * c->scale; /* a hair below: the host's sums differ */
}

/* As many columns as the program has, or fewer. */
static int solve_block(kcl_solver *s, int columns, const kcl_column *list) {
  int64_t limit = s->options.max_iter ? s->options.max_iter : default_limit(kcl_longer(s->A));
  kcl_rounds r = {.s = s,
                  .ex = &s->executor,
                  .columns = columns,
                  .max_iter = limit < INT32_MAX ? limit : INT32_MAX - 1};
  bool any = false;
  int rc = KCL_OK;
  for (int c = 0; c < KCL_MOST_COLUMNS; c++)
    r.head[c] = (kcl_head){.stop = 1, .limit = (int32_t)r.max_iter};
  for (int c = 0; c < columns; c++) {
    r.column[c] = list[c];
    begin_column(s, &r.column[c]);
    any = any || r.column[c].active;
  }
  if (any) rc = solve_nonzero(&r);
  bool all = any;
  double seconds = 0;
  for (int c = 0; c < columns && !rc; c++)
    if (r.column[c].norm_b > 0) {
      rc = certify(s, &r.column[c]);
      all = all && r.column[c].report->converged;
      seconds += r.column[c].report->seconds_solve;
    }
  if (!rc && all && !kcl_mixed_inner(s)) kcl_choose_done(s, r.shared, seconds);
  return rc;
}

static int check_finite(const kcl_solver *s, int64_t k, const char *B, size_t size) {
  for (int64_t j = 0; j < k; j++) {
    if (kcl_norm2(s->A->type, B + (size_t)j * size, s->A->rows) < INFINITY) continue;
    if (k == 1) return kcl_fail(s->ctx, KCL_INPUT, "the right-hand side is not finite");
    return kcl_fail(s->ctx, KCL_INPUT, "column %lld of the right-hand side is not finite",
                    (long long)j + 1);
  }
  return KCL_OK;
}

int kcl_solve_columns(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *reports) {
  size_t b_size = (size_t)s->A->rows * kcl_type_size(s->A->type),
         x_size = (size_t)s->A->cols * kcl_type_size(s->A->type);
  int at_once = s->program->columns;
  if (reports && k > 0) memset(reports, 0, (size_t)k * sizeof *reports);
  int rc = k < 1 ? kcl_fail(s->ctx, KCL_USAGE, "%lld right-hand sides: at least 1", (long long)k)
                 : check_finite(s, k, B, b_size);
  if (!rc) rc = kcl_histories_create(s, k);
  s->changes[0] = 0;
  for (int64_t j = 0; j < k && !rc; j += at_once) {
    kcl_column list[KCL_MOST_COLUMNS] = {{0}};
    kcl_report unasked[KCL_MOST_COLUMNS];
    int columns = k - j < at_once ? (int)(k - j) : at_once;
    for (int c = 0; c < columns; c++)
      list[c] = (kcl_column){.b = (const char *)B + (size_t)(j + c) * b_size,
                             .x = (char *)X + (size_t)(j + c) * x_size,
                             .report = reports ? &reports[j + c] : &unasked[c],
                             .history = &s->history[j + c]};
    rc = solve_block(s, columns, list);
  }
  return rc;
}

int kcl_solve(kcl_solver *s, const void *b, void *x, kcl_report *report) {
  return kcl_solve_columns(s, 1, b, x, report);
}
