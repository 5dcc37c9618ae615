/* Jacobi: M = diag(A), z_i = r_i / a_ii (Jacobi 1845; Saad 2003, 10.2). For least squares diag(A^H A),
 * the squares of the norms of A's columns (Bjorck 1996, 7.4.1): columns are scaled to norm 1.
 * Bytes: 2 n s more per application (the inverse diagonal read, z written), z and r being in registers.
 */
#include "solver/contract/precond.h"

/* Entries of A's columns in rows of other ranks: rows of A^H. */
static void add_squares(const kcl_preconditioner *M, const kcl_halo *h, double *d, int width) {
  const kcl_csr *B = h ? h->outside : NULL;
  for (int64_t i = 0; B && i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++) {
      const double a = kcl_abs(B->type, B->val, k) * M->scale;
      d[width * h->row[i]] += a * a;
    }
}

/* d_j = 1 / |a_j|^2, of the scaled A; 1 for a column of zeros, which no x can use. */
static int inverse_squares(kcl_preconditioner *M, const kcl_precond_request *q, double **out) {
  const kcl_csr *A = q->A;
  const int w = kcl_type_complex(A->type) ? 2 : 1;
  KCL_CALL(kcl_alloc(M->ctx, A->cols, (size_t)w * sizeof **out, "the diagonal", (void **)out));
  double *d = *out;
  for (int64_t k = 0; k < A->nnz; k++) {
    double a = kcl_abs(A->type, A->val, k) * M->scale;
    d[w * A->col[k]] += a * a;
  }
  add_squares(M, q->adjoint_halo, d, w);
  for (int64_t j = 0; j < A->cols; j++) d[w * j] = d[w * j] > 0 ? 1 / d[w * j] : 1;
  return KCL_OK;
}

static int jacobi_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  const kcl_csr *A = q->A;
  kcl_type type = kcl_wide_type(A->type);
  double *d;
  int rc = M->scale > 0 ? inverse_squares(M, q, &d)
                        : kcl_precond_inverse_diagonal(M, A, q->distinct, q->runs, &d);
  return rc ? rc : kcl_precond_add_vector(M, "inverse_diagonal", A->cols, type, d);
}

static void jacobi_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                         bool adjoint) {
  (void)M;
  kcl_times(k, z, kcl_precond_constant(k, 0), r, adjoint); /* z = D^-1 r             */
}

const kcl_precond_kind kcl_precond_jacobi = {.name = "jacobi",
                                             .summary =
                                                 "the diagonal of A; of A^H A for least squares",
                                             .source = "Jacobi 1845",
                                             .symmetric = true,
                                             .whole = true,
                                             .least_squares = true,
                                             .setup = jacobi_setup,
                                             .apply = jacobi_apply};
