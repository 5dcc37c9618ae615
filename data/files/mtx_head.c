/* The first lines of a Matrix Market file, and errors with a position.
 *
 *   %%MatrixMarket matrix coordinate real symmetric
 *   % comments and blank lines
 *   rows cols entries          (array: rows cols)
 *
 * R. F. Boisvert, R. Pozo & K. A. Remington, The Matrix Market exchange formats, NISTIR 5935 (1996).
 */
#include "core/base/context.h"
#include "data/files/text.h"
#include "core/base/number.h"
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

const char *mm_skip(const char *p) {
  while (mm_is_blank(*p)) p++;
  return p;
}

const char *mm_next_line(const char *p, const char *end) {
  const char *n = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
  return n ? n + 1 : end;
}

const char *mm_content(const char *p, const char *end, int64_t *line) {
  for (; p < end; p = mm_next_line(p, end), ++*line) {
    const char *s = mm_skip(p);
    if (*s != '#' && *s != '%' && *s != '\n') return s;
  }
  return end;
}

const char *mm_three_counts(const char *p, uint64_t v[3]) {
  for (int k = 0; k < 3; k++) {
    p = mm_skip(p);
    if (*p < '0' || *p > '9' || !(p = kcl_parse_count(p, &v[k]))) return NULL;
  }
  p = mm_skip(p);
  return *p == '\n' || *p == 0 ? p : NULL;
}

static size_t word_length(const char *p) {
  size_t n = 0;
  while (n < 40 && p[n] && p[n] != '\n' && !mm_is_blank(p[n])) n++;
  return n;
}

static bool word_is(const char *p, const char *word) {
  return word_length(p) == strlen(word) && strncasecmp(p, word, strlen(word)) == 0;
}

