/* A dictionary of pairs: entry k of row i has the number c at bits 8 (k % 4) of code[(slice[i / 32] + k / VARIANT) 32 +
 * i % 32]; it is val[c] in column i + offset[c], or padding where c is 0 (Kourtis, Goumas & Koziris 2008). VARIANT is
 * the number of codes per word: 4, or 2 at bits 16 (k % 2). Small tables are copied to local memory (LOCAL_SCALARS > 0). On CPU
 * devices a word that 32 rows share reads x in order. */
#ifndef SPMV_PAIR
#define SPMV_PAIR
#define PAIR_MASK(codes) ((codes) == 4 ? 0xffu : 0xffffu)
#if KCL_CPU
static inline void pair_word(global const uint *word, const int codes, global const int *offset,
                             global const scalar *val, global const element *x, idx i, idx cols, idx pairs, element *sum)
{
  uint differ = 0;
  for (int l = 0; l < 32; l++) differ |= word[l] ^ word[0];
  for (int shift = 0; shift < 32; shift += 32 / codes) {
    const uint common = WITHIN((word[0] >> shift) & PAIR_MASK(codes), pairs + 1);
    if (!differ && common) {
      const scalar a = val[common];
      const idx first = i + offset[common];
      for (int l = 0; l < 32; l++) sum[l] = e_fma(a, x[WITHIN(first + l, cols)], sum[l]);
    } else if (differ) {
      for (int l = 0; l < 32; l++) {
        const uint c = WITHIN((word[l] >> shift) & PAIR_MASK(codes), pairs + 1);
        const element v = x[WITHIN(min((idx)(i + l + offset[c]), (idx)(cols - 1)), cols)];
        sum[l] = e_fma(val[c], c ? v : e_zero(), sum[l]);
      }
    }
  }
}
#endif
#endif
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  for (idx i = lo; i < hi; i += 32) { /* lo is a multiple of 64 */
    element sum[32];
    for (int l = 0; l < 32; l++) sum[l] = e_zero();
    for (idx g = START(slice[i / 32], COUNT_code / 32); g < START(slice[i / 32 + 1], COUNT_code / 32); g++)
      pair_word((global const uint *)code + g * 32, VARIANT, offset, val, x, i, cols, pairs, sum);
    for (idx j = i; j < min((idx)(i + 32), hi); j++) EMIT(j, sum[j - i]);
  }
#else
#if LOCAL_SCALARS
  local scalar *value = scratch;
  local int *off = (local int *)(value + pairs + 1);
  for (int t = get_local_id(0); t <= pairs; t += WG) value[t] = val[t], off[t] = offset[t];
  SYNC();
#else
  global const scalar *restrict value = val;
  global const int *restrict off = offset;
#endif
  for EACH(i) {
    element sum = e_zero();
    for (idx g = START(slice[i / 32], COUNT_code / 32); g < START(slice[i / 32 + 1], COUNT_code / 32); g++) {
      const uint word = as_uint(code[g * 32 + i % 32]);
#pragma unroll
      for (int b = 0; b < VARIANT; b++) {
        const uint c = WITHIN((word >> (b * 32 / VARIANT)) & PAIR_MASK(VARIANT), pairs + 1);
        if (c) sum = e_fma(value[c], AT(x, i + off[c]), sum);
      }
    }
    EMIT(i, sum);
  }
#if LOCAL_SCALARS
  SYNC(); /* the scratch serves reductions from here on */
#endif
#endif
}
