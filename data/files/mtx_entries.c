/* The lines of a Matrix Market file, or some of them, parsed in parallel: text is divided at line ends into blocks of about
 * 1 MB; a thread appends the entries of its blocks to its own memory, and each block records where, so
 * that the file order is kept. Ordinary lines are parsed by fast(); all others (comments, blank and
 * invalid lines) by careful(), which reports errors.
 * Memory: 8 stride bytes per entry; text is released as soon as its block is parsed.
 */
#include "data/files/text.h"
#include "core/base/number.h"
#include <float.h>
#include <stdio.h>

enum { TEXT_BLOCK = 1 << 20, MAX_BLOCKS = 1 << 15, HUGE_PAGE = 1 << 21 };

typedef struct limits {
  uint64_t rows, cols, base;
  int64_t below; /* row - col must be at least this */
  bool hermitian;
} limits;

typedef struct parse_job {
  const mm_head *h;
  char *begin, *end; /* whole lines */
  mm_entries *e;
  limits limits;
  int64_t size;                    /* of a block of text */
  int line_bytes;                  /* of the shortest entry */
  _Atomic int64_t first_bad, next; /* blocks */
  int threads;
} parse_job;

/* ---------------------------------------------------------------- one line, carefully */

static int bad_index(const char *line, const char *at, const char *what, int base, int64_t limit,
                     mm_error *bad) {
  const char *hint = base && *at == '0' && !(at[1] >= '0' && at[1] <= '9')
                         ? " (--index-base 0 reads files that count from 0)"
                         : "";
  mm_error_set(bad, line, at, "a %s number from %d to %lld%s", what, base,
               (long long)limit - 1 + base, hint);
  return -1;
}

/* Reads a row or column number; the result counts from 0. */
static int read_index(const char *line, const char **p, const char *what, int base, int64_t limit,
                      uint64_t *v, mm_error *bad) {
  const char *at = *p = mm_skip(*p), *end = kcl_parse_count(at, v);
  if (!end || (*v -= (uint64_t)base) >= (uint64_t)limit ||
      !(mm_is_blank(*end) || *end == '\n' || *end == 0))
    return bad_index(line, at, what, base, limit, bad);
  *p = end;
  return 0;
}

static bool is_integer(const char *p, const char *end) {
  p += *p == '-' || *p == '+';
  while (p < end && *p >= '0' && *p <= '9') p++;
  return p == end;
}

static int read_value(const parse_job *j, const char *line, const char **p, const char *what,
                      double *v, mm_error *bad) {
  const char *at = *p = mm_skip(*p), *end = kcl_parse_number(at, v);
  bool integer = j->h->field == KCL_INTEGER;
  const char *whole = integer ? "a whole number" : "a number";
  if (!end || !(mm_is_blank(*end) || *end == '\n' || *end == 0) ||
      (integer && !is_integer(at, end))) {
    mm_error_set(bad, line, at, "%s%s", whole, what);
    return -1;
  }
  if (!(fabs(*v) <= DBL_MAX)) {
    mm_error_set(bad, line, at, "a number within the range of double");
    return -1;
  }
  *p = end;
  return 0;
}

static int check_place(const parse_job *j, const char *line, const char *at, uint64_t row,
                       uint64_t col, mm_error *bad) {
  const char *name = kcl_symmetry_name(j->h->symmetry);
  if ((int64_t)(row - col) >= j->limits.below) return 0;
  mm_error_set(bad, line, at, "no entry %s the diagonal (%llu, %llu) in a %s matrix",
               row == col ? "on" : "above", (unsigned long long)row + j->limits.base,
               (unsigned long long)col + j->limits.base, name);
  return -1;
}

/* 1: an entry, 0: no entry in this line, -1: an error. *next is the following line. */
static int careful(const parse_job *j, const char *line, const char *end, uint64_t *words,
                   const char **next, mm_error *bad) {
  const char *p = mm_skip(line), *at = p;
  uint64_t row = 0, col = 0;
  double v[2] = {0, 0};
  *next = mm_next_line(line, end);
  if (*p == '%' || *p == '\n' || p == end) return 0;
  if (j->h->coordinate) {
    if (read_index(line, &p, "row", j->h->base, j->h->rows, &row, bad)) return -1;
    if (read_index(line, &p, "column", j->h->base, j->h->cols, &col, bad)) return -1;
    if (check_place(j, line, at, row, col, bad)) return -1;
    *words++ = row | col << 32;
  }
  if (j->e->width > 0 &&
      read_value(j, line, &p, j->e->width == 2 ? " (real part)" : "", &v[0], bad))
    return -1;
  const char *imag = mm_skip(p);
  if (j->e->width > 1 && read_value(j, line, &p, " (imaginary part)", &v[1], bad)) return -1;
  if (j->h->symmetry == KCL_HERMITIAN && j->h->coordinate && row == col && v[1] != 0) {
    mm_error_set(bad, line, imag, "a zero imaginary part on the diagonal of a hermitian matrix");
    return -1;
  }
  p = mm_skip(p);
  if (*p != '\n' && p < end) {
    mm_error_set(bad, line, p, "the end of the line");
    return -1;
  }
  memcpy(words, v, (size_t)j->e->width * sizeof *v);
  return 1;
}

