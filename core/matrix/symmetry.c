/* Is a_ij = a_ji, conj(a_ji) or, off a constant diagonal, -conj(a_ji)? Every entry is looked up in the transposed position by
 * bisection of a row, so that rows are independent and no transposed matrix is needed: nnz log2(row length) comparisons. */
#include "core/matrix/structure.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* a_ij, with its real and imaginary part in z: false and 0 if it is not stored. */
static bool find_entry(const kcl_csr *A, int64_t i, int64_t j, double z[2]) {
  const int64_t end = A->row_ptr[i + 1], k = kcl_first_from(A->col, A->row_ptr[i], end, j);
  z[0] = z[1] = 0;
  if (k == end || A->col[k] != j) return false;
  kcl_element(A->type, A->val, k, z);
  return true;
}

/* ---------------------------------------------------------------- exactly */

typedef struct mirror_comparing {
  const kcl_csr *A;
  double shift;                 /* the first element of the diagonal */
  _Atomic int64_t below, above; /* entries beside the diagonal */
  atomic_bool symmetric, hermitian, skew;
} mirror_comparing;

/* Compares entry k of row i, on the diagonal or below it, with its image. */
static void compare_mirrored(const mirror_comparing *c, int64_t i, int64_t k, kcl_mirror *m) {
  const int64_t j = c->A->col[k];
  double a[2], b[2];
  kcl_element(c->A->type, c->A->val, k, a);
  bool there = find_entry(c->A, j, i, b);
  m->symmetric = m->symmetric && there && a[0] == b[0] && a[1] == b[1];
  m->hermitian = m->hermitian && there && a[0] == b[0] && a[1] == -b[1];
  m->shifted_skew = m->shifted_skew && there &&
                    (i == j ? a[0] == c->shift && a[1] == 0 : a[0] == -b[0] && a[1] == b[1]);
}

static void compare_rows(void *arg, int64_t from, int64_t to) {
  mirror_comparing *c = arg;
  const kcl_csr *A = c->A;
  kcl_mirror m = {c->symmetric, c->hermitian, c->skew};
  int64_t below = 0, above = 0;
  for (int64_t i = from; i < to && (m.symmetric || m.hermitian || m.shifted_skew); i++) {
    int64_t beside = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      below += A->col[k] < i;
      above += A->col[k] > i;
      beside += A->col[k] != i;
      if (A->col[k] <= i) compare_mirrored(c, i, k, &m);
    }
    if (beside == kcl_row_length(A, i) && c->shift != 0) m.shifted_skew = false;
  }
  c->below += below;
  c->above += above;
  if (!m.symmetric) c->symmetric = false;
  if (!m.hermitian) c->hermitian = false;
  if (!m.shifted_skew) c->skew = false;
}

kcl_mirror kcl_mirrored(const kcl_csr *A) {
  mirror_comparing c = {.A = A, .symmetric = true, .hermitian = true, .skew = true};
  double first[2] = {0, 0};
  if (A->rows != A->cols) return (kcl_mirror){0};
  if (A->rows && find_entry(A, 0, 0, first)) c.shift = first[0];
  kcl_for_each(A->rows, KCL_FEW_ROWS, compare_rows, &c);
  const bool all = c.below == c.above; /* those above have a transposed entry, too */
  return (kcl_mirror){all && c.symmetric, all && c.hermitian, all && c.skew};
}

/* ---------------------------------------------------------------- a declared symmetry
 * A pass in the order of the entries, many times as fast as the comparison: the entries below the diagonal and the mirror
 * images of those above it are the same set if the sums of their hashes agree. Two sets that differ have the same sum with
 * a probability of 2^-64. */

typedef struct declaring {
  const kcl_csr *A;
  double re, im; /* signs of the parts of a mirror image */
  _Atomic uint64_t
      apart;            /* sum of hashes below the diagonal, minus the hashes of the images above */
  atomic_bool diagonal; /* every diagonal entry is its own image */
} declaring;

/* Three rounds of multiplying and shifting, as in SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t hash_entry(int64_t i, int64_t j, double re, double im) {
  uint64_t h = ((uint64_t)i << 32 | (uint64_t)j) * 0x9e3779b97f4a7c15u;
  h = ((h ^ h >> 32) + (uint64_t)kcl_bits(re + 0.0)) * 0xbf58476d1ce4e5b9u; /* -0 counts as 0 */
  if (im != 0) h = ((h ^ h >> 32) + (uint64_t)kcl_bits(im)) * 0xd6e8feb86659fd93u;
  h = (h ^ h >> 29) * 0x94d049bb133111ebu;
  return h ^ h >> 32;
}

static void sum_hashes(void *arg, int64_t from, int64_t to) {
  declaring *d = arg;
  const kcl_csr *A = d->A;
  const double *real = A->type == KCL_D ? A->val : NULL;
  uint64_t apart = 0;
  bool diagonal = true;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t j = A->col[k];
      double a[2] = {real ? real[k] : 0, 0};
      if (!real) kcl_element(A->type, A->val, k, a);
      if (j < i) apart += hash_entry(i, j, a[0], a[1]);
      if (j > i) apart -= hash_entry(j, i, d->re * a[0], d->im * a[1]);
      if (j == i) diagonal = diagonal && a[0] == d->re * a[0] && a[1] == d->im * a[1];
    }
  d->apart += apart;
  if (!diagonal) d->diagonal = false;
}

bool kcl_symmetry_holds(const kcl_csr *A) {
  declaring d = {.A = A,
                 .re = A->symmetry == KCL_SKEW ? -1 : 1,
                 .im = A->symmetry == KCL_SYMMETRIC ? 1 : -1,
                 .diagonal = true};
  if (A->symmetry == KCL_GENERAL) return true;
  if (A->rows != A->cols) return false;
  kcl_for(A->rows, KCL_FEW_ROWS, sum_hashes, &d);
  return d.apart == 0 && d.diagonal;
}

/* ---------------------------------------------------------------- up to rounding */

typedef struct rounding {
  const kcl_csr *A;
  double *largest; /* [rows] modulus of each row */
  double enough;   /* certainly not rounding */
} rounding;

static void row_maxima(void *arg, int64_t from, int64_t to) {
  const rounding *r = arg;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = r->A->row_ptr[i]; k < r->A->row_ptr[i + 1]; k++)
      r->largest[i] = fmax(r->largest[i], kcl_abs(r->A->type, r->A->val, k));
}

/* |a_ij - conj(a_ji)| of stored entries, relative to the largest modulus of rows i and j. */
static double difference(const void *arg, int64_t from, int64_t to) {
  const rounding *r = arg;
  const kcl_csr *A = r->A;
  double most = 0;
  for (int64_t i = from; i < to && most < r->enough; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a[2], b[2];
      kcl_element(A->type, A->val, k, a), find_entry(A, A->col[k], i, b);
      double apart = hypot(a[0] - b[0], a[1] + b[1]);
      if (apart > 0) most = fmax(most, apart / fmax(r->largest[i], r->largest[A->col[k]]));
    }
  return most;
}

int kcl_asymmetry(kcl *ctx, const kcl_csr *A, double *out) {
  const double unit = A->type == KCL_S || A->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  rounding r = {.A = A, .enough = 1e6 * unit};
  int rc = kcl_alloc(ctx, A->rows, sizeof *r.largest, "row maxima", (void **)&r.largest);
  if (rc) return rc;
  kcl_for(A->rows, KCL_FEW_ROWS, row_maxima, &r);
  *out = kcl_largest(A->rows, KCL_FEW_ROWS, difference, &r) / unit;
  free(r.largest);
  return KCL_OK;
}
