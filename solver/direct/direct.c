/* A direct solution to compare with, its error and the condition number of the system: by a factorisation
 * (solver/direct/factor.c) and what refines and bounds with it (solver/direct/refine.c). Needs SuiteSparse.
 * Rectangular and singular systems: solver/direct/qr.c. */
#include "core/base/context.h"
#include "solver/direct/factor.h"

bool kcl_direct_available(void) {
#ifdef HAVE_CHOLMOD
  return true;
#else
  return false;
#endif
}

/* Seconds per row and per entry of an analysis (AMD, Amestoy, Davis & Duff 1996), fitted like those below. */
static const double ROW = 1e-6, ENTRY = 5e-8;

double kcl_direct_predict_seconds(const kcl_csr *A) {
  return ROW * (double)A->rows + ENTRY * (double)A->nnz;
}

#ifndef HAVE_CHOLMOD
void kcl_direct_factor_free(kcl_direct_factor **f) { (void)f; }

int kcl_direct_predict(kcl_context *ctx, const kcl_csr *A, bool definite, double flops,
                       double *seconds) {
  (void)ctx, (void)A, (void)definite, (void)flops;
  *seconds = INFINITY;
  return KCL_OK;
}

int kcl_direct_many(kcl_context *ctx, const kcl_csr *A, const kcl_direct_task *t,
                    kcl_direct_info *info) {
  (void)A, (void)t;
  *info = (kcl_direct_info){.method = "none", .rank = -1, .error = -1};
  return kcl_fail(ctx, KCL_USAGE,
                  "checking by a direct solution is not part of this build: install SuiteSparse "
                  "(CHOLMOD and UMFPACK with their headers) and build again");
}
#else

/* Seconds per number of L, and operations per second with one thread of OpenBLAS on a CPU of 2021: within a factor of 1.6 for 16 of 19
 * systems, 4 ms to 0.7 s (docs/lab/2026-11-29-first-solves-on-the-cpu.md). SWEEPS: seconds per row for both triangular solves; CHECKS: per entry
 * of A for its copies, statistics and residuals. */
static const double NUMBER = 3.5e-8, RATE = 2.5e10, SWEEPS = 5e-7, CHECKS = 4e-8;
static const double START = 3e-3; /* first calls of the libraries, and a thread of its own */

int kcl_direct_predict(kcl_context *ctx, const kcl_csr *A, bool definite, double flops,
                       double *seconds) {
  kcl_factor_cost cost;
  int rc = kcl_factor_predict(ctx, A, definite, &cost);
  *seconds = INFINITY;
  if (rc || !(cost.flops <= flops)) return rc;
  *seconds = START + NUMBER * cost.entries + cost.flops / RATE + kcl_direct_predict_seconds(A) +
             SWEEPS * (double)A->rows + CHECKS * (double)A->nnz;
  return rc;
}

static bool all_finite(kcl_type t, const double *v, int64_t n) {
  bool good = true;
  for (int64_t i = 0; i < n * (kcl_type_complex(t) ? 2 : 1); i++) good = good && isfinite(v[i]);
  return good;
}

static int check_direct(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x) {
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_need(ctx, "b", b));
  KCL_CALL(kcl_need(ctx, "x", x));
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
static int check_solution(kcl_context *ctx, kcl_type t, const double *x, int64_t n) {
  if (kcl_norm2(t, x, n) < INFINITY) return KCL_OK;
  return kcl_fail(ctx, KCL_INPUT, "the direct solution is not finite");
}

/* The factorisations in the order in which they are tried; "direct" is the first. */
static const char *const methods[] = {"cholmod", "umfpack", "spqr"};
enum { CHOLMOD, UMFPACK, SPQR, METHODS };

static int first_method(const char *name) {
  int i = 0;
  if (!name || strcmp(name, "direct") == 0) return 0;
  while (i < METHODS && strcmp(name, methods[i])) i++;
  return i;
}

static void release_square(void *factor) {
  kcl_factor *f = factor;
  kcl_factor_free(&f);
}

static int norm_of_square(kcl_context *ctx, const kcl_inverse *inverse, const kcl_csr *A,
                          double *norm) {
  return kcl_inverse_norm(ctx, inverse, A->type, A->rows, NULL, norm);
}

