/* Row lists, a text format (Rodriguez Losada's department, spMV on OpenCL, 2010):
 *
 *   3 3 4                               rows columns nonzeros
 *   row 1: (1, 2.5) (3, -1)             complex: (col, re, im)
 *   row 2:                              # and % begin comment lines; rows may be omitted
 *   row 3: (2, 4e-3) (3, 1)
 *
 * The first row decides the base: if it is row 0, rows and columns count from 0, otherwise from 1. Written
 * from 1, with every row, without the symmetry. Blocks of text are counted, then parsed by all threads. */
#include "data/files/file.h"
#include "core/base/number.h"
#include <float.h>
#include <strings.h>

enum { ROWS_BLOCK = 1 << 20 }; /* bytes of text */

typedef struct rows_head {
  int64_t rows, cols, entries, lines; /* lines before the lists */
  const char *body;
  int64_t base;
  bool complex;
} rows_head;

static bool is_row(const char *p) {
  return strncasecmp(p, "row", 3) == 0 && (mm_is_blank(p[3]) || (p[3] >= '0' && p[3] <= '9'));
}

static bool rows_knows(const kcl_text *t) {
  int64_t line = 1;
  uint64_t v[3];
  const char *end = t->data + t->size, *p = mm_content(t->data, end, &line);
  if (p == end || !(p = mm_three_counts(p, v))) return false;
  p = mm_content(mm_next_line(p, end), end, &line);
  return p == end || is_row(p);
}

/* ---------------------------------------------------------------- a row */

typedef struct spot {
  const char *at;
  const char *expected;
} spot;

static const char *need_character(const char *p, char c, const char *expected, spot *bad) {
  p = mm_skip(p);
  if (*p == c) return p + 1;
  *bad = (spot){p, expected};
  return NULL;
}

static const char *parse_finite(const char *p, double *v, spot *bad) {
  const char *at = mm_skip(p), *end = kcl_parse_number(at, v);
  if (end && fabs(*v) <= DBL_MAX) return end;
  *bad = (spot){at, "a number within the range of double"};
  return NULL;
}

/* Parses (col, value) or (col, re, im) into words. */
static const char *parse_entry(const rows_head *h, const char *p, uint64_t row, uint64_t *words,
                               spot *bad) {
  uint64_t col;
  double v[2] = {0, 0};
  const char *at = p = mm_skip(p + 1);
  if (!(p = kcl_parse_count(p, &col)) || col - (uint64_t)h->base >= (uint64_t)h->cols) {
    *bad = (spot){at, "a column number of the matrix"};
    return NULL;
  }
  for (int q = 0; q < (h->complex ? 2 : 1); q++)
    if (!(p = need_character(p, ',', q ? ", and the imaginary part" : ", and the value", bad)) ||
        !(p = parse_finite(p, &v[q], bad)))
      return NULL;
  words[0] = row | (col - (uint64_t)h->base) << 32;
  memcpy(words + 1, v, (h->complex ? 2 : 1) * sizeof *v);
  return need_character(p, ')', ") after the value", bad);
}

/* Parses "row i: (..) (..)" up to the end of the line; returns the next free word. */
static uint64_t *parse_row_list(const rows_head *h, const char *p, const char *end, uint64_t *words,
                                spot *bad) {
  uint64_t row;
  int stride = h->complex ? 3 : 2;
  p = mm_skip(p);
  if (p >= end || *p == '\n' || *p == '#' || *p == '%') return words;
  if (!is_row(p)) {
    *bad = (spot){p, "row and its number"};
    return NULL;
  }
  const char *at = p = mm_skip(p + 3);
  if (!(p = kcl_parse_count(p, &row)) || row - (uint64_t)h->base >= (uint64_t)h->rows) {
    *bad = (spot){at, "a row number of the matrix"};
    return NULL;
  }
  if (!(p = need_character(p, ':', ": after the row number", bad))) return NULL;
  for (p = mm_skip(p); p < end && *p == '('; p = mm_skip(p), words += stride)
    if (!(p = parse_entry(h, p, row - (uint64_t)h->base, words, bad))) return NULL;
  if (p < end && *p != '\n') {
    *bad = (spot){p, "(column, value) or the end of the line"};
    return NULL;
  }
  return words;
}

/* ---------------------------------------------------------------- all rows */

typedef struct rows_block {
  const char *begin, *end;
  int64_t first, count, lines; /* entries before it, in it; lines in it */
  spot bad;
  int64_t bad_line;
} rows_block;

static const char *cut_rows_text(const rows_head *h, const kcl_text *t, int64_t k) {
  const char *end = t->data + t->size, *at = h->body + k * ROWS_BLOCK;
  if (k == 0) return h->body;
  return at >= end ? end : mm_next_line(at - 1, end);
}

static void count_block_entries(rows_block *b) {
  for (const char *p = b->begin; p < b->end; p = mm_next_line(p, b->end), b->lines++) {
    const char *s = mm_skip(p), *line_end = mm_next_line(p, b->end);
    if (*s == '#' || *s == '%') continue;
    for (; s < line_end; s++) b->count += *s == '(';
  }
}

