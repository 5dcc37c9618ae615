/* The header of Harwell-Boeing and Rutherford-Boeing files:
 *
 *   title (72 characters)                                                   key (8)
 *   lines: all, pointers, indices, values, right-hand sides (absent in Rutherford-Boeing)
 *   type    rows  columns  entries  elements         R|C|I|P  S|U|H|Z|R  A|E: real symmetric assembled
 *   (format of pointers) (indices) (values) (right-hand sides)
 *   F|M G X    right-hand sides    their entries     only when there are any
 *
 * I. S. Duff, R. G. Grimes & J. G. Lewis, Users' guide for the Harwell-Boeing sparse matrix
 * collection, TR/PA/92/86 CERFACS (1992); The Rutherford-Boeing sparse matrix collection,
 * RAL-TR-97-031 (1997). */
#include "data/files/hb.h"

typedef struct card_line {
  const char *begin, *end; /* without its end of line */
} card_line;

static card_line line_at(const kcl_text *t, int64_t k) {
  const char *end = t->data + t->size, *p = t->data;
  for (; k > 1; k--) p = mm_next_line(p, end);
  card_line l = {p, mm_next_line(p, end)};
  while (l.end > l.begin && (l.end[-1] == '\n' || l.end[-1] == '\r')) l.end--;
  return l;
}

static int letter(const char *all, char c) {
  const char *p = c ? strchr(all, c >= 'a' && c <= 'z' ? c - 32 : c) : NULL;
  return p ? (int)(p - all) : -1;
}

/* Parses at most `max` numbers of the line from p on; returns their count. */
static int parse_numbers(const char *p, const char *end, int max, int64_t *v, const char **where) {
  for (int n = 0;; n++) {
    while (p < end && mm_is_blank(*p)) p++;
    const char *stop = p;
    while (stop < end && !mm_is_blank(*stop)) stop++;
    where[n] = p;
    if (n == max || p == end || !hb_field_integer(p, stop, &v[n])) return n;
    p = stop;
  }
}

bool hb_knows(const kcl_text *t) {
  int64_t v[5];
  const char *where[6];
  card_line two = line_at(t, 2), three = line_at(t, 3);
  if (three.end - three.begin < 10 || parse_numbers(two.begin, two.end, 5, v, where) < 4)
    return false;
  return letter("RCIPQ", three.begin[0]) >= 0 && letter("SUHZR", three.begin[1]) >= 0 &&
         letter("AE", three.begin[2]) >= 0 && mm_is_blank(three.begin[3]) &&
         parse_numbers(three.begin + 3, three.end, 4, v, where) >= 3;
}

static int report_head(kcl_context *ctx, const kcl_text *t, int64_t k, const char *at,
                       const char *expected) {
  mm_error bad = {.line = k};
  mm_error_set(&bad, line_at(t, k).begin, at, "%s", expected);
  return mm_error_report(ctx, t->name, &bad);
}

static int read_counts(kcl_context *ctx, const kcl_text *t, hb_head *h) {
  int64_t v[5] = {0};
  const char *where[6];
  card_line l = line_at(t, 2);
  int n = parse_numbers(l.begin, l.end, 5, v, where);
  for (int k = 0; k < n; k++)
    if (v[k] < 0) return report_head(ctx, t, 2, where[k], "a number of lines, at least 0");
  for (int k = 0; k < HB_PARTS; k++) h->cards[k] = v[k + 1];
  return KCL_OK;
}

