/* Direct factorisations from SuiteSparse: CHOLMOD (Chen, Davis, Hager & Rajamanickam 2008) for
 * Hermitian positive definite matrices, UMFPACK (Davis 2004) for all others. Both read columns,
 * so they read our rows as M = A^T: for a Hermitian A that is conj(A). 64-bit indices throughout,
 * for factors grow far beyond the matrix. CHOLMOD's supernodal part is under the GPL: this file
 * is an optional part of the build, for checking and for systems that no method solves. */
#ifdef HAVE_CHOLMOD
#include "solver/direct/factor.h"
#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>

struct kcl_factor {
  int64_t n;
  bool complex;
  SuiteSparse_long *p, *i; /* [n + 1], [nnz] of M */
  const double *val;       /* of A, or: */
  double *half;            /* upper half of M, for CHOLMOD */
  cholmod_common common;
  cholmod_factor *L; /* NULL when LU is in use */
  void *numeric;
};

static double *conjugate_vector(double *v, int64_t n) {
  for (int64_t k = 0; k < n; k++) v[2 * k + 1] = -v[2 * k + 1];
  return v;
}

/* Is there room for what the analysis promises, and are these operations within the limit? */
static int affordable(kcl_context *ctx, const kcl_factor *f, double flops, double bytes,
                      double limit) {
  if (f->complex) flops *= 4;
  if (flops > limit || !kcl_has_memory((size_t)bytes))
    return kcl_fail(ctx, KCL_REFUSED,
                    "the direct factorisation is too large: up to %.2g floating-point operations, "
                    "%.2g GB",
                    flops, bytes * 1e-9);
  kcl_activity_begin(ctx, (kcl_activity){.what = "factorising", .flops = flops});
  return KCL_OK;
}

/* ---------------------------------------------------------------- Cholesky */

