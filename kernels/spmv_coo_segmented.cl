/* COO sorted by row; each work-group takes a contiguous range of entries, WG at a time. A segmented scan in local
 * memory sums the entries of each row, and the sum of a row that is not complete is carried into the next step. Rows
 * inside the range are stored; only its first and last row may be shared with other groups and are added atomically, so
 * only their last bits depend on the order (Bell & Garland 2009). CPU devices: as spmv_coo.cl. */
#if KCL_CPU
#include "spmv_coo.cl"
#else
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *scratch)
{
  const int l = get_local_id(0);
  const idx step = (idx)get_num_groups(0) * WG, range = (hi - lo + step - 1) / step * WG;
  const idx start = min((idx)(lo + get_group_id(0) * range), hi), end = min((idx)(start + range), hi);
  const int first = start < end ? row[start] : 0, last = start < end ? row[end - 1] : 0;
  scalar carry = s_make(0);
  int carry_row = -1;
  for (idx base = start; base < end; base += WG) {
    const idx k = base + l, step_end = min((idx)(base + WG), end);
    const int i = k < end ? row[k] : -2;
    scalar sum = k < end ? s_mul(load_streaming(val + k), x[WITHIN(load_streaming(col + k), A_COLS)]) : s_make(0);
    if (l == 0 && i == carry_row) sum = s_add(sum, carry);
    scratch[l] = sum;
    SYNC();
#pragma unroll
    for (int d = 1; d < WG; d *= 2) {
      const scalar left = l >= d && k < end && row[k - d] == i ? scratch[l - d] : s_make(0);
      SYNC();
      sum = s_add(sum, left);
      scratch[l] = sum;
      SYNC();
    }
    carry = scratch[step_end - base - 1], carry_row = row[step_end - 1];
    const bool closes = k < end && (k + 1 == end || row[k + 1] != i);
    if (closes && (i == first || i == last)) s_atomic_add(y + WITHIN(i, A_ROWS), sum);
    if (closes && i != first && i != last) y[WITHIN(i, A_ROWS)] = sum;
    SYNC();
  }
}
#endif
