/* Writers: files read back bit for bit; a failed write leaves no file. */
#include "tests/data_test.h"

static bool equal(const kcl_csr *A, const kcl_csr *B) {
  size_t n = (size_t)A->nnz;
  return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->type == B->type &&
         A->symmetry == B->symmetry && A->field == B->field &&
         memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8) == 0 &&
         memcmp(A->col, B->col, n * 4) == 0 &&
         memcmp(A->val, B->val, n * kcl_type_size(A->type)) == 0;
}

/* Row lists store neither symmetry nor field. */
static bool entries_equal(kcl_csr *A, const kcl_csr *B) {
  kcl_csr C = *A;
  C.symmetry = B->symmetry, C.field = B->field;
  return equal(&C, B);
}

static bool as_rows(kcl_csr *A, const char *name) {
  kcl_csr *B = NULL;
  bool good = kcl_csr_write(ctx, path_of(name), A) == KCL_OK &&
              kcl_csr_read(ctx, path_of(name), &B) == KCL_OK;
  if (!good) printf("  %s\n", kcl_error());
  good = good && entries_equal(A, B);
  kcl_csr_free(&B);
  return good;
}

static bool back_and_forth(const kcl_csr *A, const char *name) {
  kcl_csr *B = NULL;
  bool good = kcl_csr_write(ctx, path_of(name), A) == KCL_OK &&
              kcl_csr_read(ctx, path_of(name), &B) == KCL_OK;
  if (!good) printf("  %s\n", kcl_error());
  good = good && equal(A, B);
  kcl_csr_free(&B);
  return good;
}

static void test_round_trip(void) {
  static const char *const kind[] = {
      "real general",    "real symmetric",    "real skew-symmetric", "integer symmetric",
      "complex general", "complex symmetric", "complex hermitian",   "complex skew-symmetric",
      "pattern general", "pattern symmetric"};
  enum { N = 400, PER = 250 };
  char *text = malloc(N * PER * 70 + 200);
  for (size_t c = 0; c < sizeof kind / sizeof *kind; c++) {
    bool half = !strstr(kind[c], "general"), skew = strstr(kind[c], "skew"),
         integer = strstr(kind[c], "integer");
    int w = strstr(kind[c], "complex") ? 2 : strstr(kind[c], "pattern") ? 0 : 1;
    int count = 0;
    char *o = text + 100;
    for (int i = 1 + skew; i <= N; i++)
      for (int j = 1; j <= (half ? i - skew : N); j += 1 + (int)(random_bits() % 3), count++) {
        o += sprintf(o, "%d %d", i, j);
        for (int q = 0; q < w; q++)
          o += integer ? sprintf(o, " %d", (int)(random_bits() % 2000) - 1000)
                       : sprintf(o, " %.17g",
                                 q && i == j && strstr(kind[c], "herm")
                                     ? 0.0
                                     : (double)(int64_t)random_bits() * 0x1p-70);
        *o++ = '\n';
      }
    *o = 0;
    char head[101];
    int n = snprintf(head, sizeof head, "%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n",
                     kind[c], N, N, count);
    memcpy(text + 100 - n, head, (size_t)n);
    kcl_csr *A = read_good(text + 100 - n, __LINE__);
    CHECK(back_and_forth(A, "round.mtx") && back_and_forth(A, "round.rb"));
    CHECK(back_and_forth(A, "round.kcl") && as_rows(A, "round.rows"));
#if defined HAVE_LIBDEFLATE || defined HAVE_ZLIB
    CHECK(back_and_forth(A, "round.mtx.gz") && back_and_forth(A, "round.rb.gz"));
    CHECK(as_rows(A, "round.rows.gz"));
#endif
    kcl_csr_free(&A);
  }
  free(text);
}

static void test_round_dense(void) {
  kcl_dense *B = NULL, *C = NULL;
  for (int z = 0; z < 2; z++) {
    CHECK(kcl_dense_create(ctx, 50000, 2, z ? KCL_Z : KCL_D, &B) == KCL_OK);
    for (int64_t i = 0; i < 100000 * (1 + z); i++)
      B->val[i] = ldexp((double)(int64_t)random_bits(), (int)(random_bits() % 100) - 120);
    CHECK(kcl_dense_write(ctx, path_of("x.mtx"), B) == KCL_OK &&
          kcl_dense_read(ctx, path_of("x.mtx"), &C) == KCL_OK);
    CHECK(C && C->rows == 50000 && C->cols == 2 && C->type == B->type &&
          memcmp(B->val, C->val, 100000 * kcl_type_size(B->type)) == 0);
    kcl_dense_free(&C);
    B->val[7] = NAN;
    CHECK(kcl_dense_write(ctx, path_of("x.mtx"), B) == KCL_USAGE &&
          strstr(kcl_error(), "not finite"));
    kcl_dense_free(&B);
  }
}

static void test_bad_output(void) {
  kcl_csr *A = read_good("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", __LINE__);
  struct stat info;
  CHECK(kcl_csr_write(ctx, path_of("no/such/place.mtx"), A) == KCL_INPUT &&
        strstr(kcl_error(), "cannot write"));
  CHECK(kcl_csr_write(ctx, folder, A) == KCL_INPUT && strstr(kcl_error(), "cannot write"));
  if (stat("/dev/full", &info) == 0)
    CHECK(kcl_csr_write(ctx, "/dev/full", A) == KCL_INPUT && strstr(kcl_error(), "No space left"));
  kcl_csr_free(&A);
}

/* The key in the heading of .rb is the file's name, which may hold anything. */
static void test_odd_names(void) {
  kcl_csr *A = read_good("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n", __LINE__);
  CHECK(back_and_forth(A, "a\nb\r\t.rb") && back_and_forth(A, "%s%n\x7f.rb"));
  kcl_csr_free(&A);
}

/* The temporary files are gone. */
static void test_no_litter(void) {
  char command[400];
  snprintf(command, sizeof command, "ls %s | grep -q tmp", folder);
  CHECK(system(command) != 0);
}

int main(void) {
  static const test tests[] = {{"round trips", test_round_trip},
                               {"dense round trips", test_round_dense},
                               {"bad outputs", test_bad_output},
                               {"odd names", test_odd_names},
                               {"no litter", test_no_litter}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
