/* Full storage: entry (i, j) is at val[j * stride + i], so neighbouring work-items read neighbouring values.
 * One work-item per row. CPU devices: a block of rows at a time, column by column. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  element sum[BLOCK];
  for (idx i = lo; i < hi; i++) sum[i - lo] = e_zero();
  for (idx j = 0; j < cols; j++) {
    const element a = x[j];
    for (idx i = lo; i < hi; i++) sum[i - lo] = e_fma(val[j * stride + i], a, sum[i - lo]);
  }
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    element sum = e_zero();
    for (idx j = 0; j < cols; j++) sum = e_fma(load_streaming(val + j * stride + i), x[j], sum);
    EMIT(i, sum);
  }
#endif
}
