/* Sparse approximate inverse (Grote & Huckle 1997): M^-1 has the pattern of A, or of a power of A, and minimises |I - M^-1 A|_F, row by row. For
 * matrices without symmetry; it need not be regular. Bytes: one product by a matrix as large as A.
 */
#include "solver/contract/precond.h"
#include "sparse/sparse.h"
#include <stdio.h>

enum { POWER, FILL };
static const kcl_option parameters[] = {
    [POWER] = {"spai.power", "1", "M^-1 has the pattern of this power of A, 1 to 3",
               KCL_OPTION_WHOLE, 1, 3},
    [FILL] = {"spai.fill", "64", "entries per row of M^-1, at most, 1 to 64", KCL_OPTION_WHOLE, 1,
              KCL_MOST_KEPT},
    {0},
};

static int spai_power(const kcl_precond_request *q) {
  return (int)kcl_precond_value(q, &parameters[POWER], 0);
}

static int spai_fill(const kcl_precond_request *q) {
  return (int)kcl_precond_value(q, &parameters[FILL], 0);
}

static int spai_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *owned = NULL, *pattern = NULL;
  kcl_csr *C = NULL;
  const kcl_csr *wide;
  KCL_CALL(kcl_sparse_wide(M->ctx, q->A, &owned, &wide));
  KCL_CALL(kcl_sparse_pattern(M->ctx, wide, false, spai_power(q), 0, spai_fill(q), &pattern));
  KCL_CALL(kcl_sparse_spai(M->ctx, wide, pattern, &C));
  snprintf(M->note, sizeof M->note, "%.1f entries per row", (double)C->nnz / (double)C->rows);
  return kcl_precond_add_matrix(M, C, M->adjoint);
}

static void spai_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                       bool adjoint) {
  kcl_apply(k, z, kcl_precond_operator(M, 0, adjoint), r); /* z = M^-1 r, or M^-H r  */
}

static double spai_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double rows = (double)s->rows,
               entries = spai_power(q) > 1 ? rows * spai_fill(q) : (double)s->nnz + rows;
  return entries * (4.0 + (double)kcl_type_size(q->A->type)) + 8 * rows;
}

const kcl_precond_kind kcl_precond_spai = {.name = "spai",
                                           .summary = "sparse approximate inverse of A's pattern",
                                           .source = "Grote & Huckle 1997",
                                           .parameters = parameters,
                                           .bytes = spai_bytes,
                                           .setup = spai_setup,
                                           .apply = spai_apply};
