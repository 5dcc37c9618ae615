/* See structure.h. */
#include "core/matrix/structure.h"

/* ---------------------------------------------------------------- rows by length */

void kcl_longest_first(const kcl_csr *A, int64_t lo, int64_t hi, int64_t *row) {
  bool ordered = true;
  for (int64_t i = lo; i < hi; i++) {
    row[i - lo] = (INT32_MAX - kcl_row_length(A, i)) * INT64_C(0x100000000) + (i - lo);
    ordered &= i == lo || row[i - lo - 1] < row[i - lo];
  }
  if (!ordered) qsort(row, (size_t)(hi - lo), sizeof *row, kcl_compare_words);
  for (int64_t i = 0; i < hi - lo; i++) row[i] = lo + (row[i] & 0xffffffff);
}

/* Entries of rows [lo, hi) in padded slices; row: their order, or NULL. */
static int64_t sliced(const kcl_csr *A, int64_t lo, int64_t hi, const int64_t *row) {
  int64_t entries = 0;
  for (int64_t base = lo; base < hi; base += KCL_SLICE) {
    int64_t width = 0, end = base + KCL_SLICE < hi ? base + KCL_SLICE : hi;
    for (int64_t i = base; i < end; i++) {
      int64_t n = kcl_row_length(A, row ? row[i - lo] : i);
      if (n > width) width = n;
    }
    entries += width * KCL_SLICE;
  }
  return entries;
}

typedef struct slicing {
  const kcl_csr *A;
  int unit;
  int32_t *slice;
} slicing;

static void count_widths(void *arg, int64_t first, int64_t last) {
  const slicing *s = arg;
  for (int64_t t = first; t < last; t++) {
    int64_t base = t * KCL_SLICE,
            end = base + KCL_SLICE < s->A->rows ? base + KCL_SLICE : s->A->rows;
    int64_t width = sliced(s->A, base, end, NULL) / KCL_SLICE;
    s->slice[t + 1] = (int32_t)((width + s->unit - 1) / s->unit);
  }
}

void kcl_slices(const kcl_csr *A, int unit, int32_t *slice) {
  slice[0] = 0;
  kcl_for(kcl_slice_count(A->rows), KCL_FEW_ROWS / KCL_SLICE, count_widths,
          &(slicing){A, unit, slice});
  for (int64_t s = 0; s < kcl_slice_count(A->rows); s++) slice[s + 1] += slice[s];
}

typedef struct padding {
  const kcl_csr *A;
  _Atomic int64_t row_max, plain, by2,
      by4; /* entries of all slices, of widths rounded up to 2 and 4 */
} padding;

static void count_padding(void *arg, int64_t first, int64_t last) {
  padding *p = arg;
  int64_t widest = 0, plain = 0, by2 = 0, by4 = 0;
  for (int64_t t = first; t < last; t++) {
    int64_t base = t * KCL_SLICE,
            end = base + KCL_SLICE < p->A->rows ? base + KCL_SLICE : p->A->rows;
    int64_t entries = sliced(p->A, base, end, NULL);
    if (entries > widest) widest = entries;
    plain += entries;
    by2 += (entries + 2 * KCL_SLICE - 1) / (2 * KCL_SLICE) * (2 * KCL_SLICE);
    by4 += (entries + 4 * KCL_SLICE - 1) / (4 * KCL_SLICE) * (4 * KCL_SLICE);
  }
  kcl_raise(&p->row_max, widest / KCL_SLICE);
  p->plain += plain;
  p->by2 += by2;
  p->by4 += by4;
}

static void count_unsorted(const kcl_csr *A, kcl_stats *s) {
  padding p = {.A = A};
  kcl_for(kcl_slice_count(A->rows), KCL_FEW_ROWS / KCL_SLICE, count_padding, &p);
  s->row_max = p.row_max;
  s->sell_padded = s->sell_sorted_padded = p.plain;
  s->sell_padded2 = p.by2;
  s->sell_padded4 = p.by4;
}

typedef struct sorting {
  const kcl_csr *A;
  _Atomic int64_t entries;
} sorting;

/* Counts the padded entries of one window with its rows sorted. */
static void count_sorted(void *arg, int64_t lo, int64_t hi) {
  sorting *s = arg;
  int64_t row[KCL_SIGMA];
  kcl_longest_first(s->A, lo, hi, row);
  s->entries += sliced(s->A, lo, hi, row);
}