static int read_type(kcl_context *ctx, const kcl_text *t, hb_head *h) {
  static const kcl_field fields[] = {KCL_REAL, KCL_COMPLEX, KCL_INTEGER, KCL_PATTERN};
  static const kcl_symmetry symmetries[] = {KCL_SYMMETRIC, KCL_GENERAL, KCL_HERMITIAN, KCL_SKEW,
                                            KCL_GENERAL};
  int64_t v[4], limit = INT64_C(1) << 31;
  const char *where[5];
  card_line l = line_at(t, 3);
  int f = letter("RCIPQ", l.begin[0]), n = parse_numbers(l.begin + 3, l.end, 4, v, where);
  if (f == 4)
    return report_head(ctx, t, 3, l.begin, "values in this file, not in another (R C I P)");
  if (letter("A", l.begin[2]) < 0)
    return report_head(ctx, t, 3, l.begin,
                       "an assembled matrix (A as the third letter), not elements");
  for (int k = 0; k < 3; k++)
    if (n <= k || v[k] < 0 || v[k] > (k < 2 ? limit : INT64_MAX / 64))
      return report_head(ctx, t, 3, where[k],
                         "rows, columns and entries, the first two up to 2^31");
  h->field = fields[f], h->symmetry = symmetries[letter("SUHZR", l.begin[1])];
  h->rows = v[0];
  h->cols = v[1];
  h->entries = v[2];
  if (h->symmetry != KCL_GENERAL && v[0] != v[1])
    return report_head(ctx, t, 3, where[1], "as many columns as rows in such a matrix");
  if (h->symmetry == KCL_HERMITIAN && f != 1) h->symmetry = KCL_SYMMETRIC;
  return KCL_OK;
}

/* The next balanced (...) from p on. */
static card_line parentheses(const char *p, const char *end) {
  card_line l = {end, end};
  int depth = 0;
  for (; p < end; p++) {
    if (*p == '(' && depth++ == 0) l.begin = p;
    if (*p == ')' && depth > 0 && --depth == 0) {
      l.end = p + 1;
      return l;
    }
  }
  return l;
}

/* A pattern matrix has no format for values, or one that is ignored. */
static int read_formats(kcl_context *ctx, const kcl_text *t, hb_head *h) {
  card_line l = line_at(t, 4), found[HB_PARTS];
  int n = 0, part;
  for (const char *p = l.begin; n < HB_PARTS; p = found[n++].end) {
    found[n] = parentheses(p, l.end);
    if (found[n].begin == l.end) break;
  }
  for (int k = 0; k < n; k++) {
    part = k == 2 && n == 3 && h->field == KCL_PATTERN ? HB_RHS : k;
    bool whole = part < HB_VALUES, skip = part == HB_VALUES && h->field == KCL_PATTERN;
    bool good = hb_edit_parse(found[k].begin, found[k].end, &h->edit[part]);
    if (!skip && (!good || (whole && !h->edit[part].integer)))
      return report_head(ctx, t, 4, found[k].begin,
                         whole ? "a Fortran format of integers such as (16I5)"
                               : "a Fortran format of numbers such as (1P,5E16.8)");
  }
  if (n < (h->field == KCL_PATTERN ? 2 : 3) || (h->cards[HB_RHS] && !h->edit[HB_RHS].width))
    return report_head(ctx, t, 4, n ? found[n - 1].end : l.begin,
                       "a Fortran format for every part");
  return KCL_OK;
}

static int read_rhs_card(kcl_context *ctx, const kcl_text *t, hb_head *h) {
  int64_t v[2] = {0, 0};
  const char *where[3];
  card_line l = line_at(t, 5);
  if (l.end - l.begin < 4 || letter("FM", *l.begin) < 0)
    return report_head(ctx, t, 5, l.begin, "F or M, the kind of the right-hand sides");
  int n = parse_numbers(l.begin + 3, l.end, 2, v, where);
  h->rhs_kind = letter("F", *l.begin) == 0 ? 'F' : 'M';
  h->guess = letter("G", l.begin[1]) == 0, h->solution = letter("X", l.begin[2]) == 0;
  h->rhs_count = v[0], h->rhs_entries = v[1];
  if (n < 1 || v[0] < 1 || v[0] > INT32_MAX || (h->rhs_kind == 'M' && (n < 2 || v[1] < 0)))
    return report_head(ctx, t, 5, where[n < 1 ? 0 : n - 1], "the number of right-hand sides");
  return KCL_OK;
}

int hb_read_head(kcl_context *ctx, const kcl_text *t, hb_head *h) {
  *h = (hb_head){.lines = 4};
  KCL_CALL(read_counts(ctx, t, h));
  KCL_CALL(read_type(ctx, t, h));
  KCL_CALL(read_formats(ctx, t, h));
  if (h->cards[HB_RHS]) {
    h->lines = 5;
    KCL_CALL(read_rhs_card(ctx, t, h));
  }
  return KCL_OK;
}