static void fill_rows_block(const rows_head *h, rows_block *b, uint64_t *words) {
  int64_t line = 0;
  for (const char *p = b->begin; p < b->end; p = mm_next_line(p, b->end), line++)
    if (!(words = parse_row_list(h, p, b->end, words, &b->bad))) {
      b->bad_line = line;
      return;
    }
}

typedef struct parsing {
  const rows_head *h;
  const kcl_text *t;
  rows_block *b;
  uint64_t *words;
  int64_t stride;
} parsing;

static void count_text_blocks(void *arg, int64_t from, int64_t to) {
  const parsing *j = arg;
  for (int64_t k = from; k < to; k++) {
    j->b[k].begin = cut_rows_text(j->h, j->t, k), j->b[k].end = cut_rows_text(j->h, j->t, k + 1);
    count_block_entries(&j->b[k]);
  }
}

static void fill_blocks(void *arg, int64_t from, int64_t to) {
  const parsing *j = arg;
  for (int64_t k = from; k < to; k++)
    fill_rows_block(j->h, &j->b[k], j->words + j->b[k].first * j->stride);
}

static int report_rows_error(kcl_context *ctx, const kcl_text *t, int64_t line, const char *at,
                             const char *expected) {
  const char *begin = at;
  mm_error bad = {.line = line};
  while (begin > t->data && begin[-1] != '\n') begin--;
  mm_error_set(&bad, begin, at, "%s", expected);
  return mm_error_report(ctx, t->name, &bad);
}

static int check_rows_blocks(kcl_context *ctx, const kcl_text *t, const rows_head *h, rows_block *b,
                             int64_t blocks) {
  int64_t line = h->lines + 1;
  for (int64_t k = 0; k < blocks; line += b[k++].lines)
    if (b[k].bad.at)
      return report_rows_error(ctx, t, line + b[k].bad_line, b[k].bad.at, b[k].bad.expected);
  return KCL_OK;
}

static int read_rows_head(kcl_context *ctx, const kcl_text *t, rows_head *h) {
  const char *end = t->data + t->size, *p;
  uint64_t v[3] = {0}, row = 1;
  int64_t line = 1;
  p = mm_content(t->data, end, &line);
  mm_three_counts(p, v);
  if (v[0] > UINT64_C(1) << 31 || v[1] > UINT64_C(1) << 31 || v[2] > INT64_MAX / 64)
    return report_rows_error(ctx, t, line, p,
                             "rows, columns and nonzeros, the first two up to 2^31");
  *h = (rows_head){
      .rows = (int64_t)v[0], .cols = (int64_t)v[1], .entries = (int64_t)v[2], .lines = line};
  h->body = mm_next_line(p, end);
  p = mm_content(h->body, end, &line);
  if (p < end && is_row(p)) (void)kcl_parse_count(mm_skip(p + 3), &row);
  h->base = row > 0;
  int commas = 0;
  while (p < end && *p != '(') p++;
  for (; p < end && *p != ')'; p++) commas += *p == ',';
  h->complex = commas == 2;
  return KCL_OK;
}

static int read_rows(kcl_context *ctx, kcl_text *t, kcl_file_system *out) {
  rows_head h = {0};
  KCL_OWNED_BY(mm_entries_free) mm_entries e = {0};
  KCL_OWNED rows_block *b = NULL;
  uint64_t *words;
  int64_t total = 0;
  kcl_number_init();
  KCL_CALL(read_rows_head(ctx, t, &h));
  int64_t blocks = (t->data + t->size - h.body) / ROWS_BLOCK + 1;
  KCL_CALL(kcl_alloc(ctx, blocks, sizeof *b, "blocks of text", (void **)&b));
  parsing j = {.h = &h, .t = t, .b = b};
  kcl_for_each(blocks, 1, count_text_blocks, &j);
  for (int64_t k = 0; k < blocks; k++) b[k].first = total, total += b[k].count;
  KCL_CALL(mm_entries_alloc(ctx, h.complex ? 2 : 1, total, &e, &words));
  j.words = words, j.stride = e.stride;
  kcl_for_each(blocks, 1, fill_blocks, &j);
  KCL_CALL(check_rows_blocks(ctx, t, &h, b, blocks));
  if (total != h.entries)
    KCL_CALL(kcl_fail(ctx, KCL_INPUT,
                      "%s:%lld: found %lld entries, expected %lld as this line says", t->name,
                      (long long)h.lines, (long long)total, (long long)h.entries));
  mm_head as = {.coordinate = true,
                .field = h.complex ? KCL_COMPLEX : KCL_REAL,
                .rows = h.rows,
                .cols = h.cols,
                .entries = total,
                .name = t->name};
  return mm_build_csr(ctx, &as, &e, &out->A);
}

const kcl_file kcl_file_rows = {.name = "rows",
                                .expected = "row lists",
                                .knows = rows_knows,
                                .read = read_rows,
                                .write = rows_write};
