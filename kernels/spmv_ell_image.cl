/* ELL as in spmv_ell.cl, with x read from an image (image.clh), which prepare fills before each product
 * (Lokhmotov 2011; Kuresson 2012, 6.4). */
static inline void prepare(PREPARED, global const scalar *restrict x, idx lo, idx hi, local scalar *tree)
{
  image_fill(xi, x, lo, hi);
}

static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
  for EACH(i) {
    scalar sum = s_make(0);
    for (idx k = 0; k < width; k++)
      sum = s_fma(once(val + k * stride + i), image_at(xi, once(col + k * stride + i)), sum);
    EMIT(i, sum);
  }
}
