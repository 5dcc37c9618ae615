/* HYB: ELL whose width at least a third of the rows fill, and the entries that overflow it as coordinates sorted by row.
 *
 *     | a b . . |   width 2     val  a c d g     col  0 1 0 3      stride = rows, rounded up to a multiple of 32
 *     | . c . . |                    b 0 e 0          1 1 1 3
 *     | d e f h |   overflow    rest_row 2 2   rest_col 2 3   rest_val f h
 *     | . . . g |               rest  0 2      the start of the overflow of each 32 rows
 *
 * Bell & Garland 2009 add the overflow by a second kernel. Here each row finds its part of the overflow of its 32 rows by
 * bisection, so a product still finishes row by row, without atomics and with reproducible bits.
 * Bytes: stride width (4 + s) + overflow (8 + s) + 4 (rows / 32 + 1), 8 (rows / 32 + 1) on the cpu executor; 2 flops per
 * entry, padding included.
 */
#include "core/matrix/stored.h"
#include "core/matrix/structure.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { COL, VAL, REST, REST_ROW, REST_COL, REST_VAL };
enum { WIDTH, STRIDE };

static kcl_size hyb_size(const kcl_stats *s, kcl_type type) {
  double entries = 32 * (double)kcl_slice_count(s->rows) * (double)s->hyb_width;
  double rest = (double)s->hyb_overflow, bytes = (double)kcl_type_size(type);
  return (kcl_size){.total = entries * (4.0 + bytes) + rest * (8.0 + bytes) +
                             4.0 * ((double)kcl_slice_count(s->rows) + 1),
                    .largest = (entries > rest ? entries : rest) * bytes};
}

typedef struct hyb { /* its arrays, in this order */
  int32_t *col;      /* [width, stride] */
  scalar *val;       /* [width, stride] */
  int64_t *rest;     /* [slices + 1] */
  int32_t *rest_row, *rest_col;
  scalar *rest_val; /* [rest[slices]] */
  int64_t width, stride;
} hyb;

static hyb of(const kcl_stored *m) {
  return (hyb){.col = m->array[COL].data,
               .val = m->array[VAL].data,
               .rest = m->array[REST].data,
               .rest_row = m->array[REST_ROW].data,
               .rest_col = m->array[REST_COL].data,
               .rest_val = m->array[REST_VAL].data,
               .width = m->param[WIDTH].value,
               .stride = m->param[STRIDE].value};
}

static int hyb_allocate(kcl_stored *m, int64_t slices, int64_t width, int64_t beyond) {
  void *p;
  int rc = kcl_stored_array(m, "col", KCL_INT32, width * slices * 32, &p);
  if (!rc) rc = kcl_stored_array(m, "val", KCL_SCALAR, width * slices * 32, &p);
  if (!rc) rc = kcl_stored_array(m, "rest", KCL_INT64, slices + 1, &p);
  if (!rc) rc = kcl_stored_array(m, "rest_row", KCL_INT32, beyond, &p);
  if (!rc) rc = kcl_stored_array(m, "rest_col", KCL_INT32, beyond, &p);
  if (!rc) rc = kcl_stored_array(m, "rest_val", KCL_SCALAR, beyond, &p);
  kcl_stored_param(m, "width", width);
  kcl_stored_param(m, "stride", slices * 32);
  return rc;
}

/* Fills row i, whose overflow begins at `at`; returns the overflow's end. */
static int64_t hyb_fill_row(const hyb *h, const kcl_csr *A, int64_t i, int64_t at) {
  const scalar *from = A->val;
  int64_t start = A->row_ptr[i], length = kcl_row_length(A, i);
  for (int64_t k = 0; k < h->width; k++) {
    h->col[k * h->stride + i] = k < length ? A->col[start + k] : kcl_padding_column(A, i);
    if (k < length) h->val[k * h->stride + i] = from[start + k];
  }
  for (int64_t k = h->width; k < length; k++, at++) {
    h->rest_row[at] = (int32_t)i;
    h->rest_col[at] = A->col[start + k], h->rest_val[at] = from[start + k];
  }
  return at;
}

