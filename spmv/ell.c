/* ELL (ELLPACK): every row padded to the longest, stored by columns.
 *
 *     | a . b |            val  a c d      col  0 1 0      width  = 2
 *     | . c . |                 b 0 e           2 1 2      stride = rows, rounded up to a multiple of 32
 *     | d . e |            padding: value 0, column of the row's last entry (of an empty row i: i)
 *
 * Neighbouring work-items read neighbouring values (Grimes, Kincaid & Young 1979; Bell & Garland 2008).
 * ellr: row lengths are stored too and padding is not read, except on CPUs, where a block of rows is read up to its
 * longest row (Vazquez, Fernandez & Garzon 2011).
 * ell-rows: ELL stored by rows, entry k of row i at [i * width + k]; neighbouring work-items read values that are `width`
 * apart, so that loads are not coalesced (Kuresson 2012, ch. 6; Fraga 2018).
 * ell-image: ELL with x in a 2D image, copied there before each product and read through the texture cache (Lokhmotov
 * 2011; Kuresson 2012, 6.4).
 * Bytes: stride width (4 + s), ell-rows: rows width (4 + s); ellr: 4 rows more; ell-image: cols s more, moved twice; 2
 * flops per entry, padding included.
 */
#include "core/matrix/structure.h"
#include "spmv/narrow.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { COL, VAL, LENGTH };
enum { WIDTH, STRIDE };

static kcl_size ell_size(const kcl_stats *s, kcl_type type) {
  double entries = (double)kcl_padded(s->rows) * (double)s->row_max;
  return (kcl_size){.total = entries * (4.0 + (double)kcl_type_size(type)),
                    .largest = entries * (double)kcl_type_size(type)};
}

/* Stores row i and its padding: entry k at [at + k * step]. */
static void ell_fill_row(const kcl_stored *m, int64_t i, int64_t at, int64_t step) {
  const kcl_csr *A = &m->origin.source;
  const int64_t width = m->param[WIDTH].value, start = A->row_ptr[i];
  int32_t *col = m->array[COL].data;
  scalar *val = m->array[VAL].data;
  for (int64_t k = 0; k < width; k++, at += step) {
    bool real_entry = k < kcl_row_length(A, i);
    col[at] = real_entry ? A->col[start + k] : kcl_padding_column(A, i);
    if (real_entry) val[at] = ((const scalar *)A->val)[start + k];
  }
}

static void ell_fill(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  for (int64_t i = first; i < end; i++) ell_fill_row(m, i, i, m->param[STRIDE].value);
}

static int64_t ell_width(const kcl_csr *A) {
  int64_t width = 0;
  for (int64_t i = 0; i < A->rows; i++)
    if (kcl_row_length(A, i) > width) width = kcl_row_length(A, i);
  return width;
}

static int ell_build(kcl_stored *m, const kcl_csr *A) {
  int64_t width = ell_width(A), stride = kcl_padded(A->rows);
  int32_t *col; /* [width, stride] */
  scalar *val;  /* [width, stride] */
  m->kernel.rows_match_elements = true;
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, width * stride, (void **)&col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, width * stride, (void **)&val));
  kcl_stored_param(m, "width", width);
  kcl_stored_param(m, "stride", stride);
  kcl_for(A->rows, KCL_FEW_ROWS, ell_fill, m);
  return KCL_OK;
}

static void ell_columns(const kcl_stored *m, const element *x, element *y, int64_t lo, int64_t hi,
                        int64_t width) {
  int64_t stride = m->param[STRIDE].value;
  for (int64_t i = lo; i < hi; i++) y[i] = e_zero();
  for (int64_t k = 0; k < width; k++) {
    const int32_t *c = (const int32_t *)m->array[COL].data + k * stride;
    const scalar *v = (const scalar *)m->array[VAL].data + k * stride;
    KCL_SIMD
    for (int64_t i = lo; i < hi; i++) y[i] = e_fma(v[i], x[c[i]], y[i]);
  }
}

static void ell_rows(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi) {
  ell_columns(m, x, y, lo, hi, m->param[WIDTH].value);
}

static bool ell_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t width = m->param[WIDTH].value, stride = m->param[STRIDE].value;
  bool exist = true;
  for (int64_t k = 0; k < width && exist; k++)
    exist =
        kcl_indices_within((const int32_t *)m->array[COL].data + k * stride + lo, hi - lo, m->cols);
  return exist;
}

/* CPUs, `width` streams and a gather: 1.0 to 1.1 times the time per byte of CSR (two cores). */
static double ell_slowdown(const kcl_stats *s, const kcl_device *d) {
  return (void)s, kcl_is_gpu(d) ? 1.02 : 1.1;
}

static void ell_outline(kcl_stored *m, const kcl_stats *s) {
  (void)s;
  m->kernel.rows_match_elements = true;
  m->cost.mean = m->cost.chain;
  m->cost.entry_ns = 16;
}

const kcl_format KCL_TYPED(kcl_format_ell) = {
    .name = "ell",
    .summary = "rows padded to the longest, column-major",
    .source = "Grimes, Kincaid & Young 1979; Kuresson 2012, ch. 6",
    .kernel = "spmv_ell",
    .columns_renumberable = true,
    .multi_rhs = true,
    .size = ell_size,
    .slowdown = ell_slowdown,
    .outline = ell_outline,
    .build = ell_build,
    .rows = ell_rows,
    .bounded = ell_bounded,
    .narrow = KCL_NARROW(ell)};

/* ---------------------------------------------------------------- ellr */

static kcl_size size_ellr(const kcl_stats *s, kcl_type type) {
  kcl_size z = ell_size(s, type);
  z.total += 4.0 * (double)s->rows;
  return z;
}

