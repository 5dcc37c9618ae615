/* Direct solutions made better, and bounds of their errors, by a few solves with the same factor.
 *
 *   refinement    x += A^-1 r, r = b - A x with compensated sums, while corrections shrink to less than half
 *                 (Higham 2002, chapter 12). If they stop above rounding errors, the factor is not one of A,
 *                 and nothing is known of the error
 *   bound         |x - A^-1 b|_inf <= | |A^-1| w |_inf, w = |r| + u (|A| |x| + |b|)
 *                 (Arioli, Demmel & Duff 1989; Higham 2002, section 7.5)
 *
 * | |A^-1| w |_inf = |A^-1 diag(w)|_inf = |diag(w) A^-H|_1 is estimated by the method of Hager (1984) and
 * Higham (1988, ACM TOMS 14, algorithm 674): a lower bound, nearly always within a factor of 3. With w = 1 it is
 * |A^-1|_inf. Cost: a product and a solve per correction, at most 11 solves per estimate. */
#ifdef HAVE_CHOLMOD
#include "solver/direct/factor.h"
#include <float.h>

enum { MOST_CORRECTIONS = 10 };

/* ---------------------------------------------------------------- the norm of A^-1 diag(w) */

typedef struct estimate {
  const kcl_inverse *inverse;
  const double *w; /* [n], or NULL: 1 */
  kcl_type type;
  int64_t n;
  double *x, *y; /* [n] */
} estimate;

static void scale_by_rows(const estimate *e, double *v) {
  const int reals = kcl_type_complex(e->type) ? 2 : 1;
  for (int64_t i = 0; e->w && i < e->n; i++)
    for (int q = 0; q < reals; q++) v[reals * i + q] *= e->w[i];
}

/* y = B x, B = diag(w) A^-H */
static int apply_inverse(kcl_context *ctx, const estimate *e) {
  int rc = e->inverse->apply(ctx, e->inverse->factor, true, e->x, e->y);
  scale_by_rows(e, e->y);
  return rc;
}

/* x = B^H y, and y is lost. */
static int apply_adjoint(kcl_context *ctx, const estimate *e) {
  scale_by_rows(e, e->y);
  return e->inverse->apply(ctx, e->inverse->factor, false, e->y, e->x);
}

static double sum_abs(const estimate *e) {
  double s = 0;
  for (int64_t i = 0; i < e->n; i++) s += kcl_abs(e->type, e->y, i);
  return s;
}

/* y_i / |y_i|, and 1 for 0. */
static void signs(const estimate *e) {
  int reals = kcl_type_complex(e->type) ? 2 : 1;
  for (int64_t i = 0; i < e->n; i++) {
    double a = kcl_abs(e->type, e->y, i);
    for (int q = 0; q < reals; q++) e->y[reals * i + q] = a > 0 ? e->y[reals * i + q] / a : q == 0;
  }
}

static int64_t largest_modulus(const estimate *e) {
  int64_t j = 0;
  for (int64_t i = 1; i < e->n; i++)
    if (kcl_abs(e->type, e->x, i) > kcl_abs(e->type, e->x, j)) j = i;
  return j;
}

/* x_i = a + s_i b i / (n - 1), with alternating signs s when b is not 0. */
static void start_refinement(const estimate *e, double a, double b) {
  int reals = kcl_type_complex(e->type) ? 2 : 1;
  for (int64_t i = 0; i < e->n; i++) {
    double v = a + (e->n > 1 ? b * (double)i / (double)(e->n - 1) : 0);
    e->x[reals * i] = b != 0 && i % 2 ? -v : v;
    if (reals == 2) e->x[2 * i + 1] = 0;
  }
}

/* Climb |B x|_1 over unit vectors. */
static int climb(kcl_context *ctx, const estimate *e, double *norm) {
  int reals = kcl_type_complex(e->type) ? 2 : 1;
  int64_t last = -1;
  *norm = 0;
  start_refinement(e, 1.0 / (double)e->n, 0);
  for (int step = 0; step < 5; step++) {
    KCL_CALL(apply_inverse(ctx, e));
    double now = sum_abs(e);
    if (!(now > *norm)) break;
    *norm = now;
    signs(e);
    KCL_CALL(apply_adjoint(ctx, e));
    int64_t j = largest_modulus(e);
    if (j == last) break;
    start_refinement(e, 0, 0);
    e->x[reals * j] = 1, last = j;
  }
  return KCL_OK;
}

