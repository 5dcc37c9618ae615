/* Half of a symmetric or Hermitian matrix: the lower triangle as CSR (first, col, val), and for the entries beyond the
 * diagonal of row i the words up[up_first[i] .. up_first[i + 1]): column j << shift | r, whose value is entry r of row
 * j of the lower triangle. Every row is gathered: no atomics, and the same bits each time.
 * One work-item per row where LANES is 1; otherwise LANES neighbours share a row, as in spmv_csr.cl. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  const uint mask = (1u << shift) - 1;
#if LANES == 1
  for EACH(i) {
    element sum = e_zero();
    for (int k = START(first[i], COUNT_col); k < START(first[i + 1], COUNT_col); k++)
      sum = e_fma(val[k], x[WITHIN(col[k], A_COLS)], sum);
    for (int k = START(up_first[i], COUNT_up); k < START(up_first[i + 1], COUNT_up); k++) {
      const uint pair = (uint)up[k], j = WITHIN(pair >> shift, A_COLS);
      const scalar a = val[WITHIN(first[j] + (int)(pair & mask), COUNT_val)];
      sum = e_fma(hermitian ? s_conj(a) : a, x[j], sum);
    }
    EMIT(i, sum);
  }
#else
  const int team = get_local_id(0) / LANES, lane = get_local_id(0) % LANES, teams = WG / LANES;
  for EACH_TEAM(base, teams) {
    const idx i = base + team;
    element sum = e_zero();
    if (i < hi) {
      for (int k = START(first[i], COUNT_col) + lane; k < START(first[i + 1], COUNT_col); k += LANES)
        sum = e_fma(val[k], x[WITHIN(col[k], A_COLS)], sum);
      for (int k = START(up_first[i], COUNT_up) + lane; k < START(up_first[i + 1], COUNT_up); k += LANES) {
        const uint pair = (uint)up[k], j = WITHIN(pair >> shift, A_COLS);
        const scalar a = val[WITHIN(first[j] + (int)(pair & mask), COUNT_val)];
        sum = e_fma(hermitian ? s_conj(a) : a, x[j], sum);
      }
    }
    sum = e_lanes_sum(sum, LANES, scratch);
    if (lane == 0 && i < hi) EMIT(i, sum);
  }
#endif
}
