/* The error of a computed product, or its difference from another, against the rounding bound, row by row.
 *
 * The bound: |y_i - z_i| <= (k + 2) c u (|A| |x|)_i, k the length of row i, u the unit roundoff of the arithmetic, c = 1, or
 * 2 sqrt 2 for complex numbers. The sum of k products in any order has an error of at most k u (|A| |x|)_i (Jeannerod & Rump
 * 2013; Higham 2002, 3.1, to first order). Rounding A and x to single adds 2 u. In double they are as given, and the
 * compensated reference z adds its last rounding, u. A part of a complex sum is a real sum of 2 k products: 2 k u, and in
 * modulus sqrt 2 times that (Higham 2002, 3.6). In single, the rounding of the reference and terms in u^2 are left out:
 * 2e-7 of the bound. Padding, and scaling by powers of two, round nothing. Two computed products differ by at most the
 * sum of their bounds.
 */
#include "solver/solver.h"
#include <complex.h>

typedef struct checking {
  const kcl_csr *A;
  kcl_type arithmetic;        /* that y was computed in */
  const double *x, *y, *with; /* y is compared with `with` */
  kcl_type wide;              /* of x, y and with */
} checking;

/* c u */
static double unit(kcl_type arithmetic) {
  const bool single = arithmetic == KCL_S || arithmetic == KCL_C;
  return (single ? FLT_EPSILON : DBL_EPSILON) / 2 *
         (kcl_type_complex(arithmetic) ? 2 * sqrt(2) : 1);
}

double kcl_product_bound(const kcl_csr *A, kcl_type arithmetic, const double *x, int64_t i) {
  const kcl_type wide = kcl_wide_type(A->type);
  double sum = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    sum += kcl_abs(A->type, A->val, k) * kcl_abs(wide, x, A->col[k]);
  return (double)(A->row_ptr[i + 1] - A->row_ptr[i] + 2) * unit(arithmetic) * sum;
}

static bool same_part(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* 0 where both are the same infinity, or both NaN. */
static double row_error(const checking *c, int64_t i) {
  double a[2], b[2];
  kcl_element(c->wide, c->y, i, a), kcl_element(c->wide, c->with, i, b);
  if (same_part(a[0], b[0]) && same_part(a[1], b[1])) return 0;
  double error = hypot(a[0] - b[0], a[1] - b[1]);
  return isnan(error) ? INFINITY : error;
}

/* NaN: the bound is infinite because A or x is. */
static double ratio_of(double error, double bound) {
  if (error == 0) return 0;
  return bound < INFINITY && error < INFINITY ? error / bound : INFINITY;
}

typedef struct update { /* z = alpha A x + beta y0 */
  double complex alpha, beta;
  const double *y0; /* not read where beta is 0 */
} update;

static double complex number_of_row(kcl_type wide, const double *v, int64_t i) {
  double parts[2];
  double complex z;
  kcl_element(wide, v, i, parts);
  memcpy(&z, parts, sizeof z);
  return z;
}

/* z_i becomes alpha z_i + beta y0_i; returns what these roundings add to the bound, for c u = 1. Both products and the sum are
 * rounded once: 2 c u (|alpha z| + |beta y0|), with 2 c u >= (c + 1) u. */
static double apply_update(const update *u, kcl_type wide, double *z, int64_t i) {
  const double complex p = u->alpha == 0 ? 0 : u->alpha * number_of_row(wide, z, i),
                       q = u->beta == 0 ? 0 : u->beta * number_of_row(wide, u->y0, i), sum = p + q;
  kcl_set_element(wide, z, i, (double[]){creal(sum), cimag(sum)});
  return u->alpha == 1 && u->beta == 0 ? 0 : 2 * (cabs(p) + cabs(q));
}

/* Updates z_i and returns the bound of y_i. */
static double update_row(const checking *c, const update *u, double *z, int64_t i) {
  const double more = apply_update(u, c->wide, z, i) * unit(c->arithmetic),
               product = u->alpha == 0 ? 0 : kcl_product_bound(c->A, c->arithmetic, c->x, i);
  return cabs(u->alpha) * product + more;
}

static void add_difference(kcl_product_difference *out, int64_t i, double difference,
                           double bound) {
  const double ratio = ratio_of(difference, bound);
  if (ratio > out->ratio)
    out->ratio = ratio, out->row = i, out->difference = difference, out->bound = bound;
  if (difference > out->largest) out->largest = difference, out->largest_row = i;
  out->beyond += ratio > 1;
}

/* Compares all rows of y with `other`, within twice the bound; NULL: with the exact product, within the bound. */
static int compare_product_rows(kcl_context *ctx, checking *c, const update *u, const double *other,
                                kcl_product_difference *out) {
  double *z;
  KCL_CALL(kcl_alloc(ctx, c->A->rows, kcl_type_size(c->wide), "a product", (void **)&z));
  kcl_csr_product(c->A, c->x, NULL, z);
  c->with = other ? other : z;
  out->ratio = c->A->rows ? -1 : 0;
  for (int64_t i = 0; i < c->A->rows; i++) {
    const double bound = (other ? 2 : 1) * update_row(c, u, z, i);
    add_difference(out, i, row_error(c, i), bound);
  }
  free(z);
  return KCL_OK;
}

/* Checks the arguments and compares. other NULL: with the exact product. */
static int compare_update(kcl_context *ctx, checking *c, const double *alpha, const double *beta,
                          const double *y0, const double *other, kcl_product_difference *out) {
  int rc;
  if ((rc = kcl_csr_need(ctx, c->A)) || (rc = kcl_type_check(ctx, "arithmetic", c->arithmetic)))
    return rc;
  if ((rc = kcl_need(ctx, "x", c->x)) || (rc = kcl_need(ctx, "y", c->y)) ||
      (rc = kcl_need(ctx, "alpha", alpha)) || (rc = kcl_need(ctx, "beta", beta)))
    return rc;
  c->wide = kcl_wide_type(c->A->type);
  const update u = {number_of_row(c->wide, alpha, 0), number_of_row(c->wide, beta, 0), y0};
  if (u.beta != 0) KCL_CALL(kcl_need(ctx, "y0", y0));
  return compare_product_rows(ctx, c, &u, other, out);
}

int kcl_product_compare(kcl_context *ctx, const kcl_csr *A, kcl_type arithmetic,
                        const double *alpha, const double *x, const double *beta, const double *y0,
                        const double *y, const double *other, kcl_product_difference *out) {
  checking c = {.A = A, .arithmetic = arithmetic, .x = x, .y = y};
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_product_difference){0};
  KCL_CALL(kcl_need(ctx, "other", other));
  return compare_update(ctx, &c, alpha, beta, y0, other, out);
}

int kcl_update_check(kcl_context *ctx, const kcl_csr *A, kcl_type arithmetic, const double *alpha,
                     const double *x, const double *beta, const double *y0, const double *y,
                     kcl_product_error *out) {
  checking c = {.A = A, .arithmetic = arithmetic, .x = x, .y = y};
  kcl_product_difference d = {0};
  KCL_CALL(kcl_need(ctx, "out", out));
  const int rc = compare_update(ctx, &c, alpha, beta, y0, NULL, &d);
  *out = (kcl_product_error){d.ratio, d.row, d.difference, d.bound};
  return rc;
}

int kcl_product_check(kcl_context *ctx, const kcl_csr *A, kcl_type arithmetic, const double *x,
                      const double *y, kcl_product_error *out) {
  static const double one[2] = {1, 0}, zero[2] = {0, 0};
  return kcl_update_check(ctx, A, arithmetic, one, x, zero, NULL, y, out);
}
