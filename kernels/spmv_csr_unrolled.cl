/* CSR, one work-item per row, four entries at a time. The last four may extend beyond the row; values there are
 * replaced by 0 without a branch (Rodriguez Losada 2010, kernel 1). */
static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  const scalar zero = s_make(0);
  for EACH(i) {
    const row_ptr_t last = START(row_ptr[i + 1], COUNT_col) - 1;
    element sum = e_zero();
    for (row_ptr_t k = START(row_ptr[i], COUNT_col); k <= last; k += 4) {
      const row_ptr_t k1 = min((row_ptr_t)(k + 1), last), k2 = min((row_ptr_t)(k + 2), last),
                      k3 = min((row_ptr_t)(k + 3), last);
      const scalar v1 = k + 1 > last ? zero : val[k1], v2 = k + 2 > last ? zero : val[k2],
                   v3 = k + 3 > last ? zero : val[k3];
      sum = e_fma(v1, AT(x, col[k1]), e_fma(val[k], AT(x, col[k]), sum));
      sum = e_fma(v3, AT(x, col[k3]), e_fma(v2, AT(x, col[k2]), sum));
    }
    EMIT(i, sum);
  }
}
