/* ELL: every row padded to `width` entries; entry k of row i is at [k * stride + i], so neighbouring work-items read
 * neighbouring values. Padding: value 0 at the column of the row's last entry.
 * CPU devices: a block of rows at a time, entry by entry. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  element sum[BLOCK];
  for (idx i = lo; i < hi; i++) sum[i - lo] = e_zero();
  for (idx k = 0; k < width; k++)
    for (idx i = lo; i < hi; i++)
      sum[i - lo] = e_fma(val[k * stride + i], AT(x, col[k * stride + i]), sum[i - lo]);
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    element sum = e_zero();
    for (idx k = 0; k < width; k++)
      sum = e_fma(load_streaming(val + k * stride + i), AT(x, load_streaming(col + k * stride + i)), sum);
    EMIT(i, sum);
  }
#endif
}
