/* Products of host matrices with compensated sums, and residuals with what their errors are measured by. Loops are compiled for each
 * type of entries: certificates of large systems take them once per solve. */
#include "core/base/base.h"

enum { GRAIN = 512 /* rows */ };

#define INLINE __attribute__((always_inline)) static inline

typedef struct split_product {
  const kcl_csr *A, *B; /* B: further columns of the rows row [B->rows]; or NULL */
  const int32_t *row;
  const double *x, *b;
  double *y;
  double x_inf, b_inf;                          /* for residuals */
  _Atomic int64_t norm, rowwise, componentwise; /* bits of the largest */
} split_product;

/* The sums of one row: (s, c) the compensated sum, size = sum |a_ij|, size_x = sum |a_ij x_j|, and how many products it has. */
typedef struct compensated_sum {
  double s[2], c[2], size, size_x;
  int64_t products;
} compensated_sum;

/* (s, c) + a * b with the rounding errors of both operations gathered in c: TwoProduct by fma
 * and TwoSum of Dot2 (Ogita, Rump & Oishi 2005, algorithm 5.3). */
INLINE void dot2(double *s, double *c, double a, double b) {
  double p = a * b, e = fma(a, b, -p);
  double t = *s + p, z = t - *s;
  *c += e + ((*s - (t - z)) + (p - z));
  *s = t;
}

/* Adds sign times row i of A times x to the sum (x NULL: ones, where no sizes are asked for). */
INLINE void add_row(compensated_sum *to, const kcl_csr *A, kcl_type type, int64_t i,
                    const double *x, double sign, bool sizes) {
  const bool pairs = kcl_type_complex(type), ones = !sizes && !x;
  const double one[] = {1, 0};
  const int32_t *col = A->col;
  const void *val = A->val;
  compensated_sum q = *to;
  q.products += (pairs ? 2 : 1) * (A->row_ptr[i + 1] - A->row_ptr[i]);
  for (int64_t k = A->row_ptr[i], end = A->row_ptr[i + 1]; k < end; k++) {
    const double *xj = ones ? one : x + (pairs ? 2 : 1) * (int64_t)col[k];
    double z[2];
    kcl_element(type, val, k, z);
    const double re = sign * z[0], im = sign * z[1];
    dot2(&q.s[0], &q.c[0], re, xj[0]);
    if (pairs) {
      dot2(&q.s[0], &q.c[0], -im, xj[1]);
      dot2(&q.s[1], &q.c[1], re, xj[1]);
      dot2(&q.s[1], &q.c[1], im, xj[0]);
    }
    if (!sizes) continue;
    const double a = pairs ? hypot(z[0], z[1]) : fabs(z[0]);
    q.size += a, q.size_x += a * (pairs ? hypot(xj[0], xj[1]) : fabs(xj[0]));
  }
  *to = q;
}

/* y_i of A x or b - A x, from row i of both parts; *further: the next row of B. */
INLINE compensated_sum sum_split_row(const split_product *m, kcl_type type, int64_t i,
                                     int64_t *further, bool sizes) {
  const int w = kcl_type_complex(type) ? 2 : 1;
  const double sign = sizes || m->b ? -1 : 1;
  compensated_sum q = {.size = 0};
  for (int p = 0; (sizes || m->b) && p < w; p++) q.s[p] = m->b[w * i + p];
  add_row(&q, m->A, type, i, m->x, sign, sizes);
  if (m->B && *further < m->B->rows && m->row[*further] == i)
    add_row(&q, m->B, type, (*further)++, m->x + w * m->A->cols, sign, sizes);
  for (int p = 0; p < w; p++) m->y[w * i + p] = q.s[p] + q.c[p];
  return q;
}

static const double SMALL = 0x1p-60; /* against b: no residual that is claimed depends on it */

/* |r_i|, or the bound of its rounding errors, n^2 u^2 (|A| |x| + |b|)_i (Ogita, Rump & Oishi 2005), where that is larger and not
 * small: sums of huge numbers that cancel have lost b. */
INLINE double doubted_residual(const split_product *m, kcl_type wide, int64_t i,
                               const compensated_sum *q, double b) {
  const double r = kcl_abs(wide, m->y, i), n = (double)q->products + 1,
               bound = n * n * 0x1p-106 * (q->size_x + b);
  if (!(bound > r && bound > SMALL * m->b_inf && m->b_inf > 0)) return r;
  double *first = m->y + (kcl_type_complex(wide) ? 2 : 1) * i;
  *first = copysign(bound, *first);
  return bound;
}

/* y = A x or b - A x; judge: y = b - A x, and the errors that kcl_split_residual returns. */
INLINE void multiply_rows(split_product *m, kcl_type type, int64_t from, int64_t to, bool judge) {
  const kcl_type wide = kcl_wide_type(type);
  int64_t further = m->B ? kcl_first_from(m->row, 0, m->B->rows, from) : 0;
  kcl_row_errors e = {0, 0, 0};
  for (int64_t i = from; i < to; i++) {
    const compensated_sum q = sum_split_row(m, type, i, &further, judge);
    if (!judge) continue;
    const double b = kcl_abs(wide, m->b, i), r = doubted_residual(m, wide, i, &q, b);
    e.norm = kcl_larger_or_nan(e.norm, q.size);
    e.rowwise = kcl_larger_or_nan(e.rowwise, kcl_ratio(r, q.size * m->x_inf + b));
    e.componentwise = kcl_larger_or_nan(e.componentwise, kcl_ratio(r, q.size_x + b));
  }
  if (!judge) return;
  kcl_raise(&m->norm, kcl_bits(e.norm));
  kcl_raise(&m->rowwise, kcl_bits(e.rowwise));
  kcl_raise(&m->componentwise, kcl_bits(e.componentwise));
}

INLINE void multiply_typed(split_product *m, int64_t from, int64_t to, bool judge) {
  switch (m->A->type) {
  case KCL_S: multiply_rows(m, KCL_S, from, to, judge); break;
  case KCL_D: multiply_rows(m, KCL_D, from, to, judge); break;
  case KCL_C: multiply_rows(m, KCL_C, from, to, judge); break;
  case KCL_Z: multiply_rows(m, KCL_Z, from, to, judge); break;
  }
}

static void product_rows(void *arg, int64_t from, int64_t to) {
  multiply_typed(arg, from, to, false);
}

static void residual_rows(void *arg, int64_t from, int64_t to) {
  multiply_typed(arg, from, to, true);
}

void kcl_csr_product(const kcl_csr *A, const double *x, const double *b, double *y) {
  if (A && y) kcl_split_product(A, NULL, NULL, x, b, y);
}

void kcl_split_product(const kcl_csr *A, const kcl_csr *B, const int32_t *row, const double *x,
                       const double *b, double *y) {
  kcl_for_each(A->rows, GRAIN, product_rows, &(split_product){A, B, row, x, b, .y = y});
}

kcl_row_errors kcl_split_residual(const kcl_csr *A, const kcl_csr *B, const int32_t *row,
                                  const double *x, double x_inf, const double *b, double b_inf,
                                  double *r) {
  split_product m = {A, B, row, x, b, .y = r, .x_inf = x_inf, .b_inf = b_inf};
  kcl_for_each(A->rows, GRAIN, residual_rows, &m);
  return (kcl_row_errors){kcl_of_bits(m.norm), kcl_of_bits(m.rowwise),
                          kcl_of_bits(m.componentwise)};
}
