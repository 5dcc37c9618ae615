/* Matrix generators: structure and symmetry of all of them at small sizes, known counts, error messages. */
#include "data/generators/generate.h"
#include "tests/check.h"
#include <math.h>
#include <string.h>

static kcl_context *ctx;
#define CHECK_OF(good, about) CHECKF((good), "%s (%s)", #good, (about))

/* Entry (i, j), by bisection in the row; 0 if it is not stored. */
static void entry(const kcl_csr *A, int64_t i, int32_t j, double z[2]) {
  int64_t lo = A->row_ptr[i], hi = A->row_ptr[i + 1], parts = kcl_type_complex(A->type) ? 2 : 1;
  const double *val = A->val;
  z[0] = z[1] = 0;
  while (lo < hi) {
    int64_t mid = (lo + hi) / 2;
    if (A->col[mid] < j)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == A->row_ptr[i + 1] || A->col[lo] != j) return;
  z[0] = val[parts * lo];
  if (parts == 2) z[1] = val[2 * lo + 1];
}

/* Is the kind one of these words? */
static bool one_of(const char *kind_size, const char *kinds) {
  size_t n = strcspn(kind_size, ":");
  for (const char *p = kinds; *p; p += strcspn(p, " "), p += *p == ' ')
    if (strcspn(p, " ") == n && !strncmp(p, kind_size, n)) return true;
  return false;
}

/* Columns ascend, stay in range, and every row has its diagonal; returns the lower half's entries. */
static int64_t check_rows(const kcl_csr *A, const char *about) {
  int64_t lower = 0, diagonal = 0;
  bool ascending = A->row_ptr[0] == 0 && A->row_ptr[A->rows] == A->nnz, inside = true;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      if (k > A->row_ptr[i] && A->col[k] <= A->col[k - 1]) ascending = false;
      if (A->col[k] < 0 || A->col[k] >= A->cols) inside = false;
      lower += A->col[k] <= i, diagonal += A->col[k] == i;
    }
  CHECK_OF(ascending && inside, about);
  if (!one_of(about, "mycielskian bibd random-uniform random-normal random-lognormal"))
    CHECK_OF(diagonal == A->rows, about);
  return lower;
}

/* Entries without an equal (or conjugate) mirror image, to the last bit. Rows ask row j for ascending columns: at[j]
 * is where it stands. */
static int64_t unmatched(const kcl_csr *A, double conjugate) {
  int64_t count = 0, parts = kcl_type_complex(A->type) ? 2 : 1;
  int64_t *at = malloc((size_t)(A->rows + 1) * sizeof *at);
  const double *val = A->val;
  if (!at) return CHECK_OF(false, "memory"), -1;
  memcpy(at, A->row_ptr, (size_t)(A->rows + 1) * sizeof *at);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t j = A->col[k], end = A->row_ptr[j + 1];
      const double *z = val + parts * k, *t = NULL;
      while (at[j] < end && A->col[at[j]] < i) at[j]++;
      if (at[j] < end && A->col[at[j]] == i) t = val + parts * at[j];
      count += !t || z[0] != t[0] || (parts == 2 && z[1] != conjugate * t[1]);
    }
  free(at);
  return count;
}

/* Weak diagonal dominance with a real positive diagonal: enough for positive semidefinite. */
static bool dominant(const kcl_csr *A) {
  for (int64_t i = 0; i < A->rows; i++) {
    double d[2], off = 0;
    entry(A, i, (int32_t)i, d);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] != i) off += kcl_abs(A->type, A->val, k);
    if (!(d[0] > 0) || d[1] != 0 || off > d[0] * (1 + 1e-14)) return false;
  }
  return true;
}

static void check_matrix(const char *kind_size) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  if (!CHECK_OF(kcl_generate(ctx, kind_size, &A, &b) == KCL_OK, kind_size)) return;
  bool hermitian = A->symmetry == KCL_HERMITIAN;
  int64_t lower = check_rows(A, kind_size);
  CHECK_OF(A->stored == (A->symmetry == KCL_GENERAL ? A->nnz : lower), kind_size);
  CHECK_OF(A->symmetry == KCL_GENERAL || unmatched(A, hermitian ? -1 : 1) == 0, kind_size);
  CHECK_OF(A->type == (A->field == KCL_COMPLEX ? KCL_Z : KCL_D), kind_size);
  CHECK_OF(b && b->rows == A->rows && b->cols == 1 && b->type == A->type, kind_size);
  if (!one_of(kind_size, "trefethen trefethen-minor helmholtz elasticity wathen spd cage "
                         "mycielskian bibd random-uniform random-normal random-lognormal"))
    CHECK_OF(dominant(A), kind_size);
  kcl_csr_free(&A), kcl_dense_free(&b);
}

