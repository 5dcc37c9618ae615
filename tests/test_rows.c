/* Row lists: from 0 and from 1, complex, comments, several blocks of text, error messages. Round trips are
 * in test_write.c.
 */
#include "tests/data_test.h"
#include <sys/resource.h>
#include <sys/wait.h>

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static void test_good(void) {
  kcl_csr *A = read_good("# note\n2 3 3\nrow 1: (1, 2.5) (3, -1)\nrow 2: (2,4e-3)\n", __LINE__);
  CHECK(A->rows == 2 && A->cols == 3 && A->nnz == 3 && A->stored == 3 && A->type == KCL_D);
  CHECK(at(A, 1, 1, 0) == 2.5 && at(A, 1, 3, 0) == -1 && at(A, 2, 2, 0) == 4e-3);
  kcl_csr_free(&A);
  A = read_good("2 3 3\n\nROW 0: (0, 2.5)   ( 2 , -1 )\r\n% note\n row 1 :(1,7)", __LINE__);
  CHECK(at(A, 1, 1, 0) == 2.5 && at(A, 1, 3, 0) == -1 && at(A, 2, 2, 0) == 7);
  kcl_csr_free(&A);
  A = read_good("3 3 3\nrow 3: (3, 1) (1, 2)\nrow 2: (2, 1)\n", __LINE__);
  CHECK(at(A, 3, 3, 0) == 1 && at(A, 3, 1, 0) == 2 && A->row_ptr[1] == 0);
  kcl_csr_free(&A);
  A = read_good("2 2 2\nrow 1: (1, 1, -2)\nrow 2: (1, 0, 3)\n", __LINE__);
  CHECK(A->type == KCL_Z && at(A, 1, 1, 1) == -2 && at(A, 2, 1, 1) == 3 && A->field == KCL_COMPLEX);
  kcl_csr_free(&A);
  A = read_good("1 1 2\nrow 1: (1, 1) (1, 2)\n", __LINE__);
  CHECK(A->nnz == 1 && A->stored == 2 && at(A, 1, 1, 0) == 3);
  kcl_csr_free(&A);
  A = read_good("4 5 0\n", __LINE__);
  CHECK(A->rows == 4 && A->cols == 5 && A->nnz == 0);
  kcl_csr_free(&A);
}

/* Longer than a block of text, with one row longer than that. */
static void test_long(void) {
  enum { N = 200000 };
  char *text = malloc(N * 60), *o = text;
  o += sprintf(o, "%d %d %d\nrow 1:", N, N, 2 * N - 1);
  for (int j = 1; j <= N; j++) o += sprintf(o, " (%d, %d)", j, j);
  for (int i = 2; i <= N; i++) o += sprintf(o, "\nrow %d: (%d, -%d)", i, i, i);
  kcl_csr *A = read_good(text, __LINE__);
  bool good = A->nnz == 2 * N - 1;
  for (int i = 2; i <= N && good; i++) good = at(A, i, i, 0) == -i;
  CHECK(good && at(A, 1, N, 0) == N);
  kcl_csr_free(&A);
  memcpy(strstr(text, "row 150001:"), "row 15000x:", 11);
  CHECK(kcl_csr_read(ctx, put_text(text), &A) == KCL_INPUT && strstr(kcl_error(), ":150002:10:"));
  free(text);
}

static void bad(const char *text, const char *words, int line) {
  kcl_csr *A = (kcl_csr *)&random_state;
  int rc = kcl_csr_read(ctx, put_text(text), &A);
  if (!CHECK_AT(rc == KCL_INPUT && !A && strstr(kcl_error(), words), line, words))
    printf("  %d: %s\n", rc, rc ? kcl_error() : "was accepted");
}
#define BAD(text, words) bad(text, words, __LINE__)

static void test_bad(void) {
  BAD("2 2 2\nrow 1: (1, 1)\n", ":1: found 1 entries, expected 2");
  BAD("2 2 1\nrow 3: (1, 1)\n", ":2:5: found \"3:\", expected a row number of the matrix");
  BAD("2 2 1\nrow 1: (3, 1)\n", ":2:9: found \"3,\", expected a column number of the matrix");
  BAD("2 2 1\nrow 1: (0, 1)\n", ":2:9: found \"0,\", expected a column number of the matrix");
  BAD("2 2 1\nrow 0: (0, 1)\nrow 2: (0, 1)\n", ":3:5: found \"2:\", expected a row number");
  BAD("2 2 1\nrow 1 (1, 1)\n", ":2:7: found \"(1,\", expected : after");
  BAD("2 2 1\nrow 1: (1 1)\n", ":2:11: found \"1)\", expected , and the value");
  BAD("2 2 1\nrow 1: (1, x)\n", ":2:12: found \"x)\", expected a number");
  BAD("2 2 1\nrow 1: (1, nan)\n", ":2:12: found \"nan)\", expected a number");
  BAD("2 2 1\nrow 1: (1, 1\n", ":2:13: found the end of the line, expected )");
  BAD("2 2 2\nrow 1: (1, 1, 2) (2, 1)\n", ":2:23: found \")\", expected , and the imaginary part");
  BAD("2 2 1\nrow 1: (1, 1) 5\n", ":2:15: found \"5\", expected (column, value) or the end");
  BAD("2 2 1\nrow 1: (1, 1)\ncolumn 2\n", ":3:1: found \"column\", expected row");
  BAD("3000000000 2 1\nrow 1: (1, 1)\n", ":1:1: found \"3000000000\", expected rows");
  BAD("2 2 1\nrows 1: (1, 1)\n", ":1:1: found \"2\", expected %%MatrixMarket");
}

/* Dense columns of 2^62 numbers are memory that nobody has, not a wrong use. */
static void test_dense_capacity(void) {
  kcl_dense *B = NULL;
  const char *path =
      put_text("%%MatrixMarket matrix coordinate real general\n2147483648 2147483648 1\n1 1 1\n");
  CHECK(kcl_dense_read(ctx, path, &B) == KCL_MEMORY && !B);
}

/* A few bytes that state 2^31 rows, 26 GB, under a limit of 20: refused before memory is touched. */
static void test_capacity(void) {
#ifdef SANITIZED
  skip("2^31 rows: the sanitizer reserves more address space than the limit");
#else
  static const char *const text[] = {
      "2147483648 2147483648 1\nrow 2147483648: (2147483648, 1)\n",
      "%%MatrixMarket matrix coordinate real general\n2147483648 2147483648 1\n1 1 1\n"};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    const char *path = put_text(text[i]);
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      struct rlimit limit = {(rlim_t)20 << 30, (rlim_t)20 << 30};
      struct rusage used;
      kcl_csr *A = NULL;
      setrlimit(RLIMIT_AS, &limit);
      int rc = kcl_csr_read(ctx, path, &A);
      getrusage(RUSAGE_SELF, &used); /* kB */
      _exit(rc == KCL_MEMORY && !A && used.ru_maxrss < 1 << 20 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  }
#endif
}

int main(void) {
  static const test tests[] = {{"room", test_capacity},
                               {"dense room", test_dense_capacity},
                               {"good", test_good},
                               {"long", test_long},
                               {"refusals", test_bad}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
