/* Vectors of complex doubles, as tests compute with them. */
#ifndef NUMBERS_H
#define NUMBERS_H
#include "core/base/base.h"
#include <complex.h>
#include <math.h>

typedef double complex number; /* in and out: pairs, as of type KCL_Z */

/* x^H y */
static inline number dot(const number *x, const number *y, int64_t n) {
  number sum = 0;
  for (int64_t i = 0; i < n; i++) sum += conj(x[i]) * y[i];
  return sum;
}

static inline double norm(const number *v, int64_t n) { return sqrt(creal(dot(v, v, n))); }

/* y = A x */
static inline void multiply_pairs(const kcl_csr *A, const number *x, number *y) {
  for (int64_t i = 0; i < A->rows; i++) {
    y[i] = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a[2];
      kcl_element(A->type, A->val, k, a);
      y[i] += (a[0] + a[1] * I) * x[A->col[k]];
    }
  }
}
#endif
