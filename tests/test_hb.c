/* Harwell-Boeing and Rutherford-Boeing: handwritten files of every kind, Fortran fields, right-hand sides,
 * error messages with their position; real files against the same matrices as Matrix Market.
 */
#include "tests/data_test.h"
#include "data/files/hb.h"

/* ---------------------------------------------------------------- fields */

static bool field(const char *format, const char *text, double want) {
  hb_edit e;
  double v = NAN;
  bool good = hb_edit_parse(format, format + strlen(format), &e) &&
              hb_field_number(&e, text, text + strlen(text), &v);
  return good ? v == want : isnan(want);
}
static bool edit(const char *format, int per_line, int width, int decimals, int scale) {
  hb_edit e;
  return hb_edit_parse(format, format + strlen(format), &e) && e.per_line == per_line &&
         e.width == width && e.decimals == decimals && e.scale == scale;
}

static void test_fields(void) {
  kcl_number_init();
  CHECK(edit("(16I5)", 16, 5, 0, 0) && edit("(1P,5E16.8)", 5, 16, 8, 1));
  CHECK(edit("(1P5D16.9)", 5, 16, 9, 1) && edit("( 4e20.12 )", 4, 20, 12, 0));
  CHECK(edit("(5(1PE16.8))", 5, 16, 8, 1) && edit("(3D25.16E3)", 3, 25, 16, 0));
  CHECK(edit("(-2P,6F12.0)", 6, 12, 0, -2) && edit("(E24.16)", 1, 24, 16, 0));
  CHECK(edit("(2(4F10.3))", 8, 10, 3, 0) && edit("(4ES20.12)", 4, 20, 12, 0));
  CHECK(!edit("(8A10)", 8, 10, 0, 0) && !edit("16I5", 16, 5, 0, 0) && !edit("(F0.3)", 1, 0, 3, 0));
  CHECK(!edit("(4F10.3,2X)", 4, 10, 3, 0) && !edit("()", 1, 0, 0, 0) && !edit("(", 1, 0, 0, 0));
  CHECK(field("(1E16.8)", " 1.50000000E+01", 15) && field("(1D16.8)", "-1.5D-03", -1.5e-3));
  CHECK(field("(1D16.8)", "1.5d2", 150) && field("(1E16.8)", " 1.5+103", 1.5e103));
  CHECK(field("(1E16.8)", ".25-2", .25e-2) && field("(1F8.3)", "  -12345", -12.345));
  CHECK(field("(1F8.3)", " 12.5   ", 12.5) && field("(1F8.3)", "- 12.5  ", -12.5));
  CHECK(field("(1P1F8.3)", "   12.5", 1.25) && field("(1P1E16.8)", "12.5E0", 12.5));
  CHECK(field("(1E10.4)", "12345E2", 1.2345e2) && field("(1Q10.4)", "1", NAN));
  CHECK(field("(1F8.3)", "        ", NAN) && field("(1F8.3)", "1.2.3", NAN));
  CHECK(field("(1F8.3)", "nan", NAN) && field("(1F8.3)", "****", NAN));
  CHECK(field("(1F8.3)", "1 2 . 5", NAN) && field("(1F8.3)", "12. 5", NAN));
  CHECK(field("(1E16.8)", "1.0-120", 1e-120) && field("(1E16.8)", "1.0D+5", 1e5));
  CHECK(field("(1E16.8)", "1.0E 05", 1e5) && field("(1E16.8)", "1.0E+ 5", 1e5));
  CHECK(field("(1E16.8)", "1.0 E+05", 1e5) && field("(1E16.8)", "1.0q+05 ", 1e5));
  CHECK(field("(1E16.8)", "1.0E-12 3", NAN) && field("(1E16.8)", "2.5 -3", NAN));
  CHECK(field("(1E16.8)", "1.0E-1202", NAN) && field("(1E16.8)", "1.0E-0012", 1e-12));
  CHECK(!edit("(99999(99999I5))", 1, 5, 0, 0) && !edit("(0I5)", 0, 5, 0, 0));
  CHECK(!edit("(999(999I5))", 1, 5, 0, 0) && !edit("(-4I5)", -4, 5, 0, 0));
  CHECK(field("(1E12.3)", "1e", NAN) && field("(1E12.3)", "1.0E+400", NAN));
  CHECK(field("(1E25.16)", "0.1234567890123456789012", 0.1234567890123456789012));
}

