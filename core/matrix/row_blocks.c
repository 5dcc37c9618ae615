/* See row_blocks.h. */
#include "core/matrix/row_blocks.h"

/* The halo list of rows [lo, hi) to column[limit], ascending, and the renumbered columns to col. Returns its length, or -1
 * if it exceeds the limit or a row is empty. seen, before: [cols / 64 + 1], a bit per column used, and the number of
 * columns used before each 64; seen is zero on entry and, after success, on return. */
static int64_t halo_list(const kcl_csr *A, int64_t lo, int64_t hi, int64_t limit, uint64_t *seen,
                         int32_t *before, int32_t *column, int32_t *col) {
  const int64_t words = A->cols / 64 + 1, from = A->row_ptr[lo], to = A->row_ptr[hi];
  int64_t found = 0;
  for (int64_t i = lo; i < hi; i++)
    if (A->row_ptr[i] == A->row_ptr[i + 1]) return -1;
  for (int64_t k = from; k < to; k++) seen[A->col[k] / 64] |= (uint64_t)1 << A->col[k] % 64;
  for (int64_t w = 0; w < words; w++) {
    before[w] = (int32_t)found;
    for (uint64_t left = seen[w]; left && found <= limit; left &= left - 1, found++)
      if (found < limit) column[found] = (int32_t)(w * 64 + __builtin_ctzll(left));
  }
  for (int64_t k = from; k < to; k++) {
    const uint64_t below = ((uint64_t)1 << A->col[k] % 64) - 1;
    col[k] = before[A->col[k] / 64] + __builtin_popcountll(seen[A->col[k] / 64] & below);
  }
  memset(seen, 0, (size_t)words * sizeof *seen);
  return found > limit ? -1 : found;
}

int kcl_row_blocks_find(kcl_context *ctx, const kcl_csr *A, int64_t block, int64_t limit,
                        kcl_row_blocks *out) {
  KCL_OWNED_BY(kcl_row_blocks_free)
  kcl_row_blocks p = {.count = (A->rows + block - 1) / block, .A = *A};
  KCL_OWNED uint64_t *seen = NULL;
  KCL_OWNED int32_t *before = NULL, *wide = NULL; /* wide: [count, limit] */
  p.A.col = NULL;
  *out = (kcl_row_blocks){0};
  if (limit < 1) return KCL_OK; /* local memory is full without them */
  KCL_CALL(kcl_alloc(ctx, A->nnz, sizeof *p.A.col, "columns", (void **)&p.A.col));
  KCL_CALL(kcl_alloc(ctx, A->cols / 64 + 1, sizeof *seen, "columns", (void **)&seen));
  KCL_CALL(kcl_alloc(ctx, A->cols / 64 + 1, sizeof *before, "columns", (void **)&before));
  KCL_CALL(kcl_alloc(ctx, p.count * limit, sizeof *wide, "halo lists", (void **)&wide));
  KCL_CALL(kcl_alloc(ctx, p.count + 1, sizeof *p.from, "halo lists", (void **)&p.from));
  for (int64_t i = 0; i < p.count; i++) {
    int64_t lo = i * block, hi = lo + block < A->rows ? lo + block : A->rows;
    int64_t found = halo_list(A, lo, hi, limit, seen, before, wide + i * limit, p.A.col);
    if (found < 0) return KCL_OK;
    if (found > p.most) p.most = found;
    p.from[i + 1] = (int32_t)(p.from[i] + found);
  }
  KCL_CALL(kcl_alloc(ctx, p.from[p.count], sizeof *p.column, "halo lists", (void **)&p.column));
  for (int64_t i = 0; i < p.count; i++)
    memcpy(p.column + p.from[i], wide + i * limit,
           (size_t)(p.from[i + 1] - p.from[i]) * sizeof *p.column);
  p.A.cols = p.most;
  *out = p, p = (kcl_row_blocks){0};
  return KCL_OK;
}

static double bandwidth(const void *arg, int64_t first, int64_t end) {
  const kcl_csr *A = arg;
  int64_t most = 0;
  for (int64_t i = first; i < end; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t away = i < A->col[k] ? A->col[k] - i : i - A->col[k];
      if (away > most) most = away;
    }
  return (double)most;
}

int64_t kcl_bandwidth(const kcl_csr *A) {
  return (int64_t)kcl_largest(A->rows, KCL_FEW_ROWS, bandwidth, A);
}

void kcl_row_blocks_free(kcl_row_blocks *p) {
  free(p->A.col);
  free(p->from);
  free(p->column);
  *p = (kcl_row_blocks){0};
}
