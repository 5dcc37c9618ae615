/* CSR in tiles of at most TILE entries and 256 rows, or one longer row; tile[t] is the first row of tile
 * t (Greathouse & Daga 2014). Products go into local memory behind the group's own WG scalars, side
 * by side whatever the rows; then `lanes` work-items add up each row. A longer row comes in pieces, summed by
 * prepare before: tile t has part[before[t] .. before[t + 1]). All loops with barriers run alike for the whole
 * group. CPU devices: a work-item a row. */
#if !KCL_CPU
static inline void prepare(PREPARED, global const scalar *restrict x, idx lo, idx hi, local scalar *tree)
{
  const int l = get_local_id(0);
  for (idx p = get_group_id(0); p < pieces; p += get_num_groups(0)) {
    scalar sum = s_make(0);
    for (piece_t k = piece[2 * p] + l; k < piece[2 * p + 1]; k += WG) sum = s_fma(val[k], x[col[k]], sum);
    group_sums(&sum, 1, tree);
    if (l == 0) part[p] = sum;
  }
}
#endif

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
  const int l = get_local_id(0);
  local scalar *product = tree + WG;
  for (idx t = get_group_id(0); t < (hi > 0 ? tiles : 0); t += get_num_groups(0)) {
    const idx row = tile[t];
    const int rows = tile[t + 1] - row;
    const row_ptr_t start = row_ptr[row], end = row_ptr[row + rows];
    const bool is_long = before[t + 1] > before[t];
    if (is_long) {
      scalar sum = s_make(0);
      for (int p = before[t] + l; p < before[t + 1]; p += WG) sum = s_add(sum, part[p]);
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
