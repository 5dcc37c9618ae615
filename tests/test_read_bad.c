/* Readers on invalid files: each error message has the position and what was expected. */
#include "tests/data_test.h"

typedef int reader(const char *path);
static int read_csr(const char *path) {
  kcl_csr *A = (kcl_csr *)&random_state;
  int rc = kcl_csr_read(ctx, path, &A);
  if (rc) CHECK(A == NULL);
  if (!rc) kcl_csr_free(&A);
  return rc;
}
static int read_dense(const char *path) {
  kcl_dense *B = (kcl_dense *)&random_state;
  int rc = kcl_dense_read(ctx, path, &B);
  if (rc) CHECK(B == NULL);
  if (!rc) kcl_dense_free(&B);
  return rc;
}

/* The message must contain the position and the words, which are separated by |. */
static void refuses(reader *read, const char *path, const char *words, int line) {
  char copy[400];
  int rc = read(path);
  bool good = rc == KCL_INPUT;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *w = strtok(copy, "|"); w; w = strtok(NULL, "|")) good = good && strstr(kcl_error(), w);
  if (!CHECK_AT(good, line, words)) printf("  %d: %s\n", rc, rc ? kcl_error() : "was accepted");
}
#define BAD(text, words) refuses(read_csr, put_text(text), words, __LINE__)
#define BAD_DENSE(text, words) refuses(read_dense, put_text(text), words, __LINE__)
#define REAL "%%MatrixMarket matrix coordinate real "

static void test_bad_head(void) {
  BAD("%%MatrixMarkt matrix coordinate real general\n1 1 0\n",
      "t.mtx:1:1: |\"%%MatrixMarkt\"|expected %%MatrixMarket");
  BAD("hello\n", "t.mtx:1:1: found \"hello\"");
  BAD("\x7f"
      "ELF\x01\x02\n",
      "t.mtx:1:1: found \"?ELF");
  BAD("%%MatrixMarket vector coordinate real general\n1 1 0\n",
      "t.mtx:1:16: found \"vector\", expected matrix");
  BAD("%%MatrixMarket matrix coordinates real general\n1 1 0\n", ":1:23:|one of coordinate, array");
  BAD("%%MatrixMarket matrix coordinate double general\n1 1 0\n",
      ":1:34:|one of real, integer, complex, pattern");
  BAD("%%MatrixMarket matrix coordinate real\n1 1 0\n",
      ":1:38:|the end of the line|one of general, symmetric, skew-symmetric");
  BAD("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
      ":1:39:|found \"hermitian\"|expected one of general");
  BAD("%%MatrixMarket matrix array pattern general\n1 1\n",
      ":1:29:|found \"pattern\"|one of real, integer, complex");
  BAD("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
      ":1:42:|general or symmetric");
  BAD("%%MatrixMarket matrix coordinate real general 5\n1 1 0\n",
      ":1:47: found \"5\", expected the end of the line");
  BAD(REAL "general", ":2:1: found the end of the text, expected a line with the sizes");
  BAD(REAL "general\n% only\n", ":3:1: found the end of the text, expected a line with the sizes");
  BAD(REAL "general\nx 1 0\n", ":2:1: found \"x\", expected the number of rows");
  BAD(REAL "general\n1.5 1 0\n",
      ":2:1: found \"1.5\", expected the number of rows, a whole number");
  BAD(REAL "general\n-1 1 0\n", ":2:1: found \"-1\"");
  BAD(REAL "general\n1 1\n", ":2:4: found the end of the line, expected the number of entries");
  BAD(REAL "general\n1 1 0 9\n", ":2:7: found \"9\", expected the end of the line");
  BAD(REAL "general\n2147483649 1 0\n",
      ":2:1: found \"2147483649\", expected the number of rows of at most 2147483648");
  BAD(REAL "general\n1 99999999999999999999999 0\n",
      ":2:3:|the number of columns of at most 2147483648");
  BAD(REAL "general\n1 1 9999999999999999999\n", ":2:5:|the number of entries of at most");
  BAD(REAL "symmetric\n2 3 0\n",
      ":2:3: found \"3\", expected as many columns as rows (2) in a symmetric matrix");
  BAD("%%MatrixMarket matrix array real general\n2147483648 2147483648\n1\n",
      ":2:1: found 1 entries, expected 4611686018427387904");
}

