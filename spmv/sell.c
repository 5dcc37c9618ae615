/* SELL-C-sigma: rows in slices of C = 32 (8 to 64 if sell.slice is tuned; sizes are predicted for 32), each slice padded
 * to its own longest row and stored by columns. If that saves a tenth of the entries, the rows of each window of sigma =
 * 8192 are sorted by length first.
 *
 *     | a . b . |   C = 2     slice 0 | slice 1      slice  0 2 3      (columns of C before it)
 *     | . c . . |             a b     | d            val    a c b 0 d e
 *     | . . d . |             c 0     | e            col    0 1 2 1 2 3
 *     | . . . e |
 *
 * Entry k of the row at position p is at [(slice[p / C] + k) C + p % C]. order, only if sorted: the row at each position
 * on GPUs; on CPUs the position of each row, whose entries are then gathered one by one. Kreutzer, Hager, Wellein, Fehske
 * & Bishop 2014.
 * Bytes: entries (4 + s) + 4 (slices + 1), and 4 rows if sorted; 2 flops per entry, padding included.
 */
#include "core/matrix/structure.h"
#include "spmv/narrow.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { SLICE, COL, VAL, ORDER };
enum { SORTED };

static int64_t slices_of(int64_t rows, int64_t C) { return (rows + C - 1) / C; }

/* Are rows sorted? Sorting makes the vectors of a fused stage irregular and costs an index; it pays if it saves a tenth of the
 * entries. */
static bool sorts(const kcl_stats *s) {
  return (double)s->sell_sorted_padded < 0.9 * (double)s->sell_padded;
}

static kcl_size sell_size(const kcl_stats *s, kcl_type type) {
  double entries = (double)(sorts(s) ? s->sell_sorted_padded : s->sell_padded);
  double index =
      4.0 * ((double)slices_of(s->rows, KCL_SLICE) + 1) + (sorts(s) ? 4.0 * (double)s->rows : 0);
  return (kcl_size){.total = entries * (4.0 + (double)kcl_type_size(type)) + index,
                    .largest = entries * (double)kcl_type_size(type)};
}

typedef struct sell_filling {
  const kcl_csr *A;
  bool sorted;
  int64_t C, *row; /* [rows]: the row at each position */
  int32_t *slice, *col, *order;
  scalar *val;
} sell_filling;

/* Finds the positions of the rows of one sorted window. */
static void positions(void *arg, int64_t lo, int64_t hi) {
  const sell_filling *f = arg;
  if (f->sorted)
    kcl_longest_first(f->A, lo, hi, f->row + lo);
  else
    for (int64_t i = lo; i < hi; i++) f->row[i] = i;
}

static void sell_widths(void *arg, int64_t first, int64_t end) {
  const sell_filling *f = arg;
  for (int64_t s = first; s < end; s++)
    for (int64_t p = s * f->C; p < (s + 1) * f->C && p < f->A->rows; p++) {
      int32_t width = (int32_t)kcl_row_length(f->A, f->row[p]);
      if (width > f->slice[s + 1]) f->slice[s + 1] = width;
    }
}

static void rows_in_order(void *arg, int64_t first, int64_t end) {
  const sell_filling *f = arg;
  for (int64_t p = first; p < end; p++) f->order[p] = (int32_t)f->row[p];
}

static void positions_of_rows(void *arg, int64_t first, int64_t end) {
  const sell_filling *f = arg;
  for (int64_t p = first; p < end; p++) f->order[f->row[p]] = (int32_t)p;
}

static void sell_fill_row(const sell_filling *f, int64_t s, int64_t p) {
  const kcl_csr *A = f->A;
  const scalar *from = A->val;
  int64_t i = p < A->rows ? f->row[p] : f->row[s * f->C]; /* incomplete: repeats its first row */
  int64_t start = A->row_ptr[i], length = p < A->rows ? kcl_row_length(A, i) : 0;
  for (int64_t k = 0; k < f->slice[s + 1] - f->slice[s]; k++) {
    int64_t at = (f->slice[s] + k) * f->C + p % f->C;
    f->col[at] = k < length ? A->col[start + k] : kcl_padding_column(A, i);
    if (k < length) f->val[at] = from[start + k];
  }
}

