/* Dense: full storage by columns, zeros included; a measure of what sparse storage saves.
 *
 *     | a . b |   val  a . d   column 0      stride = rows, rounded up to a multiple of 32 from 32 on
 *     | . c . |        . c .          1      entry (i, j) at val[j stride + i]
 *     | d . e |        b . e          2
 *
 * dense: one work-item per row (Kuresson 2012, ch. 4). dense-tiled: the work-items of a group share tiles of x in local
 * memory. Refused beyond ten times the bytes of CSR.
 * Bytes: stride columns s; 2 flops per position.
 */
#include "core/matrix/stored.h"
#include "core/base/scalar.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { VAL };
enum { COLS, STRIDE };

static int64_t stride_of(int64_t n) { return n < 32 ? n : (n + 31) / 32 * 32; }

static kcl_size dense_size(const kcl_stats *s, kcl_type type) {
  double val = (double)stride_of(s->rows) * (double)s->cols * (double)kcl_type_size(type);
  return (kcl_size){.total = val, .largest = val};
}

static void dense_fill(void *arg, int64_t first, int64_t end) {
  const kcl_stored *m = arg;
  const kcl_csr *A = &m->origin.source;
  const scalar *from = A->val;
  scalar *val = m->array[VAL].data;
  for (int64_t i = first; i < end; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      val[A->col[k] * m->param[STRIDE].value + i] = from[k];
}

static int dense_build(kcl_stored *m, const kcl_csr *A) {
  scalar *val; /* [cols, stride] */
  int64_t stride = stride_of(A->rows);
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, A->cols * stride, (void **)&val));
  kcl_stored_param(m, "cols", A->cols);
  kcl_stored_param(m, "stride", stride);
  kcl_for(A->rows, KCL_FEW_ROWS, dense_fill, m);
  return KCL_OK;
}

static void dense_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const scalar *x = x_;
  scalar *y = y_;
  int64_t cols = m->param[COLS].value, stride = m->param[STRIDE].value;
  for (int64_t i = lo; i < hi; i++) y[i] = s_make(0);
  for (int64_t j = 0; j < cols; j++) {
    const scalar *v = (const scalar *)m->array[VAL].data + j * stride;
    KCL_SIMD
    for (int64_t i = lo; i < hi; i++) y[i] = s_fma(v[i], x[j], y[i]);
  }
}

/* GPUs: estimated; such matrices mostly have too few rows for full occupancy. */
static double dense_slowdown(const kcl_stats *s, const kcl_device *d) {
  return (void)s, kcl_is_gpu(d) ? 1.5 : 1.1;
}

static void dense_outline(kcl_stored *m, const kcl_stats *s) {
  m->cost.chain = m->cost.mean = (double)s->cols;
}

const kcl_format KCL_TYPED(kcl_format_dense) = {.name = "dense",
                                                .summary = "full storage, one work-item per row",
                                                .source = "Kuresson 2012, ch. 4",
                                                .kernel = "spmv_dense",
                                                .multi_rhs = true,
                                                .size = dense_size,
                                                .slowdown = dense_slowdown,
                                                .outline = dense_outline,
                                                .build = dense_build,
                                                .rows = dense_rows};

const kcl_format KCL_TYPED(kcl_format_dense_tiled) = {
    .name = "dense-tiled",
    .summary = "full storage, tiles of x in local memory",
    .source = "Kuresson 2012, ch. 4",
    .kernel = "spmv_dense_tiled",
    .cpu_kernel = "spmv_dense",
    .size = dense_size,
    .slowdown = dense_slowdown,
    .outline = dense_outline,
    .build = dense_build,
    .rows = dense_rows};
