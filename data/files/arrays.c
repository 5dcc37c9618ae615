/* Matrices from the caller's arrays, kcl_csr_from_entries. Whole compressed rows whose columns ascend are copied in one pass. Other
 * entries become those that readers of files produce, and csr_build.c sorts them into rows.
 * Traffic: the arrays once, and what is written of the matrix; or 16 bytes per entry written (24 if complex), then as csr_build.c.
 */
#include "data/files/text.h"
#include <float.h>

typedef struct array_reading {
  const kcl_entries *e;
  const void *starts; /* [lines + 1], of rows or columns; NULL: coordinates */
  int64_t lines;
  int64_t block, rows, cols; /* of the dense blocks, 1: numbers; the matrix in blocks */
  int start_bits;
  kcl_type type;
  int width;           /* doubles per value */
  uint64_t *words;     /* [nnz, block, block, 1 + width] */
  _Atomic int64_t bad; /* the first entry that is refused */
} array_reading;

/* The place of an entry, which is a number or a block. */
typedef struct array_entry {
  uint64_t row, col; /* counted from 0 */
} array_entry;

/* Element k of an array of indices, counted from 0. What lies before the base becomes huge. */
static inline uint64_t index_at(const array_reading *a, const void *indices, int bits, int64_t k) {
  const int64_t i = bits == 64 ? ((const int64_t *)indices)[k] : ((const int32_t *)indices)[k];
  return (uint64_t)i - (uint64_t)a->e->base;
}

/* The index as the caller wrote it. */
static long long as_given(const array_reading *a, uint64_t index) {
  const uint64_t given = index + (uint64_t)a->e->base;
  return (long long)given;
}

static inline int64_t line_start(const array_reading *a, int64_t line) {
  return (int64_t)index_at(a, a->starts, a->start_bits, line);
}

/* The row (or column) that holds entry k: the last that starts at k or before. */
static int64_t line_of(const array_reading *a, int64_t k) {
  int64_t first = 0, end = a->lines;
  while (end - first > 1) {
    const int64_t middle = first + (end - first) / 2;
    if (line_start(a, middle) <= k)
      first = middle;
    else
      end = middle;
  }
  return first;
}

/* Reads entry k. *line: the row (or column) of the entry before, and then of this one. */
static inline array_entry entry_at(const array_reading *a, int64_t k, int64_t *line) {
  const kcl_entries *e = a->e;
  array_entry t;
  while (a->starts && line_start(a, *line + 1) <= k) ++*line;
  t.row = e->layout == KCL_CSR ? (uint64_t)*line : index_at(a, e->row, e->row_bits, k);
  t.col = e->layout == KCL_CSC ? (uint64_t)*line : index_at(a, e->col, e->col_bits, k);
  return t;
}

static const char outside[] = "lies outside the matrix", infinite[] = "is infinite or not a number";

static inline bool is_outside(const array_reading *a, const array_entry *t) {
  return t->row >= (uint64_t)a->rows || t->col >= (uint64_t)a->cols;
}

/* Why the number at this place in the matrix is refused, or NULL. */
static inline const char *number_refusal(const kcl_entries *e, const array_entry *t,
                                         const double value[2]) {
  if (!isfinite(value[0]) || !isfinite(value[1])) return infinite;
  if (!e->half) return NULL;
  if (e->half == KCL_LOWER && t->col > t->row) return "lies above the diagonal of a lower half";
  if (e->half == KCL_UPPER && t->col < t->row) return "lies below the diagonal of an upper half";
  if (t->row != t->col) return NULL;
  if (e->symmetry == KCL_SKEW && (value[0] != 0 || value[1] != 0))
    return "is not zero, on the diagonal of a skew-symmetric matrix";
  if (e->symmetry == KCL_HERMITIAN && value[1] != 0)
    return "is not real, on the diagonal of a hermitian matrix";
  return NULL;
}

