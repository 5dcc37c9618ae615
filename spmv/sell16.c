/* Slices of 32 rows as in sell, with compressed indices and values: two formats.
 *
 * sell16     16-bit columns, relative to the least column of the slice; values are stored as float if all are exactly
 *            representable, otherwise as they are
 * sell-dict  values as indices of 8 or 16 bits into a table of the distinct ones; columns of 16 bits if the slices allow
 *            it, otherwise 32 (relative to 0)
 *
 * Entry k of row i is at [(slice[i / 32] + k) 32 + i % 32], in column least[i / 32] + col[...]. Rows are not sorted.
 * Slices: Kreutzer et al. 2014; index and value compression: Willcock & Lumsdaine 2006, Kourtis, Goumas & Koziris 2008.
 * Bytes: entries (2 or 4 + s, s / 2, 1 or 2) + 4 (2 slices + 1) + s (values + 1) for the table.
 */
#include "core/matrix/structure.h"
#include "spmv/narrow.h"
#include "spmv/bounds.h"
#include <stdio.h>

/* The arrays by number, in the order in which they are built. */
enum { SLICE, LEAST, COL, VAL, TABLE };

enum { SELL16_SLICE = KCL_SLICE, MOST_SPAN = 65535 };
enum { AS_SCALARS, AS_SINGLES, AS_INDICES }; /* VARIANT in the kernel */
static const int64_t most = KCL_MOST_REPEATS - 1;

/* ---------------------------------------------------------------- prediction */

static kcl_size size_of(const kcl_stats *s, double col, double val, double table) {
  double entries = (double)s->sell_padded, index = 4 * (2 * (double)kcl_slice_count(s->rows) + 1);
  return (kcl_size){.total = entries * (col + val) + index + table,
                    .largest = entries * (col > val ? col : val)};
}

static kcl_size size16(const kcl_stats *s, kcl_type type) {
  bool halved = s->values_fit_float && (type == KCL_D || type == KCL_Z);
  return size_of(s, 2, (double)kcl_type_size(type) / (halved ? 2 : 1), 0);
}

static kcl_size size_dict(const kcl_stats *s, kcl_type type) {
  return size_of(s, s->slice_span <= MOST_SPAN ? 2 : 4, s->distinct_values < 256 ? 1 : 2,
                 ((double)s->distinct_values + 1) * (double)kcl_type_size(type));
}

static const char *refuses16(const kcl_stats *s, kcl_type type) {
  (void)type;
  if (s->slice_span <= MOST_SPAN) return NULL;
  return kcl_refusal_text("columns within 32 rows are up to %lld apart, the limit is %d",
                          (long long)s->slice_span, MOST_SPAN);
}

static const char *refuses_dict(const kcl_stats *s, kcl_type type) {
  (void)type;
  return s->distinct_values <= most
             ? NULL
             : kcl_refusal_text("more than %lld distinct values", (long long)most);
}

/* ---------------------------------------------------------------- building */

typedef struct form { /* how one matrix is stored */
  kcl_array_kind col, val;
  const kcl_repeats *values; /* AS_INDICES */
} form;

static void put_value(const form *f, const kcl_csr *A, int64_t i, int64_t k, void *val,
                      int64_t at) {
  scalar a = ((const scalar *)A->val)[k];
  switch (f->val) {
  case KCL_UINT8: ((uint8_t *)val)[at] = (uint8_t)(kcl_repeats_number(f->values, i, k) + 1); break;
  case KCL_UINT16:
    ((uint16_t *)val)[at] = (uint16_t)(kcl_repeats_number(f->values, i, k) + 1);
    break;
#if KCL_PARTS == 1
  case KCL_SINGLE: ((single *)val)[at] = (single)a; break;
#else
  case KCL_SINGLE: ((single *)val)[at] = (single){(float)a.re, (float)a.im}; break;
#endif
  default: ((scalar *)val)[at] = a;
  }
}

