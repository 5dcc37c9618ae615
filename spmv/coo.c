/* COO: coordinates, sorted by row.
 *
 *     | a . b |   row  0 0 1 2 2
 *     | . c . |   col  0 2 1 0 2
 *     | d . e |   val  a b c d e
 *
 * On a device one work-item an entry, adding atomically into y: simple, and the measure of what
 * atomics cost (Kuresson 2012, ch. 5; Lokhmotov 2011). On the cpu executor the entries of a range
 * of rows are found by bisection and added in order.
 * coo-segmented: each work-group takes a run of entries, sums those of equal row in local memory
 * (a segmented scan) and carries on from step to step, so that only the first and the last row of a run
 * are added atomically (Bell & Garland 2009): what was slow was the atomics.
 * Bytes: nnz (8 + s), and y once more for zeroing it; 2 flops an entry.
 */
#include "core/matrix.h"
#include "core/scalar.h"

static kcl_size size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 8.0 * (double)s->nnz, .largest = val};
}

static int build(kcl_matrix *m, const kcl_csr *A) {
  int32_t *row; /* [nnz] */
  int rc = kcl_matrix_array(m, "row", KCL_INT32, A->nnz, (void **)&row);
  if (rc) return rc;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) row[k] = (int32_t)i;
  kcl_matrix_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_matrix_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  return KCL_OK;
}

/* The first entry whose row is not below i. */
static int64_t first_entry(const int32_t *row, int64_t n, int64_t i) {
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    if (row[mid] < i)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static void rows(const kcl_matrix *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int32_t *row = m->array[0].data, *col = m->array[1].data;
  const scalar *val = m->array[2].data, *x = x_;
  scalar *y = y_;
  for (int64_t i = lo; i < hi; i++) y[i] = s_make(0);
  for (int64_t k = first_entry(row, m->nnz, lo); k < m->nnz && row[k] < hi; k++)
    y[row[k]] = s_fma(val[k], x[col[k]], y[row[k]]);
}

/* Atomics instead of sums in registers: 2.7 to 3.6 times the time of streaming on an NVIDIA H200. */
static double slowdown(const kcl_stats *s, const kcl_device *d) {
  return (void)s, d->kind && d->kind[0] == 'g' ? 3.0 : 1.15;
}

const kcl_format KCL_TYPED(kcl_format_coo) = {.name = "coo",
                                              .summary = "coordinates, an atomic addition an entry",
                                              .source = "Kuresson 2012, ch. 5; Lokhmotov 2011",
                                              .kernel = "spmv_coo",
                                              .scatter = true,
                                              .size = size,
                                              .slowdown = slowdown,
                                              .build = build,
                                              .rows = rows};

/* On GPUs estimated: the scan's barriers. */
static double slowdown_segmented(const kcl_stats *s, const kcl_device *d) {
  return (void)s, d->kind && d->kind[0] == 'g' ? 1.8 : 1.15;
}

const kcl_format KCL_TYPED(kcl_format_coo_segmented) = {
    .name = "coo-segmented",
    .summary = "coordinates, rows summed in local memory",
    .source = "Bell & Garland 2009",
    .kernel = "spmv_coo_segmented",
    .scatter = true,
    .size = size,
    .slowdown = slowdown_segmented,
    .build = build,
    .rows = rows};
