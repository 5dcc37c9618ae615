/* Matrix Market files: coordinate from CSR, array from dense columns. Numbers have 15, 16 or 17 digits,
 * the fewest that read back as the same double. Symmetric, skew-symmetric and Hermitian matrices are
 * written as their lower half, row by row. Parts of about 1 MB are formatted (and packed) by all
 * threads and written in order.
 */
#include "data/files/file.h"
#include "core/base/number.h"
#include "data/files/parts.h"
#include <stdio.h>

enum {
  ENTRIES_PER_PART = 32768,
  LONGEST_ENTRY = 24 + 64
}; /* entries in a part; the longest line */

typedef struct mtx_source {
  const kcl_csr *A;   /* the matrix, or NULL */
  const kcl_dense *B; /* the columns, or NULL */
  const double *val;  /* values in double */
  int width;          /* numbers per entry: 0, 1, 2 */
  int64_t below;      /* entries with row - col >= below are written */
  int64_t parts;
} mtx_source;

static char *print_mtx_value(char *o, const double *v, int width) {
  for (int q = 0; q < width; q++) {
    o += kcl_number_print(v[q], o);
    *o++ = q + 1 < width ? ' ' : '\n';
  }
  return o;
}

static char *print_rows(const mtx_source *s, int64_t first, int64_t last, char *o) {
  const kcl_csr *A = s->A;
  int w = kcl_type_complex(A->type) ? 2 : 1;
  for (int64_t r = first; r < last; r++)
    for (int64_t k = A->row_ptr[r]; k < A->row_ptr[r + 1]; k++) {
      if (r - A->col[k] < s->below) continue;
      o = kcl_print_count(o, r + 1), *o++ = ' ';
      o = kcl_print_count(o, (int64_t)A->col[k] + 1), *o++ = s->width ? ' ' : '\n';
      o = print_mtx_value(o, s->val + w * k, s->width);
    }
  return o;
}

static int format_mtx_part(const void *self, int64_t part, kcl_bytes *b) {
  const mtx_source *s = self;
  int64_t first = part * ENTRIES_PER_PART, last = first + ENTRIES_PER_PART, count;
  if (s->A) {
    first = part ? kcl_csr_row_from(s->A, first) : 0;
    last = part + 1 < s->parts ? kcl_csr_row_from(s->A, last) : s->A->rows;
    count = last > first ? s->A->row_ptr[last] - s->A->row_ptr[first] : 0;
  } else {
    count = s->B->rows * s->B->cols;
    if (last > count) last = count;
    count = last - first;
  }
  b->data = malloc((size_t)(count + 1) * LONGEST_ENTRY);
  if (!b->data) return 1;
  char *o = b->data;
  if (s->A)
    o = print_rows(s, first, last, o);
  else
    for (int64_t k = first; k < last; k++) o = print_mtx_value(o, s->val + s->width * k, s->width);
  b->size = (size_t)(o - b->data);
  return 0;
}

static double count_written(const void *arg, int64_t from, int64_t to) {
  const mtx_source *s = arg;
  const kcl_csr *A = s->A;
  int64_t n = 0;
  for (int64_t r = from; r < to; r++)
    for (int64_t k = A->row_ptr[r]; k < A->row_ptr[r + 1]; k++) n += r - A->col[k] >= s->below;
  return (double)n;
}

int mtx_write(kcl_context *ctx, const char *path, const kcl_file_system *system) {
  const kcl_csr *A = system->A;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *wide = NULL;
  kcl_type type = kcl_wide_type(A->type);
  kcl_symmetry symmetry =
      A->symmetry == KCL_HERMITIAN && type == KCL_D ? KCL_SYMMETRIC : A->symmetry;
  char head[160];
  if (A->type != type) {
    KCL_CALL(kcl_csr_convert(ctx, A, type, &wide));
    A = wide;
  }
  kcl_number_init();
  mtx_source s = {.A = A, .val = A->val, .parts = A->nnz / ENTRIES_PER_PART + 1};
  KCL_CALL(kcl_check_finite(ctx, path, s.val, A->nnz * (type == KCL_Z ? 2 : 1)));
  s.below = symmetry == KCL_GENERAL ? INT64_MIN / 2 : symmetry == KCL_SKEW;
  kcl_field field = kcl_csr_narrow_field(A, s.val);
  s.width = field == KCL_PATTERN ? 0 : field == KCL_COMPLEX ? 2 : 1;
  snprintf(head, sizeof head, "%%%%MatrixMarket matrix coordinate %s %s\n%lld %lld %lld\n",
           kcl_field_name(field), kcl_symmetry_name(symmetry), (long long)A->rows,
           (long long)A->cols, (long long)kcl_sum(A->rows, KCL_FEW_ROWS, count_written, &s));
  return kcl_write_parts(ctx, path, head, s.parts, format_mtx_part, &s);
}

int kcl_dense_head(kcl_type type, int64_t rows, int64_t cols, char head[KCL_DENSE_HEAD]) {
  return snprintf(head, KCL_DENSE_HEAD, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
                  type == KCL_Z ? "complex" : "real", (long long)rows, (long long)cols);
}

static mtx_source dense_source(const kcl_dense *B) {
  kcl_number_init();
  return (mtx_source){.B = B,
                      .val = B->val,
                      .width = B->type == KCL_Z ? 2 : 1,
                      .parts = B->rows * B->cols / ENTRIES_PER_PART + 1};
}

int kcl_dense_write(kcl_context *ctx, const char *path, const kcl_dense *B) {
  char head[KCL_DENSE_HEAD];
  KCL_CALL(kcl_need(ctx, "path", path));
  KCL_CALL(kcl_dense_need(ctx, "B", B));
  const mtx_source s = dense_source(B);
  KCL_CALL(kcl_check_finite(ctx, path, s.val, B->rows * B->cols * s.width));
  kcl_dense_head(B->type, B->rows, B->cols, head);
  return kcl_write_parts(ctx, path, head, s.parts, format_mtx_part, &s);
}

typedef struct formatting {
  mtx_source s;
  kcl_bytes *part;
  atomic_bool failed;
} formatting;

static void format_one(void *arg, int64_t part, int64_t end) {
  formatting *f = arg;
  (void)end;
  if (format_mtx_part(&f->s, part, &f->part[part])) f->failed = true;
}

int kcl_format_numbers(kcl_context *ctx, kcl_type type, const double *v, int64_t n,
                       kcl_formatted *out) {
  const kcl_dense B = {.rows = n, .cols = 1, .type = type, .val = (double *)(uintptr_t)v};
  formatting f = {.s = dense_source(&B)};
  out->parts = f.s.parts;
  KCL_CALL(kcl_alloc(ctx, out->parts, sizeof *out->part, "text", (void **)&out->part));
  f.part = out->part;
  kcl_for_each(out->parts, 1, format_one, &f);
  for (int64_t k = 0; k < out->parts; k++) out->size += out->part[k].size;
  return f.failed ? kcl_fail(ctx, KCL_MEMORY, "out of memory: text") : KCL_OK;
}

int kcl_formatted_write(kcl_context *ctx, kcl_output *o, const kcl_formatted *f, int64_t at) {
  int rc = kcl_output_seek(ctx, o, at);
  for (int64_t k = 0; k < f->parts && !rc; k++)
    rc = kcl_output_write(ctx, o, f->part[k].data, f->part[k].size);
  return rc;
}

void kcl_formatted_free(kcl_formatted *f) {
  for (int64_t k = 0; f->part && k < f->parts; k++) free(f->part[k].data);
  free(f->part);
  *f = (kcl_formatted){0};
}
