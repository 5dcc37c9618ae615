/* IC(k) (Meijerink & van der Vorst 1977; levels of fill: Watts 1981): A = A^H is factored into L D L^H, and fill of a level above k is
 * left out; of IC(0) all that would fall outside of A's pattern.
 * Where a pivot is not positive, the diagonal is made larger until all are (Manteuffel 1980).
 * Bytes: two triangular solves, together as large as A with its fill (factors/factored.c).
 */
#include "factors/factored.h"
#include <stdio.h>

static const double FIRST_SHIFT = 1e-4, LAST_SHIFT = 2;

enum { LEVEL, SHIFT };
static const kcl_option parameters[] = {
    [LEVEL] = {"ic.level", "0", "fill up to this level is kept, 0 to 20; 0: A's pattern",
               KCL_OPTION_WHOLE, 0, 20},
    [SHIFT] = {"ic.shift", "0",
               "first diagonal shift relative to the largest entry of the row, 0 to 2",
               KCL_OPTION_REAL, 0, 2},
    {0},
};

static int ic_level(const kcl_precond_request *q) {
  return (int)kcl_precond_value(q, &parameters[LEVEL], 0);
}

static int ic_factor(kcl_context *ctx, const kcl_csr *A, kcl_factors *f, double *shift) {
  int64_t zero = 0;
  int rc = KCL_OK;
  while (zero >= 0 && *shift <= LAST_SHIFT && !rc) {
    kcl_csr *B = NULL;
    rc = kcl_factor_matrix(ctx, A, NULL, *shift, &B);
    if (!rc) rc = kcl_factor_ic(ctx, B, f, &zero);
    kcl_csr_free(&B);
    if (zero >= 0) *shift = *shift > 0 ? 2 * *shift : FIRST_SHIFT;
  }
  if (rc || zero < 0) return rc;
  return kcl_fail(
      ctx, KCL_USAGE,
      "ic needs a positive definite matrix: the pivot of row %lld is not positive, also "
      "with a larger diagonal",
      (long long)zero + 1);
}

static void write_what(char what[80], int level, double shift) {
  const int n = snprintf(what, 80, "IC(%d)", level);
  if (shift > 0) snprintf(what + n, 80 - (size_t)n, ", diagonal + %.3g", shift);
}

static int ic_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  KCL_OWNED_BY(kcl_factors_free) kcl_factors f = {NULL, NULL, NULL};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *owned = NULL, *filled = NULL;
  const kcl_csr *wide;
  const int level = ic_level(q);
  char what[80];
  double shift = kcl_precond_value(q, &parameters[SHIFT], 0);
  KCL_CALL(kcl_sparse_wide(M->ctx, q->A, &owned, &wide));
  if (level) KCL_CALL(kcl_factor_fill(M->ctx, wide, level, INT64_MAX, &filled));
  KCL_CALL(ic_factor(M->ctx, level ? filled : wide, &f, &shift));
  write_what(what, level, shift);
  return kcl_factored_keep(M, wide, &f, NULL, 0.05, what, q->before);
}

/* d, the order of rows and the result of a solve, beside both factors; each level is taken to add A's entries once. */
static double ic_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double size = (double)kcl_type_size(q->A->type);
  return ((double)s->nnz * (1 + ic_level(q)) + (double)s->rows) * (4 + size) +
         (double)s->rows * (48 + 4 * size);
}

const kcl_precond_kind kcl_precond_ic = {.name = "ic",
                                         .summary =
                                             "incomplete Cholesky factors of A's pattern, IC(0)",
                                         .source = "Meijerink & van der Vorst 1977",
                                         .needs = KCL_NEEDS_HERMITIAN | KCL_NEEDS_POSITIVE,
                                         .symmetric = true,
                                         .parameters = parameters,
                                         .bytes = ic_bytes,
                                         .setup = ic_setup,
                                         .update = ic_setup, /* the factors' patterns are A's */
                                         .apply = kcl_factored_apply};
