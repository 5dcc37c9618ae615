/* Direct least squares: Q R = A E by SuiteSparseQR (Davis 2011, ACM TOMS algorithm 915), which tells
 * the rank as well:
 *
 *   rank = columns    the x that minimises |b - A x|
 *   rank = rows       A^H is factored: the x of least norm with A x = b
 *   less              a basic solution: one of the x that minimise it, with as many nonzeros. A^H is factored too, and
 *                     where that finds the same rank, Q Q^H x is the x of least norm, of the first rank columns of Q
 *
 * condition = |A|_F |G|_2, where x = G b: by the power method on G G^H, a lower bound. |G|_2 is
 * 1 / the smallest singular value that is not 0, and for a basic solution at least that.
 *
 * The factorisation reads columns: our rows are the columns of A^T, those of A^H are conj(A)'s, so
 * both forms work with conj(A), conj(b) and conj(x). SuiteSparseQR is under the GPL, like what
 * factor.c uses, and as optional. */
#include "solver/direct/factor.h"
#ifndef HAVE_SPQR
bool kcl_direct_least_squares(void) { return false; }

int kcl_qr_create(kcl_context *ctx, const kcl_csr *A, double flops, kcl_direct_factor **out) {
  (void)flops, *out = NULL;
  return kcl_fail(ctx, KCL_USAGE,
                  "a direct solution of a system that is not square (%lld x %lld) wants "
                  "SuiteSparseQR, which is not part of this build: install SuiteSparse (SPQR with "
                  "its headers) and build again; what the report recomputes, |b - A x| and "
                  "|A^H r|, stands without it",
                  (long long)A->rows, (long long)A->cols);
}
#else
#include <suitesparse/SuiteSparseQR_C.h>

typedef struct qr {
  bool complex, adjoint; /* adjoint: of A^H */
  int64_t rows, cols, rank;
  double limit; /* of flops */
  cholmod_common common;
  SuiteSparseQR_C_factorization *factor, *range; /* range: of A^H beside that of A; or NULL */
} qr;

bool kcl_direct_least_squares(void) { return true; }

/* *out: of M, whose columns are T's rows; its rank. */
static int factor_qr(kcl_context *ctx, qr *q, const kcl_csr *T, SuiteSparseQR_C_factorization **out,
                     int64_t *rank) {
  int rc;
  SuiteSparse_long *p = NULL, *i = NULL;
  KCL_TRY(kcl_alloc(ctx, T->rows + 1, sizeof *p, "column pointers", (void **)&p));
  KCL_TRY(kcl_alloc(ctx, T->nnz, sizeof *i, "row indices", (void **)&i));
  for (int64_t r = 0; r <= T->rows; r++) p[r] = T->row_ptr[r];
  for (int64_t k = 0; k < T->nnz; k++) i[k] = T->col[k];
  cholmod_sparse M = {.nrow = (size_t)T->cols,
                      .ncol = (size_t)T->rows,
                      .nzmax = (size_t)T->nnz,
                      .p = p,
                      .i = i,
                      .x = T->val,
                      .itype = CHOLMOD_LONG,
                      .xtype = q->complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                      .dtype = CHOLMOD_DOUBLE,
                      .sorted = 1,
                      .packed = 1};
  kcl_activity_begin(ctx, (kcl_activity){.what = "analysis"});
  *out = SuiteSparseQR_C_symbolic(SPQR_ORDERING_DEFAULT, 1, &M, &q->common);
  if (*out && q->common.SPQR_flopcount_bound * (q->complex ? 4 : 1) > q->limit)
    KCL_TRY(kcl_fail(ctx, KCL_REFUSED,
                     "the direct factorisation is too large: up to %.2g floating-point operations",
                     q->common.SPQR_flopcount_bound * (q->complex ? 4 : 1)));
  kcl_activity_begin(
      ctx, (kcl_activity){.what = "factorising", .flops = q->common.SPQR_flopcount_bound});
  if (*out && !SuiteSparseQR_C_numeric(SPQR_DEFAULT_TOL, &M, *out, &q->common))
    SuiteSparseQR_C_free(out, &q->common);
  *rank = q->common.SPQR_istat[4];
  if (!*out)
    rc = q->common.status == CHOLMOD_OUT_OF_MEMORY || q->common.status == CHOLMOD_TOO_LARGE
             ? kcl_fail(ctx, KCL_MEMORY, "out of memory: the direct factorisation is too large")
             : kcl_fail(ctx, KCL_INPUT, "SuiteSparseQR failed with status %d", q->common.status);
done:
  kcl_activity_end(ctx);
  if (rc) SuiteSparseQR_C_free(out, &q->common);
  free(p), free(i);
  return rc;
}

/* The factorisation of A^H serves alone where A has full row rank, else beside that of A where both ranks agree. One that
 * is too large is left out. */
static int create_qr(kcl_context *ctx, qr *q, const kcl_csr *A) {
  const bool wide = A->rows < A->cols;
  int64_t rank = -1;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *H = NULL;
  q->rows = A->rows, q->cols = A->cols, q->complex = kcl_type_complex(A->type);
  if (wide) KCL_CALL(factor_qr(ctx, q, A, &q->range, &rank));
  if (rank == A->rows) {
    q->factor = q->range, q->range = NULL, q->rank = rank, q->adjoint = true;
    return KCL_OK;
  }
  KCL_CALL(kcl_csr_adjoint(ctx, A, &H));
  KCL_CALL(factor_qr(ctx, q, H, &q->factor, &q->rank));
  if (!wide && q->rank < A->cols && factor_qr(ctx, q, A, &q->range, &rank)) rank = -1;
  if (rank != q->rank) SuiteSparseQR_C_free(&q->range, &q->common);
  return KCL_OK;
}

