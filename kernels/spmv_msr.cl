/* MSR: diagonal[i], and the other entries of row i at [row_ptr[i], row_ptr[i + 1]). One work-item per row. */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  for EACH(i) {
    element sum = e_zero();
    for (row_ptr_t k = START(row_ptr[i], COUNT_col); k < START(row_ptr[i + 1], COUNT_col); k++)
      sum = e_fma(val[k], x[WITHIN(col[k], A_COLS)], sum);
    if (i < diagonals) sum = e_fma(diagonal[i], x[i], sum);
    EMIT(i, sum);
  }
}
