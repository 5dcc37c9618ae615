/* Statistics of a host matrix: one pass over its rows, and one over its adjoint for symmetry. */
#include "core/matrix/structure.h"
#include "core/matrix/repeats.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void row_lengths(const kcl_csr *A, kcl_stats *s) {
  s->row_mean = A->rows ? (double)A->nnz / (double)A->rows : 0;
  s->row_min = A->rows ? INT64_MAX : 0;
  double deviation = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    int64_t k = A->row_ptr[i + 1] - A->row_ptr[i];
    if (k < s->row_min) s->row_min = k;
    if (k > s->row_max) s->row_max = k;
    s->empty_rows += k == 0;
    deviation += fabs((double)k - s->row_mean);
  }
  if (A->nnz) s->row_deviation = 100 * deviation / (double)A->rows / s->row_mean;
}

/* Bandwidth, number of diagonals, entries of the main one; seen: [rows + cols - 1], marks those with an entry. */
static void diagonals(const kcl_csr *A, kcl_stats *s, unsigned char *seen) {
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t d = A->col[k] - i, a = d < 0 ? -d : d;
      if (a > s->bandwidth) s->bandwidth = a;
      s->diagonal_entries += d == 0;
      s->diagonals += !seen[d + A->rows - 1];
      seen[d + A->rows - 1] = 1;
    }
}

static bool positive_real(const kcl_csr *A, int64_t k) {
  switch (A->type) {
  case KCL_S: return ((const float *)A->val)[k] > 0;
  case KCL_D: return ((const double *)A->val)[k] > 0;
  case KCL_C: return ((const float *)A->val)[2 * k] > 0 && ((const float *)A->val)[2 * k + 1] == 0;
  default: return ((const double *)A->val)[2 * k] > 0 && ((const double *)A->val)[2 * k + 1] == 0;
  }
}

static void values(const kcl_csr *A, kcl_stats *s) {
  int64_t dominant = 0, positive = 0;
  double least = INFINITY, most = 0; /* moduli of the diagonal */
  for (int64_t i = 0; i < A->rows; i++) {
    double diagonal = 0, sum = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a = kcl_abs(A->type, A->val, k);
      s->explicit_zeros += a == 0;
      sum += a;
      if (A->col[k] == i) diagonal = a, positive += positive_real(A, k);
    }
    s->zero_diagonal += i < A->cols && diagonal == 0;
    least = fmin(least, diagonal), most = fmax(most, diagonal);
    dominant += diagonal > 0 && diagonal >= (sum - diagonal) * (1 - 1e-15);
    if (!(sum <= s->norm_inf)) s->norm_inf = sum;
  }
  s->positive_diagonal = positive == A->rows;
  s->diagonal_ratio = least > 0 ? most / least : INFINITY;
  s->dominant_rows = A->rows ? (double)dominant / (double)A->rows : 0;
}

static bool same_structure(const kcl_csr *A, const kcl_csr *B) {
  return !memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * sizeof *A->row_ptr) &&
         !memcmp(A->col, B->col, (size_t)A->nnz * sizeof *A->col);
}

/* Are the values of A those of B, its adjoint? conjugated: of A^H, otherwise of A^T. Explicit zeros count. */
static bool same(const kcl_csr *A, const kcl_csr *B, bool conjugated) {
  int parts = kcl_type_complex(A->type) ? 2 : 1;
  bool single = A->type == KCL_S || A->type == KCL_C;
  for (int64_t k = 0; k < A->nnz * parts; k++) {
    double a = single ? (double)((const float *)A->val)[k] : ((const double *)A->val)[k];
    double b = single ? (double)((const float *)B->val)[k] : ((const double *)B->val)[k];
    if (a != (parts == 2 && k % 2 && !conjugated ? -b : b)) return false;
  }
  return true;
}

/* A = c I + S with c real and S = -S^H; B: the adjoint of A. */
static bool shifted_skew(const kcl_csr *A, const kcl_csr *B) {
  double c = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    double diagonal[2] = {0, 0};
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a[2], b[2];
      kcl_element(A->type, A->val, k, a), kcl_element(B->type, B->val, k, b);
      if (A->col[k] == i)
        memcpy(diagonal, a, sizeof a);
      else if (a[0] != -b[0] || a[1] != -b[1])
        return false;
    }
    if (i == 0) c = diagonal[0];
    if (diagonal[0] != c || diagonal[1] != 0) return false;
  }
  return true;
}

