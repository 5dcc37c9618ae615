/* COO: entry k is val[k] at (row[k], col[k]); entries are sorted by row. A scatter: it adds into y, which is zero
 * before. GPUs: one work-item per entry, each adding atomically (Kuresson 2012, ch. 5; Lokhmotov 2011). CPU devices:
 * a contiguous range of entries per work-item; only its first and last row may be shared with other work-items and are
 * added atomically. The order of the additions is not fixed: the last bits may differ between runs. */
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *scratch)
{
#if KCL_CPU
  if (lo >= hi) return;
  const int first = row[lo], last = row[hi - 1];
  for (idx k = lo; k < hi;) {
    const int i = row[k];
    scalar sum = s_make(0);
    for (; k < hi && row[k] == i; k++) sum = s_fma(val[k], x[WITHIN(col[k], A_COLS)], sum);
    if (i == first || i == last) s_atomic_add(y + WITHIN(i, A_ROWS), sum);
    else y[WITHIN(i, A_ROWS)] = sum;
  }
#else
  for EACH(k) s_atomic_add(y + WITHIN(load_streaming(row + k), A_ROWS),
                             s_mul(load_streaming(val + k), x[WITHIN(load_streaming(col + k), A_COLS)]));
#endif
}