static cholmod_sparse upper(kcl_factor *f) {
  return (cholmod_sparse){.nrow = (size_t)f->n,
                          .ncol = (size_t)f->n,
                          .nzmax = (size_t)f->p[f->n],
                          .p = f->p,
                          .i = f->i,
                          .x = f->half,
                          .stype = 1,
                          .itype = CHOLMOD_LONG,
                          .xtype = f->complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

/* The lower half of A's rows is the upper half of M's columns. */
static int copy_half(kcl_context *ctx, kcl_factor *f, const kcl_csr *A) {
  size_t size = kcl_type_size(A->type), reals = size / sizeof(double);
  KCL_CALL(kcl_alloc(ctx, A->nnz, size, "half of the matrix", (void **)&f->half));
  int64_t q = 0;
  for (int64_t r = 0; r < f->n; r++) {
    for (int64_t k = A->row_ptr[r]; k < A->row_ptr[r + 1] && A->col[k] <= r; k++, q++) {
      f->i[q] = A->col[k];
      memcpy(f->half + (size_t)q * reals, (const char *)A->val + (size_t)k * size, size);
    }
    f->p[r + 1] = q;
  }
  return KCL_OK;
}

static int analyse_cholesky(kcl_context *ctx, kcl_factor *f, const kcl_csr *A, cholmod_sparse *M) {
  KCL_CALL(copy_half(ctx, f, A));
  *M = upper(f);
  f->common.supernodal = CHOLMOD_SUPERNODAL;
  kcl_activity_begin(ctx, (kcl_activity){.what = "analysis"});
  f->L = cholmod_l_analyze(M, &f->common);
  return KCL_OK;
}

/* KCL_OK with L still NULL: not positive definite. */
static int factor_cholesky(kcl_context *ctx, kcl_factor *f, const kcl_csr *A, double limit) {
  int rc;
  cholmod_sparse M;
  KCL_TRY(analyse_cholesky(ctx, f, A, &M));
  if (f->L) KCL_TRY(affordable(ctx, f, f->common.fl, f->common.lnz * (f->complex ? 16 : 8), limit));
  kcl_blas_fit(f->common.fl);
  if (f->L) cholmod_l_factorize(&M, f->L, &f->common);
  if (f->common.status == CHOLMOD_OUT_OF_MEMORY || f->common.status == CHOLMOD_TOO_LARGE)
    rc = kcl_fail(ctx, KCL_MEMORY, "out of memory: the direct factorisation is too large");
  else if (f->common.status < 0)
    rc = kcl_fail(ctx, KCL_INPUT, "CHOLMOD failed with status %d", f->common.status);
  if (f->common.status != CHOLMOD_OK) cholmod_l_free_factor(&f->L, &f->common);
done:
  free(f->half), f->half = NULL;
  return rc;
}

static int solve_cholesky(kcl_context *ctx, kcl_factor *f, const double *b, double *x) {
  int xtype = f->complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
  size_t bytes = (size_t)f->n * (f->complex ? 16 : 8);
  cholmod_dense *X = NULL,
                *B = cholmod_l_allocate_dense((size_t)f->n, 1, (size_t)f->n, xtype, &f->common);
  if (B) {
    memcpy(B->x, b, bytes);
    if (f->complex) conjugate_vector(B->x, f->n);
    X = cholmod_l_solve(CHOLMOD_A, f->L, B, &f->common);
  }
  if (X) memcpy(x, X->x, bytes);
  if (X && f->complex) conjugate_vector(x, f->n);
  int rc = X ? KCL_OK : kcl_fail(ctx, KCL_MEMORY, "out of memory in the direct solution");
  cholmod_l_free_dense(&B, &f->common);
  cholmod_l_free_dense(&X, &f->common);
  return rc;
}

/* ---------------------------------------------------------------- LU */

static int lu_status(kcl_context *ctx, int status) {
  switch (status) {
  case UMFPACK_OK: return KCL_OK;
  case UMFPACK_WARNING_singular_matrix:
    return kcl_fail(ctx, KCL_INPUT, "the matrix is singular: a direct solution does not exist");
  case UMFPACK_ERROR_out_of_memory:
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: the direct factorisation is too large");
  default: return kcl_fail(ctx, KCL_INPUT, "UMFPACK failed with status %d", status);
  }
}

/* Operations of one real LU. UMFPACK's own estimate is an upper bound over all pivots, 10 to 1,000 times too high where it
 * prefers the diagonal, for which it has the operations of a factorisation without pivoting. */
static double lu_flops(const double *info) {
  return info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC ? info[UMFPACK_SYMMETRIC_FLOPS]
                                                                   : info[UMFPACK_FLOPS_ESTIMATE];
}

static int affordable_lu(kcl_context *ctx, const kcl_factor *f, const double *info, double limit) {
  return affordable(ctx, f, lu_flops(info) / (f->complex ? 4 : 1),
                    info[UMFPACK_PEAK_MEMORY_ESTIMATE] * info[UMFPACK_SIZE_OF_UNIT], limit);
}

/* UMFPACK's status; info: its statistics. */
static int analyse_lu(kcl_context *ctx, kcl_factor *f, const kcl_csr *A, void **symbolic,
                      double *info) {
  const SuiteSparse_long n = f->n;
  for (int64_t r = 0; r <= n; r++) f->p[r] = A->row_ptr[r];
  for (int64_t k = 0; k < A->nnz; k++) f->i[k] = A->col[k];
  f->val = A->val;
  kcl_activity_begin(ctx, (kcl_activity){.what = "analysis"});
  if (f->complex)
    return (int)umfpack_zl_symbolic(n, n, f->p, f->i, f->val, NULL, symbolic, NULL, info);
  return (int)umfpack_dl_symbolic(n, n, f->p, f->i, f->val, symbolic, NULL, info);
}

static void free_symbolic(const kcl_factor *f, void **symbolic) {
  if (f->complex)
    umfpack_zl_free_symbolic(symbolic);
  else
    umfpack_dl_free_symbolic(symbolic);
}

static int lu(kcl_context *ctx, kcl_factor *f, const kcl_csr *A, double limit) {
  void *symbolic = NULL;
  double info[UMFPACK_INFO];
  int status = analyse_lu(ctx, f, A, &symbolic, info),
      rc = status ? KCL_OK : affordable_lu(ctx, f, info, limit);
  if (!status) kcl_blas_fit(lu_flops(info));
  if (!status && !rc && f->complex)
    status = (int)umfpack_zl_numeric(f->p, f->i, f->val, NULL, symbolic, &f->numeric, NULL, NULL);
  else if (!status && !rc)
    status = (int)umfpack_dl_numeric(f->p, f->i, f->val, symbolic, &f->numeric, NULL, NULL);
  free_symbolic(f, &symbolic);
  return rc ? rc : lu_status(ctx, status);
}

/* A = M^T, and A^H = conj(M): x = conj(M^-1 conj(b)). */
static int solve_lu(kcl_context *ctx, kcl_factor *f, bool adjoint, const double *b, double *x) {
  int system = adjoint ? UMFPACK_A : UMFPACK_Aat;
  if (!f->complex)
    return lu_status(
        ctx, (int)umfpack_dl_solve(system, f->p, f->i, f->val, x, b, f->numeric, NULL, NULL));
  KCL_OWNED double *c = NULL;
  KCL_CALL(kcl_alloc(ctx, f->n, 2 * sizeof *c, "the direct solution", (void **)&c));
  memcpy(c, b, (size_t)f->n * 2 * sizeof *c);
  if (adjoint) conjugate_vector(c, f->n);
  int rc = lu_status(ctx, (int)umfpack_zl_solve(system, f->p, f->i, f->val, NULL, x, NULL, c, NULL,
                                                f->numeric, NULL, NULL));
  if (adjoint) conjugate_vector(x, f->n);
  return rc;
}

/* ---------------------------------------------------------------- Cholesky or LU */

static int begin_factor(kcl_context *ctx, const kcl_csr *A, kcl_factor **out) {
  KCL_OWNED_BY(kcl_factor_free) kcl_factor *f = *out = NULL;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *f, "a factorisation", (void **)&f));
  f->n = A->rows, f->complex = kcl_type_complex(A->type);
  cholmod_l_start(&f->common);
  f->common.print = 0;
  KCL_CALL(kcl_alloc(ctx, f->n + 1, sizeof *f->p, "column pointers", (void **)&f->p));
  KCL_CALL(kcl_alloc(ctx, A->nnz, sizeof *f->i, "row indices", (void **)&f->i));
  *out = f, f = NULL;
  return KCL_OK;
}

