/* Coordinates in file order to CSR: count, prefix sum, scatter; rows that are not sorted are sorted (files
 * sorted by row or column need none), and duplicates are summed in file order.
 *
 * Entries are divided into parts, one per thread. cursor[p][r] counts the entries of part p in row r, then
 * is the position of the next one, so that all parts scatter in parallel and the file order is kept.
 * Traffic: 2 x 8 stride bytes per entry, 12 to 20 bytes per expanded entry, 8 parts bytes per row.
 */
#include "data/files/text.h"

typedef struct csr_building {
  const mm_head *h;
  const mm_entries *e;
  kcl_csr *A;
  int64_t from, rows; /* the first of the rows that are built, and their number */
  uint32_t *cursor;   /* [parts, rows] */
  int parts, width;
  _Atomic int64_t longest, duplicates; /* row; entries */
  atomic_bool memory_out, infinite;
} csr_building;

enum { HUGE_ARRAY = 1 << 21 };

/* Memory that is not zeroed, so that the scatter is its first touch. */
static int allocate_untouched(kcl_context *ctx, int64_t count, size_t size, void **out) {
  size_t bytes = (size_t)count * size, step = bytes > 4 * HUGE_ARRAY ? HUGE_ARRAY : 64;
  bytes = (bytes / step + 1) * step;
  *out = kcl_has_memory(bytes) ? aligned_alloc(step, bytes) : NULL;
  if (!*out)
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: the matrix needs %.3g GB more",
                    (double)bytes * 1e-9);
  if (step == HUGE_ARRAY) madvise(*out, bytes, KCL_LARGE_PAGES);
  return KCL_OK;
}

/* One part per thread, unless the cursors would exceed an eighth of the matrix. */
static int choose_parts(const csr_building *b) {
  const int64_t entries = b->e->total, half = b->h->symmetry == KCL_GENERAL ? 12 : 24,
                spare = (entries * half + 8 * b->rows) / 8 / (4 * (b->rows + 1));
  int threads = entries < 20000 ? 1 : kcl_threads();
  return spare < 1 ? 1 : spare < threads ? (int)spare : threads;
}

/* All that the matrix needs, asked for before the first page is touched: a few bytes of text can state 2^31 rows. */
static int check_matrix_memory(kcl_context *ctx, const csr_building *b) {
  const mm_head *h = b->h;
  const double value = b->width == 2 ? 16 : 8, half = h->symmetry == KCL_GENERAL ? 1 : 2;
  const double bytes = 4.0 * b->parts * (double)b->rows + 8.0 * (double)(b->rows + 1) +
                       (4 + value) * half * (double)b->e->total;
  if (bytes < 0x1p62 && kcl_has_memory((size_t)bytes)) return KCL_OK;
  return kcl_fail(ctx, KCL_MEMORY, "%s: out of memory: a matrix of %lld rows needs %.3g GB",
                  h->name, (long long)b->rows, bytes * 1e-9);
}

static int64_t first_block(const csr_building *b, int64_t p) { return b->e->blocks * p / b->parts; }

/* Is the row built? Rows of entries without a mirror always are. */
static inline bool built(const csr_building *b, int64_t row) {
  return (uint64_t)(row - b->from) < (uint64_t)b->rows;
}

static void count_part(void *arg, int64_t p, int64_t end) {
  const csr_building *b = arg;
  (void)end;
  uint32_t *cursor = b->cursor + p * b->rows;
  bool half = b->h->symmetry != KCL_GENERAL;
  for (int64_t k = first_block(b, p); k < first_block(b, p + 1); k++) {
    const uint64_t *w = b->e->block[k].words;
    for (int64_t i = 0; i < b->e->block[k].count; i++, w += b->e->stride) {
      int32_t row = mm_row(*w), col = mm_col(*w);
      if (!half || built(b, row)) cursor[row - b->from]++;
      if (half && row != col && built(b, col)) cursor[col - b->from]++;
    }
  }
}

/* Lengths of rows; cursors become positions within the row. */
static void place_part(void *arg, int64_t from, int64_t to) {
  csr_building *b = arg;
  int64_t rows = b->rows, longest = 0;
  for (int64_t r = from; r < to; r++) {
    int64_t sum = 0;
    for (int p = 0; p < b->parts; p++) {
      uint32_t *c = &b->cursor[p * rows + r], n = *c;
      *c = (uint32_t)sum, sum += n;
    }
    b->A->row_ptr[r + 1] = sum;
    longest = sum > longest ? sum : longest;
  }
  kcl_raise(&b->longest, longest);
}

