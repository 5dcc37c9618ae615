/* The certificate of an answer: how well does x solve A x = b?
 *
 *   relative residual  |b - A x|_2 / |b|_2
 *   backward error     |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf)      (Rigal & Gaches 1967)
 *   by rows            max_i |r_i| / (|a_i|_1 |x|_inf + |b_i|), a_i row i of A
 *   by components      max_i |r_i| / (|A| |x| + |b|)_i                  (Oettli & Prager 1964)
 *   normal residual    max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)), r = b - A x, for least squares
 *                      (solver/methods/least_squares.c says why)
 *
 * The residual comes from kcl_split_residual (compensated sums), so it is trustworthy to about the
 * square of the unit roundoff, far below what any solver can claim. Cost: one product on the host. */
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <math.h>
#include <stdlib.h>

typedef struct scaled {
  const double *v;
  double unit;
} scaled;

static double squares(const void *arg, int64_t from, int64_t to) {
  const scaled *s = arg;
  double sum = 0;
  for (int64_t i = from; i < to;) {
    double part = 0;
    for (int64_t end = i + 4096; i < end && i < to; i++)
      part += s->v[i] * s->unit * (s->v[i] * s->unit);
    sum += part;
  }
  return sum;
}

/* 2-norm of n elements, scaled by m = kcl_norm_inf: no square underflows that matters or overflows. Summed by
 * blocks: an error of (4160 + n / 262144) u, and not of n u. */
static double norm_2(kcl_type t, const double *v, int64_t n, double m) {
  if (m == 0 || !isfinite(m)) return m;
  const scaled s = {v, ldexp(1, m < 1e-300 ? 997 : -ilogb(m))};
  return sqrt(kcl_sum(kcl_type_complex(t) ? 2 * n : n, KCL_FEW, squares, &s)) / s.unit;
}

static int check(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                 kcl_certificate *out) {
  int rc;
  if ((rc = kcl_need(ctx, "out", out))) return rc;
  *out = (kcl_certificate){0};
  if ((rc = kcl_csr_need(ctx, A)) || (rc = kcl_need(ctx, "b", b))) return rc;
  return kcl_need(ctx, "x", x);
}

int kcl_certify(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                kcl_certificate *out) {
  double *r = NULL;
  int rc = check(ctx, A, b, x, out);
  if (rc) return rc;
  kcl_type t = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  rc = kcl_alloc(ctx, A->rows, kcl_type_size(t), "the residual", (void **)&r);
  if (rc) return rc;
  const double b_inf = kcl_norm_inf(t, b, A->rows), x_inf = kcl_norm_inf(t, x, A->cols);
  const kcl_row_errors worst = kcl_split_residual(A, NULL, NULL, x, x_inf, b, r);
  const double r_inf = kcl_norm_inf(t, r, A->rows);
  *out = (kcl_certificate){.norm_b = norm_2(t, b, A->rows, b_inf),
                           .norm_x = norm_2(t, x, A->cols, x_inf)};
  out->relative_residual = kcl_ratio(norm_2(t, r, A->rows, r_inf), out->norm_b);
  out->normal_residual = -1;
  out->backward_error = kcl_ratio(r_inf, worst.norm * x_inf + b_inf);
  out->rowwise_error = worst.rowwise, out->componentwise_error = worst.componentwise;
  free(r);
  return KCL_OK;
}

