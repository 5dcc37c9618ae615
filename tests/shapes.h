/* Matrix shapes that are difficult for storage formats: empty and dense rows and columns, rectangular, symmetric, few
 * values, many rows. For conform_spmv.c. */
#ifndef KCL_SHAPES_H
#define KCL_SHAPES_H
#include "tests/conform.h"

typedef struct shape {
  const char *name;
  int64_t rows, cols;
  int64_t (*row)(const struct shape *s, int64_t i, int32_t *col); /* columns of row i, ascending */
  int zeros;             /* every so many entries hold an explicit zero; 0: none; -n: n distinct
                            values, by the diagonal and the hundred of rows */
  kcl_symmetry symmetry; /* of the values; the structure must be symmetric */
} shape;

static int64_t band(const shape *s, int64_t i, int32_t *col, int64_t reach, int64_t step) {
  int64_t n = 0;
  for (int64_t j = i - reach; j <= i + reach; j += step)
    if (j >= 0 && j < s->cols) col[n++] = (int32_t)j;
  return n;
}
static int64_t tridiagonal(const shape *s, int64_t i, int32_t *col) {
  return band(s, i, col, 1, 1);
}
static int64_t no_diagonal(const shape *s, int64_t i, int32_t *col) {
  return band(s, i, col, 1, 2);
}
static int64_t far_band(const shape *s, int64_t i, int32_t *col) { return band(s, i, col, 57, 19); }
static int64_t nothing(const shape *s, int64_t i, int32_t *col) {
  return (void)s, (void)i, (void)col, 0;
}
static int64_t every_third(const shape *s, int64_t i, int32_t *col) {
  return i % 3 == 1 ? tridiagonal(s, i, col) : 0;
}
static int64_t dense_row(const shape *s, int64_t i, int32_t *col) {
  if (i != s->rows / 2) return col[0] = (int32_t)(i % s->cols), 1;
  for (int64_t j = 0; j < s->cols; j++) col[j] = (int32_t)j;
  return s->cols;
}
static int64_t dense_column(const shape *s, int64_t i, int32_t *col) {
  int32_t j = (int32_t)(s->cols / 2), d = (int32_t)(i % s->cols);
  col[0] = j < d ? j : d, col[1] = j < d ? d : j;
  return j == d ? 1 : 2;
}
/* Each column with probability `share` of 256. */
static int64_t some(const shape *s, int32_t *col, uint64_t share) {
  int64_t n = 0;
  for (int64_t j = 0; j < s->cols; j++)
    if (random_bits() >> 56 < share) col[n++] = (int32_t)j;
  return n;
}
static int64_t random_row(const shape *s, int64_t i, int32_t *col) {
  return (void)i, some(s, col, 12);
}
static int64_t all_of_it(const shape *s, int64_t i, int32_t *col) {
  return (void)i, some(s, col, 256);
}
static int64_t powerlaw(const shape *s, int64_t i, int32_t *col) {
  return some(s, col, (uint64_t)(256 / (1 + i % 64)) / 2);
}

/* Two entries in the first and the last 40 rows, at a distance that needs more than 16 bits; a symmetric structure. */
static int64_t far_apart(const shape *s, int64_t i, int32_t *col) {
  int64_t distance = s->cols - 40, first = i < distance ? i : i - distance;
  if (first >= 40) return 0;
  return col[0] = (int32_t)first, col[1] = (int32_t)(first + distance), 2;
}

/* Symmetric structures: a random bit per pair of row and column; one dense row and column. */
static int64_t pairs(const shape *s, int64_t i, int32_t *col) {
  int64_t n = 0;
  for (int64_t j = 0; j < s->cols; j++) {
    uint64_t a = (uint64_t)(i < j ? i : j), b = (uint64_t)(i < j ? j : i);
    if (((a * 1000003 + b) * 0x9E3779B97F4A7C15u) >> 56 < 20) col[n++] = (int32_t)j;
  }
  return n;
}
static int64_t arrow(const shape *s, int64_t i, int32_t *col) {
  return i == s->rows / 2 ? dense_row(s, i, col) : dense_column(s, i, col);
}

