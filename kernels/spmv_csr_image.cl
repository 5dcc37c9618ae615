/* CSR, LANES neighbours a row as in spmv_csr.cl, with x read from an image (image.clh), which prepare fills
 * before each product (Kuresson 2012, 6.4). */
static inline void prepare(PREPARED, global const scalar *restrict x, idx lo, idx hi, local scalar *tree)
{
  image_fill(xi, x, lo, hi);
}

static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if LANES == 1
  for EACH(i) {
    scalar sum = s_make(0);
    for (row_ptr_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = s_fma(val[k], image_at(xi, col[k]), sum);
    EMIT(i, sum);
  }
#else
  const int team = get_local_id(0) / LANES, lane = get_local_id(0) % LANES, teams = WG / LANES;
  for EACH_TEAM(base, teams) {
    idx i = base + team;
    scalar sum = s_make(0);
    if (i < hi)
      for (row_ptr_t k = row_ptr[i] + lane; k < row_ptr[i + 1]; k += LANES)
        sum = s_fma(val[k], image_at(xi, col[k]), sum);
    sum = lanes_sum(sum, LANES, tree);
    if (lane == 0 && i < hi) EMIT(i, sum);
  }
#endif
}
