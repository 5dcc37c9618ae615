/* kcl_dense_read: right-hand sides, initial guesses and solutions. Matrix Market if the text begins with
 * %%, array or coordinate (absent entries are 0, duplicates are summed); else plain numbers
 * separated by white space, one column, with lines that begin with % or # as comments.
 */
#include "core/base/number.h"
#include "data/files/parts.h"
#include <float.h>

static void copy_array(const mm_entries *e, double *to) {
  for (int64_t k = 0; k < e->blocks; k++) {
    size_t n = (size_t)(e->block[k].count * e->width);
    memcpy(to, e->block[k].words, n * sizeof *to);
    to += n;
  }
}

void mm_place_entries(const mm_entries *e, int64_t first, bool add, kcl_dense *to) {
  for (int64_t k = 0; k < e->blocks; k++) {
    const uint64_t *w = e->block[k].words;
    for (int64_t n = 0; n < e->block[k].count; n++, w += e->stride) {
      double v[2], *z = to->val + e->width * (mm_row(*w) - first + to->rows * mm_col(*w));
      memcpy(v, w + 1, (size_t)e->width * sizeof *v);
      for (int q = 0; q < e->width; q++) z[q] = add ? z[q] + v[q] : v[q];
    }
  }
}

int mm_dense_head(kcl_context *ctx, const kcl_text *t, mm_head *h) {
  KCL_CALL(mm_read_banner(ctx, t, h));
  if (h->symmetry != KCL_GENERAL || h->field == KCL_PATTERN)
    return kcl_fail(
        ctx, KCL_INPUT,
        "%s:1: found a %s %s matrix, expected dense numbers: real, integer or complex, general",
        t->name, kcl_field_name(h->field), kcl_symmetry_name(h->symmetry));
  KCL_CALL(mm_read_size(ctx, t, h));
  if (h->rows && h->cols > INT64_MAX / 64 / h->rows)
    return kcl_fail(ctx, KCL_MEMORY, "%s: out of memory: %lld x %lld dense numbers", t->name,
                    (long long)h->rows, (long long)h->cols);
  return KCL_OK;
}

static int read_market(kcl_context *ctx, const kcl_text *t, kcl_dense **out) {
  mm_head h;
  KCL_OWNED_BY(mm_entries_free) mm_entries e = {0};
  KCL_CALL(mm_dense_head(ctx, t, &h));
  KCL_CALL(mm_read_entries(ctx, t, &h, &e));
  KCL_CALL(kcl_dense_create(ctx, h.rows, h.cols, e.width == 2 ? KCL_Z : KCL_D, out));
  if (h.coordinate)
    mm_place_entries(&e, 0, true, *out);
  else
    copy_array(&e, (*out)->val);
  return KCL_OK;
}

static int append_number(kcl_context *ctx, kcl_numbers *n, double v) {
  if (n->count == n->capacity) {
    int64_t capacity = n->capacity ? 2 * n->capacity : 1024;
    double *val = realloc(n->val, (size_t)capacity * sizeof *val);
    if (!val) return kcl_fail(ctx, KCL_MEMORY, "out of memory: %lld numbers", (long long)capacity);
    n->val = val, n->capacity = capacity;
  }
  n->val[n->count++] = v;
  return KCL_OK;
}

static bool is_end(char c) { return mm_is_blank(c) || c == '\n' || c == 0; }

static int read_number_line(kcl_context *ctx, const char *line, const char *end, kcl_numbers *n) {
  const char *p = mm_skip(line);
  int rc = KCL_OK;
  if (*p == '%' || *p == '#') return KCL_OK;
  while (!rc && p < end && *p != '\n') {
    double v;
    const char *next = kcl_parse_number(p, &v);
    bool number = next && is_end(*next);
    if (!number || !(fabs(v) <= DBL_MAX)) {
      n->failed = true, n->bad.line = n->lines + 1;
      mm_error_set(&n->bad, line, p, number ? "a number within the range of double" : "a number");
      return KCL_OK;
    }
    rc = append_number(ctx, n, v);
    p = mm_skip(next);
  }
  return rc;
}

int kcl_parse_numbers(kcl_context *ctx, const char *begin, const char *end, kcl_numbers *n) {
  int rc = KCL_OK;
  *n = (kcl_numbers){0};
  kcl_number_init();
  for (const char *p = begin; p < end && !rc && !n->failed; p = mm_next_line(p, end)) {
    rc = read_number_line(ctx, p, end, n);
    n->lines += !n->failed;
  }
  return rc;
}

static int read_plain(kcl_context *ctx, const kcl_text *t, kcl_dense **out) {
  KCL_OWNED_BY(kcl_numbers_free) kcl_numbers n = {0};
  KCL_CALL(kcl_parse_numbers(ctx, t->data, t->data + t->size, &n));
  if (n.failed) return mm_error_report(ctx, t->name, &n.bad);
  if (n.count == 0)
    return kcl_fail(ctx, KCL_INPUT, "%s: found no number, expected a vector", t->name);
  KCL_CALL(kcl_dense_create(ctx, n.count, 1, KCL_D, out));
  memcpy((*out)->val, n.val, (size_t)n.count * sizeof *n.val);
  return KCL_OK;
}

int kcl_dense_read(kcl_context *ctx, const char *path, kcl_dense **out) {
  KCL_OWNED_BY(kcl_text_close) kcl_text text = {0};
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_need(ctx, "path", path));
  KCL_CALL(kcl_text_open(ctx, path, &text));
  return (mm_has_banner(&text) ? read_market : read_plain)(ctx, &text, out);
}
