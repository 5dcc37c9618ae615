/* CSC: column j holds val[col_ptr[j] .. col_ptr[j + 1]) at rows row[...]. A scatter: it adds into y,
 * which is zero before. A work-item a column: x[j] is read once, y is added to atomically. */
static inline void scatter(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                           global scalar *y, local scalar *tree)
{
  for EACH(j) {
    const scalar a = x[j];
    for (col_ptr_t k = col_ptr[j]; k < col_ptr[j + 1]; k++) s_atomic_add(y + row[k], s_mul(val[k], a));
  }
}