int kcl_factor_create(kcl_context *ctx, const kcl_csr *A, bool definite, double flops,
                      kcl_factor **out) {
  int rc;
  kcl_factor *f = *out = NULL;
  KCL_TRY(begin_factor(ctx, A, &f));
  if (definite) KCL_TRY(factor_cholesky(ctx, f, A, flops));
  if (!f->L) KCL_TRY(lu(ctx, f, A, flops));
  *out = f, f = NULL;
done:
  kcl_activity_end(ctx);
  kcl_factor_free(&f);
  return rc;
}

int kcl_factor_predict(kcl_context *ctx, const kcl_csr *A, bool definite, kcl_factor_cost *out) {
  int rc;
  kcl_factor *f = NULL;
  void *symbolic = NULL;
  double info[UMFPACK_INFO];
  cholmod_sparse M;
  *out = (kcl_factor_cost){INFINITY, INFINITY};
  KCL_TRY(begin_factor(ctx, A, &f));
  f->common.nmethods = 1, f->common.method[0].ordering = CHOLMOD_AMD; /* a tenth of METIS' time */
  if (definite) KCL_TRY(analyse_cholesky(ctx, f, A, &M));
  if (f->L)
    *out = (kcl_factor_cost){f->common.fl, f->common.lnz};
  else if (!definite && !analyse_lu(ctx, f, A, &symbolic, info))
    *out = (kcl_factor_cost){lu_flops(info) / (f->complex ? 4 : 1), info[UMFPACK_SYMMETRIC_LUNZ]};
  if (!definite && info[UMFPACK_STRATEGY_USED] != UMFPACK_STRATEGY_SYMMETRIC)
    out->entries = info[UMFPACK_LNZ_ESTIMATE] + info[UMFPACK_UNZ_ESTIMATE];
  if (f->complex) out->flops *= 4, out->entries *= 2;
done:
  kcl_activity_end(ctx);
  if (f) free_symbolic(f, &symbolic);
  kcl_factor_free(&f);
  return rc;
}

void kcl_factor_free(kcl_factor **owner) {
  kcl_factor *f = *owner;
  if (!f) return;
  if (f->complex)
    umfpack_zl_free_numeric(&f->numeric);
  else
    umfpack_dl_free_numeric(&f->numeric);
  cholmod_l_free_factor(&f->L, &f->common);
  cholmod_l_finish(&f->common);
  free(f->p), free(f->i), free(f->half), free(f);
  *owner = NULL;
}

const char *kcl_factor_method(const kcl_factor *f) {
  return f->L ? "CHOLMOD supernodal Cholesky" : "UMFPACK LU";
}

int kcl_factor_solve(kcl_context *ctx, void *factor, bool adjoint, const double *b, double *x) {
  kcl_factor *f = factor;
  return f->L ? solve_cholesky(ctx, f, b, x) : solve_lu(ctx, f, adjoint, b, x);
}
#endif
