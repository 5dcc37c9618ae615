/* COO sorted by row; each work-group takes a run of entries, WG at a time. A segmented scan in local
 * memory sums entries of equal row, what a step leaves open is carried into the next, and a row that
 * lies inside the run is stored. Only the run's first and last row may be shared with other groups:
 * those are added atomically, and only their last bits depend on the order (Bell & Garland 2009).
 * On CPU devices a run is one work-item's, as in spmv_coo.cl. */
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *tree)
{
#if KCL_CPU
  const idx start = lo, end = hi;
  const int first = start < end ? row[start] : 0, last = start < end ? row[end - 1] : 0;
  for (idx k = start; k < end;) {
    const int i = row[k];
    scalar sum = s_make(0);
    for (; k < end && row[k] == i; k++) sum = s_fma(val[k], x[col[k]], sum);
    if (i == first || i == last) s_atomic_add(y + i, sum);
    else y[i] = sum;
  }
#else
  const int l = get_local_id(0);
  const idx step = (idx)get_num_groups(0) * WG, run = (hi - lo + step - 1) / step * WG;
  const idx start = min((idx)(lo + get_group_id(0) * run), hi), end = min((idx)(start + run), hi);
  const int first = start < end ? row[start] : 0, last = start < end ? row[end - 1] : 0;
  scalar carry = s_make(0);
  int carried = -1; /* the row it belongs to */
  for (idx base = start; base < end; base += WG) {
    const idx k = base + l, tile_end = min((idx)(base + WG), end);
    const int i = k < end ? row[k] : -2;
    scalar sum = k < end ? s_mul(once(val + k), x[once(col + k)]) : s_make(0);
    if (l == 0 && i == carried) sum = s_add(sum, carry);
    tree[l] = sum;
    SYNC();
#pragma unroll
    for (int d = 1; d < WG; d *= 2) {
      const scalar left = l >= d && k < end && row[k - d] == i ? tree[l - d] : s_make(0);
      SYNC();
      sum = s_add(sum, left);
      tree[l] = sum;
      SYNC();
    }
    carry = tree[tile_end - base - 1], carried = row[tile_end - 1];
    const bool closes = k < end && (k + 1 == end || row[k + 1] != i);
    if (closes && (i == first || i == last)) s_atomic_add(y + i, sum);
    if (closes && i != first && i != last) y[i] = sum;
    SYNC();
  }
#endif
}