static void test_bad_entries(void) {
  BAD(REAL "general\n2 2 2\n1 1 1\n", ":2:5: found 1 entries, expected 2|ends at line 3");
  BAD(REAL "general\n2 2 1\n1 1 1\n2 2 2\n", ":2:5: found 2 entries, expected 1");
  BAD("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
      ":2:1: found 3 entries, expected 4");
  BAD("%%MatrixMarket matrix array real general\n1 1\n1\n2\n", ":2:1: found 2 entries, expected 1");
  BAD(REAL "general\n2 3 1\n0 1 1\n", ":3:1: found \"0\", expected a row number from 1 to 2");
  BAD(REAL "general\n2 3 1\n3 1 1\n", ":3:1: found \"3\", expected a row number from 1 to 2");
  BAD(REAL "general\n2 3 1\n1 0 1\n", ":3:3: found \"0\", expected a column number from 1 to 3");
  BAD(REAL "general\n2 3 1\n1 4 1\n", ":3:3: found \"4\", expected a column number from 1 to 3");
  BAD(REAL "general\n2 3 1\n-1 1 1\n", ":3:1: found \"-1\"");
  BAD(REAL "general\n2 3 1\n1.0 1 1\n", ":3:1: found \"1.0\"");
  BAD(REAL "general\n2 3 1\n18446744073709551617 1 1\n", ":3:1: found \"18446744073709551617\"");
  BAD(REAL "general\n2 3 1\n1 1 abc\n", ":3:5: found \"abc\", expected a number");
  BAD(REAL "general\n2 3 1\n1 1 1.5x\n", ":3:5: found \"1.5x\", expected a number");
  BAD(REAL "general\n2 3 1\n1 1\n", ":3:4: found the end of the line, expected a number");
  BAD(REAL "general\n2 3 1\n1 1", ":3:4: found the end of the text, expected a number");
  BAD(REAL "general\n2 3 1\n1\n", ":3:2: found the end of the line, expected a column number");
  BAD(REAL "general\n2 3 1\n1 1 1 1\n", ":3:7: found \"1\", expected the end of the line");
  BAD(REAL "general\n2 3 1\n1 1 nan\n", ":3:5: found \"nan\"");
  BAD(REAL "general\n2 3 1\n1 1 -Inf\n", ":3:5: found \"-Inf\"");
  BAD(REAL "general\n2 3 1\n1 1 1e999\n",
      ":3:5: found \"1e999\", expected a number within the range of double");
  BAD(REAL "general\n2 3 1\n1 1 0x10\n", ":3:5: found \"0x10\"");
  BAD("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
      ":3:5: found \"1.5\", expected a whole number");
  BAD("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n",
      ":3:5: found \"1\", expected the end of the line");
  BAD("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n",
      ":3:6: found the end of the line, expected a number (imaginary part)");
  BAD("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 nan\n",
      ":3:7: found \"nan\"");
  BAD("%%MatrixMarket matrix array real general\n1 1\n1 2\n",
      ":3:3: found \"2\", expected the end of the line");
  BAD("%%MatrixMarket matrix array real general\n1 1\nx\n", ":3:1: found \"x\", expected a number");
  BAD("%%MatrixMarket matrix array complex hermitian\n1 1\n1 2\n",
      "diagonal entry 1|found imaginary part 2");
  BAD(REAL "symmetric\n3 3 1\n1 2 1\n",
      ":3:1: |no entry above the diagonal (1, 2) in a symmetric matrix");
  BAD("%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n1 2 1 0\n",
      ":3:1: |above the diagonal (1, 2) in a hermitian matrix");
  BAD(REAL "skew-symmetric\n3 3 1\n1 2 1\n",
      ":3:1: |above the diagonal (1, 2) in a skew-symmetric matrix");
  BAD(REAL "skew-symmetric\n3 3 1\n2 2 0\n",
      ":3:1: |no entry on the diagonal (2, 2) in a skew-symmetric matrix");
  BAD("%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n2 2 1 4\n",
      ":3:7: found \"4\", expected a zero imaginary part");
}

/* The first of two errors in different blocks of text is reported. */
static void test_first_bad(void) {
  enum { COUNT = 400000 };
  char *text = malloc(COUNT * 16 + 200), *o = text;
  o += sprintf(o, "%%%%MatrixMarket matrix coordinate real general\n%% c\n9 9 %d\n", COUNT);
  for (int k = 1; k <= COUNT; k++)
    o += sprintf(o,
                 k == 150000 || k == 399999 ? "1 1 bad%d\n"
                 : k % 1000                 ? "3 4 1.0625\n"
                                            : "3 4 1.0625\n%%%d\n",
                 k);
  refuses(read_csr, put_text(text), ":150152:5: found \"bad150000\"", __LINE__);
  free(text);
}

