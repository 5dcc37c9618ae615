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
      sum[i - lo] = e_fma(val[k * stride + i], x[col[k * stride + i]], sum[i - lo]);
  if (lo < hi)
    for (rest_t k = rest[lo / 32]; k < rest[(hi + 31) / 32]; k++)
      sum[rest_row[k] - lo] = e_fma(rest_val[k], x[rest_col[k]], sum[rest_row[k] - lo]);
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    element sum = e_zero();
    for (idx k = 0; k < width; k++) sum = e_fma(load_streaming(val + k * stride + i), x[load_streaming(col + k * stride + i)], sum);
    const rest_t end = rest[i / 32 + 1];
    rest_t k = rest[i / 32], above = end;
    while (k < above) { /* the first entry whose row is not below i */
      const rest_t middle = k + (above - k) / 2;
      if (rest_row[middle] < i) k = middle + 1;
      else above = middle;
    }
    for (; k < end && rest_row[k] == i; k++) sum = e_fma(rest_val[k], x[rest_col[k]], sum);
    EMIT(i, sum);
  }
#endif
}