/* Writes the numbers of entry k, at t, to w [block, block, 1 + width], up to one that is refused: why, or NULL. */
static inline const char *copy_numbers(const array_reading *a, int64_t k, const array_entry *t,
                                       uint64_t *w) {
  const int64_t n = a->block;
  double value[2];
  if (is_outside(a, t)) return outside;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++, w += a->width + 1) {
      const array_entry at = {t->row * (uint64_t)n + (uint64_t)i,
                              t->col * (uint64_t)n + (uint64_t)j};
      kcl_element(a->type, a->e->val, (k * n + i) * n + j, value);
      const char *why = number_refusal(a->e, &at, value);
      if (why) return why;
      w[0] = at.row | at.col << 32;
      memcpy(w + 1, value, (size_t)a->width * sizeof *value);
    }
  return NULL;
}

static uint64_t *words_of(const array_reading *a, int64_t k) {
  return a->words + k * a->block * a->block * (a->width + 1);
}

static void copy_entries(void *arg, int64_t from, int64_t to) {
  array_reading *a = arg;
  int64_t line = a->starts ? line_of(a, from) : 0;
  for (int64_t k = from; k < to; k++) {
    const array_entry t = entry_at(a, k, &line);
    if (!copy_numbers(a, k, &t, words_of(a, k))) continue;
    kcl_lower(&a->bad, k);
    return;
  }
}

static int refuse_entry(kcl_context *ctx, const array_reading *a) {
  int64_t line = a->starts ? line_of(a, a->bad) : 0;
  const array_entry t = entry_at(a, a->bad, &line);
  const char *why = copy_numbers(a, a->bad, &t, words_of(a, a->bad)),
             *blocks = a->block > 1 ? " in blocks" : "";
  return kcl_fail(ctx, why == infinite ? KCL_INPUT : KCL_USAGE,
                  "entry %lld of the arrays, row %lld and column %lld%s, all counted from %d, %s",
                  as_given(a, (uint64_t)a->bad), as_given(a, t.row), as_given(a, t.col), blocks,
                  (int)a->e->base, why);
}

/* ---------------------------------------------------------------- the fields */

static int refuse_field(kcl_context *ctx, const char *field, int64_t value, const char *expected) {
  return kcl_fail(ctx, KCL_USAGE, "kcl_entries.%s is %lld, it must be %s", field, (long long)value,
                  expected);
}

static bool is_width(int bits) { return bits == 32 || bits == 64; }

static int check_fields(kcl_context *ctx, const kcl_entries *e) {
  static const char bits[] = "32 or 64";
  if (e->size != sizeof *e)
    return refuse_field(ctx, "size", (int64_t)e->size, "sizeof(kcl_entries)");
  if (e->layout < KCL_CSR || e->layout > KCL_COO)
    return refuse_field(ctx, "layout", e->layout, "KCL_CSR, KCL_CSC or KCL_COO");
  if (!is_width(e->row_bits)) return refuse_field(ctx, "row_bits", e->row_bits, bits);
  if (!is_width(e->col_bits)) return refuse_field(ctx, "col_bits", e->col_bits, bits);
  if (e->base != 0 && e->base != 1) return refuse_field(ctx, "base", e->base, "0 or 1");
  return kcl_csr_check_sizes(ctx, e->rows, e->cols, e->nnz);
}

/* Blocks divide the matrix, and are given all. */
static int check_blocks(kcl_context *ctx, const kcl_entries *e) {
  const int64_t n = e->block ? e->block : 1;
  int64_t numbers;
  if (n < 1 || n > INT16_MAX) return refuse_field(ctx, "block", n, "1 to 32767, or 0");
  if (e->rows % n || e->cols % n)
    return kcl_fail(ctx, KCL_USAGE, "kcl_entries.block is %lld: it does not divide %lld x %lld",
                    (long long)n, (long long)e->rows, (long long)e->cols);
  if (n > 1 && e->half)
    return refuse_field(ctx, "half", e->half, "0 with dense blocks, which are given whole");
  if (__builtin_mul_overflow(e->nnz, n * n, &numbers)) numbers = INT64_MAX;
  return kcl_csr_check_sizes(ctx, e->rows, e->cols, numbers);
}

