/* BCSR: block k of block row I = i / b is at val[k b^2], column by column; its first column is block_col[k] b.
 * GPUs: one work-item per row, so the b rows of a block read it side by side. CPU devices: whole block rows; those at
 * the ends of the range are computed twice. Blocks may extend beyond the last column: the values there are 0, so x is
 * read at the last column. */
#ifndef SPMV_BCSR /* b is a constant at each call */
#define SPMV_BCSR
static inline element row_of_blocks(global const int *block_col, global const scalar *val, idx k, idx end,
                                   global const element *x, idx cols, int r, const int b)
{
  element sum = e_zero();
  for (; k < end; k++)
#pragma unroll
    for (int c = 0; c < b; c++)
      sum = e_fma(val[(k * b + c) * b + r], x[WITHIN(min((idx)(block_col[k] * (idx)b + c), (idx)(cols - 1)), cols)], sum);
  return sum;
}

static inline void block_row(global const int *block_col, global const scalar *val, idx k, idx end,
                             global const element *x, idx cols, element *sum, const int b)
{
  for (int r = 0; r < b; r++) sum[r] = e_zero();
  for (; k < end; k++)
    for (int c = 0; c < b; c++) {
      const element a = x[WITHIN(min((idx)(block_col[k] * (idx)b + c), (idx)(cols - 1)), cols)];
      for (int r = 0; r < b; r++) sum[r] = e_fma(val[(k * b + c) * b + r], a, sum[r]);
    }
}
#endif
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  for (idx base = lo / b * b; base < hi; base += b) {
    const idx k = START(block_ptr[base / b], COUNT_block_col), end = START(block_ptr[base / b + 1], COUNT_block_col);
    element sum[8];
    if (b == 2) block_row(block_col, val, k, end, x, cols, sum, 2);
    else if (b == 3) block_row(block_col, val, k, end, x, cols, sum, 3);
    else if (b == 4) block_row(block_col, val, k, end, x, cols, sum, 4);
    else if (b == 6) block_row(block_col, val, k, end, x, cols, sum, 6);
    else block_row(block_col, val, k, end, x, cols, sum, 8);
    for (idx i = max(base, lo); i < min((idx)(base + b), hi); i++) EMIT(i, sum[i - base]);
  }
#else
  for EACH(i) {
    const idx k = START(block_ptr[i / b], COUNT_block_col), end = START(block_ptr[i / b + 1], COUNT_block_col);
    const int r = i % b;
    element sum;
    if (b == 2) sum = row_of_blocks(block_col, val, k, end, x, cols, r, 2);
    else if (b == 3) sum = row_of_blocks(block_col, val, k, end, x, cols, r, 3);
    else if (b == 4) sum = row_of_blocks(block_col, val, k, end, x, cols, r, 4);
    else if (b == 6) sum = row_of_blocks(block_col, val, k, end, x, cols, r, 6);
    else sum = row_of_blocks(block_col, val, k, end, x, cols, r, 8);
    EMIT(i, sum);
  }
#endif
}
