/* The dense inverse of a small matrix: in place where it is positive definite, else with row exchanges. */
#include "multigrid/coarsen.h"

static const double NOTHING = 1e-13; /* of the largest pivot: the matrix is singular there */

static void subtract_multiple(double *restrict a, const double *restrict b, double f, int64_t n) {
#pragma omp simd
  for (int64_t j = 0; j < n; j++) a[j] -= f * b[j];
}

/* Gauss-Jordan elimination: X = I becomes A^-1. A column without a pivot is left out and zero in the inverse. In row k, columns
 * of A before k are not needed any more, and columns of X behind the last pivot's row are zero. */
static void invert_general(double *A, double *X, int64_t n) {
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
      subtract_multiple(A + i * n + k, A + k * n + k, f, n - k);
      subtract_multiple(X + i * n, X + k * n, f, filled);
    }
  }
}

static double symmetric_element(const double *A, int64_t n, int64_t i, int64_t j) {
  return i >= j ? A[i * n + j] : A[j * n + i];
}

/* Subtracts f[i] times b from row i of four rows, n apart. */
static void subtract_four(double *restrict a, int64_t n, const double *restrict b,
                          const double *restrict f, int64_t count) {
#pragma omp simd
  for (int64_t j = 0; j < count; j++) {
    a[j] -= f[0] * b[j], a[n + j] -= f[1] * b[j];
    a[2 * n + j] -= f[2] * b[j], a[3 * n + j] -= f[3] * b[j];
  }
}

/* Is column k zero below the diagonal? In a positive semidefinite matrix it is where a_kk is no pivot: a_kj^2 <= a_kk a_jj. */
static bool empty_below(const double *A, int64_t n, int64_t k, double most) {
  double below = 0;
  for (int64_t i = k + 1; i < n; i++) below = fmax(below, fabs(A[i * n + k]));
  return A[k * n + k] >= -NOTHING * most && below <= sqrt(NOTHING) * most;
}

/* The lower triangle of a symmetric A becomes the lower triangle of -A^-1 by the sweep operator (Goodnight 1979); the upper one
 * is overwritten. A column without a pivot is left out. work: [2 n]. False: A is not positive semidefinite. */
static bool sweep_symmetric(double *A, int64_t n, double *work) {
  double most = 0, *row = work, *factor = work + n;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(A[i * n + i]));
  for (int64_t k = 0; k < n; k++) {
    const double pivot = A[k * n + k], inverse = pivot > NOTHING * most ? 1 / pivot : 0;
    int64_t i = 0;
    if (inverse == 0 && !empty_below(A, n, k, most)) return false;
    for (int64_t j = 0; j < n; j++) row[j] = inverse != 0 ? symmetric_element(A, n, k, j) : 0;
    for (int64_t j = 0; j < n; j++) factor[j] = j == k ? 0 : row[j] * inverse;
    for (; i + 4 <= n; i += 4) subtract_four(A + i * n, n, row, factor + i, i + 4);
    for (; i < n; i++) subtract_multiple(A + i * n, row, factor[i], i + 1);
    for (i = 0; i < n; i++) A[i > k ? i * n + k : k * n + i] = factor[i];
    A[k * n + k] = -inverse;
  }
  return true;
}

static void make_dense(const kcl_csr *A, double *out) {
  memset(out, 0, (size_t)(A->rows * A->rows) * sizeof *out);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      out[i * A->rows + A->col[k]] = ((const double *)A->val)[k];
}

static int invert_any(kcl_context *ctx, const kcl_csr *A, double *x) {
  const int64_t n = A->rows;
  KCL_OWNED double *work = NULL;
  KCL_CALL(kcl_alloc_unset(ctx, n * n, sizeof *work, "the coarsest system", (void **)&work));
  make_dense(A, work);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) x[i * n + j] = i == j;
  invert_general(work, x, n);
  return KCL_OK;
}

static int invert_hermitian(kcl_context *ctx, const kcl_csr *A, double *x) {
  const int64_t n = A->rows;
  KCL_OWNED double *work = NULL;
  KCL_CALL(kcl_alloc_unset(ctx, 2 * n, sizeof *work, "the coarsest system", (void **)&work));
  make_dense(A, x);
  const bool swept = sweep_symmetric(x, n, work);
  if (!swept) KCL_CALL(invert_any(ctx, A, x));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      double *lower = &x[i * n + j], *upper = &x[j * n + i];
      *lower = *upper = swept ? -*lower : (*lower + *upper) / 2;
    }
  return KCL_OK;
}

int kcl_dense_inverse(kcl_context *ctx, const kcl_csr *A, bool hermitian, kcl_csr **out) {
  const int64_t n = A->rows;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL;
  *out = NULL;
  KCL_CALL(kcl_csr_create(ctx, n, n, n * n, KCL_D, &C));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) C->col[i * n + j] = (int32_t)j;
    C->row_ptr[i + 1] = (i + 1) * n;
  }
  KCL_CALL((hermitian ? invert_hermitian : invert_any)(ctx, A, C->val));
  *out = C, C = NULL;
  return KCL_OK;
}
