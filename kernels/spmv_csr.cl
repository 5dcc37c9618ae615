/* CSR: row i holds val[row_ptr[i] .. row_ptr[i + 1]) at columns col[...].
 * One work-item per row where LANES is 1 (csr-scalar). Otherwise a team of LANES neighbours shares a row and adds up its
 * partial sums: their loads of val and col are contiguous (csr-vector, Bell & Garland 2008; csr-group, 64 lanes through
 * local memory, Rodriguez Losada 2010, kernel 2). LANES 0: so many as row_lanes, an argument, says, within a warp. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if SUM_BLOCK
  for EACH(i) {
    const element sum = row_in_order(val, col, x, A_COLS, START(row_ptr[i], COUNT_col), START(row_ptr[i + 1], COUNT_col));
    EMIT(i, sum);
  }
#elif LANES == 1
  for EACH(i) {
    element sum = e_zero();
    for (row_ptr_t k = START(row_ptr[i], COUNT_col); k < START(row_ptr[i + 1], COUNT_col); k++)
      sum = e_fma(val[k], AT(x, col[k]), sum);
    EMIT(i, sum);
  }
#else
#if LANES
  const int lanes = LANES < WG ? LANES : WG;
#else
  const int lanes = min(row_lanes, 32);
#endif
  const int team = get_local_id(0) / lanes, lane = get_local_id(0) % lanes, teams = WG / lanes;
  for EACH_TEAM(base, teams) {
    idx i = base + team;
    element sum = e_zero();
    if (i < hi)
      for (row_ptr_t k = START(row_ptr[i], COUNT_col) + lane; k < START(row_ptr[i + 1], COUNT_col); k += lanes)
        sum = e_fma(load_streaming(val + k), AT(x, load_streaming(col + k)), sum);
    sum = e_lanes_sum(sum, lanes, scratch);
    if (lane == 0 && i < hi) EMIT(i, sum);
  }
#endif
}