static void hyb_fill_slices(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  const hyb h = of(m);
  for (int64_t t = first; t < end; t++)
    for (int64_t i = t * 32, at = h.rest[t]; i < t * 32 + 32 && i < m->rows; i++)
      at = hyb_fill_row(&h, &m->origin.source, i, at);
}

/* Counts the overflow of each slice. */
static void count_rest(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  const hyb h = of(m);
  for (int64_t t = first; t < end; t++)
    for (int64_t i = t * 32; i < t * 32 + 32 && i < m->rows; i++) {
      int64_t beyond = kcl_row_length(&m->origin.source, i) - h.width;
      if (beyond > 0) h.rest[t + 1] += beyond;
    }
}

static int hyb_build(kcl_stored *m, const kcl_csr *A) {
  kcl_stats s = {0};
  kcl_count_slices(A, &s);
  KCL_CALL(kcl_count_overflow(m->ctx, A, &s));
  KCL_CALL(hyb_allocate(m, kcl_slice_count(A->rows), s.hyb_width, s.hyb_overflow));
  hyb h = of(m);
  kcl_for(kcl_slice_count(A->rows), KCL_FEW_ROWS / 32, count_rest, m);
  for (int64_t t = 0; t < kcl_slice_count(A->rows); t++) h.rest[t + 1] += h.rest[t];
  kcl_for(kcl_slice_count(A->rows), KCL_FEW_ROWS / 32, hyb_fill_slices, m);
  return KCL_OK;
}

static void hyb_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  hyb h = of(m);
  const scalar *x = x_;
  scalar *y = y_;
  for (int64_t i = lo; i < hi; i++) y[i] = s_make(0);
  for (int64_t k = 0; k < h.width; k++) {
    const int32_t *c = h.col + k * h.stride;
    const scalar *v = h.val + k * h.stride;
    KCL_SIMD
    for (int64_t i = lo; i < hi; i++) y[i] = s_fma(v[i], x[c[i]], y[i]);
  }
  for (int64_t k = h.rest[lo / 32]; k < h.rest[kcl_slice_count(hi)]; k++)
    y[h.rest_row[k]] = s_fma(h.rest_val[k], x[h.rest_col[k]], y[h.rest_row[k]]);
}

static bool hyb_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const hyb h = of(m);
  bool exist = kcl_starts_ascend(h.rest, lo / 32, kcl_slice_count(hi), m->array[REST_COL].count);
  for (int64_t k = 0; k < h.width && exist; k++)
    exist = kcl_indices_within(h.col + k * h.stride + lo, hi - lo, m->cols);
  if (!exist) return false;
  const int64_t from = h.rest[lo / 32], count = h.rest[kcl_slice_count(hi)] - from;
  return kcl_indices_between(h.rest_row + from, count, lo, hi) &&
         kcl_indices_within(h.rest_col + from, count, m->cols);
}

/* CPUs: 1.02 times the time of CSR at 27 entries per row. GPUs: estimated; the overflow of a row is read by one
 * work-item, not coalesced. */
static double hyb_slowdown(const kcl_stats *s, const kcl_device *d) {
  double rest = s->nnz ? (double)s->hyb_overflow / (double)s->nnz : 0;
  return kcl_is_gpu(d) ? 1.05 + 2 * rest + (rest > 0 ? kcl_skew(s) : 0) : 1.05;
}

const kcl_format KCL_TYPED(kcl_format_hyb) = {
    .name = "hyb",
    .summary = "ELL, and coordinates for the entries that overflow it",
    .source = "Bell & Garland 2009",
    .kernel = "spmv_hyb",
    .multi_rhs = true,
    .size = hyb_size,
    .slowdown = hyb_slowdown,
    .build = hyb_build,
    .rows = hyb_rows,
    .bounded = hyb_bounded};