/* Fills row p; a row beyond the last repeats the first of its slice, as padding. */
static void sell16_fill_row(const form *f, const kcl_csr *A, const int32_t *slice, int32_t least,
                            int64_t p, void *col, void *val) {
  int64_t s = p / SELL16_SLICE, i = p < A->rows ? p : s * SELL16_SLICE, start = A->row_ptr[i];
  int64_t length = p < A->rows ? kcl_row_length(A, i) : 0;
  for (int64_t k = 0; k < slice[s + 1] - slice[s]; k++) {
    int64_t at = (slice[s] + k) * SELL16_SLICE + p % SELL16_SLICE;
    int32_t j = k < length ? A->col[start + k] : kcl_padding_column(A, i);
    if (f->col == KCL_UINT16)
      ((uint16_t *)col)[at] = (uint16_t)(j - least);
    else
      ((int32_t *)col)[at] = j;
    if (k < length) put_value(f, A, i, start + k, val, at);
  }
}

typedef struct sell16_filling {
  const form *form;
  const kcl_csr *A;
  const int32_t *slice;
  int32_t *least;
  void *col, *val;
} sell16_filling;

static void sell16_fill_slices(void *arg, int64_t first, int64_t end) {
  const sell16_filling *f = arg;
  for (int64_t s = first; s < end; s++) {
    f->least[s] = f->form->col == KCL_UINT16 ? kcl_slice_least(f->A, s) : 0;
    for (int64_t p = s * SELL16_SLICE; p < (s + 1) * SELL16_SLICE; p++)
      sell16_fill_row(f->form, f->A, f->slice, f->least[s], p, f->col, f->val);
  }
}

static int sell16_fill(kcl_stored *m, const kcl_csr *A, const form *f) {
  int32_t *slice, *least; /* [slices + 1], [slices] */
  void *col, *val;        /* [entries] */
  scalar *table;          /* [values + 1], the first 0: padding; or none */
  int64_t slices = kcl_slice_count(A->rows), values = f->values ? f->values->count + 1 : 0;
  KCL_CALL(kcl_stored_array(m, "slice", KCL_INT32, slices + 1, (void **)&slice));
  kcl_slices(A, 1, slice);
  KCL_CALL(kcl_stored_array(m, "least", KCL_INT32, slices, (void **)&least));
  KCL_CALL(kcl_stored_array(m, "col", f->col, (int64_t)slice[slices] * SELL16_SLICE, &col));
  KCL_CALL(kcl_stored_array(m, "val", f->val, (int64_t)slice[slices] * SELL16_SLICE, &val));
  KCL_CALL(kcl_stored_array(m, "table", KCL_SCALAR, values, (void **)&table));
  for (int64_t n = 1; n < values; n++) table[n] = ((const scalar *)A->val)[f->values->entry[n - 1]];
  kcl_for(slices, KCL_FEW_ROWS / SELL16_SLICE, sell16_fill_slices,
          &(sell16_filling){f, A, slice, least, col, val});
  kcl_stored_param(m, "values", values);
  kcl_stored_local_table(m, (double)values * sizeof(scalar));
  return KCL_OK;
}

static int build16(kcl_stored *m, const kcl_csr *A) {
  kcl_stats s = {.slice_span = kcl_slice_span(A)};
  if (refuses16(&s, A->type)) return kcl_stored_refused(m, refuses16(&s, A->type));
  bool halved = sizeof(scalar) > sizeof(single) && kcl_all_single(A);
  m->kernel.rows_match_elements = true, m->kernel.variant = halved ? AS_SINGLES : AS_SCALARS;
  snprintf(m->note, sizeof m->note, "%s", halved ? "values as float" : "values in full precision");
  return sell16_fill(m, A, &(form){.col = KCL_UINT16, .val = halved ? KCL_SINGLE : KCL_SCALAR});
}

