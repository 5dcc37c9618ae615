/* SELL-C-sigma: slices of C = VARIANT rows; entry k of the row at position p is at [(slice[p / C] + k) C + p % C]
 * (Kreutzer et al. 2014). order, if sorted: the row at each position; on CPU devices the position of each row.
 * Padding: value 0 at a column of the row. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  for (idx base = lo; !sorted && base < hi; base += VARIANT) { /* lo is a multiple of 64 */
    element sum[VARIANT];
    for (int l = 0; l < VARIANT; l++) sum[l] = e_zero();
    for (idx k = START(slice[base / VARIANT], COUNT_col / VARIANT); k < START(slice[base / VARIANT + 1], COUNT_col / VARIANT); k++) {
      global const scalar *v = val + k * VARIANT;
      global const int *c = col + k * VARIANT;
      for (int l = 0; l < VARIANT; l++) sum[l] = e_fma(v[l], x[WITHIN(c[l], A_COLS)], sum[l]);
    }
    for (idx i = base; i < min((idx)(base + VARIANT), hi); i++) EMIT(i, sum[i - base]);
  }
  for (idx i = lo; sorted && i < hi; i++) {
    const idx p = WITHIN(order[i], A_ROWS), s = p / VARIANT, end = START(slice[s + 1], COUNT_col / VARIANT);
    element sum = e_zero();
    for (idx k = START(slice[s], COUNT_col / VARIANT) * (idx)VARIANT + p % VARIANT; k < end * VARIANT; k += VARIANT)
      sum = e_fma(val[k], x[WITHIN(col[k], A_COLS)], sum);
    EMIT(i, sum);
  }
#else
  for EACH(p) {
    const idx s = p / VARIANT, end = START(slice[s + 1], COUNT_col / VARIANT) * (idx)VARIANT;
    element sum = e_zero();
    for (idx k = START(slice[s], COUNT_col / VARIANT) * (idx)VARIANT + p % VARIANT; k < end; k += VARIANT)
      sum = e_fma(load_streaming(val + k), AT(x, load_streaming(col + k)), sum);
    const idx i = sorted ? (idx)WITHIN(order[p], A_ROWS) : p;
    EMIT(i, sum);
  }
#endif
}
