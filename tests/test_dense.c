/* The dense inverse of coarsest systems: A X = I, by either way; of a singular A an X with A X A = A. */
#include "multigrid/coarsen.h"
#include "tests/check.h"
#include <float.h>
#include <stdlib.h>

enum { MOST = 130 };
static double a[MOST * MOST], x[MOST * MOST], ax[MOST * MOST], axa[MOST * MOST];

typedef double entry_at(int64_t n, int64_t i, int64_t j);

static double definite(int64_t n, int64_t i, int64_t j) {
  return i == j ? 4.5 : llabs(i - j) == 1 || llabs(i - j) == n / 3 ? -1 : 0;
}

static double indefinite(int64_t n, int64_t i, int64_t j) {
  return (void)n, i == j ? 0 : (i ^ 1) == j ? 3 : 0.5 / (double)(i + j + 40);
}

static double general(int64_t n, int64_t i, int64_t j) {
  return (i + 1) % n == j ? 2 : i == j ? 0.5 : i > j ? 0.01 : 0;
}

/* A graph's Laplacian of two paths: two columns have no pivot. */
static double singular(int64_t n, int64_t i, int64_t j) {
  const bool left = i > 0 && i != n / 2, right = i + 1 < n && i + 1 != n / 2;
  return i == j ? left + right : (j + 1 == i && left) || (j == i + 1 && right) ? -1 : 0;
}

static void multiply(const double *p, const double *q, double *out, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      out[i * n + j] = 0;
      for (int64_t k = 0; k < n; k++) out[i * n + j] += p[i * n + k] * q[k * n + j];
    }
}

/* max |p - q|; q NULL: the identity. */
static double distance(const double *p, const double *q, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      most = fmax(most, fabs(p[i * n + j] - (q ? q[i * n + j] : i == j)));
  return most;
}

static double largest(const double *p, int64_t n) {
  double most = 0;
  for (int64_t k = 0; k < n * n; k++) most = fmax(most, fabs(p[k]));
  return most;
}

static void test(kcl_context *ctx, const char *name, entry_at *at, int64_t n, bool hermitian) {
  kcl_csr *A = NULL, *X = NULL;
  int64_t k = 0;
  CHECK(!kcl_csr_create(ctx, n, n, n * n, KCL_D, &A));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      a[i * n + j] = at(n, i, j);
      if (a[i * n + j] != 0) A->col[k] = (int32_t)j, ((double *)A->val)[k++] = a[i * n + j];
    }
    A->row_ptr[i + 1] = k;
  }
  A->nnz = k;
  if (CHECKF(!kcl_dense_inverse(ctx, A, hermitian, &X) && X->nnz == n * n, "%s", kcl_error())) {
    int64_t in_place = 0;
    for (int64_t i = 0; i < n * n; i++)
      x[i] = ((double *)X->val)[i],
      in_place += X->col[i] == i % n && X->row_ptr[i / n] == i / n * n;
    CHECKF(in_place == n * n && X->row_ptr[n] == n * n, "%s, %lld rows: X is not full", name,
           (long long)n);
    multiply(a, x, ax, n), multiply(ax, a, axa, n);
    const double off = at == singular ? distance(axa, a, n) : distance(ax, NULL, n),
                 bound = 16 * (double)n * DBL_EPSILON * (double)n * largest(a, n) * largest(x, n);
    CHECKF(off <= bound, "%s, %lld rows, hermitian %d: off by %g, allowed %g", name, (long long)n,
           hermitian, off, bound);
    for (int64_t i = 0; i < n && hermitian; i++)
      for (int64_t j = 0; j < i; j++)
        if (x[i * n + j] != x[j * n + i])
          CHECKF(false, "%s: not symmetric at %lld, %lld", name, (long long)i, (long long)j);
  }
  kcl_csr_free(&A), kcl_csr_free(&X);
}

int main(void) {
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 31, 64, 97, 128, MOST};
  kcl_context *ctx = NULL;
  CHECK(!kcl_context_create(NULL, 0, &ctx));
  for (int s = 0; s < 11; s++)
    for (int hermitian = 0; hermitian < 2; hermitian++) {
      test(ctx, "positive definite", definite, sizes[s], hermitian);
      test(ctx, "singular", singular, sizes[s], hermitian);
      if (sizes[s] % 2 == 0) test(ctx, "indefinite", indefinite, sizes[s], hermitian);
      if (!hermitian) test(ctx, "general", general, sizes[s], false);
    }
  kcl_context_free(&ctx);
  return check_report();
}