/* Computes the row pointers. */
static int place_rows(kcl_context *ctx, csr_building *b) {
  int64_t rows = b->rows, total = 0;
  kcl_for(rows, KCL_FEW, place_part, b);
  b->A->row_ptr[0] = 0;
  for (int64_t r = 0; r < rows; r++) b->A->row_ptr[r + 1] = total += b->A->row_ptr[r + 1];
  b->A->nnz = total;
  if (b->longest > UINT32_MAX || total < b->e->total)
    return kcl_fail(ctx, KCL_MEMORY, "a row with more than %u entries", UINT32_MAX);
  return KCL_OK;
}

static inline __attribute__((always_inline)) void put_entry(const csr_building *b, uint32_t *cursor,
                                                            int64_t row, int32_t col,
                                                            const uint64_t *v, const int width,
                                                            double re, double im) {
  int64_t q = b->A->row_ptr[row] + cursor[row]++;
  double z[2] = {1, 0}, *val = (double *)b->A->val + (width > 1 ? 2 : 1) * q;
  b->A->col[q] = col;
  memcpy(z, v, (size_t)width * sizeof *z);
  val[0] = re * z[0];
  if (width > 1) val[1] = im * z[1];
}

static inline __attribute__((always_inline)) void scatter_entries(const csr_building *b, int64_t p,
                                                                  const int width,
                                                                  const bool half) {
  uint32_t *cursor = b->cursor + p * b->rows;
  double re = b->h->symmetry == KCL_SKEW ? -1 : 1;
  double im = b->h->symmetry == KCL_GENERAL || b->h->symmetry == KCL_SYMMETRIC ? 1 : -1;
  for (int64_t k = first_block(b, p); k < first_block(b, p + 1); k++) {
    const uint64_t *w = b->e->block[k].words;
    for (int64_t i = 0; i < b->e->block[k].count; i++, w += width + 1) {
      int32_t row = mm_row(*w), col = mm_col(*w);
      if (!half || built(b, row)) put_entry(b, cursor, row - b->from, col, w + 1, width, 1, 1);
      if (half && row != col && built(b, col))
        put_entry(b, cursor, col - b->from, row, w + 1, width, re, im);
    }
  }
}

static void scatter_part(void *arg, int64_t p, int64_t end) {
  const csr_building *b = arg;
  (void)end;
  bool half = b->h->symmetry != KCL_GENERAL;
  if (b->e->width == 0 && !half) scatter_entries(b, p, 0, false);
  if (b->e->width == 0 && half) scatter_entries(b, p, 0, true);
  if (b->e->width == 1 && !half) scatter_entries(b, p, 1, false);
  if (b->e->width == 1 && half) scatter_entries(b, p, 1, true);
  if (b->e->width == 2 && !half) scatter_entries(b, p, 2, false);
  if (b->e->width == 2 && half) scatter_entries(b, p, 2, true);
}

static bool columns_ascend(const int32_t *col, int64_t n) {
  bool all = true;
  for (int64_t k = 1; k < n; k++) all &= col[k - 1] < col[k];
  return all;
}

/* Stable: the keys are column and position. */
static bool sort_row(int32_t *col, double *val, int64_t n, int w) {
  uint64_t few[64], *key = n <= 64 ? few : malloc((size_t)n * (sizeof *key + 16));
  double small[128], *copy = n <= 64 ? small : (double *)(key + n);
  if (!key) return false;
  for (int64_t k = 0; k < n; k++) key[k] = (uint64_t)col[k] << 32 | (uint64_t)k;
  memcpy(copy, val, (size_t)(n * w) * sizeof *val);
  if (n > 64) qsort(key, (size_t)n, sizeof *key, kcl_compare_words);
  for (int64_t k = 1, j; n <= 64 && k < n; k++) {
    uint64_t x = key[k];
    for (j = k; j > 0 && key[j - 1] > x; j--) key[j] = key[j - 1];
    key[j] = x;
  }
  for (int64_t k = 0; k < n; k++) {
    col[k] = (int32_t)(key[k] >> 32);
    memcpy(val + w * k, copy + w * (int64_t)(uint32_t)key[k], (size_t)w * sizeof *val);
  }
  if (n > 64) free(key);
  return true;
}

/* a + b. Of mirrored numbers that were negated: the negated sum of the others, which differs where that is 0. */
static double add_mirrored(double a, double b, bool negated) { return negated ? -(-a - b) : a + b; }

