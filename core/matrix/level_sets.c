/* Levels of triangular systems. */
#include "core/matrix/level_sets.h"

/* The side of the diagonal on which all entries are: -1 below (or there are none), 1 above, 0 on both or on the diagonal. */
static int side(const kcl_csr *N) {
  bool below = false, above = false;
  for (int64_t i = 0; i < N->rows; i++)
    for (int64_t k = N->row_ptr[i]; k < N->row_ptr[i + 1]; k++) {
      below = below || N->col[k] <= i;
      above = above || N->col[k] >= i;
    }
  return below && above ? 0 : above ? 1 : -1;
}

int64_t kcl_level_numbers(const kcl_csr *N, const int64_t *end, bool upper, int32_t *level) {
  const kcl_level_sets order = {.upper = upper};
  int32_t last = -1;
  for (int64_t n = 0; n < N->rows; n++) {
    const int64_t i = kcl_eliminated(&order, n, N->rows);
    int32_t own = 0;
    for (int64_t k = N->row_ptr[i]; k < end[i]; k++)
      if (level[N->col[k]] >= own) own = level[N->col[k]] + 1;
    level[i] = own;
    if (own > last) last = own;
  }
  return (int64_t)last + 1;
}

int kcl_level_sets_find(kcl_context *ctx, const kcl_csr *N, kcl_level_sets *out) {
  KCL_OWNED_BY(kcl_level_sets_free) kcl_level_sets s = {0};
  const int which = N->rows == N->cols ? side(N) : 0;
  *out = s, s.upper = which > 0;
  if (!which) return kcl_fail(ctx, KCL_USAGE, "the matrix is not strictly triangular");
  KCL_CALL(kcl_alloc(ctx, N->rows, sizeof *s.level, "levels", (void **)&s.level));
  s.count = kcl_level_numbers(N, N->row_ptr + 1, s.upper, s.level);
  KCL_CALL(kcl_alloc(ctx, s.count, sizeof *s.rows, "levels", (void **)&s.rows));
  KCL_CALL(kcl_alloc(ctx, s.count, sizeof *s.work, "levels", (void **)&s.work));
  for (int64_t i = 0; i < N->rows; i++) {
    s.rows[s.level[i]]++;
    s.work[s.level[i]] += 1 + N->row_ptr[i + 1] - N->row_ptr[i];
  }
  *out = s, s = (kcl_level_sets){0};
  return KCL_OK;
}

void kcl_level_sets_free(kcl_level_sets *s) {
  free(s->level);
  free(s->rows);
  free(s->work);
  *s = (kcl_level_sets){0};
}
