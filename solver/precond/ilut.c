/* ILUT(p, tau) (Saad 1994): fill of L U is kept where it is large, at most p entries per row of each factor. Rows are exchanged and
 * scaled first where the diagonal is weak (Duff & Koster 2001).
 * Bytes: two triangular solves with the factors (factors/factored.c).
 */
#include "factors/factored.h"
#include <stdio.h>

enum { LEAST = 20, MOST = 100 }; /* of p */
static const double WEAK = 1e-2; /* of the largest entry of a row */

enum { DROP, FILL };
static const kcl_option parameters[] = {
    [DROP] = {"ilut.drop", "0.001",
              "drop tolerance relative to the largest entry of the row, 0 to 1", KCL_OPTION_REAL, 0,
              1},
    [FILL] = {"ilut.fill", "two mean rows of A, 20 to 100",
              "entries per row of L and of U, at most, 1 to 1000", KCL_OPTION_WHOLE, 1, 1000},
    {0},
};

/* p; mean: entries per row of A. */
static int ilut_fill(const kcl_precond_request *q, double mean) {
  const double p = 2 * mean;
  return (int)kcl_precond_value(q, &parameters[FILL], p < LEAST ? LEAST : p < MOST ? p : MOST);
}

static double ilut_drop(const kcl_precond_request *q) {
  return kcl_precond_value(q, &parameters[DROP], 0);
}

static int ilut_factor(const kcl_precond_request *q, kcl_csr *B, int level, kcl_factors *out,
                       int64_t *zero) {
  (void)level;
  const int p = ilut_fill(q, (double)B->nnz / (double)B->rows);
  return kcl_factor_ilut(q->ctx, B, p, ilut_drop(q), out, zero);
}

static int ilut_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  const kcl_factoring how = {.factor = ilut_factor, .last_level = -1, .weak = WEAK, .close = 0.01};
  char name[40];
  snprintf(name, sizeof name, "ILUT, %.3g", ilut_drop(q));
  return kcl_factored_setup(M, q, &how, name);
}

/* Full rows of the factors (B has the whole diagonal) and their adjoints; P, d, the order of rows and the result of a solve. */
static double ilut_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double size = (double)kcl_type_size(q->A->type),
               p = fmin(ilut_fill(q, s->row_mean + 1), (double)s->rows);
  return (double)s->rows * (4 * p * (4 + size) + 64 + 6 * size);
}

const kcl_precond_kind kcl_precond_ilut = {.name = "ilut",
                                           .summary = "incomplete LU factors by a threshold, ILUT",
                                           .source = "Saad 1994",
                                           .parameters = parameters,
                                           .bytes = ilut_bytes,
                                           .setup = ilut_setup,
                                           .apply = kcl_factored_apply};