static int check_declared_half(kcl_context *ctx, const kcl_entries *e) {
  KCL_CALL(kcl_symmetry_check(ctx, (kcl_symmetry)e->symmetry));
  if (!e->half) return KCL_OK;
  if (e->half != KCL_LOWER && e->half != KCL_UPPER)
    return refuse_field(ctx, "half", e->half, "0, KCL_LOWER or KCL_UPPER");
  if (e->symmetry == KCL_GENERAL || e->rows != e->cols)
    return kcl_fail(
        ctx, KCL_USAGE,
        "half of a %lld x %lld matrix whose symmetry is %s: the other half is not known",
        (long long)e->rows, (long long)e->cols, kcl_symmetry_name((kcl_symmetry)e->symmetry));
  return KCL_OK;
}

static int check_arrays(kcl_context *ctx, const kcl_entries *e) {
  if (e->nnz || e->layout == KCL_CSR) KCL_CALL(kcl_need(ctx, "kcl_entries.row", e->row));
  if (e->nnz || e->layout == KCL_CSC) KCL_CALL(kcl_need(ctx, "kcl_entries.col", e->col));
  return e->nnz ? kcl_need(ctx, "kcl_entries.val", e->val) : KCL_OK;
}

/* The starts ascend from the base to nnz beyond it. */
static int check_starts(kcl_context *ctx, const array_reading *a) {
  const int64_t nnz = a->e->nnz;
  int64_t before = 0;
  for (int64_t i = 0; a->starts && i <= a->lines; i++) {
    const int64_t at = line_start(a, i);
    if (at < before || at > nnz || (i == 0 && at != 0) || (i == a->lines && at != nnz))
      return kcl_fail(ctx, KCL_USAGE,
                      "start %lld of the %ss is %lld: the starts ascend from %d to %lld",
                      (long long)i, a->e->layout == KCL_CSR ? "row" : "column",
                      as_given(a, (uint64_t)at), (int)a->e->base, as_given(a, (uint64_t)nnz));
    before = at;
  }
  return KCL_OK;
}

static int read_fields(kcl_context *ctx, const kcl_entries *e, array_reading *out) {
  KCL_CALL(kcl_need(ctx, "entries", e));
  KCL_CALL(check_fields(ctx, e));
  KCL_CALL(check_blocks(ctx, e));
  *out = (array_reading){.e = e, .block = e->block ? e->block : 1, .bad = e->nnz};
  out->rows = e->rows / out->block, out->cols = e->cols / out->block;
  if (e->layout == KCL_CSR)
    out->starts = e->row, out->lines = out->rows, out->start_bits = e->row_bits;
  if (e->layout == KCL_CSC)
    out->starts = e->col, out->lines = out->cols, out->start_bits = e->col_bits;
  KCL_CALL(kcl_type_of_letter("kcl_entries.type", e->type, &out->type));
  KCL_CALL(check_declared_half(ctx, e));
  out->width = kcl_type_complex(out->type) ? 2 : 1;
  KCL_CALL(check_arrays(ctx, e));
  return check_starts(ctx, out);
}

/* ---------------------------------------------------------------- rows in the order of a matrix */

typedef struct row_copying {
  const array_reading *a;
  kcl_csr *A;
  atomic_bool other; /* columns do not ascend, or an entry is refused */
} row_copying;

static bool are_finite(kcl_type t, const void *values, int64_t count) {
  const int64_t numbers = kcl_type_complex(t) ? 2 * count : count;
  const float *s = values;
  const double *d = values;
  int finite = 1;
  if (t == KCL_S || t == KCL_C)
    for (int64_t i = 0; i < numbers; i++) finite &= fabsf(s[i]) <= FLT_MAX;
  else
    for (int64_t i = 0; i < numbers; i++) finite &= fabs(d[i]) <= DBL_MAX;
  return finite;
}

