/* Shared by the fuzz targets: a context on one thread, a file in memory, checks of what was read. A target is one C file
 * with one function LLVMFuzzerTestOneInput: libFuzzer calls it (make fuzz), or tests/fuzz/corpus.c for each file of the
 * corpus, with any compiler.
 *
 * The rule: a reader returns a matrix that satisfies all conditions of krylocl.h, or a status with a message and nothing
 * else; and what is written reads back the same. abort() is the verdict. */
#ifndef KCL_FUZZ_H
#define KCL_FUZZ_H
#include "solver/calls.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static kcl_context *fuzz_ctx;
static char fuzz_folder[60]; /* of the file and of those that are written */
static int fuzz_file = -1;

#define FUZZ_REQUIRE(c)                                                                            \
  do {                                                                                             \
    if (!(c)) fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #c, kcl_error()), abort();   \
  } while (0)

static inline const char *fuzz_path(const char *name) {
  static char path[2][100];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", fuzz_folder, name);
  return path[turn];
}

static inline void fuzz_leave(void) {
  static const char *const names[] = {"in", "t.mtx", "t.rb", "t.rows", "t.kcl"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(fuzz_path(names[i]));
  rmdir(fuzz_folder);
}

static inline void fuzz_begin(void) {
  if (fuzz_ctx) return;
  snprintf(fuzz_folder, sizeof fuzz_folder, "%s/krylocl-fuzz-XXXXXX",
           access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
  setenv("KRYLOCL_CACHE", "", 1);
  FUZZ_REQUIRE(mkdtemp(fuzz_folder) && !kcl_context_create(NULL, 0, &fuzz_ctx) &&
               !kcl_select(fuzz_ctx, "cpu", 1));
  fuzz_file = open(fuzz_path("in"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  FUZZ_REQUIRE(fuzz_file >= 0);
  atexit(fuzz_leave);
}

/* The input as a file. */
static inline const char *fuzz_put(const void *data, size_t size) {
  fuzz_begin();
  FUZZ_REQUIRE(!ftruncate(fuzz_file, 0) && pwrite(fuzz_file, data, size, 0) == (ssize_t)size);
  return fuzz_path("in");
}

static inline size_t fuzz_bytes(const kcl_csr *A) {
  return (size_t)A->nnz * kcl_type_size(A->type);
}

static inline void fuzz_check_rows(const kcl_csr *A) {
  FUZZ_REQUIRE(A->rows >= 0 && A->cols >= 0 && A->nnz >= 0);
  FUZZ_REQUIRE(A->row_ptr[0] == 0 && A->row_ptr[A->rows] == A->nnz);
  for (int64_t r = 0; r < A->rows; r++) {
    FUZZ_REQUIRE(A->row_ptr[r] <= A->row_ptr[r + 1]);
    for (int64_t k = A->row_ptr[r]; k < A->row_ptr[r + 1]; k++) {
      FUZZ_REQUIRE(A->col[k] >= 0 && A->col[k] < A->cols);
      FUZZ_REQUIRE(k == A->row_ptr[r] || A->col[k - 1] < A->col[k]);
    }
  }
}

static inline bool fuzz_finite(const double *v, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

/* A file written in the format of this ending reads back the same, value by value. */
static inline void fuzz_round_trip(const kcl_csr *A, const char *name) {
  kcl_csr *B = NULL;
  FUZZ_REQUIRE(!kcl_csr_write(fuzz_ctx, fuzz_path(name), A));
  FUZZ_REQUIRE(!kcl_csr_read(fuzz_ctx, fuzz_path(name), &B));
  FUZZ_REQUIRE(B->rows == A->rows && B->cols == A->cols && B->nnz == A->nnz && B->type == A->type);
  FUZZ_REQUIRE(!memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8));
  FUZZ_REQUIRE(!A->nnz || !memcmp(A->col, B->col, (size_t)A->nnz * 4));
  FUZZ_REQUIRE(!A->nnz || !memcmp(A->val, B->val, fuzz_bytes(A)));
  kcl_csr_free(&B);
}

/* A file of a matrix. name: to write it back as, with the ending of a format. */
static inline int fuzz_matrix(const void *data, size_t size, const char *name) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL, *x0 = NULL;
  kcl_stats stats;
  const char *path = fuzz_put(data, size);
  int rc = kcl_csr_read_system(fuzz_ctx, path, &A, &b, &x0);
  if (rc) {
    FUZZ_REQUIRE(!A && !b && !x0 && strlen(kcl_error()) > 10);
    return 0;
  }
  fuzz_check_rows(A);
  bool finite = fuzz_finite(A->val, A->nnz * (A->type == KCL_Z ? 2 : 1));
  FUZZ_REQUIRE(finite || !strcmp(name, "t.kcl"));
  FUZZ_REQUIRE(!b || fuzz_finite(b->val, b->rows * b->cols * (b->type == KCL_Z ? 2 : 1)) ||
               !strcmp(name, "t.kcl"));
  if (A->nnz < 3000 && A->rows < 3000 && A->cols < 3000)
    FUZZ_REQUIRE(
        !(rc = kcl_csr_stats(fuzz_ctx, A, &stats)) || /* .kcl: of a half, or of another matrix */
        (A->symmetry && strstr(kcl_error(), "is declared")));
  if (finite && A->nnz && A->nnz < 3000 && A->rows < 3000 && A->cols < 3000)
    fuzz_round_trip(A, name);
  kcl_csr_free(&A), kcl_dense_free(&b), kcl_dense_free(&x0);
  return 0;
}
#endif
