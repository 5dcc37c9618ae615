/* ELL with row lengths: entry k of row i is at [k * stride + i] for k < length[i]; padding is not read (Vazquez,
 * Fernandez & Garzon 2011). CPU devices: a block of rows at a time, entry by entry, up to its longest row. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  element sum[BLOCK];
  int most = 0;
  for (idx i = lo; i < hi; i++) sum[i - lo] = e_zero(), most = max(most, (int)WITHIN(length[i], width + 1));
  for (idx k = 0; k < most; k++)
    for (idx i = lo; i < hi; i++)
      sum[i - lo] = e_fma(val[k * stride + i], x[WITHIN(col[k * stride + i], A_COLS)], sum[i - lo]);
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    element sum = e_zero();
    for (idx at = i, end = i + WITHIN(length[i], width + 1) * stride; at < end; at += stride)
      sum = e_fma(load_streaming(val + at), AT(x, load_streaming(col + at)), sum);
    EMIT(i, sum);
  }
#endif
}