static int build_dict(kcl_stored *m, const kcl_csr *A) {
  KCL_OWNED_BY(kcl_repeats_free) kcl_repeats rows = {0}, values = {0};
  KCL_CALL(kcl_repeats_find_rows(m->ctx, A, m->origin.distinct, false, &rows));
  KCL_CALL(kcl_repeats_find(m->ctx, A, KCL_VALUES, &rows, &values));
  kcl_stats s = {.distinct_values = values.count};
  if (refuses_dict(&s, A->type)) KCL_CALL(kcl_stored_refused(m, refuses_dict(&s, A->type)));
  bool narrow = kcl_slice_span(A) <= MOST_SPAN;
  m->kernel.rows_match_elements = true, m->kernel.variant = AS_INDICES;
  snprintf(m->note, sizeof m->note, "%d-bit columns, %lld values", narrow ? 16 : 32,
           (long long)values.count);
  return sell16_fill(m, A,
                     &(form){.col = narrow ? KCL_UINT16 : KCL_INT32,
                             .val = values.count < 256 ? KCL_UINT8 : KCL_UINT16,
                             .values = &values});
}

/* ---------------------------------------------------------------- native */

static inline scalar sell16_value(const kcl_array_kind kind, const void *val, const scalar *table,
                                  int l) {
  if (kind == KCL_UINT8) return table[((const uint8_t *)val)[l]];
  if (kind == KCL_UINT16) return table[((const uint16_t *)val)[l]];
  if (kind == KCL_SINGLE) return s_of_single(((const single *)val)[l]);
  return ((const scalar *)val)[l];
}

static inline int64_t sell16_value_bytes(const kcl_array_kind kind) {
  if (kind == KCL_UINT8) return 1;
  if (kind == KCL_UINT16) return 2;
  return kind == KCL_SINGLE ? sizeof(single) : sizeof(scalar);
}

static inline void sell16_one_slice(const kcl_stored *m, const kcl_array_kind ck,
                                    const kcl_array_kind vk, int64_t s, const element *x,
                                    element *sum) {
  const int32_t *slice = m->array[SLICE].data, least = ((const int32_t *)m->array[LEAST].data)[s];
  const scalar *table = m->array[TABLE].data;
  for (int l = 0; l < SELL16_SLICE; l++) sum[l] = e_zero();
  for (int64_t k = slice[s]; k < slice[s + 1]; k++) {
    const char *col =
        (const char *)m->array[COL].data + k * SELL16_SLICE * (ck == KCL_UINT16 ? 2 : 4);
    const char *val = (const char *)m->array[VAL].data + k * SELL16_SLICE * sell16_value_bytes(vk);
    KCL_SIMD
    for (int l = 0; l < SELL16_SLICE; l++) {
      int32_t j = least + (ck == KCL_UINT16 ? ((const uint16_t *)(const void *)col)[l]
                                            : ((const int32_t *)(const void *)col)[l]);
      sum[l] = e_fma(sell16_value(vk, val, table, l), x[j], sum[l]);
    }
  }
}

static void sell16_rows(const kcl_stored *m, const void *x, void *y_, int64_t lo, int64_t hi) {
  kcl_array_kind ck = m->array[COL].kind, vk = m->array[VAL].kind;
  element *y = y_, sum[SELL16_SLICE];
  for (int64_t i = lo; i < hi; i += SELL16_SLICE) {
    int64_t s = i / SELL16_SLICE;
    if (vk == KCL_SCALAR)
      sell16_one_slice(m, KCL_UINT16, KCL_SCALAR, s, x, sum);
    else if (vk == KCL_SINGLE)
      sell16_one_slice(m, KCL_UINT16, KCL_SINGLE, s, x, sum);
    else if (ck == KCL_UINT16 && vk == KCL_UINT8)
      sell16_one_slice(m, KCL_UINT16, KCL_UINT8, s, x, sum);
    else if (ck == KCL_UINT16)
      sell16_one_slice(m, KCL_UINT16, KCL_UINT16, s, x, sum);
    else if (vk == KCL_UINT8)
      sell16_one_slice(m, KCL_INT32, KCL_UINT8, s, x, sum);
    else
      sell16_one_slice(m, KCL_INT32, KCL_UINT16, s, x, sum);
    for (int64_t l = 0; l < SELL16_SLICE && i + l < hi; l++) y[i + l] = sum[l];
  }
}

static bool is_index_kind(kcl_array_kind kind) { return kind == KCL_UINT8 || kind == KCL_UINT16; }