#if defined HAVE_LIBDEFLATE || defined HAVE_ZLIB
static size_t slurp(const char *path, unsigned char *data, size_t room) {
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(data, 1, room, f) : 0;
  if (f) fclose(f);
  return n;
}
#endif

static void test_bad_files(void) {
  refuses(read_csr, path_of("missing.mtx"), "missing.mtx: cannot open: No such file", __LINE__);
  refuses(read_csr, folder, "is a directory", __LINE__);
  refuses(read_csr, put_text(""), "t.mtx: is empty", __LINE__);
  refuses(read_dense, put_text(""), "t.mtx: is empty", __LINE__);
#if defined HAVE_LIBDEFLATE || defined HAVE_ZLIB
  kcl_csr *A = read_good("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.25\n2 1 7\n",
                         __LINE__);
  unsigned char data[2000];
  CHECK(kcl_csr_write(ctx, path_of("z.mtx.gz"), A) == KCL_OK);
  kcl_csr_free(&A);
  size_t n = slurp(path_of("z.mtx.gz"), data, sizeof data);
  CHECK(n > 40 && data[0] == 0x1f && data[1] == 0x8b);
  for (size_t cut = 3; cut < n; cut += 5)
    refuses(read_csr, put_bytes("cut.gz", data, cut), "cut.gz", __LINE__);
  refuses(read_csr, put_bytes("cut.gz", data, n - 1), "cut.gz: gzip data is damaged or cut short",
          __LINE__);
  data[n - 6] ^= 1;
  refuses(read_csr, put_bytes("cut.gz", data, n), "cut.gz: gzip data is damaged or cut short",
          __LINE__);
  data[n - 6] ^= 1, memcpy(data + n, "junk", 4);
  refuses(read_csr, put_bytes("cut.gz", data, n + 4), "bytes that are not gzip follow", __LINE__);
  memset(data + n, 0, 100);
  CHECK(read_csr(put_bytes("cut.gz", data, n + 100)) == KCL_OK);
  /* One stored member whose text contains the bytes of a member's header. */
#define HEADING "\x1f\x8b\x08\0\0\0\0\0\x02\x03"
  const char false_member[] =
      HEADING "\x01\x46\0\xb9\xff%%MatrixMarket matrix coordinate real general\n%" HEADING
              "\n1 1 1\n1 1 2\n\xc3\xb4\x9f\x8b\x46\0\0\0";
  CHECK(read_csr(put_bytes("false.gz", false_member, sizeof false_member - 1)) == KCL_OK);
#endif
}

static void test_bad_dense(void) {
  BAD_DENSE("1\n2 x\n", ":2:3: found \"x\", expected a number");
  BAD_DENSE("1\nnan\n", ":2:1: found \"nan\"");
  BAD_DENSE("1 inf\n", ":1:3: found \"inf\"");
  BAD_DENSE("1e400\n", ":1:1: found \"1e400\", expected a number within the range");
  BAD_DENSE("\n \n# x\n", "found no number");
  BAD_DENSE("%%MatrixMarket matrix array real symmetric\n1 1\n1\n",
            "found a real symmetric matrix, expected");
  BAD_DENSE("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n",
            "found a pattern general matrix");
  BAD_DENSE("%%MatrixMarket matrix array real general\n2 1\n1\n",
            ":2:1: found 1 entries, expected 2");
  BAD_DENSE("%%MatrixMarket matrix array real general\n2 1\n1\nnan\n", ":4:1: found \"nan\"");
  BAD_DENSE("%%MatrixMarket matrix array complex general\n1 1\n1\n",
            ":3:2: found the end of the line, expected a number (imag");
  BAD_DENSE("%%MatrixMarkt matrix array real general\n", ":1:1: found \"%%MatrixMarkt\"");
}

int main(void) {
  static const test tests[] = {{"bad heads", test_bad_head},
                               {"bad entries", test_bad_entries},
                               {"first bad", test_first_bad},
                               {"bad files", test_bad_files},
                               {"bad vectors", test_bad_dense}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
