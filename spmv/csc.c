/* CSC: compressed columns; the product scatters.
 *
 *     | a . b |   col_ptr 0 2 3 5
 *     | . c . |   row     0 2 1 0 2
 *     | d . e |   val     a d c b e
 *
 * On a device one work-item per column reads its element of x once and adds into y atomically, the transpose of
 * csr-scalar (Rodriguez Losada 2010, 1.2.3). The order of the additions is not fixed: the last bits may change from run
 * to run. The cpu executor works by ranges of rows: there the entries are divided into strips of 64 rows, each strip
 * sorted by column with explicit column indices (col), and its 64 elements of y fit in the cache; the order is fixed.
 * Bytes: nnz (4 + s) + 4 (cols + 1) and y once more on a device, nnz (8 + s) + 8 (rows / 64 + 1) on the cpu executor; the
 * prediction is the larger. 2 flops per entry.
 */
#include "core/matrix/stored.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays by number, in the order in which they are built. */
enum { STRIP, ROW, COL, VAL };

enum { STRIP_ROWS = 64 };

static int64_t strips_of(int64_t rows) { return (rows + STRIP_ROWS - 1) / STRIP_ROWS; }

static kcl_size csc_size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type), n = (double)s->nnz;
  double device = 4 * n + 4.0 * ((double)s->cols + 1);
  double host = 8 * n + 8.0 * ((double)strips_of(s->rows) + 1);
  return (kcl_size){.total = val + (device > host ? device : host), .largest = val};
}

static int build_columns(kcl_stored *m, const kcl_csr *A) {
  int64_t *col_ptr; /* [cols + 1] */
  int32_t *row;     /* [nnz] */
  scalar *val;      /* [nnz] */
  const scalar *from = A->val;
  KCL_CALL(kcl_stored_array(m, "col_ptr", KCL_INT64, A->cols + 1, (void **)&col_ptr));
  KCL_CALL(kcl_stored_array(m, "row", KCL_INT32, A->nnz, (void **)&row));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, A->nnz, (void **)&val));
  for (int64_t k = 0; k < A->nnz; k++) col_ptr[A->col[k] + 1]++;
  for (int64_t j = 0; j < A->cols; j++) col_ptr[j + 1] += col_ptr[j];
  for (int64_t i = 0; i < A->rows; i++) /* col_ptr[j] advances to the start of column j + 1 */
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t at = col_ptr[A->col[k]]++;
      row[at] = (int32_t)i, val[at] = from[k];
    }
  for (int64_t j = A->cols; j > 0; j--) col_ptr[j] = col_ptr[j - 1];
  col_ptr[0] = 0;
  m->kernel.scatter_items = A->cols;
  return KCL_OK;
}

/* Sorts the strip of rows from `base` on by column, then row: key is column * STRIP_ROWS + row in the strip. */
static void fill_strip(const kcl_csr *A, int64_t base, int64_t *key, int32_t *row, int32_t *col,
                       scalar *val) {
  int64_t end = base + STRIP_ROWS < A->rows ? base + STRIP_ROWS : A->rows, next[STRIP_ROWS];
  const scalar *from = A->val;
  for (int64_t i = base; i < end; i++) {
    next[i - base] = A->row_ptr[i];
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      key[k] = A->col[k] * (int64_t)STRIP_ROWS + (i - base);
  }
  qsort(key + A->row_ptr[base], (size_t)(A->row_ptr[end] - A->row_ptr[base]), sizeof *key,
        kcl_compare_words);
  for (int64_t k = A->row_ptr[base]; k < A->row_ptr[end]; k++) {
    int64_t i = key[k] % STRIP_ROWS; /* the columns of a row ascend, so this is its next entry */
    row[k] = (int32_t)(base + i);
    col[k] = (int32_t)(key[k] / STRIP_ROWS);
    val[k] = from[next[i]++];
  }
}

typedef struct csc_filling {
  const kcl_csr *A;
  int64_t *key, *strip;
  int32_t *row, *col;
  scalar *val;
} csc_filling;

static void fill_strips(void *arg, int64_t first, int64_t end) {
  const csc_filling *f = arg;
  const kcl_csr *A = f->A;
  for (int64_t t = first; t < end; t++) {
    fill_strip(A, t * STRIP_ROWS, f->key, f->row, f->col, f->val);
    f->strip[t + 1] = A->row_ptr[(t + 1) * STRIP_ROWS < A->rows ? (t + 1) * STRIP_ROWS : A->rows];
  }
}

static int build_strips(kcl_stored *m, const kcl_csr *A) {
  KCL_OWNED int64_t *key = NULL; /* [nnz] */
  int64_t *strip;                /* [strips + 1] */
  int32_t *row, *col;            /* [nnz] */
  scalar *val;                   /* [nnz] */
  KCL_CALL(kcl_alloc(m->ctx, A->nnz, sizeof *key, "entries to sort", (void **)&key));
  KCL_CALL(kcl_stored_array(m, "strip", KCL_INT64, strips_of(A->rows) + 1, (void **)&strip));
  KCL_CALL(kcl_stored_array(m, "row", KCL_INT32, A->nnz, (void **)&row));
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, A->nnz, (void **)&col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, A->nnz, (void **)&val));
  kcl_for(strips_of(A->rows), 1, fill_strips, &(csc_filling){A, key, strip, row, col, val});
  return KCL_OK;
}

static int csc_build(kcl_stored *m, const kcl_csr *A) {
  return kcl_stored_on_device(m) ? build_columns(m, A) : build_strips(m, A);
}

static void csc_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int64_t *strip = m->array[STRIP].data;
  const int32_t *row = m->array[ROW].data, *col = m->array[COL].data;
  const scalar *val = m->array[VAL].data, *x = x_;
  scalar *y = y_;
  for (int64_t i = lo; i < hi; i++) y[i] = s_make(0);
  for (int64_t k = strip[lo / STRIP_ROWS]; k < strip[strips_of(hi)]; k++)
    y[row[k]] = s_fma(val[k], x[col[k]], y[row[k]]);
}

static bool csc_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t *strip = m->array[STRIP].data, first = lo / STRIP_ROWS, end = strips_of(hi);
  if (!kcl_starts_ascend(strip, first, end, m->nnz)) return false;
  const int64_t from = strip[first], count = strip[end] - from;
  return kcl_indices_between((const int32_t *)m->array[ROW].data + from, count, lo, hi) &&
         kcl_indices_within((const int32_t *)m->array[COL].data + from, count, m->cols);
}

/* GPUs: estimated from coo (atomics) and csr-scalar (one column per work-item is not coalesced). Without native atomics
 * 30 times the time of CSR (PoCL); the strips of the cpu executor take 1.2 times the time per byte. */
static double csc_slowdown(const kcl_stats *s, const kcl_device *d) {
  if (kcl_is_gpu(d)) return 4.0 + 0.08 * s->row_mean;
  return d->platform < 0 ? 1.2 : 30;
}

static void csc_outline(kcl_stored *m, const kcl_stats *s) {
  (void)s, m->cost.chain = m->cost.mean = 1;
}

const kcl_format KCL_TYPED(kcl_format_csc) = {
    .name = "csc",
    .summary = "compressed columns, a product that scatters",
    .source = "Rodriguez Losada 2010, 1.2.3",
    .kernel = "spmv_csc",
    .scatter = true,
    .size = csc_size,
    .size_is_bound = true,
    .slowdown = csc_slowdown,
    .outline = csc_outline,
    .build = csc_build,
    .rows = csc_rows,
    .bounded = csc_bounded};