/* Sorting is only tried if padding of the unsorted slices exceeds a tenth. */
void kcl_count_slices(const kcl_csr *A, kcl_stats *s) {
  count_unsorted(A, s);
  if (s->sell_padded < A->nnz + A->nnz / 10) return;
  sorting sorted = {.A = A};
  kcl_for_each(A->rows, KCL_SIGMA, count_sorted, &sorted);
  s->sell_sorted_padded = sorted.entries;
}

enum { SHORT_ROW = 256 };
typedef struct length_histogram {
  const kcl_csr *A;
  _Atomic int64_t *rows; /* rows[w]: of length w */
} length_histogram;

static void count_short_rows(void *arg, int64_t from, int64_t to) {
  const length_histogram *l = arg;
  int64_t few[SHORT_ROW] = {0};
  for (int64_t i = from; i < to; i++) {
    int64_t n = kcl_row_length(l->A, i);
    if (n < SHORT_ROW)
      few[n]++;
    else
      l->rows[n]++;
  }
  for (int w = 0; w < SHORT_ROW; w++)
    if (few[w]) l->rows[w] += few[w];
}

/* The ELL width of HYB, the largest that at least a third of the rows fill (Bell & Garland 2009), and the entries that
 * overflow it. */
int kcl_count_overflow(kcl_context *ctx, const kcl_csr *A, kcl_stats *s) {
  length_histogram l = {.A = A};
  int64_t filled = 0;
  KCL_CALL(kcl_alloc(ctx, s->row_max + 1, sizeof *l.rows, "row lengths", (void **)&l.rows));
  kcl_for(A->rows, KCL_FEW_ROWS, count_short_rows, &l);
  s->hyb_width = s->row_max;
  while (s->hyb_width > 0 && 3 * (filled += l.rows[s->hyb_width]) < A->rows) s->hyb_width--;
  for (int64_t w = s->hyb_width; w <= s->row_max; w++)
    s->hyb_overflow += l.rows[w] * (w - s->hyb_width);
  free((void *)l.rows);
  return KCL_OK;
}

/* ---------------------------------------------------------------- blocks */

typedef struct blocking {
  const kcl_csr *A;
  int b;
} blocking;

/* Distinct block columns of the b rows from `base` on: their columns ascend, so they are merged. Inlined, so that its loops
 * have constant lengths. */
static inline int64_t count_row_blocks(const kcl_csr *A, int b, int64_t base) {
  int64_t at[8], end[8], blocks = 0;
  int rows = (int)(base + b < A->rows ? b : A->rows - base);
  for (int r = 0; r < rows; r++) at[r] = A->row_ptr[base + r], end[r] = A->row_ptr[base + r + 1];
  for (;; blocks++) {
    int32_t next = INT32_MAX;
    for (int r = 0; r < rows; r++)
      if (at[r] < end[r] && A->col[at[r]] < next) next = A->col[at[r]];
    if (next == INT32_MAX) return blocks;
    int64_t limit = (int64_t)(next / b + 1) * b;
    for (int r = 0; r < rows; r++)
      while (at[r] < end[r] && A->col[at[r]] < limit) at[r]++;
  }
}

/* Distinct block columns of two rows. Without branches on column numbers, which processors cannot predict. */
static int64_t blocks_of_two(const kcl_csr *A, int64_t base) {
  const int64_t other = base + 1 < A->rows ? base + 1 : base;
  const int32_t *a = A->col + A->row_ptr[base], *a_end = A->col + A->row_ptr[base + 1],
                *b = A->col + A->row_ptr[other], *b_end = A->col + A->row_ptr[other + 1];
  int64_t blocks = 0;
  int32_t last = -1;
  while (a < a_end || b < b_end) {
    const int32_t in_a = a < a_end ? *a / 2 : INT32_MAX, in_b = b < b_end ? *b / 2 : INT32_MAX,
                  next = in_a < in_b ? in_a : in_b;
    a += in_a == next, b += in_b == next;
    blocks += next != last, last = next;
  }
  return blocks;
}