/* Every generator at sizes 1 to 5 and two more: a well-formed matrix, or an error message. Of elasticity 40 has 15 million entries,
 * by the code that makes those of 16. */
static void test_all(void) {
  const int64_t sizes[] = {1, 2, 3, 4, 5, 16, 40};
  for (int g = 0; g < kcl_generator_count; g++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      char name[64];
      kcl_csr *A;
      snprintf(name, sizeof name, "%s:%lld", kcl_generators[g]->name, (long long)sizes[s]);
      if (sizes[s] > 16 && one_of(name, "elasticity")) continue;
      int rc = kcl_generate(ctx, name, &A, NULL);
      kcl_csr_free(&A);
      if (rc)
        CHECK_OF(rc == KCL_USAGE && strstr(kcl_error(), "at least"), name);
      else
        check_matrix(name);
    }
  check_matrix("poisson2d:7x3"), check_matrix("poisson3d:2x3x5"), check_matrix("hpcg:4x1x3");
  check_matrix("jump3d:20x9x1"), check_matrix("magnetic:1x9"), check_matrix("helmholtz:9x2");
  check_matrix("elasticity:3x1x2"), check_matrix("wathen:4x3"), check_matrix("spd:99x3");
  check_matrix("bibd:7x3"), check_matrix("cage:7"), check_matrix("mycielskian:6");
  check_matrix("convection:5x4x3"), check_matrix("powerlaw:3000"), check_matrix("heatsink:57");
}

static void check_counts(const char *kind_size, int64_t rows, int64_t nnz, int64_t stored) {
  kcl_csr *A;
  if (!CHECK_OF(kcl_generate(ctx, kind_size, &A, NULL) == KCL_OK, kind_size)) return;
  CHECK_OF(A->rows == rows && A->nnz == nnz && A->stored == stored, kind_size);
  kcl_csr_free(&A);
}

static void test_counts(void) {
  int64_t n = 23;
  check_counts("poisson2d:23", n * n, 5 * n * n - 4 * n, 3 * n * n - 2 * n);
  check_counts("poisson3d:23", n * n * n, 7 * n * n * n - 6 * n * n, 4 * n * n * n - 3 * n * n);
  int64_t cube = (3 * n - 2) * (3 * n - 2) * (3 * n - 2);
  check_counts("hpcg:23", n * n * n, cube, (cube + n * n * n) / 2);
  check_counts("trefethen:20000", 20000, 554466,
               287233); /* SuiteSparse: JGD_Trefethen/Trefethen_20000 */
  /* SuiteSparse: vanHeukelum, Gordon, JGD_BIBD, GHS_psdef */
  check_counts("cage:3", 5, 19, 19), check_counts("cage:5", 37, 233, 233);
  check_counts("cage:8", 1015, 11003, 11003), check_counts("cage:10", 11397, 150645, 150645);
  check_counts("mycielskian:12", 3071, 407200, 203600);
  check_counts("bibd:9x5", 36, 1260, 1260), check_counts("wathen:100", 30401, 471601, 251001);
  check_counts("elasticity:4x2x3", 144, 9 * 10 * 7 * 10, (9 * 700 + 144) / 2);
  check_counts("poisson3d:4x3x2", 24, 24 * 7 - 2 * (6 + 8 + 12), 24 + 24 * 3 - (6 + 8 + 12));
}