/* b and r are scaled alike by a power of two, so that no product overflows. */
static int normal_residual(kcl *ctx, const kcl_csr *A, const kcl_csr *AH, double *b, double *r,
                           double *out) {
  kcl_type t = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  double *s = NULL, *h = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, A->cols, kcl_type_size(t), "the residual", (void **)&s));
  KCL_TRY(kcl_alloc(ctx, A->cols, kcl_type_size(t), "the residual", (void **)&h));
  double size = kcl_norm2(t, b, A->rows);
  double unit = size > 0 && size < INFINITY ? ldexp(1, size < 1e-300 ? 997 : -ilogb(size)) : 1;
  kcl_copy(t, b, t, b, A->rows, unit), kcl_copy(t, r, t, r, A->rows, unit);
  kcl_csr_product(AH, r, NULL, s); /* s = A^H r */
  kcl_csr_product(AH, b, NULL, h); /* h = A^H b */
  double norm_s = kcl_norm2(t, s, A->cols);
  double first = kcl_ratio(norm_s, kcl_norm2(t, h, A->cols));
  double second =
      kcl_ratio(kcl_ratio(norm_s, kcl_norm2(A->type, A->val, A->nnz)), kcl_norm2(t, r, A->rows));
  *out = first > second || isnan(first) ? first : second;
done:
  free(s), free(h);
  return rc;
}

int kcl_certify_least_squares(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                              kcl_certificate *out) {
  kcl_csr *AH = NULL;
  double *r = NULL, *copy = NULL;
  int rc;
  KCL_TRY(kcl_certify(ctx, A, b, x, out));
  kcl_type t = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  KCL_TRY(kcl_csr_adjoint(ctx, A, &AH));
  KCL_TRY(kcl_alloc(ctx, A->rows, kcl_type_size(t), "the residual", (void **)&r));
  KCL_TRY(kcl_alloc(ctx, A->rows, kcl_type_size(t), "the residual", (void **)&copy));
  kcl_csr_product(A, x, b, r); /* r = b - A x */
  kcl_copy(t, copy, t, b, A->rows, 1);
  rc = normal_residual(ctx, A, AH, copy, r, &out->normal_residual);
done:
  free(r), free(copy), kcl_csr_free(&AH);
  return rc;
}

/* ---------------------------------------------------------------- of a right-hand side that was solved for */

/* A claim that does not hold is a least-squares solution or stagnation. An answer within the target, which the rounding
 * of the device hid, is convergence. */
void kcl_judge(kcl_report *report, const kcl_certificate *c, bool least, double allowed) {
  if (report->reason == KCL_CONVERGED && !(c->relative_residual <= allowed))
    report->reason = least && c->normal_residual <= allowed ? KCL_LEAST_SQUARES : KCL_STAGNATED;
  if (report->reason != KCL_INTERRUPTED && c->relative_residual <= allowed)
    report->reason = KCL_CONVERGED;
  report->converged = report->reason == KCL_CONVERGED;
  report->least_squares = report->reason == KCL_LEAST_SQUARES;
}

/* What the method tests, recomputed. */
static int tested_residual(const kcl_system *s, const kcl_rhs *v, const kcl_certificate *c,
                           double *out) {
  double given;
  int rc = KCL_OK;
  *out = c->relative_residual;
  if (s->scaling.row) rc = kcl_residual_of(s, v->b, v->x, &given, out);
  if (c->normal_residual >= 0) *out = fmin(*out, c->normal_residual);
  return rc;
}

int kcl_certify_rhs(const kcl_system *s, bool least, const kcl_rhs *v) {
  kcl *ctx = s->ctx;
  const kcl_csr *A = s->A;
  kcl_report *report = v->report;
  double *b_own = NULL, *x_own = NULL;
  const double *bd, *xd;
  kcl_certificate c;
  int rc;
  KCL_TRY(kcl_in_double(ctx, A->type, v->b, A->rows, &b_own, &bd));
  KCL_TRY(kcl_in_double(ctx, A->type, v->x, A->cols, &x_own, &xd));
  KCL_TRY((least ? kcl_certify_least_squares : kcl_certify)(ctx, A, bd, xd, &c));
  report->normal_residual = c.normal_residual;
  report->true_relative_residual = c.relative_residual;
  report->backward_error = c.backward_error;
  report->rowwise_error = c.rowwise_error, report->componentwise_error = c.componentwise_error;
  KCL_TRY(tested_residual(s, v, &c, &report->tested_residual));
  kcl_judge(report, &c, least, v->allowed);
done:
  free(b_own), free(x_own);
  return rc;
}
