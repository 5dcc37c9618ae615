/* MSR: diagonal[i], and the rest of row i at [row_ptr[i], row_ptr[i + 1]). A work-item a row. */
static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
  for EACH(i) {
    scalar sum = s_make(0);
    for (row_ptr_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = s_fma(val[k], x[col[k]], sum);
    if (i < diagonals) sum = s_fma(diagonal[i], x[i], sum);
    EMIT(i, sum);
  }
}
