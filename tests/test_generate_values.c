/* Values of generated matrices: against matrices of the SuiteSparse collection, row sums, totals, and the heat
 * balance of the heat sink. */
#include "data/generators/heatsink.h"
#include "tests/check.h"
#include <math.h>
#include <string.h>

static kcl_context *ctx;
#define CHECK_OF(good, about) CHECKF((good), "%s (%s)", #good, (about))

/* The shared matrix, or NULL and a line that says why it is missing. */
static kcl_csr *shared(const char *name) {
  const char *folder = getenv("KRYLOCL_MATRICES");
  char path[4096];
  kcl_csr *A = NULL;
  snprintf(path, sizeof path, "%s/%s.mtx.gz", folder ? folder : "../shared/matrices", name);
  FILE *f = fopen(path, "rb");
  if (!f) {
    skip("%s: no %s", name, path);
    return NULL;
  }
  fclose(f);
  CHECK_OF(kcl_csr_read(ctx, path, &A) == KCL_OK, kcl_error());
  return A;
}

/* Entries that differ, on the diagonal and off it, and the largest difference. */
typedef struct differences {
  int64_t on, off;
  double max;
} differences;

static differences compare(const kcl_csr *A, const kcl_csr *B) {
  differences d = {0, 0, 0};
  const double *a = A->val, *b = B->val;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      if (a[k] == b[k]) continue;
      d.on += A->col[k] == i, d.off += A->col[k] != i;
      d.max = fmax(d.max, fabs(a[k] - b[k]));
    }
  return d;
}

static bool same_structure(const kcl_csr *A, const kcl_csr *B) {
  return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->field == B->field &&
         A->symmetry == B->symmetry && A->stored == B->stored &&
         !memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8) &&
         !memcmp(A->col, B->col, (size_t)A->nnz * 4);
}

/* Equal to the matrix of the collection, except that diagonal entries may differ by `unit`; 1: only the structure. */
static void check_shared(const char *kind_size, const char *name, double unit) {
  kcl_csr *A = NULL, *B = shared(name);
  if (!B) return;
  if (CHECK_OF(kcl_generate(ctx, kind_size, &A, NULL) == KCL_OK, kcl_error()) &&
      CHECK_OF(same_structure(A, B), kind_size) && unit < 1) {
    differences d = compare(A, B);
    CHECK_OF(d.off == 0 && d.max <= unit, kind_size);
    if (d.on) printf("     %s: %lld diagonals differ, by %.2g\n", name, (long long)d.on, d.max);
  }
  kcl_csr_free(&A), kcl_csr_free(&B);
}

static void test_shared(void) {
  check_shared("trefethen-minor:20000", "Trefethen_20000b", 0);
  check_shared("cage:4", "cage4", 0);
  check_shared("cage:12", "cage12", 1.1e-15); /* sums in another order; see cage.c */
  check_shared("bibd:17x8", "bibd_17_8", 0);
  check_shared("mycielskian:15", "mycielskian15", 0);
  check_shared("wathen:100", "wathen100", 1); /* the structure; wathen.c */
}

/* Columns of a matrix of probabilities sum to 1; the total load of elasticity is the weight of its elements less
 * that of the clamped face; the trace of spd:NxK is the sum of its prescribed eigenvalues. */
