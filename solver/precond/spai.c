/* Sparse approximate inverse (Grote & Huckle 1997): M^-1 has A's pattern and minimises |I - M^-1 A|_F, row by row. For
 * matrices without symmetry; it need not be regular. Bytes: one product by a matrix as large as A.
 */
#include "solver/contract/precond.h"
#include "sparse/sparse.h"
#include <stdio.h>

enum { MOST = 64 /* entries per row */ };

static int spai_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  kcl_csr *owned = NULL, *pattern = NULL, *C = NULL;
  const kcl_csr *wide;
  int rc;
  KCL_TRY(kcl_sparse_wide(M->ctx, q->A, &owned, &wide));
  KCL_TRY(kcl_sparse_pattern(M->ctx, wide, false, 1, 0, MOST, &pattern));
  KCL_TRY(kcl_sparse_spai(M->ctx, wide, pattern, &C));
  snprintf(M->note, sizeof M->note, "%.1f entries per row", (double)C->nnz / (double)C->rows);
done:
  kcl_csr_free(&owned), kcl_csr_free(&pattern);
  if (!rc) return kcl_precond_add_matrix(M, C, M->adjoint);
  kcl_csr_free(&C);
  return rc;
}

static void spai_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                       bool adjoint) {
  kcl_apply(k, z, kcl_precond_operator(M, 0, adjoint), r); /* z = M^-1 r, or M^-H r  */
}

static double spai_bytes(const kcl_stats *s, kcl_type type) {
  return ((double)s->nnz + (double)s->rows) * (4.0 + (double)kcl_type_size(type)) +
         8.0 * (double)s->rows;
}

const kcl_precond kcl_precond_spai = {.name = "spai",
                                      .summary = "sparse approximate inverse of A's pattern",
                                      .source = "Grote & Huckle 1997",
                                      .bytes = spai_bytes,
                                      .setup = spai_setup,
                                      .apply = spai_apply};
