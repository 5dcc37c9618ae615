/* The product of the CSR formats on the cpu executor; their arrays are row_ptr, col, val in this order. */
#ifndef KCL_SPMV_CSR_H
#define KCL_SPMV_CSR_H

#include "core/matrix/matrix.h"
#include "core/base/scalar.h"

static inline void csr_rows(const kcl_matrix *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[0].data;
  const int32_t *col = m->array[1].data;
  const scalar *val = m->array[2].data, *x = x_;
  scalar *y = y_;
  int64_t k = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    scalar sum = s_make(0);
    for (int64_t end = row_ptr[i + 1]; k < end; k++) sum = s_fma(val[k], x[col[k]], sum);
    y[i] = sum;
  }
}

/* For k right-hand sides, a constant at each call: an entry is loaded once, and its k products are independent. */
static inline void csr_sweep(const kcl_matrix *m, const int k, const void *const *x_,
                             void *const *y_, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[0].data;
  const int32_t *col = m->array[1].data;
  const scalar *val = m->array[2].data, *x[KCL_MAX_NRHS];
  scalar *y[KCL_MAX_NRHS];
  for (int c = 0; c < k; c++) x[c] = x_[c], y[c] = y_[c];
  int64_t e = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    scalar sum[KCL_MAX_NRHS];
    for (int c = 0; c < k; c++) sum[c] = s_make(0);
    for (int64_t end = row_ptr[i + 1]; e < end; e++) {
      const scalar a = val[e];
      const int32_t j = col[e];
      for (int c = 0; c < k; c++) sum[c] = s_fma(a, x[c][j], sum[c]);
    }
    for (int c = 0; c < k; c++) y[c][i] = sum[c];
  }
}

static inline void csr_columns(const kcl_matrix *m, int k, const void *const *x, void *const *y,
                               int64_t lo, int64_t hi) {
  switch (k) {
  case 2: csr_sweep(m, 2, x, y, lo, hi); break;
  case 3: csr_sweep(m, 3, x, y, lo, hi); break;
  case 4: csr_sweep(m, 4, x, y, lo, hi); break;
  case 5: csr_sweep(m, 5, x, y, lo, hi); break;
  case 6: csr_sweep(m, 6, x, y, lo, hi); break;
  case 7: csr_sweep(m, 7, x, y, lo, hi); break;
  default: csr_sweep(m, 8, x, y, lo, hi);
  }
}
#endif
