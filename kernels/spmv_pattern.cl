/* Shared rows: row i has the pattern code[i]; term t of pattern p, start[p] <= t < start[p + 1], is
 * val[t] x[i + offset[t]] (Willcock & Lumsdaine 2006). GPUs: the rows of a warp mostly share a pattern, whose loads
 * are then broadcast; small tables are copied to local memory (LOCAL_SCALARS > 0). CPU devices: runs of rows with one pattern;
 * every term reads a contiguous part of x. */
#if KCL_CPU && !defined SPMV_PATTERN
#define SPMV_PATTERN
/* sum[l] (+)= a[0] x[l + off[0]] + ... of `terms` terms, a constant at each call. */
static inline void sweep(const int terms, global const scalar *a, global const int *off, global const element *x,
                         element *sum, idx n, bool first)
{
  global const element *v0 = x + off[0], *v1 = x + off[terms > 1 ? 1 : 0], *v2 = x + off[terms > 2 ? 2 : 0],
                      *v3 = x + off[terms > 3 ? 3 : 0], *v4 = x + off[terms > 4 ? 4 : 0],
                      *v5 = x + off[terms > 5 ? 5 : 0], *v6 = x + off[terms > 6 ? 6 : 0],
                      *v7 = x + off[terms > 7 ? 7 : 0];
  const scalar c0 = a[0], c1 = a[terms > 1 ? 1 : 0], c2 = a[terms > 2 ? 2 : 0], c3 = a[terms > 3 ? 3 : 0],
               c4 = a[terms > 4 ? 4 : 0], c5 = a[terms > 5 ? 5 : 0], c6 = a[terms > 6 ? 6 : 0],
               c7 = a[terms > 7 ? 7 : 0];
  for (idx l = 0; l < n; l++) {
    element s = e_fma(c0, v0[l], first ? e_zero() : sum[l]);
    if (terms > 1) s = e_fma(c1, v1[l], s);
    if (terms > 2) s = e_fma(c2, v2[l], s);
    if (terms > 3) s = e_fma(c3, v3[l], s);
    if (terms > 4) s = e_fma(c4, v4[l], s);
    if (terms > 5) s = e_fma(c5, v5[l], s);
    if (terms > 6) s = e_fma(c6, v6[l], s);
    if (terms > 7) s = e_fma(c7, v7[l], s);
    sum[l] = s;
  }
}

static inline void run_of_rows(int terms, global const scalar *a, global const int *off, global const element *x,
                               element *sum, idx n)
{
  bool first = true;
  for (; terms >= 8; terms -= 8, a += 8, off += 8, first = false) sweep(8, a, off, x, sum, n, first);
  if (terms == 7) sweep(7, a, off, x, sum, n, first);
  else if (terms == 6) sweep(6, a, off, x, sum, n, first);
  else if (terms == 5) sweep(5, a, off, x, sum, n, first);
  else if (terms == 4) sweep(4, a, off, x, sum, n, first);
  else if (terms == 3) sweep(3, a, off, x, sum, n, first);
  else if (terms == 2) sweep(2, a, off, x, sum, n, first);
  else if (terms == 1) sweep(1, a, off, x, sum, n, first);
  else
    for (idx l = 0; first && l < n; l++) sum[l] = e_zero();
}
#if GUARDED
#define RUN_INSIDE(off, terms, i, end) run_is_inside(off, terms, i, end, A_COLS)
/* Are all of these terms of rows i to below end in x? */
static inline bool run_is_inside(global const int *off, int terms, idx i, idx end, idx cols)
{
  bool inside = true;
  for (int t = 0; t < terms; t++) inside = inside && i + off[t] >= 0 && end + off[t] <= cols;
  return inside;
}
#else
#define RUN_INSIDE(off, terms, i, end) true
#endif
#endif
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU
  element sum[BLOCK];
  idx end;
  for (idx i = lo; i < hi; i = end) {
    const int p = WITHIN(code[i], patterns), at = START(start[p], entries), terms = START(start[p + 1], entries) - at;
    for (end = i + 1; end < hi && code[end] == p;) end++;
    if (end - i >= 8 && RUN_INSIDE(offset + at, terms, i, end)) run_of_rows(terms, val + at, offset + at, x + i, sum + (i - lo), end - i);
    else
      for (idx j = i; j < end; j++) {
        element s = e_zero();
        for (int t = at; t < at + terms; t++) s = e_fma(val[t], x[WITHIN(j + offset[t], A_COLS)], s);
        sum[j - lo] = s;
      }
  }
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
#if LOCAL_SCALARS
  local scalar *value = scratch;
  local int *off = (local int *)(value + entries), *first = off + entries;
  for (int t = get_local_id(0); t < entries; t += WG) value[t] = val[t], off[t] = offset[t];
  for (int p = get_local_id(0); p <= patterns; p += WG) first[p] = start[p];
  SYNC();
#else
  global const scalar *restrict value = val;
  global const int *restrict off = offset, *restrict first = start;
#endif
  for EACH(i) {
    const int p = WITHIN(code[i], patterns), last = START(first[p + 1], entries);
    element sum = e_zero();
    for (int t = START(first[p], entries); t < last; t++) sum = e_fma(value[t], AT(x, i + off[t]), sum);
    EMIT(i, sum);
  }
#if LOCAL_SCALARS
  SYNC(); /* the scratch serves reductions from here on */
#endif
#endif
}
