/* Columns of zeros. A x does not depend on the elements of x that belong to them, so methods leave anything there: a guess,
 * another method's remains, NaN. They are set to 0, which is exact and makes x the smaller. */
#include "solver/engine/given.h"

/* used [A->cols]: 1 where a row of A has a value that is not 0. */
static void mark_used_columns(const kcl_csr *A, int *used) {
  for (int64_t k = 0; k < A->nnz; k++)
    if (kcl_abs(A->type, A->val, k) != 0) used[A->col[k]] = 1;
}

/* On several ranks other rows have values in own columns, and own rows in those of others. */
static int find_used(kcl_system *s, int **used) {
  const kcl_halo *h = s->halo;
  const int64_t own = s->A->cols, halo = h ? h->count : 0;
  KCL_CALL(kcl_ranks_agree(kcl_system_ranks(s), kcl_alloc(s->ctx, own + halo, sizeof **used,
                                                          "the columns", (void **)used)));
  mark_used_columns(s->A, *used);
  if (!h) return KCL_OK;
  mark_used_columns(h->outside, *used + own);
  h->largest(h, *used);
  return KCL_OK;
}

int kcl_find_zero_columns(kcl_system *s) {
  KCL_OWNED int *used = NULL;
  KCL_CALL(find_used(s, &used));
  for (int64_t j = 0; j < s->A->cols; j++) s->zero_cols += !used[j];
  int rc =
      kcl_alloc(s->ctx, s->zero_cols, sizeof *s->zero_col, "the columns", (void **)&s->zero_col);
  KCL_CALL(kcl_ranks_agree(kcl_system_ranks(s), rc));
  for (int64_t j = 0, q = 0; j < s->A->cols; j++)
    if (!used[j]) s->zero_col[q++] = (int32_t)j;
  return KCL_OK;
}

void kcl_clear_zero_columns(const kcl_system *s, void *x) {
  static const double zero[2] = {0, 0};
  for (int64_t q = 0; q < s->zero_cols; q++) kcl_set_element(s->A->type, x, s->zero_col[q], zero);
}
