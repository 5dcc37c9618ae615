/* Readers on good files: every variant of Matrix Market, dense and plain vectors, and the matrices of
 * KRYLOCL_MATRICES (default ../shared/matrices) against their index.
 */
#include "tests/data_test.h"

static void test_good(void) {
  kcl_csr *A = read_good(
      "%%matrixmarket MATRIX Coordinate REAL General\r\n% a comment\r\n\r\n3 4 5\r\n% more\r\n"
      "3 1 -1.5e0\r\n\r\n  1\t2   2\r\n1 2 0.5\r\n2 4 0 \r\n%\r\n1 1 +7.\r\n\r\n% end",
      __LINE__);
  CHECK(A->rows == 3 && A->cols == 4 && A->nnz == 4 && A->stored == 5 && A->type == KCL_D);
  CHECK(at(A, 1, 2, 0) == 2.5 && at(A, 3, 1, 0) == -1.5 && at(A, 2, 4, 0) == 0 &&
        at(A, 1, 1, 0) == 7);
  CHECK(A->symmetry == KCL_GENERAL && A->field == KCL_REAL);
  kcl_csr_free(&A);
  A = read_good(
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n1 1 2\n3 1 -4\n3 3 5\n3 1 1",
      __LINE__);
  CHECK(A->nnz == 4 && A->stored == 4 && at(A, 1, 3, 0) == -3 && at(A, 3, 1, 0) == -3 &&
        A->symmetry == KCL_SYMMETRIC);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 2 -4\n",
                __LINE__);
  CHECK(A->nnz == 4 && at(A, 1, 2, 0) == -2 && at(A, 2, 3, 0) == 4 && A->symmetry == KCL_SKEW);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 -2\n",
                __LINE__);
  CHECK(A->type == KCL_Z && A->nnz == 3 && at(A, 1, 2, 0) == 1 && at(A, 1, 2, 1) == 2 &&
        at(A, 2, 1, 1) == -2);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 -2\n",
                __LINE__);
  CHECK(at(A, 1, 2, 0) == -1 && at(A, 1, 2, 1) == 2);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1 -2\n", __LINE__);
  CHECK(at(A, 1, 2, 0) == 1 && at(A, 1, 2, 1) == -2);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n2 3\n1 1\n", __LINE__);
  CHECK(A->nnz == 2 && at(A, 2, 3, 0) == 1 && A->field == KCL_PATTERN);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", __LINE__);
  CHECK(A->nnz == 2 && at(A, 1, 2, 0) == 1);
  kcl_csr_free(&A);
}

static void test_good_array(void) {
  kcl_csr *A = read_good("%%MatrixMarket matrix array real general\n2 3\n1\n2\n\n3\n4\n% c\n5\n0\n",
                         __LINE__);
  CHECK(A->nnz == 6 && at(A, 2, 1, 0) == 2 && at(A, 1, 2, 0) == 3 && at(A, 2, 3, 0) == 0 &&
        A->stored == 6);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3", __LINE__);
  CHECK(A->nnz == 4 && at(A, 1, 2, 0) == 2 && at(A, 2, 2, 0) == 3 && A->stored == 3);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3", __LINE__);
  CHECK(A->nnz == 6 && at(A, 2, 1, 0) == 1 && at(A, 1, 3, 0) == -2 && at(A, 3, 2, 0) == 3);
  kcl_csr_free(&A);
  A = read_good("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n", __LINE__);
  CHECK(A->type == KCL_Z && at(A, 1, 2, 1) == -3 && at(A, 2, 1, 1) == 3 && at(A, 2, 2, 0) == 4);
  kcl_csr_free(&A);
}