static void conjugate_of(const qr *q, double *v, int64_t n) {
  for (int64_t k = 0; k < n && q->complex; k++) v[2 * k + 1] = -v[2 * k + 1];
}

/* *X becomes Q Q^H X, of the first rank columns of the Q of A^H; NULL: out of memory. */
static void project(qr *q, cholmod_dense **X) {
  cholmod_common *c = &q->common;
  const size_t width = q->complex ? 2 : 1;
  cholmod_dense *Y = *X ? SuiteSparseQR_C_qmult(SPQR_QTX, q->range, *X, c) : NULL;
  if (Y)
    memset((double *)Y->x + width * (size_t)q->rank, 0,
           width * (size_t)(q->cols - q->rank) * sizeof(double));
  cholmod_l_free_dense(X, c);
  if (Y) *X = SuiteSparseQR_C_qmult(SPQR_QX, q->range, Y, c);
  cholmod_l_free_dense(&Y, c);
}

/* x = G b, or G^H b. */
static int apply_factor(kcl_context *ctx, void *factor, bool adjoint, const double *b, double *x) {
  qr *q = factor;
  size_t m = (size_t)(adjoint ? q->cols : q->rows), n = (size_t)(adjoint ? q->rows : q->cols);
  size_t size = q->complex ? 16 : 8;
  int type = q->complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
  cholmod_common *c = &q->common;
  cholmod_dense *B = cholmod_l_allocate_dense(m, 1, m, type, c), *Y = NULL, *X = NULL;
  if (B) memcpy(B->x, b, m * size), conjugate_of(q, B->x, (int64_t)m);
  if (q->range && adjoint) project(q, &B);
  if (B) {
    if (adjoint == q->adjoint) {
      Y = SuiteSparseQR_C_qmult(SPQR_QTX, q->factor, B, c);                      /* Q^H b    */
      X = Y ? SuiteSparseQR_C_solve(SPQR_RETX_EQUALS_B, q->factor, Y, c) : NULL; /* E R^-1   */
    } else {
      Y = SuiteSparseQR_C_solve(SPQR_RTX_EQUALS_ETB, q->factor, B, c); /* R^-H E^H b */
      X = Y ? SuiteSparseQR_C_qmult(SPQR_QX, q->factor, Y, c) : NULL;  /* Q        */
    }
  }
  if (q->range && !adjoint) project(q, &X);
  if (X) memcpy(x, X->x, n * size), conjugate_of(q, x, (int64_t)n);
  int rc = X ? KCL_OK : kcl_fail(ctx, KCL_MEMORY, "out of memory in the direct solution");
  cholmod_l_free_dense(&B, c), cholmod_l_free_dense(&Y, c), cholmod_l_free_dense(&X, c);
  return rc;
}

/* |G|_2 >= |G^H v| for |v| = 1; v = G G^H v turns towards the one where it is largest. */
static int norm_of_inverse(kcl_context *ctx, const kcl_inverse *inverse, const kcl_csr *A,
                           double *norm) {
  qr *q = inverse->factor;
  const kcl_type t = A->type;
  KCL_OWNED double *v = NULL, *w = NULL;
  double size = 1, last;
  KCL_CALL(kcl_alloc(ctx, q->cols, kcl_type_size(t), "the condition estimate", (void **)&v));
  KCL_CALL(kcl_alloc(ctx, q->rows, kcl_type_size(t), "the condition estimate", (void **)&w));
  for (int64_t j = 0; j < q->cols; j++) /* without regularity */
    v[q->complex ? 2 * j : j] = ldexp((double)((uint32_t)(j + 1) * 2654435761u), -31) - 1;
  *norm = 0;
  for (int step = 0; step < 20; step++) {
    size = kcl_norm2(t, v, q->cols);
    if (!(size > 0 && size < INFINITY)) break;
    kcl_copy(t, v, t, v, q->cols, 1 / size);
    KCL_CALL(apply_factor(ctx, q, true, v, w));
    last = *norm, *norm = fmax(last, kcl_norm2(t, w, q->rows));
    if (*norm <= 1.001 * last) break;
    KCL_CALL(apply_factor(ctx, q, false, w, v));
  }
  return KCL_OK;
}

static void release_qr(void *factor) {
  qr *q = factor;
  SuiteSparseQR_C_free(&q->factor, &q->common), SuiteSparseQR_C_free(&q->range, &q->common);
  cholmod_l_finish(&q->common);
  free(q);
}

int kcl_qr_create(kcl_context *ctx, const kcl_csr *A, double flops, kcl_direct_factor **out) {
  int rc;
  qr *q;
  *out = NULL;
  if ((rc = kcl_alloc(ctx, 1, sizeof *q, "a factorisation", (void **)&q))) return rc;
  q->limit = flops;
  cholmod_l_start(&q->common);
  q->common.print = 0;
  KCL_TRY(create_qr(ctx, q, A));
  KCL_TRY(kcl_alloc(ctx, 1, sizeof **out, "a factorisation", (void **)out));
  **out = (kcl_direct_factor){.inverse = {apply_factor, q},
                              .release = release_qr,
                              .inverse_norm = norm_of_inverse,
                              .method = "SuiteSparseQR",
                              .norm = kcl_norm2(A->type, A->val, A->nnz),
                              .rank = q->rank,
                              .least_norm = q->rank == A->cols || q->adjoint || q->range};
  q = NULL;
done:
  if (q) release_qr(q);
  return rc;
}
#endif