static const shape shapes[] = {{"empty rows", 100, 100, every_third, 0, KCL_GENERAL},
                               {"wide band", 50, 83, tridiagonal, 0, KCL_GENERAL},
                               {"explicit zeros", 90, 90, far_band, 3, KCL_GENERAL},
                               {"dense row", 70, 70, dense_row, 0, KCL_GENERAL},
                               {"full", 33, 33, all_of_it, 0, KCL_GENERAL},
                               {"symmetric pairs", 60, 60, pairs, 0, KCL_SYMMETRIC},
                               {"Hermitian band", 90, 90, far_band, 3, KCL_HERMITIAN},
                               {"few values", 90, 83, far_band, -3, KCL_GENERAL},
                               {"one value", 70, 75, every_third, -1, KCL_GENERAL},
                               /* the following are too large for a simulator */
                               {"1 x 1", 1, 1, tridiagonal, 0, KCL_GENERAL},
                               {"no entries", 40, 40, nothing, 0, KCL_GENERAL},
                               {"tridiagonal", 129, 129, tridiagonal, 0, KCL_GENERAL},
                               {"zero diagonal", 65, 65, no_diagonal, 0, KCL_GENERAL},
                               {"dense column", 150, 150, dense_column, 0, KCL_GENERAL},
                               {"random", 300, 300, random_row, 0, KCL_GENERAL},
                               {"wide", 37, 260, random_row, 0, KCL_GENERAL},
                               {"tall", 260, 37, random_row, 0, KCL_GENERAL},
                               {"power law", 256, 256, powerlaw, 0, KCL_GENERAL},
                               {"long dense row", 3000, 3000, dense_row, 0, KCL_GENERAL},
                               {"one long row", 1, 5000, dense_row, 0, KCL_GENERAL},
                               {"one long column", 5000, 1, dense_row, 0, KCL_GENERAL},
                               {"large power law", 2048, 2048, powerlaw, 0, KCL_GENERAL},
                               {"Hermitian pairs", 331, 331, pairs, 0, KCL_HERMITIAN},
                               {"symmetric arrow", 700, 700, arrow, 5, KCL_SYMMETRIC},
                               {"symmetric band", 70001, 70001, far_band, 0, KCL_SYMMETRIC},
                               {"300 values", 2048, 2048, powerlaw, -300, KCL_GENERAL},
                               {"few values, random places", 300, 310, random_row, -2, KCL_GENERAL},
                               {"stencil", 70001, 70003, far_band, -2, KCL_GENERAL},
                               {"columns far apart", 70001, 70001, far_apart, 0, KCL_SYMMETRIC},
                               {"70001 rows", 70001, 70001, tridiagonal, 0, KCL_GENERAL},
                               {"70001 rows, far band", 70001, 70003, far_band, 7, KCL_GENERAL}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SMALL_SHAPES = 9 };

static number value_at(const kcl_csr *A, int64_t k) {
  double z[2];
  kcl_element(A->type, A->val, k, z);
  return CMPLX(z[0], z[1]);
}

/* Sets the upper triangle to the transpose of the lower. */
static void mirror(const kcl_csr *A, number *v, bool conjugated) {
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t m = A->row_ptr[A->col[k]];
      while (A->col[m] != i) m++;
      if (m == k && conjugated) v[k] = creal(v[k]);
      if (A->col[k] < i) v[m] = conjugated ? conj(v[k]) : v[k];
    }
}

/* Few values repeat along diagonals. In every second shape they are not representable as float. */
static void fill_values(kcl_csr *A, const shape *s) {
  number *v = random_vector(A->type, A->nnz);
  for (int64_t k = 0; (s - shapes) % 2 && k < A->nnz; k++) v[k] += ldexp(1, -30);
  for (int64_t i = 0; s->zeros < 0 && i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      v[k] = v[(A->col[k] - i + i / 100 + A->rows) % -s->zeros % A->nnz];
  for (int64_t k = 0; s->zeros > 0 && k < A->nnz; k += s->zeros) v[k] = 0;
  if (s->symmetry) mirror(A, v, s->symmetry == KCL_HERMITIAN);
  kcl_copy(A->type, A->val, KCL_Z, v, A->nnz, 1.0);
  free(v);
}

/* Two passes over the rows, for lengths and for columns, with the same random numbers. */
static kcl_csr *make(kcl_context *ctx, const shape *s, kcl_type t) {
  int32_t *col = malloc((size_t)(s->cols + 8) * sizeof *col);
  kcl_csr *A = NULL;
  uint64_t before = random_state;
  int64_t nnz = 0;
  for (int64_t i = 0; i < s->rows; i++) nnz += s->row(s, i, col);
  if (kcl_csr_create(ctx, s->rows, s->cols, nnz, t, &A)) exit(1);
  random_state = before;
  for (int64_t i = 0; i < s->rows; i++) {
    int64_t n = s->row(s, i, col);
    memcpy(A->col + A->row_ptr[i], col, (size_t)n * sizeof *col);
    A->row_ptr[i + 1] = A->row_ptr[i] + n;
  }
  fill_values(A, s);
  free(col);
  return A;
}

#endif
