/* ELL (ELLPACK): every row padded to the longest, stored column by column.
 *
 *     | a . b |            val  a c d      col  0 1 0      width  = 2
 *     | . c . |                 b 0 e           2 1 2      stride = rows, up to a multiple of 32
 *     | d . e |            padding: value 0, column of the row's last entry (of row i: i, if empty)
 *
 * Neighbouring work-items read neighbouring numbers (Grimes, Kincaid & Young 1979; Bell & Garland 2008).
 * ellr keeps the row lengths beside it, and padding is stored but not read: by a GPU's work-items for
 * the most part, by a CPU as far as the rows it takes at a time are all shorter (Vazquez, Fernandez &
 * Garzon 2011).
 * ell-image has x in a 2D image, copied there before each product and read through the texture cache
 * (Lokhmotov 2011; Kuresson 2012, 6.4), on OpenCL devices with images.
 * Bytes: stride width (4 + s), ellr 4 rows more, ell-image cols s more, moved twice; 2 flops an entry,
 * padding included.
 */
#include "core/matrix.h"
#include "core/pattern.h"
#include "core/scalar.h"

static int64_t stride_of(int64_t n) { return (n + 31) / 32 * 32; }

static kcl_size size(const kcl_stats *s, kcl_type type) {
  double entries = (double)stride_of(s->rows) * (double)s->row_max;
  return (kcl_size){.total = entries * (4.0 + (double)kcl_type_size(type)),
                    .largest = entries * (double)kcl_type_size(type)};
}

static int build(kcl_matrix *m, const kcl_csr *A) {
  int64_t width = 0, stride = stride_of(A->rows);
  for (int64_t i = 0; i < A->rows; i++)
    if (kcl_row_length(A, i) > width) width = kcl_row_length(A, i);
  int32_t *col; /* [width, stride] */
  scalar *val;  /* [width, stride] */
  m->aligned = true;
  int rc = kcl_matrix_array(m, "col", KCL_INT32, width * stride, (void **)&col);
  if (!rc) rc = kcl_matrix_array(m, "val", KCL_SCALAR, width * stride, (void **)&val);
  if (rc) return rc;
  const scalar *from = A->val;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = 0, start = A->row_ptr[i]; k < width; k++) {
      bool real_entry = k < kcl_row_length(A, i);
      col[k * stride + i] = real_entry ? A->col[start + k] : kcl_padding_column(A, i);
      if (real_entry) val[k * stride + i] = from[start + k];
    }
  kcl_matrix_param(m, "width", width);
  kcl_matrix_param(m, "stride", stride);
  return KCL_OK;
}

static void columns(const kcl_matrix *m, const scalar *x, scalar *y, int64_t lo, int64_t hi,
                    int64_t width) {
  int64_t stride = m->param[1].value;
  for (int64_t i = lo; i < hi; i++) y[i] = s_make(0);
  for (int64_t k = 0; k < width; k++) {
    const int32_t *c = (const int32_t *)m->array[0].data + k * stride;
    const scalar *v = (const scalar *)m->array[1].data + k * stride;
#pragma omp simd
    for (int64_t i = lo; i < hi; i++) y[i] = s_fma(v[i], x[c[i]], y[i]);
  }
}

static void rows(const kcl_matrix *m, const void *x, void *y, int64_t lo, int64_t hi) {
  columns(m, x, y, lo, hi, m->param[0].value);
}

/* A CPU walks `width` streams and gathers: 1.0 to 1.1 times CSR's time a byte on two cores. */
static double slowdown(const kcl_stats *s, const kcl_device *d) {
  return (void)s, d->kind && d->kind[0] == 'g' ? 1.02 : 1.1;
}

const kcl_format KCL_TYPED(kcl_format_ell) = {
    .name = "ell",
    .summary = "rows padded to the longest, column-major",
    .source = "Grimes, Kincaid & Young 1979; Kuresson 2012, ch. 6",
    .kernel = "spmv_ell",
    .any_columns = true,
    .columns = true,
    .size = size,
    .slowdown = slowdown,
    .build = build,
    .rows = rows};

/* ---------------------------------------------------------------- ellr */

static kcl_size size_ellr(const kcl_stats *s, kcl_type type) {
  kcl_size z = size(s, type);
  z.total += 4.0 * (double)s->rows;
  return z;
}

static int build_ellr(kcl_matrix *m, const kcl_csr *A) {
  int32_t *length; /* [rows] */
  int rc = build(m, A);
  if (!rc) rc = kcl_matrix_array(m, "length", KCL_INT32, A->rows, (void **)&length);
  for (int64_t i = 0; !rc && i < A->rows; i++) length[i] = (int32_t)kcl_row_length(A, i);
  return rc;
}

static void rows_ellr(const kcl_matrix *m, const void *x, void *y, int64_t lo, int64_t hi) {
  const int32_t *length = m->array[2].data;
  int32_t most = 0;
  for (int64_t i = lo; i < hi; i++) most = length[i] > most ? length[i] : most;
  columns(m, x, y, lo, hi, most);
}

/* On GPUs estimated: padding is read where a row of the 32 side by side is longer. */
static double slowdown_ellr(const kcl_stats *s, const kcl_device *d) {
  double used =
      s->row_max ? (double)s->sliced / (double)s->row_max / (double)stride_of(s->rows) : 1;
  bool gpu = d->kind && d->kind[0] == 'g';
  return (gpu ? 1.03 : 1.12) * (gpu || used < 1 ? used : 1);
}

const kcl_format KCL_TYPED(kcl_format_ellr) = {.name = "ellr",
                                               .summary = "ELL with row lengths, padding not read",
                                               .source = "Vazquez, Fernandez & Garzon 2011",
                                               .kernel = "spmv_ellr",
                                               .any_columns = true,
                                               .columns = true,
                                               .size = size_ellr,
                                               .slowdown = slowdown_ellr,
                                               .build = build_ellr,
                                               .rows = rows_ellr};

/* ---------------------------------------------------------------- ell-image */

static kcl_size size_image(const kcl_stats *s, kcl_type type) {
  kcl_size z = size(s, type);
  z.total += (double)s->cols * (double)kcl_type_size(type);
  return z;
}

static int build_image(kcl_matrix *m, const kcl_csr *A) {
  int rc = build(m, A);
  if (!rc) kcl_matrix_image(m);
  return rc;
}

/* Caches of today's GPUs hold plain loads too: a launch and two passes over x more, 1.1 to 1.5 times ell's time (NVIDIA
 * H200). PoCL computes each texel's address in a function: 3 times. */
static double slowdown_image(const kcl_stats *s, const kcl_device *d) {
  return slowdown(s, d) * (d->kind && d->kind[0] == 'g' ? 1.3 : 3);
}

const kcl_format KCL_TYPED(kcl_format_ell_image) = {.name = "ell-image",
                                                    .summary = "ELL, x read through an image",
                                                    .source = "Lokhmotov 2011; Kuresson 2012, 6.4",
                                                    .kernel = "spmv_ell_image",
                                                    .image = true,
                                                    .size = size_image,
                                                    .slowdown = slowdown_image,
                                                    .build = build_image,
                                                    .rows = rows};