static void sell_fill_slices(void *arg, int64_t first, int64_t end) {
  const sell_filling *f = arg;
  for (int64_t s = first; s < end; s++)
    for (int64_t p = s * f->C; p < (s + 1) * f->C; p++) sell_fill_row(f, s, p);
}

static int sell_build(kcl_stored *m, const kcl_csr *A) {
  kcl_stats s = {0};
  KCL_OWNED int64_t *row = NULL;
  int32_t *slice, *col, *order; /* [slices + 1], [entries], [rows] or none */
  scalar *val;                  /* [entries] */
  int C = kcl_stored_tune(m)->slice ? kcl_stored_tune(m)->slice : KCL_SLICE;
  m->kernel.variant = C;
  kcl_count_slices(A, &s);
  KCL_CALL(kcl_alloc(m->ctx, A->rows, sizeof *row, "rows by length", (void **)&row));
  sell_filling f = {.A = A, .sorted = sorts(&s), .C = C, .row = row};
  kcl_for_each(A->rows, KCL_SIGMA, positions, &f);
  KCL_CALL(kcl_stored_array(m, "slice", KCL_INT32, slices_of(A->rows, C) + 1, (void **)&slice));
  f.slice = slice;
  kcl_for(slices_of(A->rows, C), KCL_FEW_ROWS / C, sell_widths, &f);
  for (int64_t t = 0; t < slices_of(A->rows, C); t++) slice[t + 1] += slice[t];
  int64_t entries = (int64_t)slice[slices_of(A->rows, C)] * C;
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, entries, (void **)&col));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, entries, (void **)&val));
  KCL_CALL(kcl_stored_array(m, "order", KCL_INT32, sorts(&s) ? A->rows : 0, (void **)&order));
  f.col = col;
  f.val = val;
  f.order = order;
  kcl_for(slices_of(A->rows, C), KCL_FEW_ROWS / C, sell_fill_slices, &f);
  if (sorts(&s))
    kcl_for(A->rows, KCL_FEW_ROWS, kcl_stored_gpu_layout(m) ? rows_in_order : positions_of_rows,
            &f);
  kcl_stored_param(m, "sorted", sorts(&s));
  m->kernel.rows_match_elements = !sorts(&s);
  return KCL_OK;
}

/* guarded: an index that does not exist becomes the last one, whose wrong result the check of the residual finds. The minimum costs next
 * to nothing beside a gather; looking at all indices first read them twice. */
static inline int32_t existing_column(int32_t j, uint32_t last, const bool guarded) {
  return guarded && (uint32_t)j > last ? (int32_t)last : j;
}

static inline void sell_one_slice(const int32_t *col, const scalar *val, int64_t width,
                                  const element *x, element *sum, const int C, uint32_t last,
                                  const bool guarded) {
  for (int l = 0; l < C; l++) sum[l] = e_zero();
  for (int64_t k = 0; k < width; k++, col += C, val += C) {
    KCL_SIMD
    for (int l = 0; l < C; l++)
      sum[l] = e_fma(val[l], x[existing_column(col[l], last, guarded)], sum[l]);
  }
}

