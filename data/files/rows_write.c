/* Row lists (rows_read.c), written in parts of about 1 MB by all threads. */
#include "data/files/file.h"
#include "core/base/number.h"
#include <stdio.h>

enum {
  WORDS_PER_PART = 32768,
  LONGEST_ROW_ENTRY = 2 * 24 + 20,
  ROW = 20
}; /* entries and rows in a part; characters */

typedef struct rows_source {
  const kcl_csr *A; /* of type D or Z */
  int64_t *first;   /* [parts + 1] rows */
  int64_t parts;
} rows_source;

static void free_source(rows_source *s) { free(s->first); }

static int format_rows_part(const void *self, int64_t part, kcl_bytes *b) {
  const rows_source *s = self;
  const kcl_csr *A = s->A;
  const double *val = A->val;
  int64_t first = s->first[part], last = s->first[part + 1];
  size_t entries = (size_t)(A->row_ptr[last] - A->row_ptr[first]);
  char *o = b->data = malloc(entries * LONGEST_ROW_ENTRY + (size_t)(last - first) * ROW + 1);
  if (!o) return 1;
  for (int64_t r = first; r < last; r++) {
    memcpy(o, "row ", 4), o += 4;
    o = kcl_print_count(o, r + 1), *o++ = ':';
    for (int64_t k = A->row_ptr[r]; k < A->row_ptr[r + 1]; k++) {
      int w = A->type == KCL_Z ? 2 : 1;
      *o++ = ' ', *o++ = '(';
      o = kcl_print_count(o, (int64_t)A->col[k] + 1);
      for (int q = 0; q < w; q++) {
        *o++ = ',';
        *o++ = ' ';
        o += kcl_number_print(val[w * k + q], o);
      }
      *o++ = ')';
    }
    *o++ = '\n';
  }
  b->size = (size_t)(o - b->data);
  return 0;
}

/* A part ends when its entries and rows reach WORDS_PER_PART. */
static int cut_row_parts(kcl_context *ctx, rows_source *s) {
  const kcl_csr *A = s->A;
  int64_t max = (A->nnz + A->rows) / WORDS_PER_PART + 2, at = 0;
  int rc = kcl_alloc(ctx, max + 1, sizeof *s->first, "parts of a text", (void **)&s->first);
  for (int64_t r = 0; !rc && r < A->rows; r++)
    if (A->row_ptr[r + 1] + r + 1 - A->row_ptr[at] - at >= WORDS_PER_PART || r + 1 == A->rows)
      s->first[++s->parts] = at = r + 1;
  return rc;
}

int rows_write(kcl_context *ctx, const char *path, const kcl_file_system *system) {
  const kcl_csr *A = system->A;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *wide = NULL;
  KCL_OWNED_BY(free_source) rows_source s = {0};
  char head[80];
  kcl_number_init();
  KCL_CALL(kcl_csr_convert(ctx, A, kcl_wide_type(A->type), &wide));
  KCL_CALL(kcl_check_finite(ctx, path, wide->val, wide->nnz * (wide->type == KCL_Z ? 2 : 1)));
  s.A = wide;
  KCL_CALL(cut_row_parts(ctx, &s));
  snprintf(head, sizeof head, "%lld %lld %lld\n", (long long)A->rows, (long long)A->cols,
           (long long)A->nnz);
  return kcl_write_parts(ctx, path, head, s.parts, format_rows_part, &s);
}
