/* SELL-C-sigma: slices of C = 32 rows, entry k of the row at position p at
 * [(slice[p / C] + k) C + p % C] (Kreutzer et al. 2014). order, when sorted: the row at each position,
 * or on CPU devices the position of each row. Padding: value 0 at a column of the row. */
static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if KCL_CPU
  for (idx base = lo; !sorted && base < hi; base += 32) { /* lo is a multiple of 64 */
    scalar sum[32];
    for (int l = 0; l < 32; l++) sum[l] = s_make(0);
    for (idx k = slice[base / 32]; k < slice[base / 32 + 1]; k++) {
      global const scalar *v = val + k * 32;
      global const int *c = col + k * 32;
      for (int l = 0; l < 32; l++) sum[l] = s_fma(v[l], x[c[l]], sum[l]);
    }
    for (idx i = base; i < min((idx)(base + 32), hi); i++) EMIT(i, sum[i - base]);
  }
  for (idx i = lo; sorted && i < hi; i++) {
    const idx s = order[i] / 32, end = slice[s + 1];
    scalar sum = s_make(0);
    for (idx k = slice[s] * (idx)32 + order[i] % 32; k < end * 32; k += 32) sum = s_fma(val[k], x[col[k]], sum);
    EMIT(i, sum);
  }
#else
  for EACH(p) {
    const idx s = p / 32, end = slice[s + 1] * (idx)32;
    scalar sum = s_make(0);
    for (idx k = slice[s] * (idx)32 + p % 32; k < end; k += 32) sum = s_fma(val[k], x[col[k]], sum);
    const idx i = sorted ? (idx)order[p] : p;
    EMIT(i, sum);
  }
#endif
}
