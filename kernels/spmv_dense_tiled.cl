/* Full storage, entry (i, j) at val[j * stride + i]. A group of WG rows loads WG elements of x into local
 * memory together, uses them all, and goes on to the next. CPU devices: as in spmv_dense.cl, whose
 * tile of x is a register. */
static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if KCL_CPU
  scalar sum[BLOCK];
  for (idx i = lo; i < hi; i++) sum[i - lo] = s_make(0);
  for (idx j = 0; j < cols; j++) {
    const scalar a = x[j];
    for (idx i = lo; i < hi; i++) sum[i - lo] = s_fma(val[j * stride + i], a, sum[i - lo]);
  }
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  const int l = get_local_id(0);
  for (idx base = lo + get_group_id(0) * WG; base < hi; base += get_num_groups(0) * WG) {
    const idx i = base + l; /* the same number of rounds for the whole group */
    scalar sum = s_make(0);
    for (idx tile = 0; tile < cols; tile += WG) {
      if (tile + l < cols) tree[l] = x[tile + l];
      SYNC();
      const int width = min((idx)WG, (idx)(cols - tile));
      if (i < hi)
        for (int j = 0; j < width; j++) sum = s_fma(once(val + (tile + j) * stride + i), tree[j], sum);
      SYNC();
    }
    if (i < hi) EMIT(i, sum);
  }
#endif
}
