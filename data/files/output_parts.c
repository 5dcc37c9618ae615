/* Text in parts, formatted and packed by all threads and written in order; and helpers of the writers:
 * printing counts, finite numbers, the field of values.
 */
#include "data/files/file.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int write_part(kcl *ctx, kcl_output *o, kcl_bytes *b, bool failed) {
  int rc = failed ? kcl_fail(ctx, KCL_MEMORY, "%s: out of memory", o->name)
                  : kcl_output_write(ctx, o, b->data, b->size);
  free(b->data);
  return rc;
}

int kcl_output_parts(kcl *ctx, kcl_output *o, int64_t parts, kcl_format_part *format,
                     const void *self) {
  atomic_int rc = KCL_OK;
#pragma omp parallel for ordered schedule(static, 1) if (parts > 1)
  for (int64_t part = 0; part < parts; part++) {
    kcl_bytes b = {0};
    bool failed = rc == KCL_OK && (format(self, part, &b) || kcl_output_pack(o, &b));
#pragma omp ordered
    {
      if (rc == KCL_OK)
        rc = write_part(ctx, o, &b, failed);
      else
        free(b.data);
    }
  }
  return rc;
}

int kcl_output_text(kcl *ctx, kcl_output *o, const char *line) {
  kcl_bytes b = {strdup(line), strlen(line)};
  return write_part(ctx, o, &b, !b.data || kcl_output_pack(o, &b));
}

char *kcl_print_count(char *o, int64_t v) {
  char d[20];
  int n = 0;
  do d[n++] = (char)('0' + v % 10);
  while (v /= 10);
  while (n) *o++ = d[--n];
  return o;
}

int kcl_check_finite(kcl *ctx, const char *path, const double *v, int64_t n) {
  int64_t bad = 0;
#pragma omp parallel for reduction(+ : bad) if (n > 100000)
  for (int64_t i = 0; i < n; i++) bad += !isfinite(v[i]);
  if (bad)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s: %lld of the numbers are not finite: such a file cannot hold them", path,
                    (long long)bad);
  return KCL_OK;
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