static int64_t blocks_at(const kcl_csr *A, int b, int64_t base) {
  switch (b) {
  case 2: return blocks_of_two(A, base);
  case 3: return count_row_blocks(A, 3, base);
  case 4: return count_row_blocks(A, 4, base);
  default: return count_row_blocks(A, b, base);
  }
}

bool kcl_rows_moved(const kcl_csr *A, int b, int64_t base, int back) {
  const int64_t *ptr = A->row_ptr + base, *old = ptr - back, n = ptr[b] - ptr[0];
  const int32_t *col = A->col + ptr[0], *before = A->col + old[0];
  if (old[b] - old[0] != n ||
      (n && (col[0] - before[0] != back || col[n - 1] - before[n - 1] != back)))
    return false;
  for (int r = 1; r < b; r++)
    if (ptr[r] - ptr[0] != old[r] - old[0]) return false;
  int32_t differ = 0;
  for (int64_t k = 0; k < n; k++) differ |= (col[k] - before[k]) ^ back;
  return !differ;
}

/* Counts the blocks of block rows [from, to). On most grids a block row repeats the one before, or the third before where
 * points have three unknowns, and so needs no count of its own. */
static double count_block_rows(const void *arg, int64_t from, int64_t to) {
  const blocking *c = arg;
  const int b = c->b;
  int64_t blocks = 0, recent[3] = {0};
  for (int64_t i = from; i < to; i++) {
    const int64_t base = i * b;
    const bool whole = base + b <= c->A->rows;
    if (whole && i - from >= 1 && kcl_rows_moved(c->A, b, base, b))
      recent[i % 3] = recent[(i + 2) % 3];
    else if (!(whole && i - from >= 3 && kcl_rows_moved(c->A, b, base, 3 * b)))
      recent[i % 3] = blocks_at(c->A, b, base);
    blocks += recent[i % 3];
  }
  return (double)blocks;
}

static int64_t block_rows(const kcl_csr *A, int b) { return (A->rows + b - 1) / b; }

/* Counts the b x b blocks that have an entry. */
static int64_t count_matrix_blocks(const kcl_csr *A, int b) {
  return (int64_t)kcl_sum(block_rows(A, b), KCL_FEW_ROWS / b, count_block_rows, &(blocking){A, b});
}

/* The share of entries in the b x b blocks with an entry: samples one of every 256 block rows, at varying positions. */
static double sampled_fill(const kcl_csr *A, int b) {
  enum { SAMPLE_GROUP = 256, STEP = 7 };
  const int64_t rows = block_rows(A, b);
  int64_t entries = 0, blocks = 0;
  for (int64_t group = 0; group * SAMPLE_GROUP < rows; group++) {
    const int64_t first = group * SAMPLE_GROUP,
                  size = rows - first < SAMPLE_GROUP ? rows - first : SAMPLE_GROUP,
                  base = (first + STEP * group % size) * b,
                  end = base + b < A->rows ? base + b : A->rows;
    entries += A->row_ptr[end] - A->row_ptr[base], blocks += blocks_at(A, b, base);
  }
  return blocks ? (double)entries / ((double)blocks * b * b) : 0;
}

/* Counts the 2 x 2 blocks, and larger blocks where a sample is at least half full: emptier ones take more bytes than CSR. */
void kcl_count_blocks(const kcl_csr *A, kcl_stats *s) {
  static const int size[] = {3, 4, 6, 8};
  s->bcsr_blocks[2] = count_matrix_blocks(A, 2);
  for (int i = 0; i < 4; i++)
    if (sampled_fill(A, size[i]) >= 0.5) s->bcsr_blocks[size[i]] = count_matrix_blocks(A, size[i]);
}

int kcl_structure(kcl_context *ctx, const kcl_csr *A, kcl_stats *s) {
  kcl_count_slices(A, s);
  kcl_count_blocks(A, s);
  return kcl_count_overflow(ctx, A, s);
}

int kcl_natural_block(const kcl_stats *s) {
  enum { MOST_BLOCK = 8 };
  double fullest = 0.7; /* of the entries of a block, at least */
  int size = 1;
  for (int b = 2; b <= MOST_BLOCK; b++) {
    const double all = (double)b * b * (double)s->bcsr_blocks[b],
                 full = all > 0 ? (double)s->nnz / all : 0;
    if (full >= fullest) size = b, fullest = full;
  }
  return size;
}