/* One loop per C, so that the sums of a slice are kept in registers. */
__attribute__((always_inline)) static inline void in_slices(const kcl_stored *m, const element *x,
                                                            element *y, int64_t lo, int64_t hi,
                                                            const bool guarded) {
  enum { SELL_MOST = 64 };
  const int32_t *slice = m->array[SLICE].data, *cols = m->array[COL].data;
  const scalar *vals = m->array[VAL].data;
  const int64_t C = m->kernel.variant;
  const uint32_t last = (uint32_t)m->cols - 1;
  element sum[SELL_MOST];
  for (int64_t i = lo; i < hi; i += C) {
    const int64_t at = (int64_t)slice[i / C] * C, width = slice[i / C + 1] - slice[i / C];
    const int32_t *col = cols + at;
    const scalar *val = vals + at;
    switch (C) {
    case 8: sell_one_slice(col, val, width, x, sum, 8, last, guarded); break;
    case 16: sell_one_slice(col, val, width, x, sum, 16, last, guarded); break;
    case 32: sell_one_slice(col, val, width, x, sum, 32, last, guarded); break;
    default: sell_one_slice(col, val, width, x, sum, SELL_MOST, last, guarded);
    }
    for (int64_t l = 0; l < C && i + l < hi; l++) y[i + l] = sum[l];
  }
}

static void sell_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int32_t *slice = m->array[SLICE].data, *col = m->array[COL].data,
                *order = m->array[ORDER].data;
  const scalar *val = m->array[VAL].data;
  const element *x = x_;
  const int64_t C = m->kernel.variant;
  element *y = y_;
  if (!m->param[SORTED].value) {
    if (m->guarded)
      in_slices(m, x, y, lo, hi, true);
    else
      in_slices(m, x, y, lo, hi, false);
    return;
  }
  for (int64_t i = lo; i < hi; i++) {
    int64_t p = order[i], k = (int64_t)slice[p / C] * C + p % C;
    y[i] = e_zero();
    for (int64_t end = (int64_t)slice[p / C + 1] * C; k < end; k += C)
      y[i] = e_fma(val[k], x[col[k]], y[i]);
  }
}

/* Row i of sorted slices. */
static bool sorted_row_exists(const kcl_stored *m, int64_t i) {
  const int32_t *slice = m->array[SLICE].data;
  const int64_t C = m->kernel.variant, p = ((const int32_t *)m->array[ORDER].data)[i];
  uint32_t most = 0;
  if (p < 0 || p >= m->rows ||
      !kcl_short_starts_ascend(slice, p / C, p / C + 1, m->array[COL].count / C))
    return false;
  for (int64_t k = slice[p / C] * C + p % C; k < slice[p / C + 1] * C; k += C) {
    const uint32_t j = ((const uint32_t *)m->array[COL].data)[k];
    most = j > most ? j : most;
  }
  return most < m->cols;
}

/* Slices; in sorted rows the columns as well, elsewhere sell_rows looks at them. */
static bool sell_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t C = m->kernel.variant;
  bool exist = true;
  if (!m->param[SORTED].value)
    return kcl_short_starts_ascend(m->array[SLICE].data, lo / C, slices_of(hi, C),
                                   m->array[COL].count / C);
  for (int64_t i = lo; i < hi && exist; i++) exist = sorted_row_exists(m, i);
  return exist;
}

/* CPUs: 0.9 of the time of CSR at 27 entries per row; if sorted, a cache line per entry, as jds. */
static double sell_slowdown(const kcl_stats *s, const kcl_device *d) {
  if (kcl_is_gpu(d)) return 1.01; /* estimated */
  return sorts(s) ? 1.6 : 1.0;
}

static void sell_outline(kcl_stored *m, const kcl_stats *s) {
  m->kernel.rows_match_elements = !sorts(s), m->cost.entry_ns = 12;
}

const kcl_format KCL_TYPED(kcl_format_sell) = {
    .name = "sell",
    .summary = "slices of 32 rows padded to their longest, sorted if it pays",
    .source = "Kreutzer et al. 2014 (SELL-C-sigma)",
    .kernel = "spmv_sell",
    .columns_renumberable = true,
    .multi_rhs = true,
    .size = sell_size,
    .slowdown = sell_slowdown,
    .outline = sell_outline,
    .build = sell_build,
    .rows = sell_rows,
    .bounded = sell_bounded,
    .bounded_rows = 1024,
    .narrow = KCL_NARROW(sell)};
