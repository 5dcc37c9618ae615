/* Text in parts, formatted and packed by all threads and written in order; and helpers of the writers:
 * printing counts, finite numbers, the field of values.
 */
#include "data/files/file.h"
#include "data/files/parts.h"
#include <pthread.h>

static int write_part(kcl_context *ctx, kcl_output *o, kcl_bytes *b, bool failed) {
  int rc = failed ? kcl_fail(ctx, KCL_MEMORY, "%s: out of memory", o->name)
                  : kcl_output_write(ctx, o, b->data, b->size);
  free(b->data);
  return rc;
}

typedef struct parts_writing {
  kcl_context *ctx;
  kcl_output *o;
  kcl_format_part *format;
  const void *self;
  atomic_int rc;
  int64_t written; /* parts */
  pthread_mutex_t lock;
  pthread_cond_t turn;
} parts_writing;

/* Formats one part, and writes it when those before it are written. */
static void write_in_turn(void *arg, int64_t part, int64_t end) {
  parts_writing *w = arg;
  kcl_bytes b = {0};
  bool failed = w->rc == KCL_OK && (w->format(w->self, part, &b) || kcl_output_pack(w->o, &b));
  pthread_mutex_lock(&w->lock);
  while (w->written < part) pthread_cond_wait(&w->turn, &w->lock);
  if (w->rc == KCL_OK)
    w->rc = write_part(w->ctx, w->o, &b, failed);
  else
    free(b.data);
  w->written = end;
  pthread_cond_broadcast(&w->turn);
  pthread_mutex_unlock(&w->lock);
}

int kcl_output_parts(kcl_context *ctx, kcl_output *o, int64_t parts, kcl_format_part *format,
                     const void *self) {
  parts_writing w = {.ctx = ctx, .o = o, .format = format, .self = self};
  pthread_mutex_init(&w.lock, NULL), pthread_cond_init(&w.turn, NULL);
  kcl_for_each(parts, 1, write_in_turn, &w);
  pthread_cond_destroy(&w.turn), pthread_mutex_destroy(&w.lock);
  return w.rc;
}

int kcl_output_text(kcl_context *ctx, kcl_output *o, const char *line) {
  kcl_bytes b = {strdup(line), strlen(line)};
  return write_part(ctx, o, &b, !b.data || kcl_output_pack(o, &b));
}

int kcl_write_parts(kcl_context *ctx, const char *path, const char *head, int64_t parts,
                    kcl_format_part *format, const void *self) {
  kcl_output o = {.file = -1};
  KCL_CALL(kcl_output_open(ctx, path, &o));
  int rc = kcl_output_text(ctx, &o, head);
  if (!rc) rc = kcl_output_parts(ctx, &o, parts, format, self);
  return kcl_output_close(ctx, &o, rc);
}

char *kcl_print_count(char *o, int64_t v) {
  char d[20];
  int n = 0;
  do d[n++] = (char)('0' + v % 10);
  while (v /= 10);
  while (n) *o++ = d[--n];
  return o;
}

static double count_infinite(const void *arg, int64_t from, int64_t to) {
  const double *v = arg;
  int64_t bad = 0;
  for (int64_t i = from; i < to; i++) bad += !isfinite(v[i]);
  return (double)bad;
}

int64_t kcl_count_infinite(const double *v, int64_t n) {
  return (int64_t)kcl_sum(n, KCL_FEW, count_infinite, v);
}

int kcl_fail_infinite(kcl_context *ctx, const char *path, int64_t count) {
  return kcl_fail(ctx, KCL_USAGE,
                  "%s: %lld of the numbers are not finite: such a file cannot hold them", path,
                  (long long)count);
}

int kcl_check_finite(kcl_context *ctx, const char *path, const double *v, int64_t n) {
  const int64_t bad = kcl_count_infinite(v, n);
  return bad ? kcl_fail_infinite(ctx, path, bad) : KCL_OK;
}

kcl_field kcl_csr_narrow_field(const kcl_csr *A, const double *v) {
  if (kcl_type_complex(A->type)) return KCL_COMPLEX;
  if (A->field != KCL_PATTERN && A->field != KCL_INTEGER) return KCL_REAL;
  int64_t other = 0, broken = 0;
  for (int64_t k = 0; k < A->nnz; k++)
    other += v[k] != 1, broken += !(fabs(v[k]) < 1e15) || v[k] != rint(v[k]);
  if (A->field == KCL_PATTERN && !other && A->symmetry != KCL_SKEW) return KCL_PATTERN;
  return broken || A->field == KCL_PATTERN ? KCL_REAL : KCL_INTEGER;
}
