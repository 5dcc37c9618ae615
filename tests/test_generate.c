/* Matrix generators: structure and symmetry of all of them at small sizes, known counts, the
 * heat balance of the heat sink, refusals in words. */
#include "data/generate.h"
#include "data/heatsink.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static kcl *ctx;

static bool check(bool good, const char *what, const char *about, int line) {
  if (good)
    passed++;
  else
    failed++;
  if (!good) printf("FAIL %s:%d: %s (%s)\n", __FILE__, line, what, about);
  return good;
}
#define CHECK(good, about) check((good), #good, (about), __LINE__)

static void said(const char *test, int failed_before) {
  if (failed == failed_before) printf("ok   %s\n", test);
}

/* Entry (i, j), by bisection in the row; 0 when it is not stored. */
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
  CHECK(ascending && inside, about);
  if (!one_of(about, "mycielskian bibd")) CHECK(diagonal == A->rows, about);
  return lower;
}

/* Entries without an equal (or conjugate) mirror image, to the last bit. Rows ask row j for ascending columns: at[j]
 * is where it stands. */
static int64_t unmatched(const kcl_csr *A, double conjugate) {
  int64_t count = 0, parts = kcl_type_complex(A->type) ? 2 : 1;
  int64_t *at = malloc((size_t)(A->rows + 1) * sizeof *at);
  const double *val = A->val;
  if (!at) return CHECK(false, "memory"), -1;
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
  if (!CHECK(kcl_generate(ctx, kind_size, &A, &b) == KCL_OK, kind_size)) return;
  bool hermitian = A->symmetry == KCL_HERMITIAN;
  int64_t lower = check_rows(A, kind_size);
  CHECK(A->stored == (A->symmetry == KCL_GENERAL ? A->nnz : lower), kind_size);
  CHECK(A->symmetry == KCL_GENERAL || unmatched(A, hermitian ? -1 : 1) == 0, kind_size);
  CHECK(A->type == (A->field == KCL_COMPLEX ? KCL_Z : KCL_D), kind_size);
  CHECK(b && b->rows == A->rows && b->cols == 1 && b->type == A->type, kind_size);
  if (!one_of(kind_size, "trefethen trefethen-minor helmholtz elasticity wathen spd cage "
                         "mycielskian bibd"))
    CHECK(dominant(A), kind_size);
  kcl_csr_free(&A), kcl_dense_free(&b);
}

/* Every generator at sizes 1 to 5 and a few more: a sound matrix, or a refusal in words. */
static void test_all(void) {
  const int64_t sizes[] = {1, 2, 3, 4, 5, 16, 40};
  int before = failed;
  for (int g = 0; g < kcl_generator_count; g++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      char name[64];
      kcl_csr *A;
      snprintf(name, sizeof name, "%s:%lld", kcl_generators[g]->name, (long long)sizes[s]);
      int rc = kcl_generate(ctx, name, &A, NULL);
      kcl_csr_free(&A);
      if (rc)
        CHECK(rc == KCL_USAGE && strstr(kcl_error(ctx), "at least"), name);
      else
        check_matrix(name);
    }
  check_matrix("poisson2d:7x3"), check_matrix("poisson3d:2x3x5"), check_matrix("hpcg:4x1x3");
  check_matrix("jump3d:20x9x1"), check_matrix("magnetic:1x9"), check_matrix("helmholtz:9x2");
  check_matrix("elasticity:3x1x2"), check_matrix("wathen:4x3"), check_matrix("spd:99x3");
  check_matrix("bibd:7x3"), check_matrix("cage:7"), check_matrix("mycielskian:6");
  check_matrix("convection:5x4x3"), check_matrix("powerlaw:3000"), check_matrix("heatsink:57");
  said("every generator", before);
}

static void check_counts(const char *kind_size, int64_t rows, int64_t nnz, int64_t stored) {
  kcl_csr *A;
  if (!CHECK(kcl_generate(ctx, kind_size, &A, NULL) == KCL_OK, kind_size)) return;
  CHECK(A->rows == rows && A->nnz == nnz && A->stored == stored, kind_size);
  kcl_csr_free(&A);
}

static void test_counts(void) {
  int64_t n = 23;
  int before = failed;
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
  said("counts", before);
}

/* The shared matrix, or NULL and why not. */
static kcl_csr *shared(const char *name) {
  const char *folder = getenv("KRYLOCL_MATRICES");
  char path[4096];
  kcl_csr *A = NULL;
  snprintf(path, sizeof path, "%s/%s.mtx.gz", folder ? folder : "../shared/matrices", name);
  FILE *f = fopen(path, "rb");
  if (!f) {
    printf("skip %s: no %s\n", name, path);
    return NULL;
  }
  fclose(f);
  CHECK(kcl_csr_read(ctx, path, &A) == KCL_OK, kcl_error(ctx));
  return A;
}

/* Entries that differ, and by how much at most; on the diagonal and off it. */
typedef struct differences {
  int64_t on, off;
  double most;
} differences;

