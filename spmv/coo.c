/* COO: coordinates, sorted by row.
 *
 *     | a . b |   row  0 0 1 2 2
 *     | . c . |   col  0 2 1 0 2
 *     | d . e |   val  a b c d e
 *
 * coo: on a device one work-item per entry, adding atomically into y; its time is mostly spent in atomics (Kuresson
 * 2012, ch. 5; Lokhmotov 2011). The cpu executor finds the entries of a range of rows by bisection and adds them in
 * order.
 * coo-segmented: each work-group takes a contiguous range of entries and sums those of equal row by a segmented scan in
 * local memory, so that only the first and the last row of a range are added atomically (Bell & Garland 2009).
 * Bytes: nnz (8 + s), and y once more to set it to zero; 2 flops per entry.
 */
#include "core/matrix/stored.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays by number, in the order in which they are built. */
enum { ROW, COL, VAL };

static kcl_size coo_size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 8.0 * (double)s->nnz, .largest = val};
}

static void coo_fill(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  const kcl_csr *A = &m->origin.source;
  int32_t *row = m->array[ROW].data;
  for (int64_t i = first; i < end; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) row[k] = (int32_t)i;
}

static int coo_build(kcl_stored *m, const kcl_csr *A) {
  int32_t *row; /* [nnz] */
  KCL_CALL(kcl_stored_array(m, "row", KCL_INT32, A->nnz, (void **)&row));
  kcl_for(A->rows, KCL_FEW_ROWS, coo_fill, m);
  kcl_stored_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_stored_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  return KCL_OK;
}

static void coo_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int32_t *row = m->array[ROW].data, *col = m->array[COL].data;
  const scalar *val = m->array[VAL].data, *x = x_;
  scalar *y = y_;
  int64_t k = kcl_first_from(row, 0, m->nnz, lo);
  for (int64_t i = lo; i < hi; i++) {
    scalar sum = s_make(0);
    for (; k < m->nnz && row[k] == i; k++) sum = s_fma(val[k], x[col[k]], sum);
    y[i] = sum;
  }
}

static bool coo_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int32_t *row = m->array[ROW].data, *col = m->array[COL].data;
  const int64_t from = kcl_first_from(row, 0, m->nnz, lo), end = kcl_first_from(row, 0, m->nnz, hi);
  return from <= end && kcl_indices_between(row + from, end - from, lo, hi) &&
         kcl_indices_within(col + from, end - from, m->cols);
}

/* NVIDIA H200: 2.7 to 3.6 times the streaming time. */
static double coo_slowdown(const kcl_stats *s, const kcl_device *d) {
  return (void)s, kcl_is_gpu(d) ? 3.0 : 1.15;
}

static void coo_outline(kcl_stored *m, const kcl_stats *s) {
  (void)s, m->cost.chain = m->cost.mean = 1;
}

const kcl_format KCL_TYPED(kcl_format_coo) = {
    .name = "coo",
    .summary = "coordinates, one atomic addition per entry",
    .source = "Kuresson 2012, ch. 5; Lokhmotov 2011",
    .kernel = "spmv_coo",
    .scatter = true,
    .size = coo_size,
    .slowdown = coo_slowdown,
    .outline = coo_outline,
    .build = coo_build,
    .rows = coo_rows,
    .bounded = coo_bounded};

/* GPUs: estimated, for the barriers of the scan. */
static double slowdown_segmented(const kcl_stats *s, const kcl_device *d) {
  return (void)s, kcl_is_gpu(d) ? 1.8 : 1.15;
}

const kcl_format KCL_TYPED(kcl_format_coo_segmented) = {
    .name = "coo-segmented",
    .summary = "coordinates, rows summed in local memory",
    .source = "Bell & Garland 2009",
    .kernel = "spmv_coo_segmented",
    .cpu_kernel = "spmv_coo",
    .scatter = true,
    .size = coo_size,
    .slowdown = slowdown_segmented,
    .outline = coo_outline,
    .build = coo_build,
    .rows = coo_rows,
    .bounded = coo_bounded};
