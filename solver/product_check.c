/* The error of a computed product against its rounding bound, row by row.
 *
 * The bound: |y_i - z_i| <= (k + 2) c u (|A| |x|)_i, k the length of row i, u the unit roundoff of the arithmetic, c = 1, or
 * 2 sqrt 2 for complex numbers. The sum of k products in any order has an error of at most k u (|A| |x|)_i (Jeannerod & Rump
 * 2013; Higham 2002, 3.1, to first order). Rounding A and x to single adds 2 u. In double they are as given, and the
 * compensated reference z adds its last rounding, u. A part of a complex sum is a real sum of 2 k products: 2 k u, and in
 * modulus sqrt 2 times that (Higham 2002, 3.6). In single, the rounding of the reference and terms in u^2 are left out:
 * 2e-7 of the bound. Padding, and scaling by powers of two, round nothing.
 */
#include "solver/solver.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct checking {
  const kcl_csr *A;
  const double *x, *y, *z; /* y is compared with z = A x */
  kcl_type wide;           /* of x, y and z */
} checking;

double kcl_product_bound(const kcl_csr *A, kcl_type arithmetic, const double *x, int64_t i) {
  const kcl_type wide = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  const bool single = arithmetic == KCL_S || arithmetic == KCL_C;
  const double u = (single ? FLT_EPSILON : DBL_EPSILON) / 2,
               c = kcl_type_complex(arithmetic) ? 2 * sqrt(2) : 1;
  double sum = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    sum += kcl_abs(A->type, A->val, k) * kcl_abs(wide, x, A->col[k]);
  return (double)(A->row_ptr[i + 1] - A->row_ptr[i] + 2) * c * u * sum;
}

static bool same_part(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* 0 where both are the same infinity, or both NaN. */
static double row_error(const checking *c, int64_t i) {
  double a[2], b[2];
  kcl_element(c->wide, c->y, i, a), kcl_element(c->wide, c->z, i, b);
  if (same_part(a[0], b[0]) && same_part(a[1], b[1])) return 0;
  double error = hypot(a[0] - b[0], a[1] - b[1]);
  return isnan(error) ? INFINITY : error;
}

/* NaN: the bound is infinite because A or x is. */
static double ratio_of(double error, double bound) {
  if (error == 0) return 0;
  return bound < INFINITY && error < INFINITY ? error / bound : INFINITY;
}

static int check_arguments(kcl *ctx, const kcl_csr *A, kcl_type arithmetic, const double *x,
                           const double *y, kcl_product_error *out) {
  int rc;
  if ((rc = kcl_need(ctx, "out", out))) return rc;
  *out = (kcl_product_error){0};
  if ((rc = kcl_csr_need(ctx, A)) || (rc = kcl_type_check(ctx, "arithmetic", arithmetic)))
    return rc;
  if ((rc = kcl_need(ctx, "x", x)) || (rc = kcl_need(ctx, "y", y))) return rc;
  return KCL_OK;
}

int kcl_product_check(kcl *ctx, const kcl_csr *A, kcl_type arithmetic, const double *x,
                      const double *y, kcl_product_error *out) {
  int rc = check_arguments(ctx, A, arithmetic, x, y, out);
  if (rc) return rc;
  checking c = {.A = A, .x = x, .y = y, .wide = kcl_type_complex(A->type) ? KCL_Z : KCL_D};
  double *z;
  if ((rc = kcl_alloc(ctx, A->rows, kcl_type_size(c.wide), "a product", (void **)&z))) return rc;
  kcl_csr_product(A, x, NULL, z);
  c.z = z;
  out->ratio = -1;
  for (int64_t i = 0; i < A->rows; i++) {
    const double error = row_error(&c, i), bound = kcl_product_bound(A, arithmetic, x, i),
                 ratio = ratio_of(error, bound);
    if (ratio > out->ratio) *out = (kcl_product_error){ratio, i, error, bound};
  }
  if (!A->rows) out->ratio = 0;
  free(z);
  return KCL_OK;
}
