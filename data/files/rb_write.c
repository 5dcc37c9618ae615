/* Rutherford-Boeing files: pointers, row indices and values of the columns (of the lower half if there is
 * a symmetry), in lines of at most 80 characters. All numbers of an array have the width of the widest
 * and read back as the same double. Header: hb_head.c.
 */
#include "data/files/hb.h"
#include "core/base/number.h"
#include <stdio.h>

enum { RB_LINE = 80, LINES_PER_PART = 8192 }; /* characters; lines in a part */

typedef struct rb_array { /* one of the three pointers is not NULL */
  int64_t count;          /* numbers */
  const int64_t *whole;   /* [count] from 0, written from 1 */
  const int32_t *index;   /* [count] from 0, written from 1 */
  const double *value;    /* [count] */
  bool integer;           /* values without a decimal point */
  int width, per_line;
  char format[24];
} rb_array;

typedef struct rb_columns { /* compressed columns of A or of its lower half */
  int64_t *pointer;         /* [cols + 1] */
  int32_t *row;             /* [nnz] */
  double *val;              /* [nnz], pairs when complex */
  int64_t nnz;
} rb_columns;

/* Prints a number, a real one with the decimal point that Fortran requires. */
static int print_number(double v, bool integer, char out[40]) {
  int n = kcl_number_print(v, out);
  if (integer || memchr(out, '.', (size_t)n)) return n;
  char *e = memchr(out, 'e', (size_t)n);
  int at = e ? (int)(e - out) : n;
  memmove(out + at + 1, out + at, (size_t)(n - at));
  out[at] = '.';
  return n + 1;
}

static int print_item(const rb_array *s, int64_t k, char out[40]) {
  if (s->value) return print_number(s->value[k], s->integer, out);
  return (int)(kcl_print_count(out, (s->whole ? s->whole[k] : s->index[k]) + 1) - out);
}

static double widest_item(const void *arg, int64_t from, int64_t to) {
  int width = 1;
  for (int64_t k = from; k < to; k++) {
    char text[40];
    int n = print_item(arg, k, text);
    width = n > width ? n : width;
  }
  return width;
}

/* Width of the widest number and a blank; how many fit in a line. */
static void measure_array(rb_array *s) {
  s->width = (int)fmax(1, kcl_largest(s->count, KCL_FEW, widest_item, s)) + 1;
  s->per_line = RB_LINE / s->width;
  bool real = s->value && !s->integer;
  snprintf(s->format, sizeof s->format, real ? "(%dE%d.%d)" : "(%dI%d)", s->per_line, s->width,
           s->width > 9 ? s->width - 8 : 1);
}

static int64_t rb_line_count(const rb_array *s) {
  return (s->count + s->per_line - 1) / s->per_line;
}

static int format_rb_part(const void *self, int64_t part, kcl_bytes *b) {
  const rb_array *s = self;
  int64_t first = part * LINES_PER_PART * s->per_line,
          last = first + (int64_t)LINES_PER_PART * s->per_line;
  if (last > s->count) last = s->count;
  char *o = b->data = malloc((size_t)(last - first + 1) * ((size_t)s->width + 1) + 64);
  if (!o) return 1;
  for (int64_t k = first; k < last; k++) {
    char text[40];
    int n = print_item(s, k, text);
    memset(o, ' ', (size_t)(s->width - n));
    memcpy(o + s->width - n, text, (size_t)n);
    o += s->width;
    if (k + 1 == last || (k + 1 - first) % s->per_line == 0) *o++ = '\n';
  }
  b->size = (size_t)(o - b->data);
  return 0;
}

