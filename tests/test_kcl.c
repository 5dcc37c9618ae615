/* .kcl files: systems read back bit for bit, mapped arrays may be changed and freed, and a file that is
 * truncated, changed in any byte, of another version or byte order is refused with a message.
 */
#include "tests/data_test.h"
#include "data/files/kcl_file.h"
#include "core/base/sum64.h"

static size_t slurp(const char *path, char **data) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END)) exit(1);
  size_t n = (size_t)ftell(f);
  *data = malloc(n + 64);
  rewind(f);
  if (fread(*data, 1, n, f) != n || fclose(f)) exit(1);
  return n;
}

static kcl_csr *made(const char *kind, kcl_dense **b) {
  kcl_csr *A = NULL;
  if (kcl_generate(ctx, kind, &A, b)) printf("%s\n", kcl_error()), exit(1);
  return A;
}

static bool same(const kcl_csr *A, const kcl_csr *B) {
  return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->type == B->type &&
         A->symmetry == B->symmetry && A->field == B->field && A->stored == B->stored &&
         memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8) == 0 &&
         memcmp(A->col, B->col, (size_t)A->nnz * 4) == 0 &&
         memcmp(A->val, B->val, (size_t)A->nnz * kcl_type_size(A->type)) == 0;
}

static void test_system(void) {
  static const char *const kinds[] = {"poisson2d:100", "helmholtz:30", "trefethen:500",
                                      "powerlaw:20000"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    kcl_dense *b = NULL, *c = NULL, *x = NULL;
    kcl_csr *A = made(kinds[k], &b), *B = NULL, *S = NULL;
    const char *path = path_of("a.kcl");
    CHECK(kcl_csr_write_system(ctx, path, A, b, b) == KCL_OK);
    CHECK(kcl_csr_read_system(ctx, path, &B, &c, &x) == KCL_OK && same(A, B) && B->mapped);
    CHECK(((uintptr_t)B->val | (uintptr_t)B->col | (uintptr_t)B->row_ptr) % 64 == 0);
    size_t n = (size_t)b->rows * kcl_type_size(b->type);
    CHECK(c && x && memcmp(b->val, c->val, n) == 0 && memcmp(b->val, x->val, n) == 0);
    ((double *)B->val)[0] = 77; /* private: the file is unchanged */
    kcl_csr_free(&B), kcl_dense_free(&c), kcl_dense_free(&x);
    CHECK(kcl_csr_read(ctx, path, &B) == KCL_OK && same(A, B));
    kcl_csr_free(&B);
    CHECK(kcl_csr_convert(ctx, A, A->type == KCL_Z ? KCL_C : KCL_S, &S) == KCL_OK &&
          kcl_csr_write(ctx, path, S) == KCL_OK && kcl_csr_read(ctx, path, &B) == KCL_OK);
    CHECK(B && B->type == A->type && B->nnz == A->nnz);
    kcl_csr_free(&A), kcl_csr_free(&B), kcl_csr_free(&S), kcl_dense_free(&b);
  }
}

static void test_small(void) {
  kcl_csr *A = read_good("%%MatrixMarket matrix coordinate pattern general\n3 5 0\n", __LINE__);
  kcl_csr *B = NULL;
  CHECK(kcl_csr_write(ctx, path_of("e.kcl"), A) == KCL_OK);
  CHECK(kcl_csr_read(ctx, path_of("e.kcl"), &B) == KCL_OK && same(A, B));
  CHECK(kcl_csr_write(ctx, path_of("e.kcl.gz"), A) == KCL_USAGE && strstr(kcl_error(), "mapped"));
  CHECK(access(path_of("e.kcl.gz"), F_OK) != 0);
  kcl_csr_free(&A), kcl_csr_free(&B);
}