int kcl_inverse_norm(kcl_context *ctx, const kcl_inverse *inverse, kcl_type t, int64_t n,
                     const double *w, double *norm) {
  KCL_OWNED void *x = NULL, *y = NULL;
  KCL_CALL(kcl_alloc(ctx, n, kcl_type_size(t), "the condition estimate", &x));
  KCL_CALL(kcl_alloc(ctx, n, kcl_type_size(t), "the condition estimate", &y));
  estimate e = {.inverse = inverse, .w = w, .type = t, .n = n, .x = x, .y = y};
  KCL_CALL(climb(ctx, &e, norm));
  start_refinement(&e, 1, 1);
  KCL_CALL(apply_inverse(ctx, &e));
  *norm = fmax(*norm, 2 * sum_abs(&e) / (3 * (double)n));
  return KCL_OK;
}

/* ---------------------------------------------------------------- refinement and bound */

static void add_correction(kcl_type t, double *x, const double *c, int64_t n) {
  for (int64_t i = 0; i < n * (kcl_type_complex(t) ? 2 : 1); i++) x[i] += c[i];
}

/* Corrections that no longer shrink are rounding errors of x where the factor is good: at most 2 u |x|_inf, more by the norm
 * of complex numbers. */
static const double ROUNDING = 8 * (DBL_EPSILON / 2);

int kcl_refine(kcl_context *ctx, const kcl_csr *A, const kcl_inverse *inverse, const double *b,
               double *x, kcl_direct_info *info) {
  KCL_OWNED double *r = NULL, *c = NULL;
  double last = kcl_norm_inf(A->type, x, A->cols);
  info->corrections = 0, info->error = 0;
  KCL_CALL(kcl_alloc(ctx, A->rows, kcl_type_size(A->type), "a residual", (void **)&r));
  KCL_CALL(kcl_alloc(ctx, A->cols, kcl_type_size(A->type), "a correction", (void **)&c));
  while (info->corrections < MOST_CORRECTIONS) {
    kcl_csr_product(A, x, b, r);
    KCL_CALL(inverse->apply(ctx, inverse->factor, false, r, c));
    const double size = kcl_norm_inf(A->type, c, A->cols);
    if (!(size < last / 2)) {
      if (!(size <= ROUNDING * kcl_norm_inf(A->type, x, A->cols))) info->error = INFINITY;
      break;
    }
    add_correction(A->type, x, c, A->cols);
    info->corrections++, last = size;
    if (size <= DBL_EPSILON / 2 * kcl_norm_inf(A->type, x, A->cols)) break;
  }
  return KCL_OK;
}

/* w = |b - A x| + u (|A| |x| + |b|); r [rows] is scratch. */
static void weigh_rows(const kcl_csr *A, const double *b, const double *x, double *r, double *w) {
  kcl_csr_product(A, x, b, r);
  for (int64_t i = 0; i < A->rows; i++) {
    double sizes = kcl_abs(A->type, b, i);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      sizes += kcl_abs(A->type, A->val, k) * kcl_abs(A->type, x, A->col[k]);
    w[i] = kcl_abs(A->type, r, i) + DBL_EPSILON / 2 * sizes;
  }
}

int kcl_direct_error(kcl_context *ctx, const kcl_csr *A, const kcl_inverse *inverse,
                     const double *b, const double *x, double *error) {
  KCL_OWNED double *r = NULL, *w = NULL;
  double norm;
  KCL_CALL(kcl_alloc(ctx, A->rows, kcl_type_size(A->type), "a residual", (void **)&r));
  KCL_CALL(kcl_alloc(ctx, A->rows, sizeof *w, "the error bound", (void **)&w));
  weigh_rows(A, b, x, r, w);
  KCL_CALL(kcl_inverse_norm(ctx, inverse, A->type, A->rows, w, &norm));
  *error = kcl_ratio(norm, kcl_norm_inf(A->type, x, A->cols));
  return KCL_OK;
}
#endif
