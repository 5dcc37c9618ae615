/* ILU(k) (Meijerink & van der Vorst 1977; levels of fill: Watts 1981): A is factored into L U, and fill of a level above k is left out; of
 * ILU(0) all that would fall outside of A's pattern. Rows are exchanged and scaled where a pivot vanishes (Duff & Koster 2001).
 * Bytes: two triangular solves, together as large as A with its fill (factors/factored.c).
 */
#include "factors/factored.h"
#include <stdio.h>

enum { LEVEL };
/* Where A's pattern alone is unstable: levels, and entries relative to those of A, at most. */
enum { AUTOMATIC_LEVELS = 2, AUTOMATIC_ENTRIES = 4 };
static const kcl_option parameters[] = {
    [LEVEL] = {"ilu.level", "0; 1 or 2 where elimination is unstable",
               "fill up to this level is kept, 0 to 20; 0: A's pattern", KCL_OPTION_WHOLE, 0, 20},
    {0},
};

/* automatic: where no level is given. */
static int ilu_level(const kcl_precond_request *q, int automatic) {
  return (int)kcl_precond_value(q, &parameters[LEVEL], automatic);
}

/* Fill beyond the limit of automatic levels is a failure as a pivot is that vanishes. */
static int ilu_factor(const kcl_precond_request *q, kcl_csr *B, int level, kcl_factors *out,
                      int64_t *zero) {
  const bool automatic = level > ilu_level(q, 0);
  const int64_t limit = automatic ? AUTOMATIC_ENTRIES * B->nnz : INT64_MAX;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *filled = NULL;
  if (!level) return kcl_factor_ilu(q->ctx, B, out, zero);
  KCL_CALL(kcl_factor_fill(q->ctx, B, level, limit, &filled));
  *zero = 0;
  return filled ? kcl_factor_ilu(q->ctx, filled, out, zero) : KCL_OK;
}

static int ilu_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  const kcl_factoring how = {.factor = ilu_factor,
                             .level = ilu_level(q, 0),
                             .last_level = ilu_level(q, AUTOMATIC_LEVELS),
                             .close = 0.05};
  return kcl_factored_setup(M, q, &how, "ILU");
}

/* Bytes of the factors and their adjoints, P, d, the order of rows and the result of a solve; each level is taken to add A's entries once. */
static double ilu_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double size = (double)kcl_type_size(q->A->type);
  return 2 * ((double)s->nnz * (1 + ilu_level(q, 0)) + (double)s->rows) * (4 + size) +
         (double)s->rows * (64 + 6 * size);
}

const kcl_precond_kind kcl_precond_ilu = {.name = "ilu",
                                          .summary = "incomplete LU factors of A's pattern, ILU(0)",
                                          .source = "Meijerink & van der Vorst 1977",
                                          .parameters = parameters,
                                          .bytes = ilu_bytes,
                                          .setup = ilu_setup,
                                          .apply = kcl_factored_apply};