static void refuses(const char *data, size_t size, const char *words, int line) {
  kcl_csr *A = (kcl_csr *)&random_state;
  int rc = kcl_csr_read(ctx, put_bytes("bad.kcl", data, size), &A);
  if (!CHECK_AT(rc == KCL_INPUT && !A && strstr(kcl_error(), words), line, words))
    printf("  %d: %s\n", rc, rc ? kcl_error() : "was accepted");
}
#define BAD(size, words) refuses(data, size, words, __LINE__)

/* Corrects the checksums, so that only the structure is wrong. */
static void sign(char *data) {
  kcl_file_head h;
  memcpy(&h, data, sizeof h);
  h.sum = 0;
  for (int k = 0; k < KCL_FILE_PARTS; k++)
    h.sum = kcl_sum64(data + h.part[k].offset, h.part[k].bytes, h.sum);
  h.head_sum = kcl_sum64(&h, offsetof(kcl_file_head, head_sum), 0);
  memcpy(data, &h, sizeof h);
}

static void test_bad(void) {
  kcl_dense *b = NULL;
  kcl_csr *A = made("convection:4", &b);
  char *data, *good;
  kcl_file_head h;
  CHECK(kcl_csr_write_system(ctx, path_of("a.kcl"), A, b, NULL) == KCL_OK);
  size_t n = slurp(path_of("a.kcl"), &data);
  slurp(path_of("a.kcl"), &good);
  memcpy(&h, data, sizeof h);
  for (size_t cut = 8; cut < n; cut += 41) BAD(cut, "bad.kcl: the file is cut short");
  memset(data + n, 0, 64), BAD(n + 64, "bytes follow the end");
  for (size_t k = 16; k < n; k++) { /* gaps between arrays hold nothing */
    bool used = k < offsetof(kcl_file_head, head_sum) + 8;
    for (int p = 0; p < KCL_FILE_PARTS; p++)
      used = used || (k >= h.part[p].offset && k < h.part[p].offset + h.part[p].bytes);
    if (!used) continue;
    data[k] ^= 16;
    BAD(n, k < sizeof h ? "the header is damaged" : "the checksum does not hold");
    data[k] ^= 16;
  }
  data[8] = 2, BAD(n, "found version 2, expected version 1");
  memcpy(data, good, n);
  memcpy(data + 12, "\1\2\3\4", 4), BAD(n, "other byte order");
  memcpy(data, good, n);
  int32_t *col = (int32_t *)(void *)(data + h.part[KCL_PART_COL].offset);
  col[0] = 1 << 20, sign(data), BAD(n, "out of order");
  memcpy(data, good, n);
  col[0] = -1, sign(data), BAD(n, "out of order");
  memcpy(data, good, n);
  ((int64_t *)(void *)(data + h.part[KCL_PART_PTR].offset))[1] = INT64_MAX / 2;
  sign(data), BAD(n, "out of order");
  memcpy(data, good, n);
  ((kcl_file_head *)(void *)data)->rows = INT64_C(1) << 60, sign(data), BAD(n, "makes no sense");
  memcpy(data, good, n);
  ((kcl_file_head *)(void *)data)->nnz++, sign(data), BAD(n, "makes no sense");
  free(data), free(good), kcl_csr_free(&A), kcl_dense_free(&b);
}

/* Every change changes the checksum, on either side of a chunk boundary. */
static void test_sum(void) {
  size_t n = (3 << 20) + 17;
  unsigned char *p = calloc(n, 1);
  uint64_t zero = kcl_sum64(p, n, 0);
  CHECK(kcl_sum64(p, n - 1, 0) != zero && kcl_sum64(p, n, 1) != zero);
  bool good = true;
  for (size_t k = 0; k < n; k += 99991)
    p[k] = 1, good = good && kcl_sum64(p, n, 0) != zero, p[k] = 0;
  p[n - 1] = 128, good = good && kcl_sum64(p, n, 0) != zero;
  CHECK(good);
  free(p);
}

int main(void) {
  static const test tests[] = {
      {"systems", test_system}, {"small", test_small}, {"refusals", test_bad}, {"sum", test_sum}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
