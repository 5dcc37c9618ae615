/* MSR: diagonal[i], and the rest of row i at [row_ptr[i], row_ptr[i + 1]). A work-item a row. */
static inline void visit_rows(MATRIX, global const element *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
  for EACH(i) {
    element sum = e_zero();
    for (row_ptr_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = e_fma(val[k], x[col[k]], sum);
    if (i < diagonals) sum = e_fma(diagonal[i], x[i], sum);
    EMIT(i, sum);
  }
}
