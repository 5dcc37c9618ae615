/* CDS (DIA): entry (i, i + offset[d]) of diagonal d is at val[d * stride + i]; positions outside the matrix hold 0.
 * There are no column indices: 8 bytes per entry in double.
 * CPU devices: a block of rows at a time, four diagonals per pass. */
#if GUARDED /* offsets d to d + 3 are looked at, not the outer two alone */
#define FOUR_INSIDE(d) \
  (lo + min(min(offset[d], offset[d + 1]), min(offset[d + 2], offset[d + 3])) >= 0 && \
   hi + max(max(offset[d], offset[d + 1]), max(offset[d + 2], offset[d + 3])) <= cols)
#else
#define FOUR_INSIDE(d) (lo + offset[d] >= 0 && hi + offset[d + 3] <= cols)
#endif
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
#if KCL_CPU && !defined X_IN_IMAGE
  element sum[BLOCK];
  for (idx i = lo; i < hi; i++) sum[i - lo] = e_zero();
  idx d = 0;
  while (d < diagonals) {
    global const scalar *v = val + d * stride;
    if (d + 4 <= diagonals && FOUR_INSIDE(d)) {
      global const element *x0 = x + offset[d], *x1 = x + offset[d + 1], *x2 = x + offset[d + 2], *x3 = x + offset[d + 3];
      for (idx i = lo; i < hi; i++)
        sum[i - lo] = e_fma(v[3 * stride + i], x3[i], e_fma(v[2 * stride + i], x2[i],
                      e_fma(v[stride + i], x1[i], e_fma(v[i], x0[i], sum[i - lo]))));
      d += 4;
    } else {
      const idx off = offset[d], first = max(lo, -off), last = min(hi, cols - off);
      for (idx i = first; i < last; i++) sum[i - lo] = e_fma(v[i], x[i + off], sum[i - lo]);
      d++;
    }
  }
  for (idx i = lo; i < hi; i++) EMIT(i, sum[i - lo]);
#else
  for EACH(i) {
    element sum = e_zero();
#if defined cl_nv_pragma_unroll && !PERSISTENT && !defined X_IN_IMAGE
#pragma unroll 8
#endif
    for (idx d = 0; d < diagonals; d++) /* outside the matrix val is 0: any element of x will do */
      sum = e_fma(load_streaming(val + d * stride + i), AT(x, clamp((idx)(i + offset[d]), (idx)0, (idx)(cols - 1))), sum);
    EMIT(i, sum);
  }
#endif
}
#undef FOUR_INSIDE