static int build_ellr(kcl_stored *m, const kcl_csr *A) {
  int32_t *length; /* [rows] */
  KCL_CALL(ell_build(m, A));
  KCL_CALL(kcl_stored_array(m, "length", KCL_INT32, A->rows, (void **)&length));
  for (int64_t i = 0; i < A->rows; i++) length[i] = (int32_t)kcl_row_length(A, i);
  return KCL_OK;
}

static void rows_ellr(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi) {
  const int32_t *length = m->array[LENGTH].data;
  int32_t most = 0;
  for (int64_t i = lo; i < hi; i++) most = length[i] > most ? length[i] : most;
  ell_columns(m, x, y, lo, hi, most);
}

static bool ellr_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  return kcl_indices_within((const int32_t *)m->array[LENGTH].data + lo, hi - lo,
                            m->param[WIDTH].value + 1) &&
         ell_bounded(m, lo, hi);
}

/* GPUs: estimated; padding is read where another row of the same 32 is longer. */
static double slowdown_ellr(const kcl_stats *s, const kcl_device *d) {
  double used =
      s->row_max ? (double)s->sell_padded / (double)s->row_max / (double)kcl_padded(s->rows) : 1;
  bool gpu = kcl_is_gpu(d);
  return (gpu ? 1.03 : 1.12) * (gpu || used < 1 ? used : 1);
}

static void outline_ellr(kcl_stored *m, const kcl_stats *s) {
  ell_outline(m, s), m->cost.entry_ns = 57;
}

const kcl_format KCL_TYPED(kcl_format_ellr) = {.name = "ellr",
                                               .summary = "ELL with row lengths, padding not read",
                                               .source = "Vazquez, Fernandez & Garzon 2011",
                                               .kernel = "spmv_ellr",
                                               .columns_renumberable = true,
                                               .multi_rhs = true,
                                               .size = size_ellr,
                                               .slowdown = slowdown_ellr,
                                               .outline = outline_ellr,
                                               .build = build_ellr,
                                               .rows = rows_ellr,
                                               .bounded = ellr_bounded,
                                               .narrow = KCL_NARROW(ellr)};

/* ---------------------------------------------------------------- ell-rows */

static kcl_size size_by_rows(const kcl_stats *s, kcl_type type) {
  double entries = (double)s->rows * (double)s->row_max;
  return (kcl_size){.total = entries * (4.0 + (double)kcl_type_size(type)),
                    .largest = entries * (double)kcl_type_size(type)};
}

static void fill_by_rows(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  for (int64_t i = first; i < end; i++) ell_fill_row(m, i, i * m->param[WIDTH].value, 1);
}

static int build_by_rows(kcl_stored *m, const kcl_csr *A) {
  int64_t width = ell_width(A);
  int32_t *col; /* [rows, width] */
  scalar *val;  /* [rows, width] */
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, A->rows * width, (void **)&col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, A->rows * width, (void **)&val));
  m->kernel.rows_match_elements = m->kernel.row_per_item = true;
  kcl_stored_param(m, "width", width);
  kcl_for(A->rows, KCL_FEW_ROWS, fill_by_rows, m);
  return KCL_OK;
}

static void rows_by_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int64_t width = m->param[WIDTH].value;
  const int32_t *col = m->array[COL].data;
  const scalar *val = m->array[VAL].data;
  const element *x = x_;
  element *y = y_;
  for (int64_t i = lo; i < hi; i++) {
    element sum = e_zero();
    for (int64_t k = i * width; k < (i + 1) * width; k++) sum = e_fma(val[k], x[col[k]], sum);
    y[i] = sum;
  }
}

static bool by_rows_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t width = m->param[WIDTH].value;
  return kcl_indices_within((const int32_t *)m->array[COL].data + lo * width, (hi - lo) * width,
                            m->cols);
}

/* GPUs: estimated, as csr-scalar, whose loads are as far apart. */
static double slowdown_by_rows(const kcl_stats *s, const kcl_device *d) {
  return kcl_is_gpu(d) ? 1 + 0.06 * s->row_mean : 1;
}

const kcl_format KCL_TYPED(kcl_format_ell_rows) = {.name = "ell-rows",
                                                   .summary = "ELL by rows: loads not coalesced",
                                                   .source = "Kuresson 2012, ch. 6; Fraga 2018",
                                                   .kernel = "spmv_ell_rows",
                                                   .columns_renumberable = true,
                                                   .multi_rhs = true,
                                                   .size = size_by_rows,
                                                   .slowdown = slowdown_by_rows,
                                                   .outline = ell_outline,
                                                   .build = build_by_rows,
                                                   .rows = rows_by_rows,
                                                   .bounded = by_rows_bounded,
                                                   .narrow = KCL_NARROW(ell_rows)};

/* ---------------------------------------------------------------- ell-image */

/* On GPUs whose L1 cache also serves ordinary loads the image only adds a launch and two passes over x: 1.1 to 1.5 times
 * the time of ell (NVIDIA H200). PoCL computes each texel's address in a function: 3 times. */
static double ell_slowdown_image(const kcl_stats *s, const kcl_device *d) {
  return ell_slowdown(s, d) * (kcl_is_gpu(d) ? 1.3 : 3);
}

const kcl_format KCL_TYPED(kcl_format_ell_image) = {.name = "ell-image",
                                                    .summary = "ELL, x in an image",
                                                    .source = "Lokhmotov 2011; Kuresson 2012, 6.4",
                                                    .kernel = "spmv_ell_image",
                                                    .image = true,
                                                    .size = ell_size,
                                                    .slowdown = ell_slowdown_image,
                                                    .build = ell_build,
                                                    .rows = ell_rows,
                                                    .bounded = ell_bounded};
