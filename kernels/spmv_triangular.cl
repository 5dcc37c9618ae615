/* z = (I + N)^-1 x, computed by prepare before the product hands it on (spmv/triangular.c). VARIANT 0: one work-group, level by
 * level with a barrier after each; 1: rows lo to hi are of one level, by all work-groups. */
static inline void prepare(PREPARED, global const scalar *restrict x, idx lo, idx hi)
{
  const idx first = VARIANT ? (idx)get_global_id(0) : (idx)get_local_id(0);
  const idx items = VARIANT ? (idx)get_global_size(0) : (idx)WG;
  for (idx l = 0; l < (VARIANT ? 1 : levels); l++) {
    const idx begin = VARIANT ? lo : (idx)START(level[l], A_ROWS), end = VARIANT ? hi : (idx)START(level[l + 1], A_ROWS);
    for (idx n = begin + first; n < end; n += items) {
      const int i = WITHIN(order[n], A_ROWS);
      scalar sum = s_make(0);
      for (row_ptr_t k = START(row_ptr[i], COUNT_col); k < START(row_ptr[i + 1], COUNT_col); k++)
        sum = s_fma(val[k], z[WITHIN(col[k], A_ROWS)], sum);
      z[i] = s_sub(x[i], sum);
    }
    if (!VARIANT) barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  for EACH(i) EMIT(i, z[i]);
}
