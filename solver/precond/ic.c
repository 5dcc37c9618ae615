/* IC(0) (Meijerink & van der Vorst 1977): A = A^H is factored into L D L^H, and what would fall outside of A's pattern is left out.
 * Where a pivot is not positive, the diagonal is made larger until all are (Manteuffel 1980).
 * Bytes: two triangular solves, together as large as A (factors/factored.c).
 */
#include "factors/factored.h"
#include <stdio.h>

static const double FIRST_SHIFT = 1e-4, LAST_SHIFT = 2;

enum { SHIFT };
static const kcl_option parameters[] = {
    [SHIFT] = {"ic.shift", "0",
               "first diagonal shift relative to the largest entry of the row, 0 to 2",
               KCL_OPTION_REAL, 0, 2},
    {0},
};

static int ic_factor(kcl_preconditioner *M, const kcl_csr *A, kcl_factors *f, double *shift) {
  int64_t zero = 0;
  int rc = KCL_OK;
  for (; zero >= 0 && *shift <= LAST_SHIFT && !rc;) {
    kcl_csr *B = NULL;
    rc = kcl_factor_matrix(M->ctx, A, NULL, *shift, &B);
    if (!rc) rc = kcl_factor_ic(M->ctx, B, f, &zero);
    kcl_csr_free(&B);
    if (zero >= 0) *shift = *shift > 0 ? 2 * *shift : FIRST_SHIFT;
  }
  if (rc || zero < 0) return rc;
  return kcl_fail(
      M->ctx, KCL_USAGE,
      "ic needs a positive definite matrix: the pivot of row %lld is not positive, also "
      "with a larger diagonal",
      (long long)zero + 1);
}

static int ic_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  kcl_factors f = {NULL, NULL, NULL};
  kcl_csr *owned;
  const kcl_csr *wide;
  char what[80];
  double shift = kcl_precond_value(q, &parameters[SHIFT], 0);
  int rc = kcl_sparse_wide(M->ctx, q->A, &owned, &wide);
  if (!rc) rc = ic_factor(M, wide, &f, &shift);
  snprintf(what, sizeof what, shift > 0 ? "IC(0), diagonal + %.3g" : "IC(0)", shift);
  if (!rc) rc = kcl_factored_keep(M, wide, &f, NULL, 0.05, what, q->before);
  kcl_csr_free(&owned), kcl_factors_free(&f);
  return rc;
}

/* d, the order of rows and the result of a solve, beside both factors. */
static double ic_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double size = (double)kcl_type_size(q->A->type);
  return ((double)s->nnz + (double)s->rows) * (4 + size) + (double)s->rows * (48 + 4 * size);
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
                                         .refresh = ic_setup, /* the factors' patterns are A's */
                                         .apply = kcl_factored_apply};
