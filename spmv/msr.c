/* MSR (modified sparse rows): the diagonal apart, without indices; the other entries as compressed rows.
 *
 *     | a . b |   diagonal  a c e
 *     | . c . |   row_ptr   0 1 1 2
 *     | d . e |   col       2 0        val  b d
 *
 * (Saad 2003, 3.4; Rodriguez Losada 2010, 1.2.4.) The diagonal has min(rows, columns) values, zeros included.
 * Bytes: diagonal s + (nnz - diagonal) (4 + s) + 4 (rows + 1), row_ptr 8 per entry on the cpu executor; 2 flops per
 * entry.
 */
#include "core/matrix/stored.h"
#include "core/matrix/structure.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { DIAGONAL, ROW_PTR, COL, VAL };
enum { DIAGONALS };

static int64_t diagonal_of(int64_t rows, int64_t cols) { return rows < cols ? rows : cols; }

static kcl_size msr_size(const kcl_stats *s, kcl_type type) {
  double n = (double)diagonal_of(s->rows, s->cols), bytes = (double)kcl_type_size(type);
  double others = (double)(s->nnz - s->diagonal_entries);
  return (kcl_size){.total = n * bytes + others * (4.0 + bytes) + 4.0 * ((double)s->rows + 1),
                    .largest = others * bytes};
}

static void msr_fill(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  const kcl_csr *A = &m->origin.source;
  const scalar *from = A->val;
  const int64_t *row_ptr = m->array[ROW_PTR].data;
  int32_t *col = m->array[COL].data;
  scalar *val = m->array[VAL].data;
  for (int64_t i = first; i < end; i++)
    for (int64_t k = A->row_ptr[i], at = row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] != i) col[at] = A->col[k], val[at++] = from[k];
}

static int msr_build(kcl_stored *m, const kcl_csr *A) {
  scalar *diagonal, *val; /* [min(rows, cols)], [row_ptr[rows]] */
  int64_t *row_ptr;       /* [rows + 1] */
  int32_t *col;           /* [row_ptr[rows]] */
  const scalar *from = A->val;
  int64_t n = diagonal_of(A->rows, A->cols);
  KCL_CALL(kcl_stored_array(m, "diagonal", KCL_SCALAR, n, (void **)&diagonal));
  KCL_CALL(kcl_stored_array(m, "row_ptr", KCL_INT64, A->rows + 1, (void **)&row_ptr));
  for (int64_t i = 0; i < A->rows; i++) {
    row_ptr[i + 1] = row_ptr[i] + kcl_row_length(A, i);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) diagonal[i] = from[k], row_ptr[i + 1]--;
  }
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, row_ptr[A->rows], (void **)&col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, row_ptr[A->rows], (void **)&val));
  kcl_for(A->rows, KCL_FEW_ROWS, msr_fill, m);
  kcl_stored_param(m, "diagonals", n);
  m->kernel.row_per_item = true;
  return KCL_OK;
}

/* y[i] of rows [lo, hi), one after another. */
static void msr_short_rows(const kcl_stored *m, const scalar *x, scalar *y, int64_t lo,
                           int64_t hi) {
  const scalar *diagonal = m->array[DIAGONAL].data, *val = m->array[VAL].data;
  const int64_t *row_ptr = m->array[ROW_PTR].data;
  const int32_t *col = m->array[COL].data;
  int64_t n = m->param[DIAGONALS].value, k = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    scalar sum = i < n ? s_mul(diagonal[i], x[i]) : s_make(0);
    for (int64_t end = row_ptr[i + 1]; k < end; k++) sum = s_fma(val[k], x[col[k]], sum);
    y[i] = sum;
  }
}

/* Adds the products of two rows to y in one loop: each sum is a chain of dependent operations, and two chains overlap. */
static void msr_two_rows(const int64_t *row_ptr, const scalar *val, const int32_t *col,
                         const scalar *x, scalar *y) {
  const int64_t middle = row_ptr[1], end = row_ptr[2];
  int64_t k = row_ptr[0], l = middle;
  scalar first = y[0], second = y[1];
  for (; k < middle && l < end; k++, l++) {
    first = s_fma(val[k], x[col[k]], first);
    second = s_fma(val[l], x[col[l]], second);
  }
  for (; k < middle; k++) first = s_fma(val[k], x[col[k]], first);
  for (; l < end; l++) second = s_fma(val[l], x[col[l]], second);
  y[0] = first;
  y[1] = second;
}

/* y[i] of rows [lo, hi) by pairs, in the order of entries of msr_short_rows. */
static void msr_long_rows(const kcl_stored *m, const scalar *x, scalar *y, int64_t lo, int64_t hi) {
  const scalar *diagonal = m->array[DIAGONAL].data;
  const int64_t *row_ptr = m->array[ROW_PTR].data, n = m->param[DIAGONALS].value;
  for (int64_t i = lo; i < hi; i++) y[i] = i < n ? s_mul(diagonal[i], x[i]) : s_make(0);
  for (; lo + 1 < hi; lo += 2)
    msr_two_rows(row_ptr + lo, m->array[VAL].data, m->array[COL].data, x, y + lo);
  if (lo < hi) msr_short_rows(m, x, y, lo, hi);
}

enum { MSR_LONG = 16 /* entries per row from which pairs of rows are faster */ };

static void msr_rows(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[ROW_PTR].data;
  if (lo < hi && row_ptr[hi] - row_ptr[lo] >= MSR_LONG * (hi - lo))
    msr_long_rows(m, x, y, lo, hi);
  else
    msr_short_rows(m, x, y, lo, hi);
}

static bool msr_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[ROW_PTR].data;
  return kcl_starts_ascend(row_ptr, lo, hi, m->array[COL].count) &&
         kcl_indices_within((const int32_t *)m->array[COL].data + row_ptr[lo],
                            row_ptr[hi] - row_ptr[lo], m->cols);
}

/* GPUs: one work-item per row, as csr-scalar. CPUs: 1.09 times the time of CSR at 27 entries per row. */
static double msr_slowdown(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1 + 0.06 * s->row_mean + kcl_skew(s) : 1.09;
}

const kcl_format KCL_TYPED(kcl_format_msr) = {.name = "msr",
                                              .summary = "the diagonal apart, compressed rows",
                                              .source = "Saad 2003, 3.4; Rodriguez Losada 2010",
                                              .kernel = "spmv_msr",
                                              .multi_rhs = true,
                                              .size = msr_size,
                                              .slowdown = msr_slowdown,
                                              .build = msr_build,
                                              .rows = msr_rows,
                                              .bounded = msr_bounded};