/* ---------------------------------------------------------------- handwritten files */

/* 3 x 3, columns {1 2} {3} {1}. */
#define HEAD(type, cards, formats)                                                                 \
  "A title" cards "\n" type                                                                        \
  "                        3             3             4             0\n" formats "\n"
#define ARRAYS "    1    3    4    5\n    1    2    3    1\n"
#define REAL4 "(16I5)          (16I5)          (2D12.4)            (2D12.4)"

static kcl_csr *system_good(const char *text, kcl_dense **b, kcl_dense **x, int line) {
  kcl_csr *A = NULL;
  int rc = kcl_csr_read_system(ctx, put_bytes("t.hb", text, strlen(text)), &A, b, x);
  if (rc) printf("  %s\n", kcl_error());
  if (!CHECK_AT(rc == KCL_OK && A && well_formed(A), line, "reads")) exit(1);
  return A;
}
#define VALUES "  1.0000D+00 -2.5000D+00\r\n 3.00000D+00-4.00000D-01\n"

static void test_real(void) {
  kcl_dense *b = NULL, *x = NULL;
  kcl_csr *A = system_good(HEAD("RUA", "\n 4 1 1 2", REAL4) ARRAYS
                           "  1.0000D+00 -2.5000D+0\r\n 3.00000D+00-4.00000D-01",
                           &b, &x, __LINE__);
  CHECK(A->nnz == 4 && A->stored == 4 && A->type == KCL_D && A->symmetry == KCL_GENERAL);
  CHECK(at(A, 1, 1, 0) == 1 && at(A, 2, 1, 0) == -2.5 && at(A, 3, 2, 0) == 3 &&
        at(A, 1, 3, 0) == -0.4);
  CHECK(!b && !x);
  kcl_csr_free(&A);
  A = system_good(HEAD("rua", "\n 4 1 1 2 0", "(16I5) (16I5) (2D12.4)") ARRAYS VALUES, NULL, NULL,
                  __LINE__);
  CHECK(at(A, 1, 3, 0) == -0.4 && A->field == KCL_REAL);
  kcl_csr_free(&A);
  A = system_good(
      HEAD("rua", "\n 4 1 1 2 0", "(16I5) (16I5) (2D12.4)") /* junk behind a blank field */
      "    1    3    4    5              77   78\n    1    2    3    1\n" VALUES,
      NULL, NULL, __LINE__);
  CHECK(A->nnz == 4);
  kcl_csr_free(&A);
  A = system_good(HEAD("iua", "\n 4 1 1 1", "(16I5) (16I5) (4I3)") ARRAYS " 12 -3  4  0", NULL,
                  NULL, __LINE__);
  CHECK(at(A, 1, 1, 0) == 12 && at(A, 1, 3, 0) == 0 && A->field == KCL_INTEGER);
  kcl_csr_free(&A);
  A = system_good(HEAD("PUA", "\n 4 1 1 0", "(16I5) (16I5)") ARRAYS, NULL, NULL, __LINE__);
  CHECK(at(A, 3, 2, 0) == 1 && A->field == KCL_PATTERN && A->nnz == 4);
  kcl_csr_free(&A);
}

/* columns {1 2} {2 3} {3}, lower half */
#define HALF "    1    3    5    6\n    1    2    2    3    3\n"
#define HEAD5(type, cards, formats)                                                                \
  "A title" cards "\n" type                                                                        \
  "                        3             3             5             0\n" formats "\n"

