/* CDS (compressed diagonals, DIA): every diagonal with an entry, stored in full.
 *
 *     | a . b |        offset  -2 0 2      val  . . d    d at row 2
 *     | . c . |                                 a c e    the main diagonal
 *     | d . e |                                 b . .    b at row 0
 *
 * Entry (i, i + offset[d]) is at val[d * stride + i]. No column indices; x is read in order (Saad 2003, 3.4; Kuresson
 * 2012, ch. 8; Rodriguez Losada 2010, 1.2.5). cds-image: the same with x in a 2D image, copied there before each product
 * (Kuresson 2012, 6.4).
 * Bytes: diagonals stride s + 4 diagonals; cds-image: cols s more, moved twice; 2 flops per stored position.
 */
#include "core/matrix/structure.h"
#include "spmv/narrow.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { OFFSET, VAL };
enum { DIAGONALS, STRIDE, COLS };

static kcl_size cds_size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->diagonals * (double)kcl_padded(s->rows) * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 4.0 * (double)s->diagonals, .largest = val};
}

/* Numbers the diagonals with entries in ascending order: place[d + rows - 1] is 1 + the number of diagonal d, 0 if it is
 * empty. Returns how many there are. */
static int64_t number_diagonals(const kcl_csr *A, int32_t *place) {
  int64_t count = 0;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      place[A->col[k] - i + A->rows - 1] = 1;
  for (int64_t d = 0; d < A->rows + A->cols - 1; d++)
    if (place[d]) place[d] = (int32_t)++count;
  return count;
}

typedef struct cds_filling {
  const kcl_csr *A;
  const int32_t *place;
  int64_t stride;
  scalar *val;
} cds_filling;

static void cds_fill(void *arg, int64_t first, int64_t end) {
  const cds_filling *f = arg;
  const kcl_csr *A = f->A;
  const scalar *from = A->val;
  for (int64_t i = first; i < end; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      f->val[(f->place[A->col[k] - i + A->rows - 1] - 1) * f->stride + i] = from[k];
}

static int cds_build(kcl_stored *m, const kcl_csr *A) {
  KCL_OWNED int32_t *place = NULL;
  int32_t *offset; /* offset[diagonals] */
  scalar *val;     /* [diagonals, stride] */
  int64_t stride = kcl_padded(A->rows);
  m->kernel.rows_match_elements = true;
  KCL_CALL(
      kcl_alloc(m->ctx, A->rows + A->cols, sizeof *place, "the map of diagonals", (void **)&place));
  int64_t diagonals = number_diagonals(A, place);
  KCL_CALL(kcl_stored_array(m, "offset", KCL_INT32, diagonals, (void **)&offset));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, diagonals * stride, (void **)&val));
  for (int64_t d = 0; d < A->rows + A->cols - 1; d++)
    if (place[d]) offset[place[d] - 1] = (int32_t)(d - A->rows + 1);
  kcl_for(A->rows, KCL_FEW_ROWS, cds_fill, &(cds_filling){A, place, stride, val});
  kcl_stored_param(m, "diagonals", diagonals);
  kcl_stored_param(m, "stride", stride);
  kcl_stored_param(m, "cols", A->cols);
  return KCL_OK;
}

typedef struct cds_refilling {
  const kcl_stored *m;
  const kcl_csr *A;
  const kcl_offset_runs *runs; /* NULL: each row is one */
} cds_refilling;

/* Rows [i, end) of one run: entry by entry, in blocks that stay in cache. */
static void refill_run(const cds_refilling *f, int64_t i, int64_t end) {
  enum { REFILL_ROWS = 64 };
  const kcl_csr *A = f->A;
  const int32_t *offset = f->m->array[OFFSET].data;
  const scalar *from = A->val;
  scalar *val = f->m->array[VAL].data;
  const int64_t stride = f->m->param[STRIDE].value, length = kcl_row_length(A, i),
                first = A->row_ptr[i];
  for (int64_t at = i; at < end; at += REFILL_ROWS) {
    const int64_t rows = end - at < REFILL_ROWS ? end - at : REFILL_ROWS;
    for (int64_t p = 0, d = 0; p < length; p++) {
      while (offset[d] != A->col[first + p] - i) d++;
      scalar *to = val + d * stride + at;
      const scalar *entry = from + first + (at - i) * length + p;
      for (int64_t r = 0; r < rows; r++) to[r] = entry[r * length];
    }
  }
}

static void refill_diagonals(void *arg, int64_t from, int64_t to) {
  const cds_refilling *f = arg;
  const kcl_offset_runs *runs = f->runs;
  int64_t n = runs && from < to ? kcl_offset_run_of(runs, from) : 0;
  for (int64_t i = from, end; i < to; i = end, n++) {
    end = !runs ? i + 1 : runs->first[n + 1] < to ? runs->first[n + 1] : to;
    refill_run(f, i, end);
  }
}

