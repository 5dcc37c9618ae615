/* CSC: column j holds val[col_ptr[j] .. col_ptr[j + 1]) at rows row[...]. A scatter: it adds into y, which is zero
 * before. One work-item per column: x[j] is read once, and every entry is an atomic addition into y. */
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *scratch)
{
  for EACH(j) {
    const scalar a = x[j];
    for (col_ptr_t k = START(col_ptr[j], COUNT_row); k < START(col_ptr[j + 1], COUNT_row); k++)
      s_atomic_add(y + WITHIN(row[k], A_ROWS), s_mul(val[k], a));
  }
}
