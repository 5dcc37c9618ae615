/* CSR in tiles of at most TILE entries and 256 rows, or one longer row; tile[t] is the first row of tile
 * t (Greathouse & Daga 2014). Products go into local memory behind the group's own WG scalars, side
 * by side whatever the rows; then `lanes` work-items add up each row. A longer row: every work-item sums
 * its share, and these WG sums are the tile. All loops with barriers run alike for the whole group.
 * CPU devices: a work-item a row. */
static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if KCL_CPU
  for EACH(i) {
    scalar sum = s_make(0);
    for (row_ptr_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = s_fma(val[k], x[col[k]], sum);
    EMIT(i, sum);
  }
#else
  const int TILE = 2048, l = get_local_id(0);
  local scalar *product = tree + WG;
  for (idx t = get_group_id(0); t < (hi > 0 ? tiles : 0); t += get_num_groups(0)) {
    const idx row = tile[t];
    const int rows = tile[t + 1] - row;
    const row_ptr_t start = row_ptr[row], end = row_ptr[row + rows];
    const bool is_long = end - start > TILE;
    if (is_long) {
      scalar sum = s_make(0);
      for (row_ptr_t k = start + l; k < end; k += WG) sum = s_fma(val[k], x[col[k]], sum);
      product[l] = sum;
    } else {
      for (row_ptr_t k = start + l; k < end; k += WG) product[k - start] = s_mul(val[k], x[col[k]]);
    }
    SYNC();
    int lanes = 1;
    while (lanes < 32 && 2 * lanes * rows <= WG) lanes *= 2;
    for (int base = 0; base < rows; base += WG / lanes) {
      const int r = base + l / lanes, lane = l % lanes;
      scalar sum = s_make(0);
      if (r < rows) {
        int k = is_long ? 0 : row_ptr[row + r] - start;
        const int last = is_long ? WG : row_ptr[row + r + 1] - start;
        for (k += lane; k < last; k += lanes) sum = s_add(sum, product[k]);
      }
      sum = team_sum(sum, lanes, tree);
      if (lane == 0 && r < rows) EMIT((idx)(row + r), sum);
    }
    SYNC();
  }
#endif
}