static void test_symmetry(void) {
  kcl_csr *A =
      system_good(HEAD5("RSA", "\n 4 1 1 2", "(16I5) (16I5) (5F4.1)") HALF "  2. -1.  2. -1.  2.",
                  NULL, NULL, __LINE__);
  CHECK(A->nnz == 7 && A->stored == 5 && at(A, 2, 3, 0) == -1 && A->symmetry == KCL_SYMMETRIC);
  kcl_csr_free(&A);
  A = system_good(HEAD5("CHA", "\n 4 1 1 2", "(16I5) (16I5) (10F4.1)") HALF
                  "  2.  0. -1.  3.  2.  0. -1.  0.  2.  0.",
                  NULL, NULL, __LINE__);
  CHECK(A->type == KCL_Z && at(A, 2, 1, 1) == 3 && at(A, 1, 2, 1) == -3 && at(A, 1, 2, 0) == -1 &&
        A->symmetry == KCL_HERMITIAN);
  kcl_csr_free(&A);
  A = system_good(HEAD5("CSA", "\n 4 1 1 2", "(16I5) (16I5) (10F4.1)") HALF
                  "  2.  1. -1.  3.  2.  0. -1.  0.  2.  0.",
                  NULL, NULL, __LINE__);
  CHECK(at(A, 1, 2, 1) == 3 && at(A, 1, 1, 1) == 1 && A->symmetry == KCL_SYMMETRIC);
  kcl_csr_free(&A);
  A = system_good("t\n 4 1 1 1\nRZA 3 3 2 0\n(16I5) (16I5) (2F4.1)\n    1    2    3    3\n"
                  "    2    3\n  5.  7.",
                  NULL, NULL, __LINE__);
  CHECK(at(A, 2, 1, 0) == 5 && at(A, 1, 2, 0) == -5 && at(A, 2, 3, 0) == -7 &&
        A->symmetry == KCL_SKEW);
  kcl_csr_free(&A);
  A = system_good("t\n 4 1 1 1\nRRA 2 3 3 0\n(16I5) (16I5) (3F4.1)\n    1    2    3    4\n"
                  "    2    1    2\n  5.  7.  1.",
                  NULL, NULL, __LINE__);
  CHECK(A->rows == 2 && A->cols == 3 && at(A, 2, 1, 0) == 5 && at(A, 2, 3, 0) == 1);
  kcl_csr_free(&A);
}

/* Initial guesses and solutions; columns that follow each other without a break or begin on new lines. */
static void test_rhs(void) {
  static const char *const layout[] = {
      " 6. 5. 4. 3.\n 2. 1.\n 1. 1. 1. 2.\n 2. 2.\n 0. 0. 0. 0.\n 0. 0.\n",
      " 6. 5. 4.\n 3. 2. 1.\n 1. 1. 1.\n 2. 2. 2.\n 0. 0. 0.\n 0. 0. 0.\n"};
  static const char *const format[] = {"(4F3.0)", "(3F3.0)"};
  char text[2000];
  kcl_dense *b, *x;
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text,
             "t\n 14 1 1 2 6\nRUA 3 3 4 0\n(16I5) (16I5) (2D12.4) %s\nFGX           2 0\n" ARRAYS
             "%s%s",
             format[k], VALUES, layout[k]);
    kcl_csr *A = system_good(text, &b, &x, __LINE__);
    CHECK(b && b->rows == 3 && b->cols == 2 && b->val[0] == 6 && b->val[5] == 1);
    CHECK(x && x->cols == 2 && x->val[2] == 1 && x->val[3] == 2);
    kcl_csr_free(&A), kcl_dense_free(&b), kcl_dense_free(&x);
  }
  snprintf(text, sizeof text,
           "t\n 14 1 1 2 3\nRUA 3 3 4 0\n(16I5) (16I5) (2D12.4) (4F4.0)\nM             2 3\n" ARRAYS
               VALUES "    1    3    4\n    3    1    2\n  7.  8.  9.\n");
  kcl_csr *A = system_good(text, &b, &x, __LINE__);
  CHECK(b && b->cols == 2 && b->val[0] == 8 && b->val[2] == 7 && b->val[4] == 9 && b->val[3] == 0);
  CHECK(!x);
  kcl_csr_free(&A), kcl_dense_free(&b);
}

/* ---------------------------------------------------------------- errors */

static void bad(const char *text, const char *words, int line) {
  char copy[400];
  kcl_csr *A = (kcl_csr *)&random_state;
  kcl_dense *b, *x;
  int rc = kcl_csr_read_system(ctx, put_bytes("t.hb", text, strlen(text)), &A, &b, &x);
  bool good = rc == KCL_INPUT && !A && !b && !x;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *w = strtok(copy, "|"); w; w = strtok(NULL, "|")) good = good && strstr(kcl_error(), w);
  if (!CHECK_AT(good, line, words)) printf("  %d: %s\n", rc, rc ? kcl_error() : "was accepted");
}
#define BAD(text, words) bad(text, words, __LINE__)
#define F3 "(16I5) (16I5) (2D12.4)"

