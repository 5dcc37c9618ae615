/* ILU(0) (Meijerink & van der Vorst 1977): A is factored into L U, and what would fall outside of A's pattern is left out. Rows
 * are exchanged and scaled where a pivot vanishes (Duff & Koster 2001).
 * Bytes: two triangular solves, together as large as A (factors/factored.c).
 */
#include "factors/factored.h"

static int ilu_factor(const kcl_precond_request *q, kcl_csr *B, kcl_factors *out, int64_t *zero) {
  return kcl_factor_ilu(q->ctx, B, out, zero);
}

static int ilu_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  return kcl_factored_setup(M, q, ilu_factor, 0, 0.05, "ILU(0)");
}

/* Bytes of the factors and their adjoints, P, d, the order of rows and the result of a solve. */
static double ilu_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double size = (double)kcl_type_size(q->A->type);
  return 2 * ((double)s->nnz + (double)s->rows) * (4 + size) + (double)s->rows * (64 + 6 * size);
}

const kcl_precond_kind kcl_precond_ilu = {.name = "ilu",
                                          .summary = "incomplete LU factors of A's pattern, ILU(0)",
                                          .source = "Meijerink & van der Vorst 1977",
                                          .bytes = ilu_bytes,
                                          .setup = ilu_setup,
                                          .apply = kcl_factored_apply};