/* [rows] the largest modulus of each row. */
static void row_maxima(const kcl_csr *A, double *largest) {
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      largest[i] = fmax(largest[i], kcl_abs(A->type, A->val, k));
}

/* |a_ij - b_ij| of row i of A and B, columns merged, relative to the largest modulus of rows i and j of A: its maximum. */
static double row_difference(const kcl_csr *A, const kcl_csr *B, int64_t i, const double *largest) {
  double most = 0;
  int64_t k = A->row_ptr[i], l = B->row_ptr[i];
  const int64_t k1 = A->row_ptr[i + 1], l1 = B->row_ptr[i + 1];
  while (k < k1 || l < l1) {
    double a[2] = {0, 0}, b[2] = {0, 0};
    int64_t j = k < k1 && (l == l1 || A->col[k] <= B->col[l]) ? A->col[k] : B->col[l];
    if (k < k1 && A->col[k] == j) kcl_element(A->type, A->val, k++, a);
    if (l < l1 && B->col[l] == j) kcl_element(B->type, B->val, l++, b);
    double apart = hypot(a[0] - b[0], a[1] - b[1]), size = fmax(largest[i], largest[j]);
    if (apart > 0) most = fmax(most, apart / size);
  }
  return most;
}

/* How far A is from B, its adjoint, in units of the rounding of A's type; no further than what is certainly not rounding. */
static int asymmetry(kcl *ctx, const kcl_csr *A, const kcl_csr *B, double *out) {
  const double unit = A->type == KCL_S || A->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  double *largest = NULL, most = 0;
  int rc = kcl_alloc(ctx, A->rows, sizeof *largest, "row maxima", (void **)&largest);
  if (rc) return rc;
  row_maxima(A, largest);
  for (int64_t i = 0; i < A->rows && most < 1e6 * unit; i++)
    most = fmax(most, row_difference(A, B, i, largest));
  *out = most / unit;
  free(largest);
  return KCL_OK;
}

static int symmetry(kcl *ctx, const kcl_csr *A, kcl_stats *s) {
  bool real = !kcl_type_complex(A->type);
  s->asymmetry = INFINITY;
  if (A->rows != A->cols) return KCL_OK;
  s->hermitian = A->symmetry == KCL_HERMITIAN || (A->symmetry == KCL_SYMMETRIC && real);
  s->symmetric = A->symmetry == KCL_SYMMETRIC || (A->symmetry == KCL_HERMITIAN && real);
  s->shifted_skew = A->symmetry == KCL_SKEW && real;
  if (s->hermitian) s->asymmetry = 0;
  if (A->symmetry != KCL_GENERAL && real) return KCL_OK;
  kcl_csr *B = NULL;
  int rc = kcl_csr_adjoint(ctx, A, &B);
  if (rc) return rc;
  bool mirrored = same_structure(A, B);
  s->hermitian = mirrored && same(A, B, true);
  s->symmetric = mirrored && same(A, B, false);
  s->shifted_skew = mirrored && shifted_skew(A, B);
  s->asymmetry = 0;
  if (!s->hermitian) rc = asymmetry(ctx, A, B, &s->asymmetry);
  kcl_csr_free(&B);
  return rc;
}

int kcl_csr_structure(kcl *ctx, const kcl_csr *A, kcl_stats *out) {
  unsigned char *seen = NULL;
  int rc;
  *out = (kcl_stats){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .stored = A->stored};
  KCL_TRY(kcl_alloc(ctx, A->rows + A->cols, 1, "the map of diagonals", (void **)&seen));
  row_lengths(A, out);
  diagonals(A, out, seen);
  KCL_TRY(kcl_structure(ctx, A, out));
done:
  free(seen);
  return rc;
}

int kcl_csr_stats(kcl *ctx, const kcl_csr *A, kcl_stats *out) {
  int rc;
  if ((rc = kcl_need(ctx, "out", out)) || (rc = kcl_csr_need(ctx, A))) return rc;
  if ((rc = kcl_csr_structure(ctx, A, out))) return rc;
  values(A, out);
  rc = kcl_compression(ctx, A, out);
  return rc ? rc : symmetry(ctx, A, out);
}
