/* A direct solution to compare with, and the condition number of the system:
 *
 *   condition = |A|_inf * estimate of |A^-1|_inf
 *
 * where |A^-1|_inf = |A^-H|_1 is estimated from a few solves with the factor by the method of
 * Hager (1984) and Higham (1988, ACM TOMS 14, algorithm 674): a lower bound, nearly always
 * within a factor of 3. Cost: one factorisation, at most 12 solves. Needs SuiteSparse. Rectangular
 * and singular systems: solver/direct/qr.c. */
#include "solver/direct/factor.h"
#include <math.h>
#include <stdlib.h>

bool kcl_direct_available(void) {
#ifdef HAVE_CHOLMOD
  return true;
#else
  return false;
#endif
}

#ifndef HAVE_CHOLMOD
int kcl_direct_many(kcl *ctx, const kcl_csr *A, const kcl_direct_task *t, kcl_direct_info *info) {
  (void)A, (void)t;
  *info = (kcl_direct_info){.method = "none", .rank = -1};
  return kcl_fail(ctx, KCL_USAGE,
                  "checking by a direct solution is not part of this build: install SuiteSparse "
                  "(CHOLMOD and UMFPACK with their headers) and build again");
}
#else

typedef struct estimate {
  kcl_factor *f;
  kcl_type type;
  int64_t n;
  double *x, *y; /* [n] */
} estimate;

static double sum_abs(kcl_type t, const double *v, int64_t n) {
  double s = 0;
  for (int64_t i = 0; i < n; i++) s += kcl_abs(t, v, i);
  return s;
}

/* y_i / |y_i|, and 1 for 0. */
static void signs(const estimate *e) {
  int w = kcl_type_complex(e->type) ? 2 : 1;
  for (int64_t i = 0; i < e->n; i++) {
    double a = kcl_abs(e->type, e->y, i);
    for (int q = 0; q < w; q++) e->y[w * i + q] = a > 0 ? e->y[w * i + q] / a : q == 0;
  }
}

static int64_t largest(const estimate *e, const double *v) {
  int64_t j = 0;
  for (int64_t i = 1; i < e->n; i++)
    if (kcl_abs(e->type, v, i) > kcl_abs(e->type, v, j)) j = i;
  return j;
}

/* x_i = a + s_i b i / (n - 1), with alternating signs s when b is not 0. */
static void start(const estimate *e, double a, double b) {
  int w = kcl_type_complex(e->type) ? 2 : 1;
  for (int64_t i = 0; i < e->n; i++) {
    double v = a + (e->n > 1 ? b * (double)i / (double)(e->n - 1) : 0);
    e->x[w * i] = b != 0 && i % 2 ? -v : v;
    if (w == 2) e->x[2 * i + 1] = 0;
  }
}

/* Climb |B x|_1 over unit vectors, B = A^-H. */
static int climb(kcl *ctx, const estimate *e, double *norm) {
  int rc = KCL_OK, w = kcl_type_complex(e->type) ? 2 : 1;
  int64_t last = -1;
  *norm = 0;
  start(e, 1.0 / (double)e->n, 0);
  for (int step = 0; step < 5; step++) {
    KCL_TRY(kcl_factor_solve(ctx, e->f, true, e->x, e->y)); /* y = B x */
    double now = sum_abs(e->type, e->y, e->n);
    if (!(now > *norm)) break;
    *norm = now;
    signs(e);
    KCL_TRY(kcl_factor_solve(ctx, e->f, false, e->y, e->x)); /* x = B^H sign(y) */
    int64_t j = largest(e, e->x);
    if (j == last) break;
    start(e, 0, 0);
    e->x[w * j] = 1, last = j;
  }
done:
  return rc;
}

static int inverse_norm(kcl *ctx, const estimate *e, double *norm) {
  int rc;
  KCL_TRY(climb(ctx, e, norm));
  start(e, 1, 1);
  KCL_TRY(kcl_factor_solve(ctx, e->f, true, e->x, e->y));
  *norm = fmax(*norm, 2 * sum_abs(e->type, e->y, e->n) / (3 * (double)e->n));
done:
  return rc;
}

