/* Slices of 32 rows with small numbers: entry k of row i at [(slice[i / 32] + k) 32 + i % 32], in
 * column least[i / 32] + col[...], 16 or 32 bits. VARIANT says how values are stored: 0 as they are,
 * 1 as floats, 2 as numbers of 8 or 16 bits into a table, which lies in local memory when it is small
 * (TREE > 0). Kreutzer et al. 2014; Kourtis, Goumas & Koziris 2008. */
#if VARIANT == 0
#define VALUE(at) once(val + (at))
#elif VARIANT == 1
#define VALUE(at) s_of_single(once(val + (at)))
#else
#define VALUE(at) value[once(val + (at))]
#endif
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if TREE
  local scalar *value = tree;
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
    for (idx k = slice[i / 32] * (idx)32; k < slice[i / 32 + 1] * (idx)32; k += 32)
      for (int l = 0; l < 32; l++) sum[l] = e_fma(VALUE(k + l), x[first + (int)col[k + l]], sum[l]);
    for (idx j = i; j < min((idx)(i + 32), hi); j++) EMIT(j, sum[j - i]);
  }
#else
  for EACH(i) {
    const idx s = i / 32, end = slice[s + 1] * (idx)32;
    const int first = least[s];
    element sum = e_zero();
    for (idx k = slice[s] * (idx)32 + i % 32; k < end; k += 32)
      sum = e_fma(VALUE(k), AT(x, first + (int)once(col + k)), sum);
    EMIT(i, sum);
  }
#endif
#if TREE
  SYNC(); /* the tree is for sums from here on */
#endif
}
#undef VALUE
