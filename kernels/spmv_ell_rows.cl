/* ELL by rows: entry k of row i is at [i * width + k]. One work-item per row: neighbouring work-items read values that are
 * `width` apart, so that a GPU loads a whole cache line for one of them. spmv_ell.cl differs in nothing else. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  for EACH(i) {
    element sum = e_zero();
    for (idx k = i * width; k < (i + 1) * width; k++) sum = e_fma(val[k], AT(x, col[k]), sum);
    EMIT(i, sum);
  }
}