static void test_bad(void) {
  BAD(HEAD("RUE", "\n 4 1 1 2", F3) ARRAYS VALUES, "t.hb:3:1: |\"RUE\"|expected an assembled");
  BAD(HEAD("QUA", "\n 4 1 1 2", F3) ARRAYS VALUES, "t.hb:3:1: |values in this file");
  BAD("t\n 4 1 1 1\nRSA 2 3 3 0\n" F3 "\n", "t.hb:3:7: found \"3\", expected as many columns");
  BAD(HEAD("RUA", "\n 4 -1 1 2", F3) ARRAYS VALUES, "t.hb:2:4: found \"-1\"");
  BAD(HEAD("RUA", "\n 4 1 1 2", "(16A5) (16I5) (2D12.4)") ARRAYS VALUES,
      "t.hb:4:1: |expected a Fortran format of integers");
  BAD(HEAD("RUA", "\n 4 1 1 2", "(16I5) (16I5)") ARRAYS VALUES,
      "t.hb:4:14: |format for every part");
  BAD(HEAD("RUA", "\n 4 1 1 2", "(16I5) (16I5) (2Z12)") ARRAYS VALUES, "t.hb:4:15: |of numbers");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) "    1    3    2    5\n    1    2    3    1\n" VALUES,
      "t.hb:5: found pointers from 1 to 5, expected ones that rise from 1 to 5");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) "    1    3    4    5\n    1    2    4    1\n" VALUES,
      "t.hb:6: found row 4 (entry 3), expected 1 to 3");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) "    1    3    x    5\n    1    2    4    1\n" VALUES,
      "t.hb:5:15: found \"x\", expected a whole number in 5 columns from 11");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) ARRAYS " 1.0 2.0x\n 1.0 2.0\n",
      "t.hb:7:6: found \"2.0x\"|one number in columns 1 to 12|width of 12");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) ARRAYS " 1.0x\n 1.0 2.0\n",
      "t.hb:7:2: found \"1.0x\"|a number within the range of double in 12 columns from 1");
  /* Numbers of 24 columns under a format of 25; one number too many, in the last line and before it. */
  BAD("t\n 4 1 1 2\nRUA 3 3 4 0\n(16I5) (16I5) (3E25.16)\n" ARRAYS
      " 2.5000000000000000E-120 2.5000000000000000E-120 2.5000000000000000E-120\n"
      " 2.5000000000000000E-120\n",
      "t.hb:7:50: found \"2.5000000000000000E-120\"|one number in columns 26 to 50|width of 25");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) ARRAYS
      "  1.0000D+00  2.0000D+00\n  1.0000D+00  2.0000D+00  7.0000D+00\n",
      "t.hb:8:27: found \"7.0000D+00\"|expected the end of the line|2 fields of 12 columns");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) ARRAYS "  1.0000D+00  2.0000D+00 3\n  1.0000D+00  2.0000D+00\n",
      "t.hb:7:26: found \"3\"|the end of the line");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) "    1    3    4    5    9\n    1    2    3    1\n" VALUES,
      "t.hb:5:25: found \"9\"|the end of the line|16 fields of 5 columns: column pointers");
  BAD(HEAD("RUA", "\n 4 1 1 2", "(99999(99999I5)) (16I5) (4E20.12)") ARRAYS VALUES,
      "t.hb:4:1: |Fortran format of integers");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) ARRAYS " 1.0D0\n\n",
      "t.hb:7:7: found the end of the line|values");
  BAD(HEAD("RUA", "\n 4 1 1 2", F3) ARRAYS, "t.hb:6: the file ends here, expected 2 lines|values");
  BAD(HEAD5("RSA", "\n 4 1 1 2", "(16I5) (16I5) (5F4.1)") "    1    3    5    6\n    1    2    1   "
                                                          " 3    3\n  2. -1.  2. -1.  2.",
      "both sides of the diagonal|expected one triangle");
  BAD(HEAD5("RZA", "\n 4 1 1 2", "(16I5) (16I5) (5F4.1)") HALF "  2. -1.  2. -1.  2.",
      "skew-symmetric|none on the diagonal");
  BAD(HEAD5("CHA", "\n 4 1 1 2", "(16I5) (16I5) (10F4.1)") HALF
      "  2.  9. -1.  3.  2.  0. -1.  0.  2.  0.",
      "hermitian|a real diagonal");
  BAD("t\n 4 1 1 2 3\nRUA 3 3 4 0\n" F3 " (4F4.0)\nZ  2 3\n" ARRAYS VALUES,
      "t.hb:5:1: found \"Z\"|F or M");
  BAD("t\n 4 1 1 2 3\nRUA 3 3 4 0\n" F3 " (4F4.0)\nF    x\n" ARRAYS VALUES,
      "t.hb:5:6: |number of right-hand");
  BAD("t\n 4 1 1 2 3\nRUA 3 3 4 0\n" F3 "\nF  1\n" ARRAYS VALUES, "t.hb:4:|format for every part");
  BAD("t\n 4 1 1 2 3\nRUA 3 3 4 0\n" F3 " (4F4.0)\nF    999999\n" ARRAYS VALUES,
      "t.hb:5: found 999999");
  BAD("t\n 4 1 1 2 1\nRUA 3 3 4 0\n" F3 " (4F4.0)\nF    1\n" ARRAYS VALUES,
      "t.hb:9: the file ends here");
}

