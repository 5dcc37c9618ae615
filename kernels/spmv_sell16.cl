/* Slices of 32 rows with compressed indices and values: entry k of row i is at [(slice[i / 32] + k) 32 + i % 32], in
 * column least[i / 32] + col[...], col of 16 or 32 bits. VARIANT is how values are stored: 0 as scalars, 1 as floats,
 * 2 as indices of 8 or 16 bits into a table, which is copied to local memory if small (LOCAL_SCALARS > 0). Kreutzer et al. 2014;
 * Kourtis, Goumas & Koziris 2008. */
#if VARIANT == 0
#define VALUE(at) load_streaming(val + (at))
#elif VARIANT == 1
#define VALUE(at) s_of_single(load_streaming(val + (at)))
#else
#define VALUE(at) value[WITHIN(load_streaming(val + (at)), values)]
#endif
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if LOCAL_SCALARS
  local scalar *value = scratch;
  for (int t = get_local_id(0); t < values; t += WG) value[t] = table[t];
  SYNC();
#else
  global const scalar *restrict value = table;
#endif
#if KCL_CPU
  for (idx i = lo; i < hi; i += 32) { /* lo is a multiple of 64 */
    const int first = least[i / 32];
    element sum[32];
    for (int l = 0; l < 32; l++) sum[l] = e_zero();
    for (idx k = START(slice[i / 32], COUNT_col / 32) * (idx)32; k < START(slice[i / 32 + 1], COUNT_col / 32) * (idx)32; k += 32)
      for (int l = 0; l < 32; l++) sum[l] = e_fma(VALUE(k + l), x[WITHIN(first + (int)col[k + l], A_COLS)], sum[l]);
    for (idx j = i; j < min((idx)(i + 32), hi); j++) EMIT(j, sum[j - i]);
  }
#else
  for EACH(i) {
    const idx s = i / 32, end = START(slice[s + 1], COUNT_col / 32) * (idx)32;
    const int first = least[s];
    element sum = e_zero();
    for (idx k = START(slice[s], COUNT_col / 32) * (idx)32 + i % 32; k < end; k += 32)
      sum = e_fma(VALUE(k), AT(x, first + (int)load_streaming(col + k)), sum);
    EMIT(i, sum);
  }
#endif
#if LOCAL_SCALARS
  SYNC(); /* the scratch serves reductions from here on */
#endif
}
#undef VALUE
