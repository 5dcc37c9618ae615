/* BCSR: dense b x b blocks in compressed block rows, for systems with several unknowns per node; b is 2, 3, 4, 6 or
 * 8, whichever stores the fewest bytes.
 *
 *     | a b . . |   b = 2       block_ptr  0 1 3
 *     | c d . . |               block_col  0 0 1
 *     | . e f g |               val        a c b d | 0 . e . | f h g 0      column by column
 *     | . . h . |
 *
 * One column index per b^2 values; neighbouring rows read neighbouring values (Im & Yelick 2001; Buatois, Caumon &
 * Levy 2009). Blocks may extend beyond the last row and column and hold zeros there.
 * Bytes: blocks (b^2 s + 4) + 4 (block rows + 1), block_ptr 8 per entry on the cpu executor; 2 flops per stored
 * position.
 */
#include "core/matrix/stored.h"
#include "core/matrix/structure.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { BLOCK_PTR, BLOCK_COL, VAL };
enum { B, COLS };

static double bcsr_bytes_of(const kcl_stats *s, int b, double bytes) {
  int64_t block_rows = (s->rows + b - 1) / b;
  return (double)s->bcsr_blocks[b] * (b * b * bytes + 4.0) + 4.0 * ((double)block_rows + 1);
}

static int best(const kcl_stats *s, kcl_type type) {
  int b = 2;
  for (int i = 3; i <= 8; i++)
    if (s->bcsr_blocks[i] && bcsr_bytes_of(s, i, (double)kcl_type_size(type)) <
                                 bcsr_bytes_of(s, b, (double)kcl_type_size(type)))
      b = i;
  return b;
}

static kcl_size bcsr_size(const kcl_stats *s, kcl_type type) {
  int b = best(s, type);
  double bytes = (double)kcl_type_size(type);
  return (kcl_size){.total = bcsr_bytes_of(s, b, bytes),
                    .largest = (double)s->bcsr_blocks[b] * b * b * bytes};
}

/* Merges the rows of block row I into ascending block columns; fills their values too unless val is NULL. Returns the
 * number of blocks. */
static int64_t bcsr_merge(const kcl_csr *A, int b, int64_t I, int32_t *block_col, scalar *val) {
  const scalar *from = A->val;
  int64_t at[8], blocks = 0, base = I * b;
  int n = (int)(base + b < A->rows ? b : A->rows - base);
  for (int r = 0; r < n; r++) at[r] = A->row_ptr[base + r];
  for (;; blocks++) {
    int32_t next = INT32_MAX;
    for (int r = 0; r < n; r++)
      if (at[r] < A->row_ptr[base + r + 1] && A->col[at[r]] / b < next) next = A->col[at[r]] / b;
    if (next == INT32_MAX) return blocks;
    for (int r = 0; r < n; r++)
      for (; at[r] < A->row_ptr[base + r + 1] && A->col[at[r]] / b == next; at[r]++)
        if (val) val[(blocks * b + A->col[at[r]] % b) * b + r] = from[at[r]];
    if (val) block_col[blocks] = next;
  }
}

static void bcsr_fill(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  const int64_t *ptr = m->array[BLOCK_PTR].data, b = m->param[B].value;
  for (int64_t I = first; I < end; I++)
    bcsr_merge(&m->origin.source, (int)b, I, (int32_t *)m->array[BLOCK_COL].data + ptr[I],
               (scalar *)m->array[VAL].data + ptr[I] * b * b);
}

static int bcsr_build(kcl_stored *m, const kcl_csr *A) {
  kcl_stats s = {.rows = A->rows};
  int64_t *block_ptr; /* [block rows + 1] */
  int32_t *block_col; /* [blocks] */
  scalar *val;        /* [blocks, b, b], column by column */
  kcl_count_blocks(A, &s);
  int b = best(&s, A->type);
  int64_t block_rows = (A->rows + b - 1) / b;
  KCL_CALL(kcl_stored_array(m, "block_ptr", KCL_INT64, block_rows + 1, (void **)&block_ptr));
  KCL_CALL(kcl_stored_array(m, "block_col", KCL_INT32, s.bcsr_blocks[b], (void **)&block_col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, s.bcsr_blocks[b] * b * b, (void **)&val));
  for (int64_t I = 0; I < block_rows; I++)
    block_ptr[I + 1] = block_ptr[I] + bcsr_merge(A, b, I, NULL, NULL);
  kcl_stored_param(m, "b", b);
  kcl_stored_param(m, "cols", A->cols);
  kcl_for(block_rows, KCL_FEW_ROWS / b, bcsr_fill, m);
  return KCL_OK;
}

/* A copy for each call, whose constants choose the size of blocks. */
#define BCSR_COPIED __attribute__((always_inline)) static inline

/* Adds the product of a block in block column J to sum [b]; b is a constant at each call. */
BCSR_COPIED void multiply_block(const scalar *val, int64_t J, const scalar *x, int64_t cols, int b,
                                scalar *sum) {
  for (int c = 0; c < b; c++) {
    int64_t j = J * b + c;
    scalar xj = x[j < cols ? j : cols - 1];
    for (int r = 0; r < b; r++) sum[r] = s_fma(val[c * b + r], xj, sum[r]);
  }
}

