/* A dictionary of pairs (column - row, value): an entry is the number of its pair, of 8 or 16 bits, in slices of 32 rows.
 *
 *     | 2 a . |    pair   1: (0, 2)  2: (1, a)  3: (-1, b)     0: padding, at the end of a row
 *     | b 2 a |
 *     | . b 2 |    code   row 0: 1 2 0    row 1: 3 1 2    row 2: 3 1 0
 *
 * Entries 4 g .. 4 g + 3 of a row (2 g and 2 g + 1 at 16 bits) are the bytes of one word, the lowest first, at
 * code[(slice[i / 32] + g) 32 + i % 32]. Stencils with constant coefficients have few pairs, and so have matrices with
 * few values on few diagonals even if all their rows differ. Indices and values as numbers into tables: Kourtis, Goumas &
 * Koziris 2008, Willcock & Lumsdaine 2006.
 * Bytes: entries, padded to words, (1 up to 255 pairs, 2 up to 65535) + 4 (slices + 1) + pairs (4 + s).
 */
#include "core/matrix/structure.h"
#include "spmv/narrow.h"
#include "spmv/bounds.h"
#include <stdio.h>

/* The arrays by number, in the order in which they are built. */
enum { SLICE, CODE, OFFSET, VAL };

enum { PAIR_SLICE = KCL_SLICE };
static const int64_t most = KCL_MOST_REPEATS - 1;

static int codes_per_word(int64_t pairs) { return pairs < 256 ? 4 : 2; }

static kcl_size pair_size(const kcl_stats *s, kcl_type type) {
  double code = codes_per_word(s->distinct_pairs) == 4 ? (double)s->sell_padded4
                                                       : 2 * (double)s->sell_padded2;
  double index = 4 * ((double)kcl_slice_count(s->rows) + 1);
  double table = ((double)s->distinct_pairs + 1) * (4 + (double)kcl_type_size(type));
  return (kcl_size){.total = code + index + table, .largest = code};
}

static const char *pair_refuses(const kcl_stats *s, kcl_type type) {
  (void)type;
  if (s->distinct_pairs <= most) return NULL;
  return kcl_refusal_text("more than %lld distinct (offset, value) pairs", (long long)most);
}

static void pair_fill_table(const kcl_repeats *r, const kcl_csr *A, int32_t *offset, scalar *val) {
  const scalar *from = A->val;
  for (int64_t n = 0; n < r->count; n++)
    offset[n + 1] = (int32_t)(A->col[r->entry[n]] - r->row[n]), val[n + 1] = from[r->entry[n]];
}

typedef struct pair_filling {
  const kcl_repeats *repeats;
  const kcl_csr *A;
  const int32_t *slice;
  uint32_t *code;
} pair_filling;

static void fill_codes(void *arg, int64_t first, int64_t end) {
  const pair_filling *f = arg;
  const kcl_repeats *r = f->repeats;
  const kcl_csr *A = f->A;
  int per = codes_per_word(r->count), bits = 32 / per;
  for (int64_t i = first; i < end; i++) {
    uint32_t *word = f->code + (int64_t)f->slice[i / PAIR_SLICE] * PAIR_SLICE + i % PAIR_SLICE;
    for (int64_t k = 0; k < kcl_row_length(A, i); k++)
      word[k / per * PAIR_SLICE] |= (uint32_t)(kcl_repeats_number(r, i, A->row_ptr[i] + k) + 1)
                                    << (k % per * bits);
  }
}

