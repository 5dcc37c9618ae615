/* CSR, one work-item per row, with the row pointers and the sum in global memory: `volatile` makes every entry load the end of
 * the row and y_i, and store y_i (the kernel that the hardware-counter study starts from). A scatter, which is what has y; no
 * two work-items share a row, so that no addition is atomic. */
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *scratch)
{
  global const volatile row_ptr_t *bounds = row_ptr;
  global volatile scalar *sum = y;
  for EACH(i)
    for (row_ptr_t k = START(bounds[i], COUNT_col); k < START(bounds[i + 1], COUNT_col); k++)
      sum[i] = s_fma(val[k], x[WITHIN(col[k], A_COLS)], sum[i]);
}