static int factor_square(kcl_context *ctx, const kcl_csr *A, double flops, bool cholesky,
                         kcl_direct_factor **out) {
  KCL_OWNED_BY(kcl_factor_free) kcl_factor *f = NULL;
  kcl_stats s;
  KCL_CALL(kcl_csr_stats(ctx, A, &s));
  KCL_CALL(kcl_factor_create(ctx, A, cholesky && s.hermitian && s.positive_diagonal, flops, &f));
  KCL_CALL(kcl_alloc(ctx, 1, sizeof **out, "a factorisation", (void **)out));
  **out = (kcl_direct_factor){.inverse = {kcl_factor_solve, f},
                              .release = release_square,
                              .inverse_norm = norm_of_square,
                              .method = kcl_factor_method(f),
                              .norm = s.norm_inf,
                              .rank = -1};
  f = NULL;
  return KCL_OK;
}

void kcl_direct_factor_free(kcl_direct_factor **f) {
  if (*f) (*f)->release((*f)->inverse.factor);
  free(*f), *f = NULL;
}

/* The right-hand sides, and where they are refined the condition number and a bound of the error of the last. */
static int solve_by_factor(kcl_context *ctx, const kcl_csr *A, const kcl_direct_factor *f,
                           const kcl_direct_task *t, kcl_direct_info *info) {
  const kcl_inverse *inverse = &f->inverse;
  const double begin = kcl_now();
  info->method = f->method, info->rank = f->rank, info->least_norm = f->least_norm;
  for (int i = 0; i < t->k; i++) {
    KCL_CALL(inverse->apply(ctx, inverse->factor, false, t->b[i], t->x[i]));
    if (f->rank < 0) KCL_CALL(check_solution(ctx, A->type, t->x[i], A->cols));
    if (t->refine) KCL_CALL(kcl_refine(ctx, A, inverse, t->b[i], t->x[i], info));
  }
  info->seconds += kcl_now() - begin;
  if (f->rank >= 0) info->error = -1;
  if (!t->refine) return KCL_OK;
  KCL_CALL(f->inverse_norm(ctx, inverse, A, &info->condition));
  info->condition *= f->norm;
  if (f->rank >= 0 || info->error == INFINITY) return KCL_OK;
  return kcl_direct_error(ctx, A, inverse, t->b[t->k - 1], t->x[t->k - 1], &info->error);
}

/* By the method, or least squares: that is all there is for other shapes. */
static int factor_and_solve(kcl_context *ctx, const kcl_csr *A, const kcl_direct_task *t,
                            int method, kcl_direct_factor **f, kcl_direct_info *info) {
  const double begin = kcl_now();
  int rc = method < SPQR ? factor_square(ctx, A, t->flops, method == CHOLMOD, f)
                         : kcl_qr_create(ctx, A, t->flops, f);
  *info = (kcl_direct_info){.method = "none", .rank = -1, .error = -1};
  info->seconds = kcl_now() - begin;
  if (!rc) rc = solve_by_factor(ctx, A, *f, t, info);
  if (rc) kcl_direct_factor_free(f);
  return rc;
}

/* CHOLMOD's own team has so many threads, whatever it is told. */
enum { TEAM = 4 };

/* A square matrix that turns out to be singular is solved as least squares. The BLAS has the threads of the context at most. */
int kcl_direct_many(kcl_context *ctx, const kcl_csr *A, const kcl_direct_task *t,
                    kcl_direct_info *info) {
  const int first = first_method(t->method);
  KCL_OWNED_BY(kcl_direct_factor_free) kcl_direct_factor *own = NULL;
  kcl_direct_factor **f = t->kept ? t->kept : &own;
  *info = (kcl_direct_info){.method = "none", .rank = -1, .error = -1};
  KCL_CALL(check_direct(ctx, A, t->b[0], t->x[0]));
  if (first == METHODS)
    return kcl_fail(ctx, KCL_USAGE, "unknown direct method '%s': direct, cholmod, umfpack, spqr",
                    t->method);
  const int method = A->rows == A->cols ? first : SPQR;
  const int threads = kcl_direct_threads(ctx);
  const int before = kcl_blas_threads(threads), levels = kcl_openmp_levels(threads < TEAM ? 0 : -1);
  int rc = *f ? solve_by_factor(ctx, A, *f, t, info) : factor_and_solve(ctx, A, t, method, f, info);
  if (rc == KCL_INPUT && method < SPQR && kcl_direct_least_squares()) {
    kcl_direct_factor_free(f);
    rc = factor_and_solve(ctx, A, t, SPQR, f, info);
  }
  kcl_openmp_levels(levels), kcl_blas_threads(before);
  return rc;
}
#endif

int kcl_direct(kcl_context *ctx, const kcl_csr *A, const double *b, double *x,
               kcl_direct_info *info) {
  KCL_CALL(kcl_need(ctx, "info", info));
  const kcl_direct_task t = {.k = 1, .b = &b, .x = &x, .flops = INFINITY, .refine = true};
  return kcl_direct_many(ctx, A, &t, info);
}
