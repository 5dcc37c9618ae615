/* COO: entry k is val[k] at (row[k], col[k]), sorted by row. A scatter: it adds into y, which is
 * zero before. One work-item an entry on GPUs, each adding atomically (Kuresson 2012, ch. 5;
 * Lokhmotov 2011). On CPU devices a work-item owns a run of entries, and only the rows it may
 * share with its neighbours, the first and the last, need an atomic.
 * The order of the additions is not fixed: results may differ in the last bits between runs. */
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *tree)
{
#if KCL_CPU
  if (lo >= hi) return;
  const int first = row[lo], last = row[hi - 1];
  for (idx k = lo; k < hi;) {
    const int i = row[k];
    scalar sum = s_make(0);
    for (; k < hi && row[k] == i; k++) sum = s_fma(val[k], x[col[k]], sum);
    if (i == first || i == last) s_atomic_add(y + i, sum);
    else y[i] = sum;
  }
#else
  for EACH(k) s_atomic_add(y + once(row + k), s_mul(once(val + k), x[once(col + k)]));
#endif
}