/* Sums equal neighbours of row r of the matrix; the number of entries left. infinite: a sum is not finite. */
static int64_t sum_duplicates(const csr_building *b, int64_t r, int32_t *col, double *val,
                              int64_t n, bool *infinite) {
  const kcl_symmetry s = b->h->symmetry;
  const int w = b->width;
  int64_t m = 0;
  for (int64_t k = 1; k < n; k++) {
    bool same = col[k] == col[m];
    if (!same) col[++m] = col[k];
    for (int q = 0; q < w; q++) {
      double *sum = &val[w * m + q], v = val[w * k + q]; /* -0 stays -0 */
      bool negated = s == KCL_SKEW || (s == KCL_HERMITIAN && q);
      *sum = same ? add_mirrored(*sum, v, negated && col[m] > r) : v;
      *infinite |= !isfinite(val[w * m + q]);
    }
  }
  return m + 1;
}

/* Sorts rows. The cursor of part 0 becomes the length of each row. */
static void sort_rows(void *arg, int64_t from, int64_t to) {
  csr_building *b = arg;
  const int64_t *ptr = b->A->row_ptr;
  int64_t duplicates = 0;
  bool out = false, infinite = false;
  for (int64_t r = from; r < to; r++) {
    int32_t *col = b->A->col + ptr[r];
    double *val = (double *)b->A->val + b->width * ptr[r];
    int64_t n = ptr[r + 1] - ptr[r], left = n;
    if (!columns_ascend(col, n)) {
      out = !sort_row(col, val, n, b->width) || out;
      left = sum_duplicates(b, b->from + r, col, val, n, &infinite);
    }
    b->cursor[r] = (uint32_t)left;
    duplicates += n - left;
  }
  b->duplicates += duplicates;
  if (out) b->memory_out = true;
  if (infinite) b->infinite = true;
}

static void close_gaps(csr_building *b) {
  int64_t at = 0, begin = 0, w = b->width;
  double *val = b->A->val;
  for (int64_t r = 0; r < b->rows; r++) {
    int64_t n = b->cursor[r], next = b->A->row_ptr[r + 1];
    memmove(b->A->col + at, b->A->col + begin, (size_t)n * sizeof(int32_t));
    memmove(val + w * at, val + w * begin, (size_t)(n * w) * sizeof *val);
    b->A->row_ptr[r + 1] = at += n;
    begin = next;
  }
  b->A->nnz = at;
}

int mm_build_rows(kcl_context *ctx, const mm_head *h, int64_t from, int64_t to, const mm_entries *e,
                  kcl_csr **out) {
  csr_building b = {
      .h = h, .e = e, .from = from, .rows = to - from, .width = e->width == 2 ? 2 : 1};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  KCL_OWNED uint32_t *cursor = NULL;
  b.parts = choose_parts(&b);
  KCL_CALL(check_matrix_memory(ctx, &b));
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *A, "a matrix", (void **)&A));
  KCL_CALL(kcl_alloc(ctx, b.parts * b.rows, sizeof *cursor, "row counts", (void **)&cursor));
  b.A = A, b.cursor = cursor;
  *A = (kcl_csr){.rows = b.rows, .cols = h->cols, .type = e->width == 2 ? KCL_Z : KCL_D};
  KCL_CALL(allocate_untouched(ctx, b.rows + 1, sizeof *A->row_ptr, (void **)&A->row_ptr));
  kcl_for_each(b.parts, 1, count_part, &b);
  KCL_CALL(place_rows(ctx, &b));
  KCL_CALL(allocate_untouched(ctx, A->nnz, sizeof *A->col, (void **)&A->col));
  KCL_CALL(allocate_untouched(ctx, A->nnz, kcl_type_size(A->type), &A->val));
  kcl_for_each(b.parts, 1, scatter_part, &b);
  kcl_for_each(b.rows, KCL_FEW_ROWS, sort_rows, &b);
  if (b.memory_out) return kcl_fail(ctx, KCL_MEMORY, "out of memory: sorting a row");
  if (b.infinite)
    return kcl_fail(ctx, KCL_INPUT, "%s: entries of one row and column add up to infinity",
                    h->name);
  if (b.duplicates) close_gaps(&b);
  A->symmetry = h->symmetry, A->field = h->field, A->stored = h->entries;
  *out = A, A = NULL;
  return KCL_OK;
}

int mm_build_csr(kcl_context *ctx, const mm_head *h, const mm_entries *e, kcl_csr **out) {
  return mm_build_rows(ctx, h, 0, h->rows, e, out);
}
