/* CSR, LANES work-items per row: each takes four neighbouring entries by vector loads, then the four that lie 4 LANES
 * further on (Lokhmotov 2011). CPU devices: one work-item per row, as spmv_csr.cl. */
#if KCL_CPU
#include "spmv_csr.cl"
#else
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  const int team = get_local_id(0) / LANES, lane = get_local_id(0) % LANES, teams = WG / LANES;
  for EACH_TEAM(base, teams) {
    const idx i = base + team;
    const row_ptr_t end = i < hi ? START(row_ptr[i + 1], COUNT_col) : 0;
    row_ptr_t k = i < hi ? START(row_ptr[i], COUNT_col) + 4 * lane : 0;
    scalar sum = s_make(0);
    for (; k + 4 <= end; k += 4 * LANES) {
      const int4 c = load_streaming4(col + k);
#if KCL_TYPE == 0
      const float4 v = load_streaming4(val + k);
      sum += dot(v, (float4)(AT(x, c.x), AT(x, c.y), AT(x, c.z), AT(x, c.w)));
#elif KCL_TYPE == 1
      const double4 v = load_streaming4(val + k);
      sum += dot(v, (double4)(AT(x, c.x), AT(x, c.y), AT(x, c.z), AT(x, c.w)));
#else
      sum = s_fma(load_streaming(val + k + 1), AT(x, c.y), s_fma(load_streaming(val + k), AT(x, c.x), sum));
      sum = s_fma(load_streaming(val + k + 3), AT(x, c.w), s_fma(load_streaming(val + k + 2), AT(x, c.z), sum));
#endif
    }
    if (k < end) { /* up to three entries are left; all are loaded before the first addition */
      const row_ptr_t last = end - 1, k1 = min((row_ptr_t)(k + 1), last), k2 = min((row_ptr_t)(k + 2), last);
      const scalar x0 = AT(x, col[k]), x1 = AT(x, col[k1]), x2 = AT(x, col[k2]);
      sum = s_fma(val[k], x0, sum);
      if (k1 > k) sum = s_fma(val[k1], x1, sum);
      if (k2 > k1) sum = s_fma(val[k2], x2, sum);
    }
    sum = lanes_sum(sum, LANES, scratch);
    if (lane == 0 && i < hi) EMIT(i, sum);
  }
}
#endif