/* The rows of A^H are the conjugated columns of A. The upper half is dropped in place. */
static int make_columns(kcl_context *ctx, const kcl_csr *A, kcl_symmetry symmetry, rb_columns *c,
                        kcl_csr **T) {
  int64_t below = symmetry == KCL_GENERAL ? INT64_MIN / 2 : symmetry == KCL_SKEW, q = 0, k = 0;
  const int parts = A->type == KCL_Z ? 2 : 1;
  KCL_CALL(kcl_csr_adjoint(ctx, A, T));
  *c = (rb_columns){(*T)->row_ptr, (*T)->col, (*T)->val, 0};
  for (int64_t j = 0; j < A->cols; j++) {
    for (; k < (*T)->row_ptr[j + 1]; k++) {
      if (c->row[k] - j < below) continue;
      c->row[q] = c->row[k];
      for (int p = 0; p < parts; p++) c->val[parts * q + p] = (p ? -1 : 1) * c->val[parts * k + p];
      q++;
    }
    c->pointer[j + 1] = q;
  }
  c->nnz = q;
  return KCL_OK;
}

/* The key is the file's name: printable, in one line. */
static void make_rb_key(const char *path, char key[9]) {
  const char *slash = strrchr(path, '/');
  snprintf(key, 9, "%s", slash ? slash + 1 : path);
  for (char *c = key; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
}

static void print_header(char *o, size_t capacity, const char *path, const kcl_csr *A, char type[4],
                         const rb_array s[3]) {
  char name[9];
  make_rb_key(path, name);
  int64_t n[3] = {rb_line_count(&s[0]), rb_line_count(&s[1]),
                  s[2].count ? rb_line_count(&s[2]) : 0};
  int64_t all = n[0] + n[1] + n[2];
  snprintf(
      o, capacity,
      "%-72.72s%-8.8s\n%14lld%14lld%14lld%14lld\n%-14s%14lld%14lld%14lld%14d\n%-16s%-16s%-20s\n",
      "written by krylocl", name, (long long)all, (long long)n[0], (long long)n[1], (long long)n[2],
      type, (long long)A->rows, (long long)A->cols, (long long)s[1].count, 0, s[0].format,
      s[1].format, s[2].format);
}

static int write_arrays(kcl_context *ctx, const char *path, const char *head, const rb_array s[3]) {
  kcl_output o = {.file = -1};
  KCL_CALL(kcl_output_open(ctx, path, &o));
  int rc = kcl_output_text(ctx, &o, head);
  for (int k = 0; k < 3 && !rc; k++)
    rc = kcl_output_parts(ctx, &o,
                          rb_line_count(&s[k]) / LINES_PER_PART +
                              (rb_line_count(&s[k]) % LINES_PER_PART > 0),
                          format_rb_part, &s[k]);
  return kcl_output_close(ctx, &o, rc);
}

int rb_write(kcl_context *ctx, const char *path, const kcl_file_system *system) {
  const kcl_csr *A = system->A;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *wide = NULL, *T = NULL;
  rb_columns c;
  bool complex = kcl_type_complex(A->type);
  kcl_symmetry symmetry = A->symmetry == KCL_HERMITIAN && !complex ? KCL_SYMMETRIC : A->symmetry;
  char head[600], type[4] = "rua";
  kcl_number_init();
  KCL_CALL(kcl_csr_convert(ctx, A, complex ? KCL_Z : KCL_D, &wide));
  KCL_CALL(kcl_check_finite(ctx, path, wide->val, wide->nnz * (complex ? 2 : 1)));
  kcl_field field = kcl_csr_narrow_field(wide, wide->val);
  type[0] = "ricp"[field];
  type[1] = A->rows != A->cols ? 'r' : "uszh"[symmetry];
  KCL_CALL(make_columns(ctx, wide, symmetry, &c, &T));
  rb_array s[3] = {{.count = A->cols + 1, .whole = c.pointer},
                   {.count = c.nnz, .index = c.row},
                   {.count = field == KCL_PATTERN ? 0 : c.nnz * (complex ? 2 : 1),
                    .value = c.val,
                    .integer = field == KCL_INTEGER}};
  for (int k = 0; k < 3; k++) measure_array(&s[k]);
  if (field == KCL_PATTERN) s[2].format[0] = 0;
  print_header(head, sizeof head, path, A, type, s);
  return write_arrays(ctx, path, head, s);
}
