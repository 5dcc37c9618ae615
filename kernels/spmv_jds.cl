/* JDS: entry k of the row at position p is at start[k] + p, as long as that is below start[k + 1]. order: the row at
 * each position; on CPU devices the position of each row. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  for EACH(at) {
#if KCL_CPU
    const idx i = at, p = WITHIN(order[at], A_ROWS);
#else
    const idx i = WITHIN(order[at], A_ROWS), p = at;
#endif
    element sum = e_zero();
    for (idx k = 0; k < width && START(start[k], COUNT_col) + p < START(start[k + 1], COUNT_col); k++)
      sum = e_fma(load_streaming(val + START(start[k], COUNT_col) + p),
                  x[WITHIN(load_streaming(col + START(start[k], COUNT_col) + p), A_COLS)], sum);
    EMIT(i, sum);
  }
}
