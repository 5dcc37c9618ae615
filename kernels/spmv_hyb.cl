/* HYB: ELL of `width` entries per row, and the entries that overflow it, sorted by row; rest[i / 32] is where the
 * overflow of 32 rows begins. Each row finds its own part by bisection: no second kernel, no atomics (after Bell &
 * Garland 2009). CPU devices: a block of rows at a time; a block begins at a multiple of 64. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  element sum[BLOCK];
  for (idx i = lo; i < hi; i++) sum[i - lo] = e_zero();
  for (idx k = 0; k < width; k++)
    for (idx i = lo; i < hi; i++)
      sum[i - lo] = e_fma(val[k * stride + i], x[WITHIN(col[k * stride + i], A_COLS)], sum[i - lo]);
  if (lo < hi)
    for (rest_t k = START(rest[lo / 32], COUNT_rest_col); k < START(rest[(hi + 31) / 32], COUNT_rest_col); k++) {
      const idx l = WITHIN(rest_row[k] - lo, hi - lo);
      sum[l] = e_fma(rest_val[k], x[WITHIN(rest_col[k], A_COLS)], sum[l]);
    }
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    element sum = e_zero();
    for (idx k = 0; k < width; k++) sum = e_fma(load_streaming(val + k * stride + i), x[WITHIN(load_streaming(col + k * stride + i), A_COLS)], sum);
    const rest_t end = START(rest[i / 32 + 1], COUNT_rest_col);
    rest_t k = START(rest[i / 32], COUNT_rest_col), above = end;
    while (k < above) { /* the first entry whose row is not below i */
      const rest_t middle = k + (above - k) / 2;
      if (rest_row[middle] < i) k = middle + 1;
      else above = middle;
    }
    for (; k < end && rest_row[k] == i; k++) sum = e_fma(rest_val[k], x[WITHIN(rest_col[k], A_COLS)], sum);
    EMIT(i, sum);
  }
#endif
}