/* Structure: unsymmetric, complex symmetric and not Hermitian, Hermitian and not symmetric. */
static void test_kinds(void) {
  kcl_csr *A = NULL, *B = NULL;
  if (CHECK_OF(kcl_generate(ctx, "convection:9", &A, NULL) == KCL_OK, "convection"))
    CHECK_OF(A->symmetry == KCL_GENERAL && unmatched(A, 1) > A->rows, "convection");
  kcl_csr_free(&A);
  if (CHECK_OF(kcl_generate(ctx, "helmholtz:9", &A, NULL) == KCL_OK, "helmholtz"))
    CHECK_OF(A->symmetry == KCL_SYMMETRIC && unmatched(A, -1) > 0, "helmholtz");
  kcl_csr_free(&A);
  if (CHECK_OF(kcl_generate(ctx, "magnetic:9", &A, NULL) == KCL_OK, "magnetic"))
    CHECK_OF(A->symmetry == KCL_HERMITIAN && unmatched(A, 1) > A->rows, "magnetic");
  kcl_csr_free(&A);
  if (CHECK_OF(!kcl_generate(ctx, "powerlaw:5000", &A, NULL) &&
                   !kcl_generate(ctx, "powerlaw:5000", &B, NULL),
               "")) {
    CHECK_OF(!memcmp(A->val, B->val, (size_t)A->nnz * 8), "powerlaw: the same at every call");
    CHECK_OF(A->nnz > 16 * A->rows && A->nnz < 17 * A->rows, "powerlaw");
  }
  kcl_csr_free(&A), kcl_csr_free(&B);
}

static void refused(const char *kind_size, const char *word) {
  kcl_csr *A = (kcl_csr *)1;
  kcl_dense *b = (kcl_dense *)1;
  CHECK_OF(kcl_generate(ctx, kind_size, &A, &b) == KCL_USAGE && !A && !b, kind_size);
  if (!CHECK_OF(strstr(kcl_error(), word) != NULL, kind_size)) printf("     %s\n", kcl_error());
}

/* Mean and standard deviation of the row lengths within four standard errors: those of the mean are deviation / sqrt(n),
 * those of the deviation at most deviation sqrt((kurtosis - 1) / 4 n), kurtosis at most 8 here (log-normal, 1/4 of the
 * mean); rounding to whole lengths adds at most half an entry. */
static void check_lengths(const char *kind) {
  const double n = 20000, mean = 40, deviation = 10;
  char name[64];
  kcl_csr *A = NULL;
  double sum = 0, squares = 0;
  snprintf(name, sizeof name, "%s:20000x40x10", kind);
  check_matrix(name);
  if (!CHECK_OF(kcl_generate(ctx, name, &A, NULL) == KCL_OK, name)) return;
  for (int64_t i = 0; i < A->rows; i++) {
    const double k = (double)(A->row_ptr[i + 1] - A->row_ptr[i]);
    sum += k, squares += (k - mean) * (k - mean);
  }
  CHECK_OF(fabs(sum / n - mean) < 4 * deviation / sqrt(n), name);
  CHECK_OF(fabs(sqrt(squares / n) - deviation) < 4 * deviation * sqrt(7 / (4 * n)) + 0.5, name);
  kcl_csr_free(&A);
}

static void test_lengths(void) {
  check_lengths("random-uniform"), check_lengths("random-normal");
  check_lengths("random-lognormal");
  check_counts("random-normal:500x7", 500, 3500, 3500);
  check_counts("random-uniform:30x30", 30, 900, 900);
}

static void test_refusals(void) {
  refused("random-normal:5", "at least"), refused("random-uniform:5x6", "at most N");
  refused("poisson:3", "poisson2d"), refused("", "heatsink"), refused(":", "heatsink");
  refused("poisson2d", "poisson2d:SIZE"), refused("poisson2d:", "whole numbers");
  refused("poisson2d:0", "whole numbers"), refused("poisson2d:-3", "whole numbers");
  refused("poisson2d:3x", "whole numbers"), refused("poisson2d:x3", "whole numbers");
  refused("poisson3d:1x2x3x4", "whole numbers"), refused("poisson2d:3 ", "whole numbers");
  refused("poisson2d:99999999999999999999", "2147483647"),
      refused("poisson3d:2147483647", "2147483647");
  refused("poisson2d:1x2x3", "one number"), refused("poisson3d:5x5", "one number");
  refused("trefethen:3x3", "one number"), refused("heatsink:2", "at least 40");
  refused("cage:2", "at least 3"), refused("cage:16", "at most 15"), refused("bibd:5", "17x8");
  refused("bibd:40x20", "blocks"), refused("mycielskian:21", "at most 20");
  refused("trefethen-minor:1", "at least 2"), refused("spd:9x16", "at most 15");
  refused("wathen:2x2x2", "NxM"), refused("elasticity:2x2", "one number");
  refused("heatsink:99999", "at most"), refused("powerlaw:1x2", "one number");
}

int main(void) {
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  test_all();
  test_counts();
  test_kinds();
  test_lengths();
  test_refusals();
  kcl_context_free(&ctx);
  return check_report();
}
