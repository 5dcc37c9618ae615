/* Shared rows: a row is the number of a pattern, and each pattern is stored once in a table.
 *
 *     | 2 a . . |    code   0 1 1 2     pattern 0   (0, 2) (1, a)
 *     | b 2 a . |                       pattern 1   (-1, b) (0, 2) (1, a)     pairs (column - row, value)
 *     | . b 2 a |                       pattern 2   (-1, b) (0, 2)
 *     | . . b 2 |
 *
 * The terms t of pattern p are start[p] <= t < start[p + 1]. A stencil with constant coefficients has one pattern per
 * combination of grid boundaries, 27 in a box, and costs one byte per row. After the pattern dictionaries of Willcock &
 * Lumsdaine 2006 and the value indices of Kourtis, Goumas & Koziris 2008.
 * Bytes: rows (1 up to 256 patterns, 2 up to 65536) + entries of the patterns (4 + s) + 4 (patterns + 1).
 */
#include "core/matrix/structure.h"
#include "spmv/narrow.h"
#include "spmv/bounds.h"
#include <stdio.h>

/* The arrays by number, in the order in which they are built. */
enum { CODE, START, OFFSET, VAL };

enum {
  PATTERN_SHORT = 8, /* rows: a shorter run is computed row by row */
  PATTERN_LONG = 16  /* terms from which two rows at once are faster than one after the other */
};

static double pattern_table(double patterns, double entries, kcl_type type) {
  return entries * (4.0 + (double)kcl_type_size(type)) + 4.0 * (patterns + 1);
}

static kcl_size pattern_size(const kcl_stats *s, kcl_type type) {
  double code = (double)s->rows * (s->row_patterns <= 256 ? 1 : 2);
  return (kcl_size){
      .total = code + pattern_table((double)s->row_patterns, (double)s->pattern_entries, type),
      .largest = code};
}

static const char *pattern_refuses(const kcl_stats *s, kcl_type type) {
  (void)type;
  if (s->row_patterns <= KCL_MOST_REPEATS) return NULL;
  return kcl_refusal_text("more than %d distinct rows of (offset, value) pairs", KCL_MOST_REPEATS);
}

typedef struct codes {
  const uint16_t *from;
  void *to; /* [rows] bytes, or 16-bit words */
  bool bytes;
} codes;

static void copy_codes(void *arg, int64_t first, int64_t end) {
  const codes *c = arg;
  for (int64_t i = first; i < end; i++)
    if (c->bytes)
      ((uint8_t *)c->to)[i] = (uint8_t)c->from[i];
    else
      ((uint16_t *)c->to)[i] = c->from[i];
}

static int pattern_build(kcl_stored *m, const kcl_csr *A) {
  KCL_OWNED_BY(kcl_repeats_free) kcl_repeats r = {0};
  kcl_stats s = {.row_patterns = KCL_MOST_REPEATS + 1};
  void *code;
  int32_t *start, *offset; /* [patterns + 1], [entries] */
  scalar *val;             /* [entries] */
  int64_t entries;
  KCL_CALL(kcl_repeats_find_rows(m->ctx, A, m->origin.distinct, true, &r));
  if (!kcl_repeats_fit(&r)) KCL_CALL(kcl_stored_refused(m, pattern_refuses(&s, A->type)));
  m->kernel.rows_match_elements = true;
  bool bytes = r.count <= 256;
  entries = kcl_repeats_entries(&r);
  KCL_CALL(kcl_stored_array(m, "code", bytes ? KCL_UINT8 : KCL_UINT16, A->rows, &code));
  KCL_CALL(kcl_stored_array(m, "start", KCL_INT32, r.count + 1, (void **)&start));
  KCL_CALL(kcl_stored_array(m, "offset", KCL_INT32, entries, (void **)&offset));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, entries, (void **)&val));
  kcl_for(A->rows, KCL_FEW, copy_codes, &(codes){r.code, code, bytes});
  kcl_repeats_rows(&r, A->type, start, offset, val);
  kcl_stored_param(m, "patterns", r.count);
  kcl_stored_param(m, "entries", entries);
  kcl_stored_local_table(m, pattern_table((double)r.count, (double)entries, A->type));
  snprintf(m->note, sizeof m->note, "%lld patterns", (long long)r.count);
  return KCL_OK;
}

/* A copy for each call, with codes of bytes or of 16-bit words. */
#define PATTERN_COPIED __attribute__((always_inline)) static inline

static bool codes_are_bytes(const kcl_stored *m) { return m->array[CODE].kind == KCL_UINT8; }

PATTERN_COPIED int64_t pattern_number(const void *code, const bool bytes, int64_t i) {
  return bytes ? ((const uint8_t *)code)[i] : ((const uint16_t *)code)[i];
}

