/* CSR, a team of 64 work-items a row (the whole group where it is smaller); their sums meet in local
 * memory (Rodriguez Losada 2010, kernel 2; there one item added them up, here half of the team at a
 * time). Good for rows of hundreds of entries. CPU devices: a work-item a row. */
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
#define TEAM (LANES < WG ? LANES : WG)
  const int l = get_local_id(0), lane = l % TEAM, teams = WG / TEAM;
  for EACH_TEAM(base, teams) {
    const idx i = base + l / TEAM;
    scalar sum = s_make(0);
    if (i < hi)
      for (row_ptr_t k = row_ptr[i] + lane; k < row_ptr[i + 1]; k += TEAM)
        sum = s_fma(once(val + k), x[once(col + k)], sum);
    tree[l] = sum;
    SYNC();
#pragma unroll
    for (int d = TEAM / 2; d > 0; d /= 2) {
      if (lane < d) tree[l] = s_add(tree[l], tree[l + d]);
      SYNC();
    }
    if (lane == 0 && i < hi) {
      sum = tree[l];
      EMIT(i, sum);
    }
    SYNC();
  }
#undef TEAM
#endif
}