/* ---------------------------------------------------------------- the shared files */

static bool same(const kcl_csr *A, const kcl_csr *B) {
  return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->type == B->type &&
         memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8) == 0 &&
         memcmp(A->col, B->col, (size_t)A->nnz * 4) == 0 &&
         memcmp(A->val, B->val, (size_t)A->nnz * kcl_type_size(A->type)) == 0;
}

static void compare_shared(const char *from, const char *hb, const char *mtx) {
  char path[700];
  kcl_csr *A = NULL, *B = NULL;
  kcl_dense *b = NULL, *c = NULL;
  snprintf(path, sizeof path, "%s/hb/%s.gz", from, hb);
  int rc = kcl_csr_read_system(ctx, path, &A, &b, NULL);
  if (rc) printf("  %s\n", kcl_error());
  if (!CHECK_AT(rc == 0, __LINE__, hb)) return;
  if (mtx) {
    snprintf(path, sizeof path, "%s/%s.mtx.gz", from, mtx);
    CHECK_AT(kcl_csr_read(ctx, path, &B) == KCL_OK && same(A, B), __LINE__, hb);
  }
  snprintf(path, sizeof path, "%s/%s_b.mtx.gz", from, mtx ? mtx : "none");
  if (b && kcl_dense_read(ctx, path, &c) == KCL_OK)
    CHECK_AT(b->rows == c->rows && b->cols == c->cols &&
                 memcmp(b->val, c->val, (size_t)(b->rows * b->cols) * 8) == 0,
             __LINE__, "its right-hand side");
  CHECK(kcl_csr_write(ctx, path_of("again.rb"), A) == KCL_OK);
  kcl_csr_free(&B), kcl_dense_free(&c);
  CHECK(kcl_csr_read(ctx, path_of("again.rb"), &B) == KCL_OK && same(A, B));
  kcl_csr_free(&A), kcl_csr_free(&B), kcl_dense_free(&b);
}

static void test_shared(void) {
  const char *from = getenv("KRYLOCL_MATRICES");
  char path[500];
  if (!from) from = "../shared/matrices";
  snprintf(path, sizeof path, "%s/hb/INDEX.tsv", from);
  if (access(path, R_OK)) {
    skip("the shared Harwell-Boeing files (no %s; set KRYLOCL_MATRICES)", path);
    return;
  }
  compare_shared(from, "bcsstk01.rsa", NULL);
  compare_shared(from, "west0479.rb", "west0479");
  compare_shared(from, "qc324.cua", "qc324");
  compare_shared(from, "illc1850.rra", "illc1850");
}

int main(void) {
  static const test tests[] = {{"fields", test_fields},     {"real", test_real},
                               {"symmetry", test_symmetry}, {"right-hand sides", test_rhs},
                               {"refusals", test_bad},      {"shared files", test_shared}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