/* The end of the run of rows with the pattern of row i; eight bytes of codes are compared at a time. */
PATTERN_COPIED int64_t run_end(const void *code, const bool bytes, int64_t i, int64_t hi) {
  const uint64_t p = (uint64_t)pattern_number(code, bytes, i),
                 equal = p * (bytes ? UINT64_C(0x0101010101010101) : UINT64_C(0x0001000100010001));
  const int64_t width = bytes ? 1 : 2, step = 8 / width;
  uint64_t word;
  if (++i >= hi || (uint64_t)pattern_number(code, bytes, i) != p) return i;
  for (; i + step <= hi; i += step) {
    memcpy(&word, (const char *)code + i * width, sizeof word);
    if (word != equal) break;
  }
  while (i < hi && (uint64_t)pattern_number(code, bytes, i) == p) i++;
  return i;
}

/* sum + c[0] v[0][l] + c[1] v[1][l] + ... of `terms` terms, a constant at each call. */
static inline element pattern_sum(const int terms, const scalar *c, const element *const *v,
                                  int64_t l, element sum) {
  sum = e_fma(c[0], v[0][l], sum);
  if (terms > 1) sum = e_fma(c[1], v[1][l], sum);
  if (terms > 2) sum = e_fma(c[2], v[2][l], sum);
  if (terms > 3) sum = e_fma(c[3], v[3][l], sum);
  if (terms > 4) sum = e_fma(c[4], v[4][l], sum);
  if (terms > 5) sum = e_fma(c[5], v[5][l], sum);
  if (terms > 6) sum = e_fma(c[6], v[6][l], sum);
  if (terms > 7) sum = e_fma(c[7], v[7][l], sum);
  return sum;
}

/* y[l] (+)= a[0] x[l + off[0]] + ...; two loops, since gcc does not vectorise one that chooses per element. */
static inline void pattern_sweep(const int terms, const scalar *a, const int32_t *off,
                                 const element *x, element *y, int64_t n, bool first) {
  const element *v[8], zero = e_zero();
  scalar c[8];
  for (int t = 0; t < 8; t++)
    v[t] = x + off[t < terms ? t : 0], c[t] = t < terms ? a[t] : s_make(0);
  if (first) {
    KCL_SIMD
    for (int64_t l = 0; l < n; l++) y[l] = pattern_sum(terms, c, v, l, zero);
  } else {
    KCL_SIMD
    for (int64_t l = 0; l < n; l++) y[l] = pattern_sum(terms, c, v, l, y[l]);
  }
}

/* n rows of one pattern: every term reads a contiguous part of x. */
__attribute__((noinline)) static void pattern_run(int64_t terms, const scalar *a,
                                                  const int32_t *off, const element *x, element *y,
                                                  int64_t n) {
  bool first = true;
  for (; terms >= 8; terms -= 8, a += 8, off += 8, first = false)
    pattern_sweep(8, a, off, x, y, n, first);
  switch (terms) {
  case 7: pattern_sweep(7, a, off, x, y, n, first); break;
  case 6: pattern_sweep(6, a, off, x, y, n, first); break;
  case 5: pattern_sweep(5, a, off, x, y, n, first); break;
  case 4: pattern_sweep(4, a, off, x, y, n, first); break;
  case 3: pattern_sweep(3, a, off, x, y, n, first); break;
  case 2: pattern_sweep(2, a, off, x, y, n, first); break;
  case 1: pattern_sweep(1, a, off, x, y, n, first); break;
  default:
    for (int64_t l = 0; first && l < n; l++) y[l] = e_zero();
  }
}

static element add_terms(int64_t terms, const scalar *a, const int32_t *off, const element *x,
                         element sum) {
  for (int64_t t = 0; t < terms; t++) sum = e_fma(a[t], x[off[t]], sum);
  return sum;
}

/* Two rows of patterns p and q in one loop: each sum is a chain of dependent operations, and two chains overlap. */
static void two_rows(const kcl_stored *m, int64_t p, int64_t q, const element *x, element *y) {
  const int32_t *start = m->array[START].data, *off = m->array[OFFSET].data;
  const scalar *a = m->array[VAL].data;
  int64_t s = start[p], t = start[q];
  element first = e_zero(), second = e_zero();
  for (; s < start[p + 1] && t < start[q + 1]; s++, t++) {
    first = e_fma(a[s], x[off[s]], first);
    second = e_fma(a[t], x[1 + off[t]], second);
  }
  y[0] = add_terms(start[p + 1] - s, a + s, off + s, x, first);
  y[1] = add_terms(start[q + 1] - t, a + t, off + t, x + 1, second);
}

