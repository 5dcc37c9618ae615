/* Full storage: entry (i, j) at val[j * stride + i], so that neighbouring work-items read neighbouring
 * numbers. A work-item a row; CPU devices take a block of rows at a time, column by column. */
static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if KCL_CPU
  scalar sum[BLOCK];
  for (idx i = lo; i < hi; i++) sum[i - lo] = s_make(0);
  for (idx j = 0; j < cols; j++) {
    const scalar a = x[j];
    for (idx i = lo; i < hi; i++) sum[i - lo] = s_fma(val[j * stride + i], a, sum[i - lo]);
  }
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    scalar sum = s_make(0);
    for (idx j = 0; j < cols; j++) sum = s_fma(val[j * stride + i], x[j], sum);
    EMIT(i, sum);
  }
#endif
}