static void cds_refill(kcl_stored *m, const kcl_csr *A, const kcl_offset_runs *runs) {
  cds_refilling f = {.m = m, .A = A, .runs = kcl_offset_runs_listed(runs) ? runs : NULL};
  kcl_for(A->rows, KCL_FEW_ROWS, refill_diagonals, &f);
}

/* One diagonal over rows [lo, hi). */
static void add_diagonal(const scalar *v, const element *x, element *y, int64_t lo, int64_t hi) {
  KCL_SIMD
  for (int64_t i = lo; i < hi; i++) y[i] = e_fma(v[i], x[i], y[i]);
}

/* Four diagonals in one pass: a quarter of the loads and stores of y. */
static void add_four(const scalar *v, int64_t stride, const element *x, const int32_t *off,
                     element *y, int64_t lo, int64_t hi) {
  const scalar *v1 = v + stride, *v2 = v1 + stride, *v3 = v2 + stride;
  const element *x0 = x + off[0], *x1 = x + off[1], *x2 = x + off[2], *x3 = x + off[3];
  KCL_SIMD
  for (int64_t i = lo; i < hi; i++)
    y[i] = e_fma(v3[i], x3[i], e_fma(v2[i], x2[i], e_fma(v1[i], x1[i], e_fma(v[i], x0[i], y[i]))));
}

static void cds_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int32_t *offset = m->array[OFFSET].data;
  const scalar *val = m->array[VAL].data;
  const element *x = x_;
  element *y = y_;
  int64_t diagonals = m->param[DIAGONALS].value, stride = m->param[STRIDE].value,
          cols = m->param[COLS].value;
  for (int64_t i = lo; i < hi; i++) y[i] = e_zero();
  for (int64_t d = 0; d < diagonals; d++) {
    if (d + 4 <= diagonals && lo + offset[d] >= 0 && hi + offset[d + 3] <= cols) {
      add_four(val + d * stride, stride, x, offset + d, y, lo, hi);
      d += 3;
      continue;
    }
    int64_t first = lo > -offset[d] ? lo : -offset[d],
            last = hi < cols - offset[d] ? hi : cols - offset[d];
    if (first < last) add_diagonal(val + d * stride, x + offset[d], y, first, last);
  }
}

/* Offsets ascend, from the last row's first to the first row's last element. */
static bool cds_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int32_t *offset = m->array[OFFSET].data;
  const int64_t diagonals = m->param[DIAGONALS].value;
  bool ascend = true;
  (void)lo, (void)hi;
  for (int64_t d = 1; d < diagonals; d++) ascend = ascend && offset[d - 1] < offset[d];
  return ascend && (!diagonals || (offset[0] > -m->rows && offset[diagonals - 1] < m->cols));
}

static void cds_outline(kcl_stored *m, const kcl_stats *s) {
  m->kernel.rows_match_elements = true;
  m->cost.chain = m->cost.mean = (double)s->diagonals;
  m->cost.entry_ns = 22;
}

const kcl_format KCL_TYPED(kcl_format_cds) = {.name = "cds",
                                              .summary = "compressed diagonals, no column indices",
                                              .source = "Saad 2003, 3.4; Kuresson 2012, ch. 8",
                                              .kernel = "spmv_cds",
                                              .multi_rhs = true,
                                              .size = cds_size,
                                              .outline = cds_outline,
                                              .build = cds_build,
                                              .refill = cds_refill,
                                              .rows = cds_rows,
                                              .bounded = cds_bounded,
                                              .bounded_rows = 1024,
                                              .narrow = KCL_NARROW(cds)};

/* ---------------------------------------------------------------- cds-image */

/* x is read in order without the image, which adds a launch and two passes over x: 1.4 to 1.6 times the time of cds
 * (NVIDIA H200). PoCL computes each texel's address in a function. */
static double cds_slowdown_image(const kcl_stats *s, const kcl_device *d) {
  return (void)s, kcl_is_gpu(d) ? 1.4 : 5;
}

const kcl_format KCL_TYPED(kcl_format_cds_image) = {
    .name = "cds-image",
    .summary = "compressed diagonals, x in an image",
    .source = "Kuresson 2012, 6.4",
    .kernel = "spmv_cds_image",
    .image = true,
    .size = cds_size,
    .slowdown = cds_slowdown_image,
    .outline = cds_outline,
    .build = cds_build,
    .rows = cds_rows,
    .bounded = cds_bounded,
    .bounded_rows = 1024};