/* Many unsorted entries with duplicates and one long row, against a dense sum. */
static void test_unsorted(void) {
  enum { N = 300, COUNT = 60000 };
  double *dense = calloc(N * N, sizeof *dense);
  char *text = malloc(COUNT * 30 + 100), *o = text;
  o += sprintf(o, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", N, N, COUNT);
  for (int k = 0; k < COUNT; k++) {
    int i = k % 3 ? (int)(random_bits() % N) : 7, j = (int)(random_bits() % N),
        v = (int)(random_bits() % 1000);
    o += sprintf(o, "%d %d %d\n", i + 1, j + 1, v);
    dense[i * N + j] += v;
  }
  kcl_csr *A = read_good(text, __LINE__);
  bool good = true;
  for (int64_t i = 0; i < N; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      good = good && ((double *)A->val)[k] == dense[i * N + A->col[k]];
      dense[i * N + A->col[k]] = 0;
    }
  for (int i = 0; i < N * N; i++) good = good && dense[i] == 0;
  CHECK(good);
  kcl_csr_free(&A), free(dense), free(text);
}

/* -0 keeps its sign in rows that are sorted; summed with 0 it is 0. */
static void test_minus_zero(void) {
  kcl_csr *A =
      read_good("%%MatrixMarket matrix coordinate real general\n2 3 5\n1 2 -0.0\n1 1 -0.0\n"
                "2 3 -0.0\n2 3 0\n2 1 5\n",
                __LINE__);
  const double *v = A->val;
  CHECK(A->nnz == 4 && signbit(v[0]) && signbit(v[1]) && v[2] == 5 && !signbit(v[3]));
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- dense */

static kcl_dense *dense_good(const char *text, int line) {
  kcl_dense *B = NULL;
  int rc = kcl_dense_read(ctx, put_text(text), &B);
  if (rc) printf("  %s\n", kcl_error());
  if (!CHECK_AT(rc == KCL_OK, line, "reads")) exit(1);
  return B;
}

static void test_dense(void) {
  kcl_dense *B =
      dense_good("%%MatrixMarket matrix array real general\n% c\n2 2\n1\n2\n3\n-4e0\n", __LINE__);
  CHECK(B->rows == 2 && B->cols == 2 && B->type == KCL_D && B->val[1] == 2 && B->val[2] == 3 &&
        B->val[3] == -4);
  kcl_dense_free(&B);
  B = dense_good(
      "%%MatrixMarket matrix coordinate complex general\n3 2 3\n1 1 1 2\n3 2 5 6\n3 2 1 1\n",
      __LINE__);
  CHECK(B->type == KCL_Z && B->val[0] == 1 && B->val[1] == 2 && B->val[10] == 6 &&
        B->val[11] == 7 && B->val[4] == 0);
  kcl_dense_free(&B);
  B = dense_good("%%MatrixMarket matrix array integer general\n1 2\n-5\n6", __LINE__);
  CHECK(B->rows == 1 && B->cols == 2 && B->val[0] == -5 && B->val[1] == 6);
  kcl_dense_free(&B);
}

static void test_dense_plain(void) {
  kcl_dense *B = dense_good("# plain\n1 2.5\r\n\n  -3e-1\t4", __LINE__);
  CHECK(B->rows == 4 && B->cols == 1 && B->val[1] == 2.5 && B->val[2] == -0.3 && B->val[3] == 4);
  kcl_dense_free(&B);
}

/* ---------------------------------------------------------------- the shared matrices */

static void check_shared(const char *from, char *line) {
  char name[200], symmetry[40], field[40], path[600];
  long long rows, cols, stored, nnz;
  kcl_csr *A = NULL;
  if (sscanf(line, "%199[^\t]\t%lld\t%lld\t%lld\t%lld\t%39[^\t]\t%39[^\t]", name, &rows, &cols,
             &stored, &nnz, field, symmetry) != 7)
    return;
  snprintf(path, sizeof path, "%s/%s.mtx.gz", from, name);
  int rc = kcl_csr_read(ctx, path, &A);
  if (rc) printf("  %s\n", kcl_error());
  if (!CHECK_AT(rc == KCL_OK, __LINE__, name)) return;
  bool good = A->rows == rows && A->cols == cols && A->stored == stored && A->nnz == nnz &&
              well_formed(A) && strcmp(kcl_field_name(A->field), field) == 0 &&
              strcmp(kcl_symmetry_name(A->symmetry), symmetry) == 0;
  CHECK_AT(good, __LINE__, name);
  kcl_csr_free(&A);
}

static void test_shared(void) {
  const char *from = getenv("KRYLOCL_MATRICES");
  char path[500], line[2000];
  if (!from) from = "../shared/matrices";
  snprintf(path, sizeof path, "%s/INDEX.tsv", from);
  FILE *f = fopen(path, "r");
  if (!f) {
    skip("the shared matrices (no %s; set KRYLOCL_MATRICES)", path);
    return;
  }
  while (fgets(line, sizeof line, f)) check_shared(from, line);
  fclose(f);
}

int main(void) {
  static const test tests[] = {{"good", test_good},
                               {"array", test_good_array},
                               {"unsorted", test_unsorted},
                               {"minus zero", test_minus_zero},
                               {"dense", test_dense},
                               {"plain", test_dense_plain},
                               {"shared matrices", test_shared}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