/* sum [b] of block row I. */
BCSR_COPIED void one_block_row(const kcl_stored *m, int64_t I, const scalar *x, int b,
                               scalar *sum) {
  const int64_t *ptr = m->array[BLOCK_PTR].data, cols = m->param[COLS].value,
                count = ptr[I + 1] - ptr[I];
  const int32_t *col = (const int32_t *)m->array[BLOCK_COL].data + ptr[I];
  const scalar *val = (const scalar *)m->array[VAL].data + ptr[I] * b * b;
  for (int r = 0; r < b; r++) sum[r] = s_make(0);
  for (int64_t k = 0; k < count; k++) multiply_block(val + k * b * b, col[k], x, cols, b, sum);
}

/* sum [2][b] of block rows I and I + 1 in one loop: each sum is a chain of dependent operations, and those of two rows overlap. */
BCSR_COPIED void two_block_rows(const kcl_stored *m, int64_t I, const scalar *x, int b,
                                scalar *sum) {
  const int64_t *ptr = m->array[BLOCK_PTR].data, cols = m->param[COLS].value;
  const int32_t *col = m->array[BLOCK_COL].data;
  const scalar *val = m->array[VAL].data;
  int64_t k = ptr[I], l = ptr[I + 1];
  for (int r = 0; r < 2 * b; r++) sum[r] = s_make(0);
  for (; k < ptr[I + 1] && l < ptr[I + 2]; k++, l++) {
    multiply_block(val + k * b * b, col[k], x, cols, b, sum);
    multiply_block(val + l * b * b, col[l], x, cols, b, sum + b);
  }
  for (; k < ptr[I + 1]; k++) multiply_block(val + k * b * b, col[k], x, cols, b, sum);
  for (; l < ptr[I + 2]; l++) multiply_block(val + l * b * b, col[l], x, cols, b, sum + b);
}

BCSR_COPIED void bcsr_block_rows(const kcl_stored *m, int64_t I, bool two, const scalar *x, int b,
                                 scalar *sum) {
  if (two)
    two_block_rows(m, I, x, b, sum);
  else
    one_block_row(m, I, x, b, sum);
}

/* Block rows one by one or, a constant at each call, two at once; an odd one is left. */
BCSR_COPIED void bcsr_range(const kcl_stored *m, const bool pairs, const scalar *x, scalar *y,
                            int64_t lo, int64_t hi) {
  const int64_t b = m->param[B].value;
  scalar sum[2 * 8];
  for (int64_t I = lo / b, end; I * b < hi; I = end) {
    const bool two = pairs && (I + 1) * b < hi;
    end = I + (two ? 2 : 1);
    switch (b) {
    case 2: bcsr_block_rows(m, I, two, x, 2, sum); break;
    case 3: bcsr_block_rows(m, I, two, x, 3, sum); break;
    case 4: bcsr_block_rows(m, I, two, x, 4, sum); break;
    case 6: bcsr_block_rows(m, I, two, x, 6, sum); break;
    default: bcsr_block_rows(m, I, two, x, 8, sum);
    }
    for (int64_t i = I * b < lo ? lo : I * b; i < hi && i < end * b; i++) y[i] = sum[i - I * b];
  }
}

enum { BCSR_LONG = 8 /* blocks per row from which two rows at once are faster */ };

static void bcsr_rows(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi) {
  const int64_t *ptr = m->array[BLOCK_PTR].data, b = m->param[B].value, first = lo / b,
                end = (hi + b - 1) / b;
  if (ptr[end] - ptr[first] >= BCSR_LONG * (end - first))
    bcsr_range(m, true, x, y, lo, hi);
  else
    bcsr_range(m, false, x, y, lo, hi);
}

static bool bcsr_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t *ptr = m->array[BLOCK_PTR].data, b = m->param[B].value, first = lo / b,
                end = (hi + b - 1) / b;
  return kcl_starts_ascend(ptr, first, end, m->array[BLOCK_COL].count) &&
         kcl_indices_within((const int32_t *)m->array[BLOCK_COL].data + ptr[first],
                            ptr[end] - ptr[first], (m->cols + b - 1) / b);
}

/* GPUs: estimated. CPUs, 2 x 2: 1.1 times the time per byte of CSR; with PoCL 1.25 (27 entries per row) to 1.9 (7
 * entries). */
static double bcsr_slowdown(const kcl_stats *s, const kcl_device *d) {
  if (kcl_is_gpu(d)) return 1.3;
  return (void)s, d->platform < 0 ? 1.1 : 1.6;
}

const kcl_format KCL_TYPED(kcl_format_bcsr) = {.name = "bcsr",
                                               .summary = "dense blocks, 2 x 2 to 8 x 8 by fill",
                                               .source = "Im & Yelick 2001; Buatois et al. 2009",
                                               .kernel = "spmv_bcsr",
                                               .multi_rhs = true,
                                               .size = bcsr_size,
                                               .slowdown = bcsr_slowdown,
                                               .build = bcsr_build,
                                               .rows = bcsr_rows,
                                               .bounded = bcsr_bounded};
