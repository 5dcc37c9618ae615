/* SELL-C-sigma: slices of C = VARIANT rows; entry k of the row at position p is at [(slice[p / C] + k) C + p % C]
 * (Kreutzer et al. 2014). order, if sorted: the row at each position; on CPU devices the position of each row.
 * Padding: value 0 at a column of the row. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  for (idx base = lo; !sorted && base < hi; base += VARIANT) { /* lo is a multiple of 64 */
    element sum[VARIANT];
    for (int l = 0; l < VARIANT; l++) sum[l] = e_zero();
    for (idx k = slice[base / VARIANT]; k < slice[base / VARIANT + 1]; k++) {
      global const scalar *v = val + k * VARIANT;
      global const int *c = col + k * VARIANT;
      for (int l = 0; l < VARIANT; l++) sum[l] = e_fma(v[l], x[c[l]], sum[l]);
    }
    for (idx i = base; i < min((idx)(base + VARIANT), hi); i++) EMIT(i, sum[i - base]);
  }
  for (idx i = lo; sorted && i < hi; i++) {
    const idx s = order[i] / VARIANT, end = slice[s + 1];
    element sum = e_zero();
    for (idx k = slice[s] * (idx)VARIANT + order[i] % VARIANT; k < end * VARIANT; k += VARIANT) sum = e_fma(val[k], x[col[k]], sum);
    EMIT(i, sum);
  }
#else
  for EACH(p) {
    const idx s = p / VARIANT, end = slice[s + 1] * (idx)VARIANT;
    element sum = e_zero();
    for (idx k = slice[s] * (idx)VARIANT + p % VARIANT; k < end; k += VARIANT)
      sum = e_fma(load_streaming(val + k), AT(x, load_streaming(col + k)), sum);
    const idx i = sorted ? (idx)order[p] : p;
    EMIT(i, sum);
  }
#endif
}
