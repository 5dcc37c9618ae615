/* The product of the CSR formats on the cpu executor. */
#ifndef KCL_SPMV_CSR_H
#define KCL_SPMV_CSR_H

#include "core/matrix/stored.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays by number. */
enum { KCL_CSR_ROW_PTR, KCL_CSR_COL, KCL_CSR_VAL };

/* Values of type d may be narrow: stored as float (kcl_stored_narrow). Of other types that is a constant, false. */
static inline bool csr_is_narrow(const kcl_stored *m) {
#if defined KCL_T_d || defined KCL_T_m
  return m->array[KCL_CSR_VAL].kind == KCL_SINGLE;
#else
  return (void)m, false;
#endif
}

static inline scalar csr_value(const void *val, int64_t k, const bool narrow) {
  return narrow ? s_of_single(((const single *)val)[k]) : ((const scalar *)val)[k];
}

/* Prefetches entries: where a processor's own prefetching is poor, that halves the time. */
static inline void csr_ahead(const void *val, const int32_t *col, int64_t k, const bool narrow) {
  enum { KCL_CSR_AHEAD = 1 << 11 }; /* bytes */
  __builtin_prefetch((const char *)val + k * (int64_t)(narrow ? sizeof(single) : sizeof(scalar)) +
                     KCL_CSR_AHEAD);
  __builtin_prefetch((const char *)(col + k) + KCL_CSR_AHEAD);
}

/* A copy for each call, whose constants choose what it does. */
#define CSR_COPIED __attribute__((always_inline)) static inline

/* The element of x of entry k. Columns as they are loaded: without a sign nothing is to be extended. */
CSR_COPIED element csr_element(const element *x, const int32_t *col, int64_t k) {
  return x[(uint32_t)col[k]];
}

/* Four products are added as pairs before they are added to the sum: a quarter of the additions wait for one another. */
CSR_COPIED element csr_four(const void *val, const int32_t *col, int64_t k, const bool narrow,
                            const element *x) {
  return e_add(e_fma(csr_value(val, k + 1, narrow), csr_element(x, col, k + 1),
                     e_scale(csr_value(val, k, narrow), csr_element(x, col, k))),
               e_fma(csr_value(val, k + 3, narrow), csr_element(x, col, k + 3),
                     e_scale(csr_value(val, k + 2, narrow), csr_element(x, col, k + 2))));
}

CSR_COPIED void csr_range(const kcl_stored *m, const bool narrow, const element *x, element *y,
                          int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[KCL_CSR_ROW_PTR].data;
  const int32_t *col = m->array[KCL_CSR_COL].data;
  const void *val = m->array[KCL_CSR_VAL].data;
  int64_t k = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    const int64_t end = row_ptr[i + 1];
    element sum = e_zero();
    for (; k + 4 <= end; k += 4) {
      csr_ahead(val, col, k, narrow);
      sum = e_add(sum, csr_four(val, col, k, narrow, x));
    }
    for (; k < end; k++) sum = e_fma(csr_value(val, k, narrow), csr_element(x, col, k), sum);
    y[i] = sum;
  }
}

static inline void csr_even_rows(const kcl_stored *m, const void *x, void *y, int64_t lo,
                                 int64_t hi) {
  if (csr_is_narrow(m))
    csr_range(m, true, x, y, lo, hi);
  else
    csr_range(m, false, x, y, lo, hi);
}

#include "spmv/csr_uneven.h"

enum { CSR_BOUNDED_ENTRIES = 256 /* 2 kB of double values: what csr_ahead brings */ };
/* Rows are in order, and columns exist; also of the three entries that csr_uneven_rows reads after them. Neighbours
 * are looked at, too, so that the loop has whole vectors of 16. Row pointers of the next part are fetched meanwhile. */
static inline bool csr_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[KCL_CSR_ROW_PTR].data;
  for (int64_t i = hi; i < 2 * hi - lo; i += 8) __builtin_prefetch(row_ptr + i);
  if (!kcl_starts_ascend(row_ptr, lo, hi, m->nnz)) return false;
  const int64_t from = row_ptr[lo] & ~(int64_t)15, last = (row_ptr[hi] + 3 + 15) & ~(int64_t)15,
                end = last < m->nnz ? last : m->nnz;
  return kcl_indices_within((const int32_t *)m->array[KCL_CSR_COL].data + from, end - from,
                            m->cols);
}

static inline void csr_rows(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi) {
  if (m->uneven)
    csr_uneven_rows(m, x, y, lo, hi);
  else
    csr_even_rows(m, x, y, lo, hi);
}

/* For k right-hand sides, a constant at each call: entries are loaded once, and each has the bits of csr_rows. */
static inline void csr_sweep(const kcl_stored *m, const int k, const void *const *x_,
                             void *const *y_, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[KCL_CSR_ROW_PTR].data;
  const int32_t *col = m->array[KCL_CSR_COL].data;
  const void *val = m->array[KCL_CSR_VAL].data;
  const bool narrow = csr_is_narrow(m);
  const element *x[KCL_MAX_NRHS];
  element *y[KCL_MAX_NRHS];
  for (int c = 0; c < k; c++) x[c] = x_[c], y[c] = y_[c];
  int64_t e = row_ptr[lo];
  for (int64_t i = lo; i < hi; i++) {
    const int64_t end = row_ptr[i + 1];
    element sum[KCL_MAX_NRHS];
    for (int c = 0; c < k; c++) sum[c] = e_zero();
    for (; e + 4 <= end; e += 4) {
      csr_ahead(val, col, e, narrow);
      for (int c = 0; c < k; c++) sum[c] = e_add(sum[c], csr_four(val, col, e, narrow, x[c]));
    }
    for (; e < end; e++)
      for (int c = 0; c < k; c++) sum[c] = e_fma(csr_value(val, e, narrow), x[c][col[e]], sum[c]);
    for (int c = 0; c < k; c++) y[c][i] = sum[c];
  }
}

static inline void csr_columns(const kcl_stored *m, int k, const void *const *x, void *const *y,
                               int64_t lo, int64_t hi) {
  for (int c = 0; c < k && m->uneven; c++) csr_rows(m, x[c], y[c], lo, hi);
  if (m->uneven) return;
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