static differences compare(const kcl_csr *A, const kcl_csr *B) {
  differences d = {0, 0, 0};
  const double *a = A->val, *b = B->val;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      if (a[k] == b[k]) continue;
      d.on += A->col[k] == i, d.off += A->col[k] != i;
      d.most = fmax(d.most, fabs(a[k] - b[k]));
    }
  return d;
}

static bool same_pattern(const kcl_csr *A, const kcl_csr *B) {
  return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->field == B->field &&
         A->symmetry == B->symmetry && A->stored == B->stored &&
         !memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8) &&
         !memcmp(A->col, B->col, (size_t)A->nnz * 4);
}

/* As in the collection: entry for entry, but for `unit`, what diagonals may differ by. */
static void check_shared(const char *kind_size, const char *name, double unit) {
  kcl_csr *A = NULL, *B = shared(name);
  int before = failed;
  if (!B) return;
  if (CHECK(kcl_generate(ctx, kind_size, &A, NULL) == KCL_OK, kcl_error(ctx)) &&
      CHECK(same_pattern(A, B), kind_size) && unit < 1) {
    differences d = compare(A, B);
    CHECK(d.off == 0 && d.most <= unit, kind_size);
    if (d.on) printf("     %s: %lld diagonals differ, by %.2g\n", name, (long long)d.on, d.most);
  }
  kcl_csr_free(&A), kcl_csr_free(&B);
  said(name, before);
}

static void test_shared(void) {
  check_shared("trefethen-minor:20000", "Trefethen_20000b", 0);
  check_shared("cage:4", "cage4", 0);
  check_shared("cage:12", "cage12", 1.1e-15); /* sums in another order; gen_cage.c */
  check_shared("bibd:17x8", "bibd_17_8", 0);
  check_shared("mycielskian:15", "mycielskian15", 0);
  check_shared("wathen:100", "wathen100", 1); /* the pattern; gen_wathen.c */
}

/* Columns of a matrix of probabilities sum to 1; the weight of a block is that of its elements but for
 * the clamped face; the spectrum of spd:N x K is what was asked for: its trace says so. */
