/* Statistics of a host matrix: one pass over its rows, and one over its adjoint for symmetry. */
#include "core/matrix/structure.h"
#include "core/matrix/repeats.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting {
  const kcl_csr *A;
  double row_mean;
  _Atomic unsigned char *seen; /* [rows + cols - 1]: diagonals with an entry */
  _Atomic int64_t least, most, empty, bandwidth, diagonals, diagonal_entries;
  _Atomic int64_t zeros, zero_diagonal, dominant, positive;
  _Atomic int64_t least_row, most_row; /* bits of the largest moduli of rows */
} counting;

static double row_lengths(const void *arg, int64_t from, int64_t to) {
  counting *c = (counting *)arg;
  int64_t least = INT64_MAX, most = 0, empty = 0;
  double deviation = 0;
  for (int64_t i = from; i < to; i++) {
    int64_t k = kcl_row_length(c->A, i);
    if (k < least) least = k;
    if (k > most) most = k;
    empty += k == 0;
    deviation += fabs((double)k - c->row_mean);
  }
  kcl_lower(&c->least, least), kcl_raise(&c->most, most);
  c->empty += empty;
  return deviation;
}

static void count_lengths(counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  c->least = A->rows ? INT64_MAX : 0;
  c->row_mean = s->row_mean = A->rows ? (double)A->nnz / (double)A->rows : 0;
  double deviation = kcl_sum(A->rows, KCL_FEW_ROWS, row_lengths, c);
  s->row_min = c->least, s->row_max = c->most, s->empty_rows = c->empty;
  if (A->nnz) s->row_deviation = 100 * deviation / (double)A->rows / s->row_mean;
}

static void mark_diagonals(void *arg, int64_t from, int64_t to) {
  counting *c = arg;
  const kcl_csr *A = c->A;
  int64_t bandwidth = 0, diagonal_entries = 0;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t d = A->col[k] - i, a = d < 0 ? -d : d;
      _Atomic unsigned char *seen = &c->seen[d + A->rows - 1];
      if (a > bandwidth) bandwidth = a;
      diagonal_entries += d == 0;
      if (!atomic_load_explicit(seen, memory_order_relaxed))
        atomic_store_explicit(seen, 1, memory_order_relaxed);
    }
  kcl_raise(&c->bandwidth, bandwidth);
  c->diagonal_entries += diagonal_entries;
}

static void count_marks(void *arg, int64_t from, int64_t to) {
  counting *c = arg;
  int64_t count = 0;
  for (int64_t d = from; d < to; d++)
    count += atomic_load_explicit(&c->seen[d], memory_order_relaxed);
  c->diagonals += count;
}

/* Bandwidth, number of diagonals, entries of the main one. */
static void count_diagonals(counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  kcl_for(A->rows, KCL_FEW_ROWS, mark_diagonals, c);
  kcl_for(A->rows + A->cols, KCL_FEW, count_marks, c);
  s->bandwidth = c->bandwidth, s->diagonals = c->diagonals;
  s->diagonal_entries = c->diagonal_entries;
}

static bool positive_real(const kcl_csr *A, int64_t k) {
  switch (A->type) {
  case KCL_S: return ((const float *)A->val)[k] > 0;
  case KCL_D: return ((const double *)A->val)[k] > 0;
  case KCL_C: return ((const float *)A->val)[2 * k] > 0 && ((const float *)A->val)[2 * k + 1] == 0;
  default: return ((const double *)A->val)[2 * k] > 0 && ((const double *)A->val)[2 * k + 1] == 0;
  }
}

/* Numbers of 0 or more are in the order of their bits. */
static int64_t bits_of(double v) {
  int64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static double of_bits(int64_t bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static double row_values(const void *arg, int64_t from, int64_t to) {
  counting *c = (counting *)arg;
  const kcl_csr *A = c->A;
  int64_t zeros = 0, zero_diagonal = 0, dominant = 0, positive = 0;
  double largest = 0, least = INFINITY, most = 0; /* the last two: moduli of the diagonal */
  double least_row = INFINITY, most_row = 0;
  for (int64_t i = from; i < to; i++) {
    double diagonal = 0, sum = 0, in_row = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a = kcl_abs(A->type, A->val, k);
      zeros += a == 0;
      sum += a, in_row = fmax(in_row, a);
      if (A->col[k] == i) diagonal = a, positive += positive_real(A, k);
    }
    zero_diagonal += i < A->cols && diagonal == 0;
    least = fmin(least, diagonal), most = fmax(most, diagonal);
    dominant += diagonal > 0 && diagonal >= (sum - diagonal) * (1 - 1e-15);
    least_row = fmin(least_row, in_row), most_row = fmax(most_row, in_row);
    if (!(sum <= largest)) largest = sum;
  }
  c->zeros += zeros;
  c->zero_diagonal += zero_diagonal;
  c->dominant += dominant;
  c->positive += positive;
  kcl_lower(&c->least, bits_of(least)), kcl_raise(&c->most, bits_of(most));
  kcl_lower(&c->least_row, bits_of(least_row)), kcl_raise(&c->most_row, bits_of(most_row));
  return largest;
}

/* Of moduli, by their bits: finite where both are finite and neither is 0. */
static double quotient(int64_t most, int64_t least) {
  const double a = of_bits(most), b = of_bits(least);
  return a < INFINITY && b > 0 ? fmin(a / b, DBL_MAX) : INFINITY;
}

static void values(const kcl_csr *A, kcl_stats *s) {
  counting c = {.A = A, .least = bits_of(INFINITY), .least_row = bits_of(INFINITY)};
  s->norm_inf = kcl_largest(A->rows, KCL_FEW_ROWS, row_values, &c);
  s->explicit_zeros = c.zeros, s->zero_diagonal = c.zero_diagonal;
  s->positive_diagonal = c.positive == A->rows;
  s->diagonal_ratio = quotient(c.most, c.least);
  s->row_ratio = A->rows ? quotient(c.most_row, c.least_row) : 1;
  s->dominant_rows = A->rows ? (double)c.dominant / (double)A->rows : 0;
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
  counting c = {.A = A};
  int rc;
  *out = (kcl_stats){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .stored = A->stored};
  KCL_TRY(kcl_alloc(ctx, A->rows + A->cols, 1, "the map of diagonals", (void **)&c.seen));
  count_lengths(&c, out);
  count_diagonals(&c, out);
  KCL_TRY(kcl_structure(ctx, A, out));
done:
  free((void *)c.seen);
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
