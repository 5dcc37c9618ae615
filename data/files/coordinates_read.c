/* Coordinate files without the banner of Matrix Market, as many programs write them:
 *
 *   3 3 4            rows columns nonzeros; # begins comment lines before it
 *   1 1 2.5          row column value; complex: row column re im; pattern: row column
 *   1 3 -1
 *
 * The first entry tells how many numbers a line holds. Rows and columns count from 1, or from 0 where kcl_set_index_base
 * says so. Parsed as Matrix Market files are.
 */
#include "core/base/context.h"
#include "data/files/file.h"
#include "core/base/number.h"

/* Numbers in a line, up to 5; -1: there are other words. */
static int count_numbers(const char *p) {
  int count = 0;
  double v;
  for (p = mm_skip(p); *p && *p != '\n' && count < 5; p = mm_skip(p), count++)
    if (!(p = kcl_parse_number(p, &v)) || !(mm_is_blank(*p) || *p == '\n' || *p == 0)) return -1;
  return count;
}

/* The sizes, the line they are in, and the numbers of the first entry; 2 without entries. */
static bool head_of(const kcl_text *t, uint64_t v[3], int64_t *line, const char **body,
                    int *width) {
  const char *end = t->data + t->size, *p;
  kcl_number_init();
  *line = 1;
  p = mm_content(t->data, end, line);
  if (p == end || !(p = mm_three_counts(p, v))) return false;
  *body = mm_next_line(p, end);
  int64_t skipped = 0;
  p = mm_content(*body, end, &skipped);
  *width = p == end ? 2 : count_numbers(p);
  return *width >= 2 && *width <= 4 && (p < end || !v[2]);
}

static bool coordinates_knows(const kcl_text *t) {
  uint64_t v[3];
  int64_t line;
  const char *body;
  int width;
  return t->data[0] != '%' && head_of(t, v, &line, &body, &width); /* %: a banner, misspelt */
}

static int read_coordinates_head(kcl_context *ctx, const kcl_text *t, mm_head *h) {
  static const kcl_field field[] = {KCL_PATTERN, KCL_REAL, KCL_COMPLEX};
  uint64_t v[3] = {0};
  int64_t line;
  const char *body = t->data;
  int width = 2;
  (void)head_of(t, v, &line, &body, &width);
  if (v[0] > UINT64_C(1) << 31 || v[1] > UINT64_C(1) << 31 || v[2] > INT64_MAX / 64)
    return kcl_fail(ctx, KCL_INPUT, "%s:%lld: rows and columns are at most 2^31", t->name,
                    (long long)line);
  *h = (mm_head){.coordinate = true,
                 .field = field[width - 2],
                 .rows = (int64_t)v[0],
                 .cols = (int64_t)v[1],
                 .entries = (int64_t)v[2],
                 .base = ctx->zero_based ? 0 : 1,
                 .lines = line,
                 .entries_column = 1,
                 .body = t->data + (body - t->data),
                 .name = t->name};
  return KCL_OK;
}

const kcl_file kcl_file_coordinates = {.name = "coo",
                                       .expected = "sizes: rows columns nonzeros",
                                       .knows = coordinates_knows,
                                       .head = read_coordinates_head,
                                       .write = mtx_write};
