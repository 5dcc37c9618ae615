/* The dense inverse of a small matrix. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>

static const double NOTHING = 1e-13; /* of the largest pivot: the matrix is singular there */

static void subtract(double *restrict a, const double *restrict b, double f, int64_t n) {
#pragma omp simd
  for (int64_t j = 0; j < n; j++) a[j] -= f * b[j];
}

/* Gauss and Jordan: X = I becomes A^-1. A column without a pivot is left out: zero in the inverse. Of row k, columns of A before k
 * are not needed any more, and those of X behind the last pivot's row are zero. */
static void invert(double *A, double *X, int64_t n) {
  double most = 0;
  int64_t filled = 0;
  for (int64_t i = 0; i < n * n; i++) most = fmax(most, fabs(A[i]));
  for (int64_t k = 0; k < n; k++) {
    int64_t p = k;
    for (int64_t i = k; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
    if (!(fabs(A[p * n + k]) > NOTHING * most)) {
      for (int64_t j = 0; j < n; j++) A[k * n + j] = X[k * n + j] = 0;
      continue;
    }
    for (int64_t j = 0; j < n && p != k; j++) {
      double t = A[k * n + j], u = X[k * n + j];
      A[k * n + j] = A[p * n + j], A[p * n + j] = t;
      X[k * n + j] = X[p * n + j], X[p * n + j] = u;
    }
    if (p >= filled) filled = p + 1;
    const double pivot = 1 / A[k * n + k];
    for (int64_t j = k; j < n; j++) A[k * n + j] *= pivot;
    for (int64_t j = 0; j < filled; j++) X[k * n + j] *= pivot;
    for (int64_t i = 0; i < n; i++) {
      const double f = i == k ? 0 : A[i * n + k];
      if (f == 0) continue;
      subtract(A + i * n + k, A + k * n + k, f, n - k);
      subtract(X + i * n, X + k * n, f, filled);
    }
  }
}

int kcl_dense_inverse(kcl *ctx, const kcl_csr *A, bool hermitian, kcl_csr **out) {
  const int64_t n = A->rows;
  double *full = NULL, *x;
  kcl_csr *C = *out = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, n * n, sizeof *full, "the coarsest system", (void **)&full));
  KCL_TRY(kcl_csr_create(ctx, n, n, n * n, KCL_D, &C));
  x = C->val;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      full[i * n + A->col[k]] = ((const double *)A->val)[k];
    for (int64_t j = 0; j < n; j++) C->col[i * n + j] = (int32_t)j, x[i * n + j] = i == j;
    C->row_ptr[i + 1] = (i + 1) * n;
  }
  invert(full, x, n);
  for (int64_t i = 0; hermitian && i < n; i++)
    for (int64_t j = 0; j < i; j++) x[i * n + j] = x[j * n + i] = (x[i * n + j] + x[j * n + i]) / 2;
  *out = C, C = NULL;
done:
  free(full), kcl_csr_free(&C);
  return rc;
}