/* The rows of the run that begins with row i, or rows i and i + 1 where runs are short and rows are long. Returns the next row. */
PATTERN_COPIED int64_t rows_of_run(const kcl_stored *m, const bool bytes, const element *x,
                                   element *y, int64_t i, int64_t hi) {
  const void *code = m->array[CODE].data;
  const int32_t *start = m->array[START].data;
  const int64_t p = pattern_number(code, bytes, i), at = start[p], terms = start[p + 1] - at,
                end = run_end(code, bytes, i, hi);
  const int32_t *off = (const int32_t *)m->array[OFFSET].data + at;
  const scalar *a = (const scalar *)m->array[VAL].data + at;
  if (end - i >= PATTERN_SHORT) {
    pattern_run(terms, a, off, x + i, y + i, end - i);
    return end;
  }
  if (terms >= PATTERN_LONG && i + 1 < hi) {
    two_rows(m, p, pattern_number(code, bytes, i + 1), x + i, y + i);
    return i + 2;
  }
  for (int64_t j = i; j < end; j++) y[j] = add_terms(terms, a, off, x + j, e_zero());
  return end;
}

static void pattern_rows(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi) {
  if (codes_are_bytes(m))
    while (lo < hi) lo = rows_of_run(m, true, x, y, lo, hi);
  else
    while (lo < hi) lo = rows_of_run(m, false, x, y, lo, hi);
}

/* Has pattern p terms, whose columns exist in rows i to below end? */
static bool run_exists(const kcl_stored *m, int64_t p, int64_t i, int64_t end) {
  const int32_t *start = m->array[START].data, *offset = m->array[OFFSET].data;
  bool exist = p < m->array[START].count - 1 &&
               kcl_short_starts_ascend(start, p, p + 1, m->array[OFFSET].count);
  for (int64_t t = exist ? start[p] : 0; exist && t < start[p + 1]; t++)
    exist = i + offset[t] >= 0 && end - 1 + offset[t] < m->cols;
  return exist;
}

/* Do all patterns of a small table fit in rows lo to below hi, whatever rows have which? */
static bool table_fits(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int32_t *start = m->array[START].data, *offset = m->array[OFFSET].data;
  const int64_t patterns = m->array[START].count - 1, entries = m->array[OFFSET].count;
  int32_t least = 0, most = 0;
  if (entries > hi - lo || !kcl_short_starts_ascend(start, 0, patterns, entries)) return false;
  for (int64_t t = 0; t < entries; t++)
    least = offset[t] < least ? offset[t] : least, most = offset[t] > most ? offset[t] : most;
  return lo + least >= 0 && hi - 1 + most < m->cols;
}

static bool numbers_exist(const kcl_stored *m, int64_t lo, int64_t hi) {
  const void *code = m->array[CODE].data;
  const bool bytes = codes_are_bytes(m);
  return (bytes ? kcl_largest_byte((const uint8_t *)code + lo, hi - lo)
                : kcl_largest_short((const uint16_t *)code + lo, hi - lo)) <
         m->array[START].count - 1;
}

static bool pattern_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const void *code = m->array[CODE].data;
  const bool bytes = codes_are_bytes(m);
  bool exist = true;
  if (table_fits(m, lo, hi)) return numbers_exist(m, lo, hi);
  for (int64_t i = lo, end; i < hi && exist; i = end) {
    end = run_end(code, bytes, i, hi);
    exist = run_exists(m, pattern_number(code, bytes, i), i, end);
  }
  return exist;
}

/* In equivalent bytes per entry, for double. GPUs: estimated from the 3.1 of pair; one work-item per row. CPUs, measured
 * against sell and its 12 bytes per entry (one of two cores): 0.6 for 7 points in 80^3, 3.7 for 27 in 50^3, 6 for a
 * heat sink with runs of two rows. */
static double pattern_slowdown(const kcl_stats *s, const kcl_device *d) {
  double share = s->rows ? (double)s->pattern_runs / (double)s->rows : 1;
  double run = 1.5 + 9 * share;
  double bytes = kcl_is_gpu(d) ? 2.5 * (1 + kcl_skew(s)) : run;
  double stored = pattern_size(s, KCL_D).total, worked = bytes * (double)s->nnz;
  return stored < worked ? worked / stored : 1;
}

/* Rows that repeat at random read a table that does not fit the L1 cache out of order. */
static void pattern_outline(kcl_stored *m, const kcl_stats *s) {
  bool random = s->pattern_entries > 4096 && s->pattern_runs > 2 * s->row_patterns;
  m->kernel.rows_match_elements = true, m->cost.entry_ns = random ? 120 : 19;
}

const kcl_format KCL_TYPED(kcl_format_pattern) = {
    .name = "pattern",
    .summary = "shared rows: one index of 8 or 16 bits per row into a table of patterns",
    .source = "Willcock & Lumsdaine 2006; Kourtis, Goumas & Koziris 2008",
    .kernel = "spmv_pattern",
    .multi_rhs = true,
    .size = pattern_size,
    .counts_repeats = true,
    .refuses = pattern_refuses,
    .slowdown = pattern_slowdown,
    .outline = pattern_outline,
    .build = pattern_build,
    .rows = pattern_rows,
    .bounded = pattern_bounded,
    .bounded_rows = 1024,
    .narrow = KCL_NARROW(pattern)};
