/* Shared by the tests of data/: a scratch folder, good files, a list of tests. */
#ifndef KCL_DATA_TEST_H
#define KCL_DATA_TEST_H
#include "data/files/text.h"
#include "core/base/number.h"
#include "tests/check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static kcl_context *ctx;
static char folder[] = "/tmp/krylocl-read-XXXXXX";

/* A check reported at `line` with the text `what`. */
#define CHECK_AT(good, line, what) check_at((good), __FILE__, (line), "%s", (what))

static inline const char *path_of(const char *name) {
  static char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static inline const char *put_bytes(const char *name, const void *data, size_t size) {
  const char *path = path_of(name);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(data, 1, size, f) != size || fclose(f)) exit(1);
  return path;
}
static inline const char *put_text(const char *text) {
  return put_bytes("t.mtx", text, strlen(text));
}

/* Rows ascend and lie within the matrix. */
static inline bool well_formed(const kcl_csr *A) {
  bool good = A->row_ptr[0] == 0 && A->row_ptr[A->rows] == A->nnz;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      good = good && A->col[k] >= 0 && A->col[k] < A->cols &&
             (k == A->row_ptr[i] || A->col[k - 1] < A->col[k]);
  return good;
}

/* The part (0: real, 1: imaginary) of the entry of row i and column j, from 1 on; NaN: there is none. */
static inline double at(const kcl_csr *A, int64_t i, int64_t j, int part) {
  int w = A->type == KCL_Z ? 2 : 1;
  for (int64_t k = A->row_ptr[i - 1]; k < A->row_ptr[i]; k++)
    if (A->col[k] == j - 1) return ((const double *)A->val)[w * k + part];
  return NAN;
}

static inline kcl_csr *read_good(const char *text, int line) {
  kcl_csr *A = NULL;
  int rc = kcl_csr_read(ctx, put_text(text), &A);
  if (rc) printf("  %s\n", kcl_error());
  if (!CHECK_AT(rc == KCL_OK && A && well_formed(A), line, "reads")) exit(1);
  return A;
}

/* Runs every test and prints its name; the exit code of the program. */
typedef struct test {
  const char *name;
  void (*run)(void);
} test;
static inline int run_tests(const test *tests, size_t n) {
  char command[400];
  if (!mkdtemp(folder) || kcl_context_create(NULL, 0, &ctx)) return 1;
  for (size_t i = 0; i < n; i++) {
    int before = failed;
    tests[i].run();
    if (failed == before) printf("ok %s\n", tests[i].name);
  }
  kcl_context_free(&ctx);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
  return check_report();
}
#endif