static void test_totals(void) {
  kcl_csr *A = NULL, *T = NULL;
  kcl_dense *b = NULL;
  double y[340], one[340], worst = 0, weight = 0, trace = 0, want = 0;
  for (int i = 0; i < 340; i++) one[i] = 1;
  if (CHECK_OF(!kcl_generate(ctx, "cage:7", &A, NULL) && !kcl_csr_adjoint(ctx, A, &T), "cage:7")) {
    kcl_csr_product(T, one, NULL, y);
    for (int i = 0; i < 340; i++) worst = fmax(worst, fabs(y[i] - 1));
    CHECK_OF(worst < 2e-14, "cage:7");
  }
  kcl_csr_free(&A), kcl_csr_free(&T);
  if (CHECK_OF(!kcl_generate(ctx, "elasticity:2x3x4", &A, &b), "elasticity")) {
    for (int64_t i = 0; i < b->rows; i++) weight += b->val[i];
    CHECK_OF(weight == -(24 - 12 / 2.0), "elasticity: the elements but half of those at the wall");
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
  if (CHECK_OF(!kcl_generate(ctx, "spd:300x4", &A, NULL), "spd")) {
    for (int64_t i = 0; i < 300; i++) {
      want += pow(10, -4.0 * (double)i / 299);
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
        if (A->col[k] == i) trace += ((double *)A->val)[k];
    }
    CHECK_OF(fabs(trace - want) < 1e-12 * want, "spd");
  }
  kcl_csr_free(&A);
}

/* Row sums: Poisson's are 0 inside and positive at the boundary; b of HPCG is 26 less the number of neighbours. */
static void test_sums(void) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  if (CHECK_OF(kcl_generate(ctx, "hpcg:3", &A, &b) == KCL_OK, "hpcg")) {
    CHECK_OF(b->val[0] == 26 - 7 && b->val[1] == 26 - 11 && b->val[4] == 26 - 17 && b->val[13] == 0,
             "hpcg");
    CHECK_OF(((double *)A->val)[0] == 26 && ((double *)A->val)[1] == -1, "hpcg");
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
  if (CHECK_OF(kcl_generate(ctx, "poisson3d:3", &A, &b) == KCL_OK, "poisson3d")) {
    double ones[27], sum[27];
    for (int i = 0; i < 27; i++) ones[i] = 1;
    kcl_csr_product(A, ones, NULL, sum);
    CHECK_OF(sum[0] == 3 && sum[1] == 2 && sum[4] == 1 && sum[13] == 0 && b->val[13] == 1,
             "poisson3d");
  }
  kcl_csr_free(&A), kcl_dense_free(&b);
}

static double dot(int64_t n, const double *x, const double *y) {
  double s = 0;
  for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}

/* Conjugate gradients (Hestenes & Stiefel 1952); work: r p q, [3 n]. Returns the iterations. */
static int solve_system(const kcl_csr *A, const double *b, double *x, double *work) {
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

/* The heat flow to ambient equals the 65 W of the die, and the die is the hottest part. */
static void check_heat(const kcl_csr *A, const kcl_dense *b) {
  int64_t n = A->rows, hottest = 0;
  double *x = calloc((size_t)n * 5, sizeof *x), *outside = x + n, watts = 0, out = 0;
  if (!CHECK_OF(x != NULL, "memory")) return;
  for (int64_t i = 0; i < n; i++) outside[i] = 1;
  kcl_csr_product(A, outside, NULL, outside + n);
  memcpy(outside, outside + n, (size_t)n * 8); /* conductance of each cell to ambient, W/K */
  int iterations = solve_system(A, b->val, x, outside + n);
  CHECK_OF(iterations > 0, "heatsink:40");
  for (int64_t i = 0; i < n; i++) {
    watts += b->val[i], out += outside[i] * x[i];
    if (x[i] > x[hottest]) hottest = i;
  }
  CHECK_OF(fabs(watts - 65) < 1e-12 * 65, "heatsink:40");
  CHECK_OF(fabs(out - 65) < 1e-8 * 65, "heatsink:40");
  CHECK_OF(b->val[hottest] > 0 && x[hottest] > 40 && x[hottest] < 60, "heatsink:40");
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
  if (CHECK_OF(kcl_generate(ctx, "heatsink:40", &A, &b) == KCL_OK, kcl_error())) check_heat(A, b);
  if (CHECK_OF(kcl_heatsink_map(ctx, 40, n, spacing, &map) == KCL_OK, kcl_error())) {
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
      if (map[i] >= 0) ascending = ascending && map[i] == last + 1, last = map[i];
    CHECK_OF(ascending && A && last + 1 == A->rows && spacing[0] * 40 == 90e-3, "map");
  }
  free(map);
  CHECK_OF(kcl_heatsink_map(ctx, 5, n, spacing, &map) == KCL_USAGE && !map, "map");
  kcl_csr_free(&A), kcl_dense_free(&b);
}

int main(void) {
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  test_shared();
  test_totals();
  test_sums();
  test_heatsink();
  kcl_context_free(&ctx);
  return check_report();
}
