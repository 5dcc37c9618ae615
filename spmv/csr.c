/* Compressed sparse rows, as the host holds them: nothing is converted.
 *
 *     | a . b |   row_ptr 0 2 3 5
 *     | . c . |   col     0 2 1 0 2
 *     | d . e |   val     a b c d e
 *
 * csr-scalar: a work-item a row. csr-vector: several neighbours share a row (Bell & Garland 2008),
 * a power of two near half the mean row length, on GPUs. csr-unrolled: a work-item a row, four entries
 * at a time, what lies beyond the row selected away instead of branched around (Rodriguez Losada 2010,
 * kernel 1). csr-group: a team of 64 a row through local memory (the same, kernel 2). csr-lanes: eight a
 * row, four neighbouring entries each by vector loads (Lokhmotov 2011). On CPU devices and the cpu
 * executor a row is always one work-item's; only csr-unrolled differs from csr-scalar there.
 * csr-image: csr-vector with x in a 2D image, copied there before each product and read through the texture
 * cache (Kuresson 2012, 6.4), on OpenCL devices with images; cols s bytes more, moved twice.
 * Bytes: nnz (4 + s) + (rows + 1) 4, with row_ptr 8 bytes on the cpu executor; 2 flops an entry.
 */
#include "core/matrix.h"
#include "core/scalar.h"
#include "spmv/csr.h"

static kcl_size size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 4.0 * ((double)s->rows + 1),
                    .largest = val};
}

static int build_scalar(kcl_matrix *m, const kcl_csr *A) {
  kcl_matrix_borrow(m, "row_ptr", KCL_INT64, A->rows + 1, A->row_ptr);
  kcl_matrix_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_matrix_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  m->aligned = m->along = true;
  return KCL_OK;
}

static int build_vector(kcl_matrix *m, const kcl_csr *A) {
  double half = A->rows ? 0.5 * (double)A->nnz / (double)A->rows : 0;
  for (m->lanes = 2; m->lanes < 32 && m->lanes < half; m->lanes *= 2) {}
  if (kcl_matrix_tune(m)->lanes) m->lanes = kcl_matrix_tune(m)->lanes;
  return build_scalar(m, A);
}

static bool is_gpu(const kcl_device *d) { return d->kind && d->kind[0] == 'g'; }

/* On a GPU neighbouring work-items read one row length apart: 1.4 times the time of streaming at 7
 * entries a row, 2.6 at 27 (NVIDIA H200). */
static double slowdown_scalar(const kcl_stats *s, const kcl_device *d) {
  return is_gpu(d) ? 1 + 0.06 * s->row_mean + kcl_skew(s) : 1;
}

/* 1.4 at 27 entries a row (NVIDIA H200), more when lanes stay idle. On a CPU a row is one work-item's anyway. */
static double slowdown_vector(const kcl_stats *s, const kcl_device *d) {
  return is_gpu(d) ? 1.4 + (s->row_mean < 4 ? 0.6 : 0.1) + kcl_skew(s) / 16 : 1.01;
}

const kcl_format KCL_TYPED(kcl_format_csr_scalar) = {
    .name = "csr-scalar",
    .summary = "compressed rows, a work-item a row",
    .source = "Rodriguez Losada 2010, kernel 1",
    .kernel = "spmv_csr",
    .any_columns = true,
    .columns = true,
    .size = size,
    .slowdown = slowdown_scalar,
    .build = build_scalar,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};

const kcl_format KCL_TYPED(kcl_format_csr_vector) = {
    .name = "csr-vector",
    .summary = "compressed rows, several work-items a row",
    .source = "Bell & Garland 2008",
    .kernel = "spmv_csr",
    .any_columns = true,
    .columns = true,
    .size = size,
    .slowdown = slowdown_vector,
    .build = build_vector,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};

/* ---------------------------------------------------------------- forms of the 2010 - 2011 documents */

static int build_group(kcl_matrix *m, const kcl_csr *A) {
  build_scalar(m, A);
  return m->lanes = 64, m->aligned = false, KCL_OK;
}
static int build_lanes(kcl_matrix *m, const kcl_csr *A) { return m->lanes = 8, build_scalar(m, A); }

/* Four entries under way at once: 1.4 at 7, 1.7 at 27 (NVIDIA H200). PoCL makes vectors of
 * csr-scalar's loop, and takes 1.05 to 1.5 times that for this one. */
static double slowdown_unrolled(const kcl_stats *s, const kcl_device *d) {
  return is_gpu(d) ? 1.25 + 0.017 * s->row_mean + kcl_skew(s) : d->platform < 0 ? 1.01 : 1.3;
}

/* Estimated for GPUs: what lanes a short row leaves idle. */
static double slowdown_group(const kcl_stats *s, const kcl_device *d) {
  return is_gpu(d) ? 1.5 + (s->row_mean < 64 ? 64 / (s->row_mean + 1) : 0) / 8 : 1.01;
}

static double slowdown_lanes(const kcl_stats *s, const kcl_device *d) {
  return is_gpu(d) ? 1.5 + (s->row_mean < 32 ? 32 / (s->row_mean + 1) : 0) / 8 : 1.01;
}

const kcl_format KCL_TYPED(kcl_format_csr_unrolled) = {
    .name = "csr-unrolled",
    .summary = "compressed rows, four entries at a time",
    .source = "Rodriguez Losada 2010, kernel 1",
    .kernel = "spmv_csr_unrolled",
    .any_columns = true,
    .columns = true,
    .size = size,
    .slowdown = slowdown_unrolled,
    .build = build_scalar,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};

const kcl_format KCL_TYPED(kcl_format_csr_group) = {
    .name = "csr-group",
    .summary = "compressed rows, 64 work-items a row",
    .source = "Rodriguez Losada 2010, kernel 2",
    .kernel = "spmv_csr_group",
    .size = size,
    .slowdown = slowdown_group,
    .build = build_group,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};

const kcl_format KCL_TYPED(kcl_format_csr_lanes) = {
    .name = "csr-lanes",
    .summary = "compressed rows, eight work-items a row, vector loads",
    .source = "Lokhmotov 2011",
    .kernel = "spmv_csr_lanes",
    .any_columns = true,
    .size = size,
    .slowdown = slowdown_lanes,
    .build = build_lanes,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};

/* ---------------------------------------------------------------- csr-image */

static kcl_size size_image(const kcl_stats *s, kcl_type type) {
  kcl_size z = size(s, type);
  z.total += (double)s->cols * (double)kcl_type_size(type);
  return z;
}

static int build_image(kcl_matrix *m, const kcl_csr *A) {
  int rc = build_vector(m, A);
  if (!rc) kcl_matrix_image(m);
  return rc;
}

/* Caches of today's GPUs hold plain loads too: a launch and two passes over x more, 1.8 times csr-vector's time (NVIDIA
 * H200). PoCL computes each texel's address in a function. */
static double slowdown_image(const kcl_stats *s, const kcl_device *d) {
  return slowdown_vector(s, d) * (is_gpu(d) ? 1.8 : 3);
}

const kcl_format KCL_TYPED(kcl_format_csr_image) = {
    .name = "csr-image",
    .summary = "compressed rows, x read through an image",
    .source = "Kuresson 2012, 6.4",
    .kernel = "spmv_csr_image",
    .image = true,
    .size = size_image,
    .slowdown = slowdown_image,
    .build = build_image,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};
