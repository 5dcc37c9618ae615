/* JDS: entry k of the row at position p is at start[k] + p, as long as that is below start[k + 1]. order: the row at
 * each position; on CPU devices the position of each row. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  for EACH(at) {
#if KCL_CPU
    const idx i = at, p = order[at];
#else
    const idx i = order[at], p = at;
#endif
    element sum = e_zero();
    for (idx k = 0; k < width && start[k] + p < start[k + 1]; k++)
      sum = e_fma(load_streaming(val + start[k] + p), x[load_streaming(col + start[k] + p)], sum);
    EMIT(i, sum);
  }
}