static void copy_ascending_rows(void *arg, int64_t from, int64_t to) {
  row_copying *r = arg;
  const array_reading *a = r->a;
  const kcl_entries *e = a->e;
  const int64_t first = line_start(a, from), size = (int64_t)kcl_type_size(a->type);
  bool ascends = true;
  int64_t k = first;
  for (int64_t i = from; i < to && ascends; i++) {
    const int64_t end = r->A->row_ptr[i + 1] = line_start(a, i + 1);
    for (int64_t before = -1; k < end; k++) {
      const int64_t col = (int64_t)index_at(a, e->col, e->col_bits, k);
      ascends &= col > before && col < e->cols;
      r->A->col[k] = (int32_t)col, before = col;
    }
  }
  const char *values = (const char *)e->val + first * size;
  if (!ascends || !are_finite(a->type, values, k - first)) r->other = true;
  if (!r->other && k > first)
    memcpy((char *)r->A->val + first * size, values, (size_t)((k - first) * size));
}

/* *out: NULL where the entries have another form. */
static int copy_in_order(kcl_context *ctx, const array_reading *a, kcl_csr **out) {
  const kcl_entries *e = a->e;
  const kcl_csr like = {.rows = e->rows,
                        .cols = e->cols,
                        .nnz = e->nnz,
                        .type = a->type,
                        .symmetry = (kcl_symmetry)e->symmetry,
                        .field = a->width == 2 ? KCL_COMPLEX : KCL_REAL,
                        .stored = e->nnz};
  if (e->layout != KCL_CSR || e->half || a->block > 1) return KCL_OK;
  row_copying r = {.a = a};
  KCL_CALL(kcl_csr_create_unset(ctx, &like, &r.A));
  r.A->row_ptr[0] = 0;
  kcl_for(e->rows, KCL_FEW_ROWS, copy_ascending_rows, &r);
  if (r.other) kcl_csr_free(&r.A);
  *out = r.A;
  return KCL_OK;
}

/* ---------------------------------------------------------------- the matrix */

/* Rows are built in double; float follows from them. */
static int build_type(kcl_context *ctx, const array_reading *a, const mm_entries *list,
                      kcl_csr **out) {
  const kcl_entries *e = a->e;
  const mm_head h = {.name = "kcl_entries",
                     .symmetry = e->half ? (kcl_symmetry)e->symmetry : KCL_GENERAL,
                     .rows = e->rows,
                     .cols = e->cols};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *wide = NULL;
  KCL_CALL(mm_build_csr(ctx, &h, list, &wide));
  wide->symmetry = (kcl_symmetry)e->symmetry;
  wide->field = a->width == 2 ? KCL_COMPLEX : KCL_REAL;
  wide->stored = e->nnz * a->block * a->block;
  if (wide->type != a->type) return kcl_csr_convert(ctx, wide, a->type, out);
  *out = wide, wide = NULL;
  return KCL_OK;
}

int kcl_csr_from_entries(kcl_context *ctx, const kcl_entries *entries, kcl_csr **out) {
  array_reading a;
  KCL_OWNED_BY(mm_entries_free) mm_entries list = {0};
  KCL_CALL(kcl_need(ctx, "ctx", ctx));
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(read_fields(ctx, entries, &a));
  KCL_CALL(copy_in_order(ctx, &a, out));
  if (*out) return KCL_OK;
  KCL_CALL(mm_entries_alloc(ctx, a.width, entries->nnz * a.block * a.block, &list, &a.words));
  kcl_for(entries->nnz, KCL_FEW, copy_entries, &a);
  if (a.bad < entries->nnz) KCL_CALL(refuse_entry(ctx, &a));
  return build_type(ctx, &a, &list, out);
}
