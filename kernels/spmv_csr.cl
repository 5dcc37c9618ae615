/* CSR: row i holds val[row_ptr[i] .. row_ptr[i+1]) at columns col[...].
 * One work-item a row (LANES 1, csr-scalar), or LANES neighbours share one and add up
 * (csr-vector; Bell & Garland 2008): their loads of val and col are then contiguous. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if LANES == 1
  for EACH(i) {
    element sum = e_zero();
    for (row_ptr_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = e_fma(val[k], AT(x, col[k]), sum);
    EMIT(i, sum);
  }
#else
  const int team = get_local_id(0) / LANES, lane = get_local_id(0) % LANES, teams = WG / LANES;
  for EACH_TEAM(base, teams) {
    idx i = base + team;
    element sum = e_zero();
    if (i < hi)
      for (row_ptr_t k = row_ptr[i] + lane; k < row_ptr[i + 1]; k += LANES)
        sum = e_fma(once(val + k), AT(x, once(col + k)), sum);
    sum = e_lanes_sum(sum, LANES, tree);
    if (lane == 0 && i < hi) EMIT(i, sum);
  }
#endif
}