static void test_sums_of_new(void) {
  kcl_csr *A = NULL, *T = NULL;
  kcl_dense *b = NULL;
  int before = failed;
  double y[340], one[340], worst = 0, weight = 0, trace = 0, want = 0;
  for (int i = 0; i < 340; i++) one[i] = 1;
  if (CHECK(!kcl_generate(ctx, "cage:7", &A, NULL) && !kcl_csr_adjoint(ctx, A, &T), "cage:7")) {
    kcl_csr_product(T, one, NULL, y);
    for (int i = 0; i < 340; i++) worst = fmax(worst, fabs(y[i] - 1));
    CHECK(worst < 2e-14, "cage:7");
  }
  kcl_csr_free(&A), kcl_csr_free(&T);
  if (CHECK(!kcl_generate(ctx, "elasticity:2x3x4", &A, &b), "elasticity")) {
    for (int64_t i = 0; i < b->rows; i++) weight += b->val[i];
    CHECK(weight == -(24 - 12 / 2.0), "elasticity: the elements but half of those at the wall");
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
  if (CHECK(!kcl_generate(ctx, "spd:300x4", &A, NULL), "spd")) {
    for (int64_t i = 0; i < 300; i++) {
      double z[2];
      entry(A, i, (int32_t)i, z);
      trace += z[0], want += pow(10, -4.0 * (double)i / 299);
    }
    CHECK(fabs(trace - want) < 1e-12 * want, "spd");
  }
  kcl_csr_free(&A);
  said("sums of probabilities, weights and eigenvalues", before);
}

/* Row sums: Poisson 0 inside and > 0 at the edge; HPCG's b is 26 less its neighbours. */
static void test_sums(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  int before = failed;
  if (CHECK(kcl_generate(ctx, "hpcg:3", &A, &b) == KCL_OK, "hpcg")) {
    CHECK(b->val[0] == 26 - 7 && b->val[1] == 26 - 11 && b->val[4] == 26 - 17 && b->val[13] == 0,
          "hpcg");
    CHECK(((double *)A->val)[0] == 26 && ((double *)A->val)[1] == -1, "hpcg");
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
  if (CHECK(kcl_generate(ctx, "poisson3d:3", &A, &b) == KCL_OK, "poisson3d")) {
    double ones[27], sum[27];
    for (int i = 0; i < 27; i++) ones[i] = 1;
    kcl_csr_product(A, ones, NULL, sum);
    CHECK(sum[0] == 3 && sum[1] == 2 && sum[4] == 1 && sum[13] == 0 && b->val[13] == 1,
          "poisson3d");
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
  said("row sums", before);
}

/* Kinds of structure that their readers rely on: really unsymmetric, really not Hermitian. */
static void test_kinds(void) {
  kcl_csr *A = NULL, *B = NULL;
  int before = failed;
  if (CHECK(kcl_generate(ctx, "convection:9", &A, NULL) == KCL_OK, "convection"))
    CHECK(A->symmetry == KCL_GENERAL && unmatched(A, 1) > A->rows, "convection");
  kcl_csr_free(&A);
  if (CHECK(kcl_generate(ctx, "helmholtz:9", &A, NULL) == KCL_OK, "helmholtz"))
    CHECK(A->symmetry == KCL_SYMMETRIC && unmatched(A, -1) > 0, "helmholtz");
  kcl_csr_free(&A);
  if (CHECK(kcl_generate(ctx, "magnetic:9", &A, NULL) == KCL_OK, "magnetic"))
    CHECK(A->symmetry == KCL_HERMITIAN && unmatched(A, 1) > A->rows, "magnetic");
  kcl_csr_free(&A);
  if (CHECK(!kcl_generate(ctx, "powerlaw:5000", &A, NULL) &&
                !kcl_generate(ctx, "powerlaw:5000", &B, NULL),
            "")) {
    CHECK(!memcmp(A->val, B->val, (size_t)A->nnz * 8), "powerlaw: the same at every call");
    CHECK(A->nnz > 16 * A->rows && A->nnz < 17 * A->rows, "powerlaw");
  }
  kcl_csr_free(&A), kcl_csr_free(&B);
  said("kinds", before);
}

static double dot(int64_t n, const double *x, const double *y) {
  double s = 0;
  for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}

/* Conjugate gradients of Hestenes & Stiefel (1952); work: r p q, 3 n. Returns iterations. */
static int solve(const kcl_csr *A, const double *b, double *x, double *work) {
  int64_t n = A->rows;
  double *r = work, *p = r + n, *q = p + n, rho = dot(n, b, b), target = 1e-20 * rho;
  memcpy(r, b, (size_t)n * 8), memcpy(p, b, (size_t)n * 8);
  for (int it = 0; it < 2000; it++) {
    kcl_csr_product(A, p, NULL, q);
    double alpha = rho / dot(n, p, q), old = rho;
    for (int64_t i = 0; i < n; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    rho = dot(n, r, r);
    if (rho <= target) return it + 1;
    for (int64_t i = 0; i < n; i++) p[i] = r[i] + rho / old * p[i];
  }
  return -1;
}

/* The heat that leaves equals the 65 W that the die makes; the die is the hottest part. */
static void check_heat(const kcl_csr *A, const kcl_dense *b) {
  int64_t n = A->rows, hottest = 0;
  double *x = calloc((size_t)n * 5, sizeof *x), *outside = x + n, watts = 0, out = 0;
  if (!CHECK(x != NULL, "memory")) return;
  for (int64_t i = 0; i < n; i++) outside[i] = 1;
  kcl_csr_product(A, outside, NULL, outside + n);
  memcpy(outside, outside + n, (size_t)n * 8); /* conductance of each cell to ambient, W/K */
  int iterations = solve(A, b->val, x, outside + n);
  CHECK(iterations > 0, "heatsink:40");
  for (int64_t i = 0; i < n; i++) {
    watts += b->val[i], out += outside[i] * x[i];
    if (x[i] > x[hottest]) hottest = i;
  }
  CHECK(fabs(watts - 65) < 1e-12 * 65, "heatsink:40");
  CHECK(fabs(out - 65) < 1e-8 * 65, "heatsink:40");
  CHECK(b->val[hottest] > 0 && x[hottest] > 40 && x[hottest] < 60, "heatsink:40");
  printf("     heatsink:40: %lld unknowns, peak %.2f K, %.9f W out, %d iterations\n", (long long)n,
         x[hottest], out, iterations);
  free(x);
}

static void test_heatsink(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  int64_t n[3], last = -1;
  double spacing[3];
  int32_t *map = NULL;
  bool ascending = true;
  int before = failed;
  if (CHECK(kcl_generate(ctx, "heatsink:40", &A, &b) == KCL_OK, kcl_error(ctx))) check_heat(A, b);
  if (CHECK(kcl_heatsink_map(ctx, 40, n, spacing, &map) == KCL_OK, kcl_error(ctx))) {
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
      if (map[i] >= 0) ascending = ascending && map[i] == last + 1, last = map[i];
    CHECK(ascending && A && last + 1 == A->rows && spacing[0] * 40 == 90e-3, "map");
  }
  free(map);
  CHECK(kcl_heatsink_map(ctx, 5, n, spacing, &map) == KCL_USAGE && !map, "map");
  kcl_csr_free(&A), kcl_dense_free(&b);
  said("heat sink", before);
}

static void refused(const char *kind_size, const char *word) {
  kcl_csr *A = (kcl_csr *)1;
  kcl_dense *b = (kcl_dense *)1;
  CHECK(kcl_generate(ctx, kind_size, &A, &b) == KCL_USAGE && !A && !b, kind_size);
  if (!CHECK(strstr(kcl_error(ctx), word) != NULL, kind_size)) printf("     %s\n", kcl_error(ctx));
}

static void test_refusals(void) {
  int before = failed;
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
  said("refusals", before);
}

int main(void) {
  if (kcl_create(&ctx)) return 1;
  test_all();
  test_counts();
  test_shared();
  test_sums_of_new();
  test_sums();
  test_kinds();
  test_heatsink();
  test_refusals();
  kcl_destroy(&ctx);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
