/* The product of the CSR formats on the cpu executor; their arrays are row_ptr, col, val in this order. */
#ifndef KCL_SPMV_CSR_H
#define KCL_SPMV_CSR_H

#include "core/matrix/matrix.h"
#include "core/base/scalar.h"

/* Entries are asked for ahead of time: where a processor's own prefetching is poor, that halves the time. */
static inline void csr_ahead(const scalar *a, const int32_t *col) {
  enum { AHEAD = 1 << 11 }; /* bytes */
  __builtin_prefetch((const char *)a + AHEAD);
  __builtin_prefetch((const char *)col + AHEAD);
}

/* Four products are added as pairs before they are added to the sum: a quarter of the additions wait for one another. */
static inline scalar csr_four(const scalar *a, const int32_t *col, const scalar *x) {
  return s_add(s_fma(a[1], x[col[1]], s_mul(a[0], x[col[0]])),
               s_fma(a[3], x[col[3]], s_mul(a[2], x[col[2]])));
}

static inline void csr_rows(const kcl_matrix *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[0].data;
  const int32_t *col = m->array[1].data;
  const scalar *val = m->array[2].data, *x = x_;
  scalar *y = y_;
  int64_t k = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    const int64_t end = row_ptr[i + 1];
    scalar sum = s_make(0);
    for (; k + 4 <= end; k += 4) {
      csr_ahead(val + k, col + k);
      sum = s_add(sum, csr_four(val + k, col + k, x));
    }
    for (; k < end; k++) sum = s_fma(val[k], x[col[k]], sum);
    y[i] = sum;
  }
}

/* For k right-hand sides, a constant at each call: entries are loaded once, and each has the bits of csr_rows. */
static inline void csr_sweep(const kcl_matrix *m, const int k, const void *const *x_,
                             void *const *y_, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[0].data;
  const int32_t *col = m->array[1].data;
  const scalar *val = m->array[2].data, *x[KCL_MAX_NRHS];
  scalar *y[KCL_MAX_NRHS];
  for (int c = 0; c < k; c++) x[c] = x_[c], y[c] = y_[c];
  int64_t e = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    const int64_t end = row_ptr[i + 1];
    scalar sum[KCL_MAX_NRHS];
    for (int c = 0; c < k; c++) sum[c] = s_make(0);
    for (; e + 4 <= end; e += 4) {
      csr_ahead(val + e, col + e);
      for (int c = 0; c < k; c++) sum[c] = s_add(sum[c], csr_four(val + e, col + e, x[c]));
    }
    for (; e < end; e++)
      for (int c = 0; c < k; c++) sum[c] = s_fma(val[e], x[c][col[e]], sum[c]);
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