void mm_error_set(mm_error *bad, const char *line, const char *at, const char *format, ...) {
  size_t n = word_length(at);
  bad->column = at - line + 1;
  if (n)
    snprintf(bad->found, sizeof bad->found, "\"%.*s\"", (int)n, at);
  else
    snprintf(bad->found, sizeof bad->found, "%s",
             *at ? "the end of the line" : "the end of the text");
  for (char *c = bad->found; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
  va_list args;
  va_start(args, format);
  vsnprintf(bad->expected, sizeof bad->expected, format, args);
  va_end(args);
}

int mm_error_report(kcl_context *ctx, const char *name, const mm_error *bad) {
  return kcl_fail(ctx, KCL_INPUT, "%s:%lld:%lld: found %s, expected %s", name, (long long)bad->line,
                  (long long)bad->column, bad->found, bad->expected);
}

bool mm_has_banner(const kcl_text *t) { return t->size > 1 && memcmp(t->data, "%%", 2) == 0; }

/* The index of the word at p among n names except `but`; -1 and an error that lists them if it is none. */
static int choose_word(const char *line, const char *p, const char *const *names, int n,
                       const char *but, mm_error *bad) {
  for (int i = 0; i < n; i++)
    if (word_is(p, names[i]) && (!but || strcmp(names[i], but))) return i;
  char list[120] = "";
  for (int i = 0; i < n; i++)
    if (!but || strcmp(names[i], but)) {
      strcat(list, *list ? ", " : "");
      strcat(list, names[i]);
    }
  mm_error_set(bad, line, p, "%s%s", strchr(list, ',') ? "one of " : "", list);
  return -1;
}

static const char *word_after(const char *p) {
  while (*p && *p != '\n' && !mm_is_blank(*p)) p++;
  return mm_skip(p);
}

int mm_read_banner(kcl_context *ctx, const kcl_text *t, mm_head *h) {
  static const char *const banner[] = {"%%MatrixMarket"}, *const object[] = {"matrix"};
  static const char *const layout[] = {"coordinate", "array"};
  static const char *const field[] = {"real", "integer", "complex", "pattern"};
  static const char *const symmetry[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  const char *line = t->data, *p = line;
  mm_error bad = {.line = 1};
  int l, f, s;
  if (choose_word(line, p, banner, 1, NULL, &bad) < 0) return mm_error_report(ctx, t->name, &bad);
  if (choose_word(line, p = word_after(p), object, 1, NULL, &bad) < 0)
    return mm_error_report(ctx, t->name, &bad);
  if ((l = choose_word(line, p = word_after(p), layout, 2, NULL, &bad)) < 0)
    return mm_error_report(ctx, t->name, &bad);
  f = choose_word(line, p = word_after(p), field, 4, l == 1 ? "pattern" : NULL, &bad);
  if (f < 0) return mm_error_report(ctx, t->name, &bad);
  s = choose_word(line, p = word_after(p), symmetry, 4, f == KCL_COMPLEX ? NULL : "hermitian",
                  &bad);
  if (s == KCL_SKEW && f == KCL_PATTERN)
    mm_error_set(&bad, line, p, "general or symmetric with pattern"), s = -1;
  if (s < 0) return mm_error_report(ctx, t->name, &bad);
  if (word_length(p = word_after(p))) {
    mm_error_set(&bad, line, p, "the end of the line");
    return mm_error_report(ctx, t->name, &bad);
  }
  *h = (mm_head){.coordinate = l == 0,
                 .field = (kcl_field)f,
                 .symmetry = (kcl_symmetry)s,
                 .name = t->name,
                 .base = ctx->zero_based ? 0 : 1};
  return KCL_OK;
}

/* One size of the line. Row and column numbers are 32 bits wide. */
static int read_one(const char *line, const char **p, const char *what, int64_t limit, int64_t *out,
                    mm_error *bad) {
  uint64_t v;
  const char *at = *p = mm_skip(*p), *end = kcl_parse_count(at, &v);
  bool digit = (unsigned)(*at - '0') < 10, whole = end && !word_length(end);
  if (!digit || (end && !whole)) {
    mm_error_set(bad, line, at, "%s, a whole number", what);
    return KCL_INPUT;
  }
  if (!end || v > (uint64_t)limit) {
    mm_error_set(bad, line, at, "%s of at most %lld", what, (long long)limit);
    return KCL_INPUT;
  }
  *out = (int64_t)v, *p = end;
  return KCL_OK;
}

enum { LIMIT_BITS = 31 };

/* An array file has as many lines as its symmetry leaves free. */
static int64_t array_entries(const mm_head *h) {
  int64_t n = h->rows;
  if (h->symmetry == KCL_GENERAL) return n * h->cols;
  return h->symmetry == KCL_SKEW ? n * (n - 1) / 2 : n * (n + 1) / 2;
}

static int read_sizes(const char *line, mm_head *h, mm_error *bad) {
  const int64_t limit = INT64_C(1) << LIMIT_BITS;
  const char *p = line;
  int rc = KCL_OK;
  KCL_CALL(read_one(line, &p, "the number of rows", limit, &h->rows, bad));
  h->entries_column = mm_skip(line) - line + 1;
  const char *second = mm_skip(p);
  KCL_CALL(read_one(line, &p, "the number of columns", limit, &h->cols, bad));
  if (h->coordinate) {
    h->entries_column = mm_skip(p) - line + 1;
    KCL_CALL(read_one(line, &p, "the number of entries", INT64_MAX / 64, &h->entries, bad));
  }
  p = mm_skip(p);
  if (word_length(p)) mm_error_set(bad, line, p, "the end of the line"), rc = KCL_INPUT;
  if (!rc && h->symmetry != KCL_GENERAL && h->rows != h->cols) {
    mm_error_set(bad, line, second, "as many columns as rows (%lld) in a %s matrix",
                 (long long)h->rows, kcl_symmetry_name(h->symmetry));
    rc = KCL_INPUT;
  }
  if (!rc && !h->coordinate) h->entries = array_entries(h);
  return rc;
}

int mm_read_size(kcl_context *ctx, const kcl_text *t, mm_head *h) {
  const char *end = t->data + t->size, *p = mm_next_line(t->data, end);
  mm_error bad = {0};
  int64_t line = 2;
  for (; p < end; p = mm_next_line(p, end), line++) {
    const char *s = mm_skip(p);
    if (*s != '%' && *s != '\n') break;
  }
  bad.line = line;
  if (p == end) mm_error_set(&bad, p, p, "a line with the sizes of the matrix");
  if (p == end || read_sizes(p, h, &bad)) return mm_error_report(ctx, t->name, &bad);
  h->lines = line;
  h->body = t->data + (mm_next_line(p, end) - t->data);
  return KCL_OK;
}