static int pair_build(kcl_stored *m, const kcl_csr *A) {
  KCL_OWNED_BY(kcl_repeats_free) kcl_repeats rows = {0}, r = {0};
  int32_t *slice, *offset; /* [slices + 1], [pairs + 1] */
  uint32_t *code;          /* [words] */
  scalar *val;             /* [pairs + 1] */
  int64_t slices = kcl_slice_count(A->rows);
  KCL_CALL(kcl_repeats_find_rows(m->ctx, A, m->origin.distinct, false, &rows));
  KCL_CALL(kcl_repeats_find(m->ctx, A, KCL_PAIRS, &rows, &r));
  kcl_stats s = {.distinct_pairs = r.count};
  if (pair_refuses(&s, A->type)) KCL_CALL(kcl_stored_refused(m, pair_refuses(&s, A->type)));
  m->kernel.rows_match_elements = true, m->kernel.variant = codes_per_word(r.count);
  KCL_CALL(kcl_stored_array(m, "slice", KCL_INT32, slices + 1, (void **)&slice));
  kcl_slices(A, m->kernel.variant, slice);
  KCL_CALL(
      kcl_stored_array(m, "code", KCL_INT32, (int64_t)slice[slices] * PAIR_SLICE, (void **)&code));
  KCL_CALL(kcl_stored_array(m, "offset", KCL_INT32, r.count + 1, (void **)&offset));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, r.count + 1, (void **)&val));
  pair_fill_table(&r, A, offset, val);
  kcl_for(A->rows, KCL_FEW_ROWS, fill_codes, &(pair_filling){&r, A, slice, code});
  kcl_stored_param(m, "pairs", r.count);
  kcl_stored_param(m, "cols", A->cols);
  kcl_stored_local_table(m, (double)(r.count + 1) * (4 + sizeof(scalar)));
  snprintf(m->note, sizeof m->note, "%lld pairs", (long long)r.count);
  return KCL_OK;
}

/* Adds an entry whose code is the same in all rows of the slice, so that x is contiguous. */
static inline void pair_alike(uint32_t c, const int32_t *offset, const scalar *val,
                              const element *x, element *sum) {
  if (!c) return;
  const scalar a = val[c];
  const element *v = x + offset[c];
  KCL_SIMD
  for (int l = 0; l < PAIR_SLICE; l++) sum[l] = e_fma(a, v[l], sum[l]);
}

/* Row i + l has code (word[l] >> shift) & mask. Padding adds 0 whatever x contains, infinities included. */
static inline void gathered(const uint32_t *word, int shift, uint32_t mask, const int32_t *offset,
                            const scalar *val, const element *x, int64_t i, int64_t cols,
                            element *sum) {
  int32_t first = (int32_t)i, last = (int32_t)cols - 1;
  const element zero = e_zero();
  KCL_SIMD
  for (int l = 0; l < PAIR_SLICE; l++) {
    uint32_t c = (word[l] >> shift) & mask;
    int32_t j = first + l + offset[c];
    element v = x[j < last ? j : last];
    sum[l] = e_fma(val[c], c ? v : zero, sum[l]);
  }
}

enum { AHEAD = 1 << 13 /* bytes of codes: those that pair_bounded looks at next */ };

static inline void pair_one_slice(const kcl_stored *m, const element *x, int64_t i, const int per,
                                  element *sum) {
  const int32_t *slice = m->array[SLICE].data, *offset = m->array[OFFSET].data;
  const uint32_t *code = m->array[CODE].data, mask = per == 4 ? 255 : 65535;
  const scalar *val = m->array[VAL].data;
  for (int l = 0; l < PAIR_SLICE; l++) sum[l] = e_zero();
  for (int64_t g = slice[i / PAIR_SLICE]; g < slice[i / PAIR_SLICE + 1]; g++) {
    const uint32_t *word = code + g * PAIR_SLICE;
    uint32_t differ = 0;
    for (int l = 0; l < PAIR_SLICE; l += 16) __builtin_prefetch((const char *)(word + l) + AHEAD);
    for (int l = 0; l < PAIR_SLICE; l++) differ |= word[l] ^ word[0];
    for (int b = 0; b < per; b++)
      if (!differ)
        pair_alike((word[0] >> (b * 32 / per)) & mask, offset, val, x + i, sum);
      else
        gathered(word, b * 32 / per, mask, offset, val, x, i, m->cols, sum);
  }
}

static void pair_rows(const kcl_stored *m, const void *x, void *y_, int64_t lo, int64_t hi) {
  element *y = y_, sum[PAIR_SLICE];
  for (int64_t i = lo; i < hi; i += PAIR_SLICE) {
    if (m->kernel.variant == 4)
      pair_one_slice(m, x, i, 4, sum);
    else
      pair_one_slice(m, x, i, 2, sum);
    for (int64_t l = 0; l < PAIR_SLICE && i + l < hi; l++) y[i + l] = sum[l];
  }
}

