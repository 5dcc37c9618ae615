/* The product of the CSR formats on the cpu executor: arrays row_ptr, col, val in this order. */
#ifndef KCL_SPMV_CSR_H
#define KCL_SPMV_CSR_H

#include "core/matrix.h"
#include "core/scalar.h"

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
#endif
