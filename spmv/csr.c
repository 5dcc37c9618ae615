/* Compressed sparse rows, the host's own format: nothing is converted.
 *
 *     | a . b |   row_ptr 0 2 3 5
 *     | . c . |   col     0 2 1 0 2
 *     | d . e |   val     a b c d e
 *
 * These formats differ in how a GPU divides a row (kernels/spmv_csr*.cl):
 *
 *   csr-scalar    one work-item per row
 *   csr-vector    a team of work-items per row, a power of two near half the mean row length (Bell & Garland 2008)
 *   csr-unrolled  one work-item per row, four entries at a time, without branches (Rodriguez Losada 2010, kernel 1)
 *   csr-group     64 work-items per row, reduced in local memory (Rodriguez Losada 2010, kernel 2)
 *   csr-global    one work-item per row whose row pointers and sum stay in global memory: both are loaded, and the sum is
 *                 stored, once per entry. The kernel that the hardware-counter study starts from; csr-scalar is the one it
 *                 ends with
 *   csr-lanes     8 work-items per row, four neighbouring entries each by vector loads (Lokhmotov 2011)
 *   csr-image     csr-vector with x in a 2D image, copied there before each product and read through the texture cache
 *                 (Kuresson 2012, 6.4)
 *
 * CPU devices and the cpu executor always take one work-item per row; there only csr-unrolled and csr-global differ from
 * csr-scalar.
 * Bytes: nnz (4 + s) + 4 (rows + 1), row_ptr 8 per entry on the cpu executor; csr-image: cols s more, moved twice; 2
 * flops per entry.
 */
#include "spmv/narrow.h"
#include "spmv/csr.h"

static kcl_size csr_size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 4.0 * ((double)s->rows + 1),
                    .largest = val};
}

static int build_scalar(kcl_stored *m, const kcl_csr *A) {
  kcl_stored_borrow(m, "row_ptr", KCL_INT64, A->rows + 1, A->row_ptr);
  kcl_stored_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_stored_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  m->kernel.rows_match_elements = m->kernel.row_per_item = true;
  return KCL_OK;
}

/* Lanes per row: a power of two, for two entries of the mean row each. */
static void csr_choose_lanes(kcl_stored *m) {
  double half = m->rows ? 0.5 * (double)m->nnz / (double)m->rows : 0;
  for (m->kernel.lanes = 2; m->kernel.lanes < 32 && m->kernel.lanes < half; m->kernel.lanes *= 2) {}
  if (kcl_stored_tune(m)->lanes) m->kernel.lanes = kcl_stored_tune(m)->lanes;
}

static int build_vector(kcl_stored *m, const kcl_csr *A) {
  csr_choose_lanes(m);
  return build_scalar(m, A);
}

static void outline_scalar(kcl_stored *m, const kcl_stats *s) {
  (void)s;
  m->kernel.rows_match_elements = true;
  m->cost.entry_ns = 13;
}

/* A row is divided among its lanes. */
static void outline_row(kcl_stored *m, const kcl_stats *s, double entry_ns) {
  m->kernel.rows_match_elements = true, m->cost.entry_ns = entry_ns;
  m->cost.chain = ceil((double)s->row_max / m->kernel.lanes),
  m->cost.mean = ceil(s->row_mean / m->kernel.lanes);
}

static void outline_vector(kcl_stored *m, const kcl_stats *s) {
  csr_choose_lanes(m);
  outline_row(m, s, 16);
}

/* Loads of one work-item per row are not coalesced on a GPU: 1.4 times the time of streaming at 7 entries per row, 2.6
 * at 27 (NVIDIA H200). */
static double slowdown_scalar(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1 + 0.06 * s->row_mean + kcl_skew(s) : 1;
}

/* 1.4 at 27 entries per row (NVIDIA H200), more where rows are too short for all lanes. */
static double slowdown_vector(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1.4 + (s->row_mean < 4 ? 0.6 : 0.1) + kcl_skew(s) / 16 : 1.01;
}

const kcl_format KCL_TYPED(kcl_format_csr_scalar) = {
    .name = "csr-scalar",
    .summary = "compressed rows, one work-item per row",
    .source = "Rodriguez Losada 2010, kernel 1",
    .kernel = "spmv_csr",
    .columns_renumberable = true,
    .multi_rhs = true,
    .size = csr_size,
    .slowdown = slowdown_scalar,
    .outline = outline_scalar,
    .build = build_scalar,
    .rows = csr_rows,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES,
    .rows_multi = csr_columns,
    .narrow = KCL_NARROW(csr_scalar)};

const kcl_format KCL_TYPED(kcl_format_csr_vector) = {
    .name = "csr-vector",
    .summary = "compressed rows, several work-items per row",
    .source = "Bell & Garland 2008",
    .kernel = "spmv_csr",
    .columns_renumberable = true,
    .multi_rhs = true,
    .size = csr_size,
    .slowdown = slowdown_vector,
    .outline = outline_vector,
    .build = build_vector,
    .rows = csr_rows,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES,
    .rows_multi = csr_columns,
    .narrow = KCL_NARROW(csr_vector)};

/* ---------------------------------------------------------------- variants of 2010 and 2011 */