static int condition(kcl *ctx, kcl_factor *f, const kcl_csr *A, double norm_A, double *out) {
  int rc;
  estimate e = {.f = f, .type = A->type, .n = A->rows};
  double norm = 0;
  KCL_TRY(kcl_alloc(ctx, e.n, kcl_type_size(e.type), "the condition estimate", (void **)&e.x));
  KCL_TRY(kcl_alloc(ctx, e.n, kcl_type_size(e.type), "the condition estimate", (void **)&e.y));
  KCL_TRY(inverse_norm(ctx, &e, &norm));
  *out = norm_A * norm;
done:
  free(e.x), free(e.y);
  return rc;
}

static bool all_finite(kcl_type t, const double *v, int64_t n) {
  bool good = true;
  for (int64_t i = 0; i < n * (kcl_type_complex(t) ? 2 : 1); i++) good = good && isfinite(v[i]);
  return good;
}

static int check(kcl *ctx, const kcl_csr *A, const double *b, const double *x) {
  int rc;
  if ((rc = kcl_csr_need(ctx, A)) || (rc = kcl_need(ctx, "b", b))) return rc;
  if ((rc = kcl_need(ctx, "x", x))) return rc;
  if (A->rows == 0 || A->cols == 0)
    return kcl_fail(ctx, KCL_INPUT, "nothing to solve: the matrix is %lld x %lld",
                    (long long)A->rows, (long long)A->cols);
  if (A->type != KCL_D && A->type != KCL_Z)
    return kcl_fail(ctx, KCL_USAGE, "a direct solution needs type d or z, not %c",
                    kcl_type_letter(A->type));
  if (!all_finite(A->type, A->val, A->nnz) || !all_finite(A->type, b, A->rows))
    return kcl_fail(ctx, KCL_INPUT, "A or b is not finite: there is no solution");
  return KCL_OK;
}

/* KCL_INPUT where a solution is not finite: A has no entry of its own that says so, but it is singular or not finite. */
static int check_solution(kcl *ctx, kcl_type t, const double *x, int64_t n) {
  if (kcl_norm2(t, x, n) < INFINITY) return KCL_OK;
  return kcl_fail(ctx, KCL_INPUT, "the direct solution is not finite");
}

static int square(kcl *ctx, const kcl_csr *A, const kcl_direct_task *t, kcl_direct_info *info) {
  int rc;
  kcl_factor *f = NULL;
  kcl_stats s;
  KCL_TRY(kcl_csr_stats(ctx, A, &s));
  double begin = kcl_now();
  KCL_TRY(kcl_factor_create(ctx, A, s.hermitian && s.positive_diagonal, t->flops, &f));
  for (int i = 0; i < t->k; i++) {
    KCL_TRY(kcl_factor_solve(ctx, f, false, t->b[i], t->x[i]));
    KCL_TRY(check_solution(ctx, A->type, t->x[i], A->cols));
  }
  info->method = kcl_factor_method(f), info->seconds = kcl_now() - begin;
  if (t->condition) KCL_TRY(condition(ctx, f, A, s.norm_inf, &info->condition));
done:
  kcl_factor_free(&f);
  return rc;
}

/* A square matrix that turns out to be singular is solved as least squares. */
int kcl_direct_many(kcl *ctx, const kcl_csr *A, const kcl_direct_task *t, kcl_direct_info *info) {
  *info = (kcl_direct_info){.method = "none", .rank = -1};
  int rc = check(ctx, A, t->b[0], t->x[0]);
  if (!rc && A->rows == A->cols) {
    rc = square(ctx, A, t, info);
    if (rc != KCL_INPUT || !kcl_direct_least_squares()) return rc;
    rc = KCL_OK;
  }
  return rc ? rc : kcl_qr_direct(ctx, A, t, info);
}
#endif

int kcl_direct(kcl *ctx, const kcl_csr *A, const double *b, double *x, kcl_direct_info *info) {
  int rc = kcl_need(ctx, "info", info);
  if (rc) return rc;
  const kcl_direct_task t = {.k = 1, .b = &b, .x = &x, .flops = INFINITY, .condition = true};
  return kcl_direct_many(ctx, A, &t, info);
}
