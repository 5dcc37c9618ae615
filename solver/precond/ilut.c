/* ILUT(p, tau) (Saad 1994): fill of L U is kept where it is large, at most p entries per row of each factor. Rows are exchanged and
 * scaled first where the diagonal is weak (Duff & Koster 2001).
 * Bytes: two triangular solves with the factors (factors/factored.c).
 */
#include "factors/factored.h"

enum { LEAST = 20, MOST = 100 };             /* of p */
static const double TAU = 1e-3, WEAK = 1e-2; /* of the largest entry of a row */

/* p: twice the mean row of A. */
static int ilut_fill(double mean) {
  const double p = 2 * mean;
  return p < LEAST ? LEAST : p < MOST ? (int)p : MOST;
}

static int ilut_factor(kcl *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero) {
  return kcl_factor_ilut(ctx, B, ilut_fill((double)B->nnz / (double)B->rows), TAU, out, zero);
}

static int ilut_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  return kcl_factored_setup(M, q->A, ilut_factor, WEAK, 0.01, "ILUT, 0.001");
}

/* Full rows of the factors (B has the whole diagonal) and their adjoints; P, d, the order of rows and the result of a solve. */
static double ilut_bytes(const kcl_stats *s, kcl_type type) {
  const double size = (double)kcl_type_size(type),
               p = fmin(ilut_fill(s->row_mean + 1), (double)s->rows);
  return (double)s->rows * (4 * p * (4 + size) + 64 + 6 * size);
}

const kcl_precond kcl_precond_ilut = {.name = "ilut",
                                      .summary = "incomplete LU factors by a threshold, ILUT",
                                      .source = "Saad 1994",
                                      .bytes = ilut_bytes,
                                      .setup = ilut_setup,
                                      .apply = kcl_factored_apply};