static int build_group(kcl_stored *m, const kcl_csr *A) {
  build_scalar(m, A);
  m->kernel.lanes = 64;
  m->kernel.rows_match_elements = false;
  return KCL_OK;
}
static void outline_group(kcl_stored *m, const kcl_stats *s) {
  m->kernel.lanes = 64;
  outline_row(m, s, 20);
  m->kernel.rows_match_elements = false;
}
static int build_lanes(kcl_stored *m, const kcl_csr *A) {
  m->kernel.lanes = 8;
  return build_scalar(m, A);
}
static void outline_lanes(kcl_stored *m, const kcl_stats *s) {
  m->kernel.lanes = 8, outline_row(m, s, 29);
}
static void outline_unrolled(kcl_stored *m, const kcl_stats *s) {
  outline_scalar(m, s), m->cost.entry_ns = 19;
}

/* Four loads in flight: 1.4 at 7 entries per row, 1.7 at 27 (NVIDIA H200). PoCL vectorises the loop of csr-scalar and
 * takes 1.05 to 1.5 times its time for this one. */
static double slowdown_unrolled(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1.25 + 0.017 * s->row_mean + kcl_skew(s) : d->platform < 0 ? 1.01 : 1.3;
}

/* GPUs: estimated from the lanes that a short row leaves idle. */
static double slowdown_group(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1.5 + (s->row_mean < 64 ? 64 / (s->row_mean + 1) : 0) / 8 : 1.01;
}

static double slowdown_lanes(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1.5 + (s->row_mean < 32 ? 32 / (s->row_mean + 1) : 0) / 8 : 1.01;
}

const kcl_format KCL_TYPED(kcl_format_csr_unrolled) = {
    .name = "csr-unrolled",
    .summary = "compressed rows, four entries at a time",
    .source = "Rodriguez Losada 2010, kernel 1",
    .kernel = "spmv_csr_unrolled",
    .columns_renumberable = true,
    .multi_rhs = true,
    .size = csr_size,
    .slowdown = slowdown_unrolled,
    .outline = outline_unrolled,
    .build = build_scalar,
    .rows = csr_rows,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES,
    .rows_multi = csr_columns,
    .narrow = KCL_NARROW(csr_unrolled)};

const kcl_format KCL_TYPED(kcl_format_csr_group) = {
    .name = "csr-group",
    .summary = "compressed rows, 64 work-items per row",
    .source = "Rodriguez Losada 2010, kernel 2",
    .kernel = "spmv_csr",
    .size = csr_size,
    .slowdown = slowdown_group,
    .outline = outline_group,
    .build = build_group,
    .rows = csr_rows,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES,
    .rows_multi = csr_columns,
    .narrow = KCL_NARROW(csr_group)};

const kcl_format KCL_TYPED(kcl_format_csr_lanes) = {
    .name = "csr-lanes",
    .summary = "compressed rows, eight work-items per row, vector loads",
    .source = "Lokhmotov 2011",
    .kernel = "spmv_csr_lanes",
    .cpu_kernel = "spmv_csr",
    .columns_renumberable = true,
    .size = csr_size,
    .slowdown = slowdown_lanes,
    .outline = outline_lanes,
    .build = build_lanes,
    .rows = csr_rows,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES,
    .rows_multi = csr_columns,
    .narrow = KCL_NARROW(csr_lanes)};

/* ---------------------------------------------------------------- csr-global */

static int build_global(kcl_stored *m, const kcl_csr *A) {
  int rc = build_scalar(m, A);
  m->kernel.rows_match_elements = false;
  m->kernel.scatter_items = A->rows;
  return rc;
}

/* `volatile` keeps a compiler from holding row pointers and sums in registers. */
static void rows_global(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const volatile int64_t *row_ptr = m->array[KCL_CSR_ROW_PTR].data;
  const int32_t *col = m->array[KCL_CSR_COL].data;
  const scalar *val = m->array[KCL_CSR_VAL].data;
  const element *x = x_;
  volatile element *y = y_;
  for (int64_t i = lo; i < hi; i++) {
    y[i] = e_zero();
    for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) y[i] = e_fma(val[k], x[col[k]], y[i]);
  }
}

/* Estimated: a load and a store of y per entry. */
static double slowdown_global(const kcl_stats *s, const kcl_device *d) {
  return 2 * slowdown_scalar(s, d);
}

const kcl_format KCL_TYPED(kcl_format_csr_global) = {
    .name = "csr-global",
    .summary = "compressed rows, bounds and sum in global memory",
    .source = "hardware-counter study, its kernel before the change",
    .kernel = "spmv_csr_global",
    .scatter = true,
    .size = csr_size,
    .slowdown = slowdown_global,
    .build = build_global,
    .rows = rows_global,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES};

/* ---------------------------------------------------------------- csr-image */

/* On GPUs whose L1 cache also serves ordinary loads the image only adds a launch and two passes over x: 1.8 times the
 * time of csr-vector (NVIDIA H200). PoCL computes each texel's address in a function. */
static double csr_slowdown_image(const kcl_stats *s, const kcl_device *d) {
  return slowdown_vector(s, d) * (kcl_is_gpu(d) ? 1.8 : 3);
}

const kcl_format KCL_TYPED(kcl_format_csr_image) = {.name = "csr-image",
                                                    .summary = "compressed rows, x in an image",
                                                    .source = "Kuresson 2012, 6.4",
                                                    .kernel = "spmv_csr_image",
                                                    .image = true,
                                                    .size = csr_size,
                                                    .slowdown = csr_slowdown_image,
                                                    .outline = outline_vector,
                                                    .build = build_vector,
                                                    .rows = csr_rows,
                                                    .bounded = csr_bounded,
                                                    .bounded_entries = CSR_BOUNDED_ENTRIES,
                                                    .rows_multi = csr_columns};
