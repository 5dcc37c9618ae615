/* JDS (jagged diagonals): rows sorted by length, then stored by columns without padding.
 *
 *     | a . b |   sorted   a . b       start  0 3 5     the start of each column of entries
 *     | . c . |            d . e       val    a d c b e
 *     | d . e |            . c .       col    0 0 1 2 2
 *                                      order  0 2 1     the row at each position (GPUs), or the
 *                                                       position of each row (CPUs)
 *
 * Entry k of the row at position p is at start[k] + p if that is below start[k + 1] (Saad 1989; Rodriguez Losada 2010,
 * 1.2.6). Suited to GPUs and varying row lengths. CPUs take rows in their original order and touch a cache line per
 * entry.
 * Bytes: nnz (4 + s) + 4 (longest row + 1) + 4 rows, start 8 per entry on the cpu executor; 2 flops per entry.
 */
#include "core/matrix/stored.h"
#include "core/matrix/structure.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { START, COL, VAL, ORDER };
enum { WIDTH };

static kcl_size jds_size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  double index = 4.0 * ((double)s->nnz + (double)s->row_max + 1 + (double)s->rows);
  return (kcl_size){.total = val + index, .largest = val};
}

typedef struct jds_filling {
  const kcl_csr *A;
  const int64_t *row, *start;
  int32_t *col;
  scalar *val;
} jds_filling;

static void jds_fill(void *arg, int64_t first, int64_t end) {
  const jds_filling *f = arg;
  const kcl_csr *A = f->A;
  const scalar *from = A->val;
  for (int64_t p = first; p < end; p++)
    for (int64_t k = 0, i = f->row[p], at = A->row_ptr[i]; k < kcl_row_length(A, i); k++, at++)
      f->col[f->start[k] + p] = A->col[at], f->val[f->start[k] + p] = from[at];
}

static int jds_build(kcl_stored *m, const kcl_csr *A) {
  KCL_OWNED int64_t *row = NULL; /* [rows] */
  int64_t *start;                /* [width + 1] */
  int32_t *col, *order;          /* [nnz], [rows] */
  scalar *val;                   /* [nnz] */
  KCL_CALL(kcl_alloc(m->ctx, A->rows, sizeof *row, "rows by length", (void **)&row));
  kcl_longest_first(A, 0, A->rows, row);
  int64_t width = A->rows ? kcl_row_length(A, row[0]) : 0, count = A->rows;
  KCL_CALL(kcl_stored_array(m, "start", KCL_INT64, width + 1, (void **)&start));
  for (int64_t k = 0; k < width; k++) {
    while (kcl_row_length(A, row[count - 1]) <= k) count--;
    start[k + 1] = start[k] + count;
  }
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, A->nnz, (void **)&col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, A->nnz, (void **)&val));
  KCL_CALL(kcl_stored_array(m, "order", KCL_INT32, A->rows, (void **)&order));
  kcl_for(A->rows, KCL_FEW_ROWS, jds_fill, &(jds_filling){A, row, start, col, val});
  for (int64_t p = 0; p < A->rows; p++)
    if (kcl_stored_gpu_layout(m))
      order[p] = (int32_t)row[p];
    else
      order[row[p]] = (int32_t)p;
  kcl_stored_param(m, "width", width);
  return KCL_OK;
}

static void jds_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int64_t *start = m->array[START].data, width = m->param[WIDTH].value;
  const int32_t *col = m->array[COL].data, *order = m->array[ORDER].data;
  const scalar *val = m->array[VAL].data, *x = x_;
  scalar *y = y_;
  for (int64_t i = lo; i < hi; i++) {
    scalar sum = s_make(0);
    for (int64_t k = 0; k < width && start[k] + order[i] < start[k + 1]; k++)
      sum = s_fma(val[start[k] + order[i]], x[col[start[k] + order[i]]], sum);
    y[i] = sum;
  }
}

static bool jds_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t *start = m->array[START].data, width = m->param[WIDTH].value;
  const int32_t *order = m->array[ORDER].data;
  uint32_t most = 0;
  if (!kcl_starts_ascend(start, 0, width, m->nnz) ||
      !kcl_indices_within(order + lo, hi - lo, m->rows))
    return false;
  for (int64_t i = lo; i < hi; i++)
    for (int64_t k = 0; k < width && start[k] + order[i] < start[k + 1]; k++) {
      const uint32_t j = ((const uint32_t *)m->array[COL].data)[start[k] + order[i]];
      most = j > most ? j : most;
    }
  return !m->nnz || most < m->cols;
}

/* GPUs: estimated; the vectors of a fused stage are read out of order. CPUs: 1.4 (PoCL) to 1.6 times the time of CSR at
 * 27 entries per row, even if all rows have the same length. */
static double jds_slowdown(const kcl_stats *s, const kcl_device *d) {
  return (void)s, kcl_is_gpu(d) ? 1.2 : 1.6;
}

const kcl_format KCL_TYPED(kcl_format_jds) = {
    .name = "jds",
    .summary = "jagged diagonals: sorted rows, no padding",
    .source = "Saad 1989; Rodriguez Losada 2010",
    .kernel = "spmv_jds",
    .multi_rhs = true,
    .size = jds_size,
    .slowdown = jds_slowdown,
    .build = jds_build,
    .rows = jds_rows,
    .bounded = jds_bounded};
