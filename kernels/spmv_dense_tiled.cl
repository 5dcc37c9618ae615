/* Full storage, entry (i, j) at val[j * stride + i]. A work-group of WG rows loads a tile of WG elements of x into
 * local memory, uses all of it, and goes on to the next tile. CPU devices: as spmv_dense.cl, where the tile of x is one
 * register. */
#if KCL_CPU
#include "spmv_dense.cl"
#else
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  const int l = get_local_id(0);
  for EACH_TEAM(base, WG) { /* a team of one work-item per row */
    const idx i = base + l;
    scalar sum = s_make(0);
    for (idx tile = 0; tile < cols; tile += WG) {
      if (tile + l < cols) scratch[l] = x[tile + l];
      SYNC();
      const int width = min((idx)WG, (idx)(cols - tile));
      if (i < hi)
        for (int j = 0; j < width; j++) sum = s_fma(load_streaming(val + (tile + j) * stride + i), scratch[j], sum);
      SYNC();
    }
    if (i < hi) EMIT(i, sum);
  }
}
#endif