/* ---------------------------------------------------------------- a block, fast */

static inline const char *integer_value(const char *p, double *v) {
  bool minus = *p == '-';
  uint64_t n;
  p = kcl_parse_count(p + minus, &n);
  if (!p || n > UINT64_C(1) << 53) return NULL;
  *v = minus ? -(double)n : (double)n;
  return p;
}

/* Parses an ordinary line; returns the next line, or NULL if the line needs the careful parser. Called with constants, which
 * gives one specialised loop per kind of entry. */
static inline __attribute__((always_inline)) const char *fast(const limits l, const char *p,
                                                              uint64_t *words, const bool indices,
                                                              const int width, const bool integer) {
  if (indices) {
    uint64_t row, col;
    while (*p == ' ') p++;
    if (!(p = kcl_parse_count(p, &row)) || !mm_is_blank(*p)) return NULL;
    while (mm_is_blank(*++p)) {}
    if (!(p = kcl_parse_count(p, &col))) return NULL;
    if ((row -= l.base) >= l.rows || (col -= l.base) >= l.cols) return NULL;
    if ((int64_t)(row - col) < l.below || (width == 2 && row == col && l.hermitian)) return NULL;
    *words++ = row | col << 32;
  }
  for (int q = 0; q < width; q++) {
    double v;
    if (q + indices > 0 && !mm_is_blank(*p)) return NULL;
    while (mm_is_blank(*p)) p++;
    p = integer ? integer_value(p, &v) : kcl_parse_number(p, &v);
    if (!p || !(fabs(v) <= DBL_MAX)) return NULL;
    memcpy(words + q, &v, sizeof v);
  }
  while (*p != '\n')
    if (!mm_is_blank(*p++)) return NULL;
  return p + 1;
}

static inline __attribute__((always_inline)) void parse_entry_lines(const parse_job *j, mm_block *b,
                                                                    mm_error *bad,
                                                                    const bool indices,
                                                                    const int width,
                                                                    const bool integer) {
  const limits l = j->limits;
  const char *p = b->begin, *next;
  uint64_t *words = b->words;
  int64_t lines = 0;
  for (; p < b->end; p = next, lines++) {
    next = fast(l, p, words, indices, width, integer);
    if (__builtin_expect(next != NULL, 1)) {
      words += indices + width;
      continue;
    }
    int r = careful(j, p, b->end, words, &next, bad);
    if (r < 0) {
      b->bad = bad, bad->line = lines + 1;
      break;
    }
    words += r * (indices + width);
  }
  b->lines = lines;
  b->count = (words - b->words) / (indices + width);
}

static void parse_block(const parse_job *j, mm_block *b, mm_error *bad) {
  bool integer = j->h->field == KCL_INTEGER;
  if (j->h->coordinate) {
    if (j->e->width == 0) parse_entry_lines(j, b, bad, true, 0, false);
    if (j->e->width == 1 && integer) parse_entry_lines(j, b, bad, true, 1, true);
    if (j->e->width == 1 && !integer) parse_entry_lines(j, b, bad, true, 1, false);
    if (j->e->width == 2) parse_entry_lines(j, b, bad, true, 2, false);
  } else {
    if (j->e->width == 1) parse_entry_lines(j, b, bad, false, 1, integer);
    if (j->e->width == 2) parse_entry_lines(j, b, bad, false, 2, false);
  }
}

/* ---------------------------------------------------------------- all blocks */

static char *cut_entries_text(const parse_job *j, int64_t k) {
  if (k == 0) return j->begin;
  if (k * j->size >= j->end - j->begin) return j->end;
  return j->begin + (mm_next_line(j->begin + k * j->size - 1, j->end) - j->begin);
}

/* *arena is the next free word of this thread. */
static void run_text_block(parse_job *j, int64_t k, uint64_t **arena) {
  mm_block *b = &j->e->block[k];
  mm_error bad = {0};
  if (k > j->first_bad) return;
  b->begin = cut_entries_text(j, k), b->end = cut_entries_text(j, k + 1);
  b->words = *arena;
  kcl_text_expect(b->begin, b->end);
  parse_block(j, b, &bad);
  *arena += b->count * j->e->stride;
  if (b->bad) {
    b->bad = malloc(sizeof bad);
    if (b->bad) *b->bad = bad;
    kcl_lower(&j->first_bad, k);
  }
  /* The next block's begin is sought from the byte before its place on. */
  const int64_t left = j->end - j->begin - (k + 1) * j->size;
  kcl_text_release(b->begin, left > 0 ? j->begin + (k + 1) * j->size - 1 : b->end);
}