/* Entries `from` on, `count` of them, of an array. */
static uint32_t largest_in(const kcl_array *a, int64_t from, int64_t count) {
  const char *data = (const char *)a->data + from * (int64_t)kcl_array_element(a->kind, KCL_S);
  return a->kind == KCL_UINT8    ? kcl_largest_byte((const uint8_t *)data, count)
         : a->kind == KCL_UINT16 ? kcl_largest_short((const uint16_t *)(const void *)data, count)
                                 : kcl_largest_index((const int32_t *)(const void *)data, count);
}

static bool sell16_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const kcl_array *col = &m->array[COL], *val = &m->array[VAL];
  const int32_t *slice = m->array[SLICE].data, *least = m->array[LEAST].data;
  const int64_t first = lo / SELL16_SLICE, end = kcl_slice_count(hi);
  bool exist = kcl_short_starts_ascend(slice, first, end, col->count / SELL16_SLICE);
  for (int64_t s = first; s < end && exist; s++) {
    const int64_t from = (int64_t)slice[s] * SELL16_SLICE,
                  count = (int64_t)(slice[s + 1] - slice[s]) * SELL16_SLICE;
    exist = !count || (least[s] >= 0 && least[s] + (int64_t)largest_in(col, from, count) < m->cols);
    if (exist && count && is_index_kind(val->kind))
      exist = largest_in(val, from, count) < m->array[TABLE].count;
  }
  return exist;
}

/* NVIDIA H200, product and dot of the 27-point 128^3: 160 us, 121 with values as float; sell 177. CPUs (one of two
 * cores): 0.9 to 1.05 times the time of sell as float, otherwise 0.75 to 1.05. */
static double slowdown16(const kcl_stats *s, const kcl_device *d) {
  bool halved = s->values_fit_float && sizeof(scalar) > sizeof(single);
  if (kcl_is_gpu(d)) return halved ? 1.24 : 1.02;
  return halved ? 1.9 : 1.1;
}

/* In equivalent bytes per entry. GPUs: estimated. CPUs, one gather more than sell with its 12 bytes: 1.2 (native) and
 * 1.7 (OpenCL) times its time (one of two cores). */
static double slowdown_dict(const kcl_stats *s, const kcl_device *d) {
  double bytes = kcl_is_gpu(d) ? 5 : !d->kind || d->platform < 0 ? 14.5 : 20;
  double stored = (s->slice_span <= MOST_SPAN ? 2 : 4) + (s->distinct_values < 256 ? 1 : 2);
  return bytes > stored ? bytes / stored : 1;
}

static void outline16(kcl_stored *m, const kcl_stats *s) {
  (void)s;
  m->kernel.rows_match_elements = true;
  m->cost.entry_ns = 16;
}

const kcl_format KCL_TYPED(kcl_format_sell16) = {
    .name = "sell16",
    .summary = "slices of 32 rows, 16-bit columns, values as float if exact",
    .source = "Kreutzer et al. 2014; Willcock & Lumsdaine 2006",
    .kernel = "spmv_sell16",
    .columns_renumberable = true,
    .multi_rhs = true,
    .size = size16,
    .counts_repeats = true,
    .refuses = refuses16,
    .slowdown = slowdown16,
    .outline = outline16,
    .build = build16,
    .rows = sell16_rows,
    .bounded = sell16_bounded,
    .narrow = KCL_NARROW(sell16)};

static void outline_dict(kcl_stored *m, const kcl_stats *s) {
  (void)s;
  m->kernel.rows_match_elements = true;
  m->cost.entry_ns = 26;
}

const kcl_format KCL_TYPED(kcl_format_sell_dict) = {
    .name = "sell-dict",
    .summary = "slices of 32 rows, values as 8- or 16-bit indices into a table",
    .source = "Kourtis, Goumas & Koziris 2008; Kreutzer et al. 2014",
    .kernel = "spmv_sell16",
    .multi_rhs = true,
    .size = size_dict,
    .counts_repeats = true,
    .refuses = refuses_dict,
    .slowdown = slowdown_dict,
    .outline = outline_dict,
    .build = build_dict,
    .rows = sell16_rows,
    .bounded = sell16_bounded,
    .narrow = KCL_NARROW(sell_dict)};