/* Has each code of these words, of rows i to i + 31, a pair whose column exists? */
static bool words_exist(const kcl_stored *m, const uint32_t *word, int shift, uint32_t mask,
                        int64_t i) {
  const int32_t *offset = m->array[OFFSET].data;
  const uint32_t pairs = (uint32_t)m->array[VAL].count, first = (uint32_t)i,
                 cols = (uint32_t)m->cols;
  uint32_t wrong = 0;
  for (uint32_t l = 0; l < PAIR_SLICE; l++) {
    const uint32_t c = word[l] >> shift & mask, known = c < pairs ? c : 0;
    wrong |= (c >= pairs) | ((c != 0) & (first + l + (uint32_t)offset[known] >= cols));
  }
  return !wrong;
}

static bool slice_exists(const kcl_stored *m, int64_t i) {
  const int32_t *slice = m->array[SLICE].data;
  const uint32_t *code = m->array[CODE].data, mask = m->kernel.variant == 4 ? 255 : 65535;
  bool exist = true;
  for (int64_t g = slice[i / PAIR_SLICE]; g < slice[i / PAIR_SLICE + 1]; g++)
    for (int b = 0; b < 32; b += 32 / m->kernel.variant)
      exist = exist && words_exist(m, code + g * PAIR_SLICE, b, mask, i);
  return exist;
}

/* The largest of the codes of `count` words. */
static uint32_t largest_code(const uint32_t *word, int64_t count, int codes) {
  return codes == 4 ? kcl_largest_byte((const uint8_t *)word, 4 * count)
                    : kcl_largest_short((const uint16_t *)(const void *)word, 2 * count);
}

static bool pair_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int32_t *slice = m->array[SLICE].data, *offset = m->array[OFFSET].data;
  const int64_t first = lo / PAIR_SLICE, end = kcl_slice_count(hi);
  const uint32_t *word = m->array[CODE].data;
  int32_t low = 0, high = 0;
  if (!kcl_short_starts_ascend(slice, first, end, m->array[CODE].count / PAIR_SLICE) || offset[0])
    return false;
  const int64_t words = (int64_t)(slice[end] - slice[first]) * PAIR_SLICE;
  const bool few = m->array[OFFSET].count <= words * m->kernel.variant; /* pairs */
  for (int64_t c = 0; c < m->array[OFFSET].count && few; c++)
    low = offset[c] < low ? offset[c] : low, high = offset[c] > high ? offset[c] : high;
  if (few && lo + low >= 0 && end * PAIR_SLICE + high <= m->cols)
    return largest_code(word + (int64_t)slice[first] * PAIR_SLICE, words, m->kernel.variant) <
           m->array[VAL].count;
  bool exist = true;
  for (int64_t s = first; s < end && exist; s++) exist = slice_exists(m, s * PAIR_SLICE);
  return exist;
}

/* In equivalent bytes per entry. NVIDIA H200: 3.1, from 60 us for product and dot of the 27-point 128^3. CPUs, three
 * table look-ups per entry: 1.8 to 2 times the time of sell, which streams 12 bytes (one of two cores). */
static double pair_slowdown(const kcl_stats *s, const kcl_device *d) {
  double bytes = kcl_is_gpu(d) ? 3.1 : 22;
  return bytes / (codes_per_word(s->distinct_pairs) == 4 ? 1 : 2);
}

static void pair_outline(kcl_stored *m, const kcl_stats *s) {
  (void)s;
  m->kernel.rows_match_elements = true;
  m->cost.entry_ns = 50;
}

const kcl_format KCL_TYPED(kcl_format_pair) = {
    .name = "pair",
    .summary = "one index of 8 or 16 bits per entry into a table of (offset, value) pairs",
    .source = "Kourtis, Goumas & Koziris 2008; Willcock & Lumsdaine 2006",
    .kernel = "spmv_pair",
    .multi_rhs = true,
    .size = pair_size,
    .counts_repeats = true,
    .refuses = pair_refuses,
    .slowdown = pair_slowdown,
    .outline = pair_outline,
    .build = pair_build,
    .rows = pair_rows,
    .bounded = pair_bounded,
    .bounded_rows = 1024,
    .bounded_entries = AHEAD,
    .narrow = KCL_NARROW(pair)};