/* The blocks of one thread, one after another. */
static void run_blocks(void *arg, const kcl_member *me) {
  parse_job *j = arg;
  const mm_entries *e = j->e;
  uint64_t *arena = (uint64_t *)((char *)e->memory + e->arena * (size_t)me->number);
  for (int64_t k; (k = atomic_fetch_add(&j->next, 1)) < e->blocks;) run_text_block(j, k, &arena);
}

/* Lines and entries of all blocks, up to the first error. */
static int count_up(kcl_context *ctx, const parse_job *j) {
  mm_entries *e = j->e;
  const int64_t last = j->first_bad < e->blocks ? j->first_bad : e->blocks;
  for (int64_t k = 0; k < last; k++) e->total += e->block[k].count, e->lines += e->block[k].lines;
  if (last == e->blocks) return KCL_OK;
  e->bad = e->block[last].bad;
  if (!e->bad) return kcl_fail(ctx, KCL_MEMORY, "out of memory: a message");
  e->bad->line += e->lines;
  return KCL_OK;
}

int mm_check_total(kcl_context *ctx, const mm_head *h, int64_t total, int64_t lines) {
  mm_error bad = {.line = h->lines, .column = h->entries_column};
  const char *source = h->coordinate ? "as this line says" : "by these sizes";
  if (total == h->entries) return KCL_OK;
  snprintf(bad.found, sizeof bad.found, "%lld entries", (long long)total);
  snprintf(bad.expected, sizeof bad.expected, "%lld %s (the file ends at line %lld)",
           (long long)h->entries, source, (long long)h->lines + lines);
  return mm_error_report(ctx, h->name, &bad);
}

/* Reserves address space, not memory, for every thread to parse the whole text. If that is limited, one
 * thread is used. */
static int reserve_words(kcl_context *ctx, parse_job *j, int64_t bytes) {
  mm_entries *e = j->e;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  size_t arena = (size_t)(bytes / j->line_bytes + 2) * (size_t)e->stride * sizeof(uint64_t);
  e->arena = (arena / HUGE_PAGE + 1) * HUGE_PAGE;
  e->block = calloc((size_t)e->blocks, sizeof *e->block);
  for (;; j->threads = 1) {
    e->reserved = e->arena * (size_t)j->threads;
    e->memory = mmap(NULL, e->reserved, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (e->memory != MAP_FAILED || j->threads == 1) break;
  }
  if (e->memory == MAP_FAILED) e->memory = NULL;
  if (!e->memory || !e->block)
    return kcl_fail(ctx, KCL_MEMORY, "%s: out of memory: its entries need %.3g GB of address space",
                    j->h->name, (double)e->reserved * 1e-9);
  if (bytes > 16 * HUGE_PAGE) madvise(e->memory, e->reserved, MADV_HUGEPAGE);
  return KCL_OK;
}

int mm_parse_lines(kcl_context *ctx, const mm_head *h, char *begin, char *end, mm_entries *out) {
  int width = h->field == KCL_PATTERN ? 0 : h->field == KCL_COMPLEX ? 2 : 1;
  int64_t bytes = end - begin,
          size = bytes / MAX_BLOCKS > TEXT_BLOCK ? bytes / MAX_BLOCKS : TEXT_BLOCK;
  int64_t above = -(INT64_C(1) << 40);
  *out = (mm_entries){.width = width, .stride = width + h->coordinate, .blocks = bytes / size + 1};
  bool free_places = h->symmetry == KCL_GENERAL || !h->coordinate;
  limits l = {.rows = (uint64_t)h->rows,
              .cols = (uint64_t)h->cols,
              .base = (uint64_t)h->base,
              .below = free_places ? above : h->symmetry == KCL_SKEW,
              .hermitian = h->symmetry == KCL_HERMITIAN};
  int threads = out->blocks < kcl_threads() ? (int)out->blocks : kcl_threads();
  parse_job j = {.h = h,
                 .begin = begin,
                 .end = end,
                 .e = out,
                 .limits = l,
                 .size = size,
                 .first_bad = INT64_MAX,
                 .threads = threads,
                 .line_bytes = (h->coordinate ? 4 : 0) + 2 * width};
  kcl_number_init();
  KCL_CALL(reserve_words(ctx, &j, bytes));
  kcl_parallel(j.threads, run_blocks, &j);
  return count_up(ctx, &j);
}

int mm_read_entries(kcl_context *ctx, const kcl_text *t, const mm_head *h, mm_entries *out) {
  KCL_CALL(mm_parse_lines(ctx, h, h->body, t->data + t->size, out));
  if (!out->bad) return mm_check_total(ctx, h, out->total, out->lines);
  out->bad->line += h->lines;
  return mm_error_report(ctx, h->name, out->bad);
}

void mm_entries_free(mm_entries *e) {
  for (int64_t k = 0; e->block && k < e->blocks; k++) free(e->block[k].bad);
  free(e->block);
  if (e->memory) munmap(e->memory, e->reserved);
  *e = (mm_entries){0};
}
