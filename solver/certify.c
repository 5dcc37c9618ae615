/* The certificate of an answer: how well does x solve A x = b?
 *
 *   relative residual  |b - A x|_2 / |b|_2
 *   backward error     |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf)      (Rigal & Gaches 1967)
 *
 * The residual comes from kcl_csr_product (compensated sums), so it is trustworthy to about the
 * square of the unit roundoff, far below what any solver can claim. Cost: one product on the host. */
#include "core/impl.h"
#include <math.h>
#include <stdlib.h>

/* Largest modulus; NaN as soon as one element is. */
static double norm_inf(kcl_type t, const double *v, int64_t n) {
  double m = 0;
  for (int64_t i = 0; i < n; i++) {
    double a = kcl_abs(t, v, i);
    if (a > m || isnan(a)) m = a;
  }
  return m;
}

/* 2-norm of n elements, scaled by m = norm_inf: no square underflows that matters or overflows. */
static double norm_2(kcl_type t, const double *v, int64_t n, double m) {
  if (m == 0 || !isfinite(m)) return m;
  int64_t reals = kcl_type_complex(t) ? 2 * n : n;
  double sum = 0, unit = ldexp(1, m < 1e-300 ? 997 : -ilogb(m));
  for (int64_t i = 0; i < reals; i++) sum += v[i] * unit * (v[i] * unit);
  return sqrt(sum) / unit;
}

static double matrix_norm_inf(const kcl_csr *A) {
  double m = 0;
#pragma omp parallel for schedule(static) reduction(max : m) if (A->nnz > 20000)
  for (int64_t i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) sum += kcl_abs(A->type, A->val, k);
    if (sum > m) m = sum;
  }
  return m;
}

/* a / b, where nothing of nothing is nothing and something of nothing is infinite. */
static double ratio(double a, double b) { return b != 0 ? a / b : a == 0 ? 0 : a / b; }

int kcl_certify(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                kcl_certificate *out) {
  kcl_type t = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  double *r = NULL;
  int rc = kcl_alloc(ctx, A->rows, kcl_type_size(t), "the residual", (void **)&r);
  if (rc) return rc;
  kcl_csr_product(A, x, b, r); /* r = b - A x */
  double r_inf = norm_inf(t, r, A->rows), b_inf = norm_inf(t, b, A->rows),
         x_inf = norm_inf(t, x, A->cols);
  *out = (kcl_certificate){.norm_b = norm_2(t, b, A->rows, b_inf),
                           .norm_x = norm_2(t, x, A->cols, x_inf)};
  out->relative_residual = ratio(norm_2(t, r, A->rows, r_inf), out->norm_b);
  out->backward_error = ratio(r_inf, matrix_norm_inf(A) * x_inf + b_inf);
  free(r);
  return KCL_OK;
}
