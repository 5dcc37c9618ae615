/* CDS as in spmv_cds.cl, with x read from an image (image.clh), which prepare fills before each product
 * (Kuresson 2012, 6.4). Outside the matrix val is 0: any x will do. */
static inline void prepare(PREPARED, global const scalar *restrict x, idx lo, idx hi, local scalar *tree)
{
  image_fill(xi, x, lo, hi);
}

static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
  for EACH(i) {
    scalar sum = s_make(0);
    for (idx d = 0; d < diagonals; d++)
      sum = s_fma(once(val + d * stride + i), image_at(xi, (int)clamp((idx)(i + offset[d]), (idx)0, (idx)(cols - 1))), sum);
    EMIT(i, sum);
  }
}
