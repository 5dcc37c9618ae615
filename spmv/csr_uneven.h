/* The product of the CSR formats for short rows of uneven lengths, as in multigrid's matrices: included by csr.h.
 *
 * Processors cannot predict a branch on such a length, and a wrong guess costs as much as ten entries. So entries are multiplied in
 * fours, and products of the last four that belong to the next row are masked. Lane l sums entries l, l + 4, l + 8 ... of its row.
 */
#ifndef KCL_SPMV_CSR_UNEVEN_H
#define KCL_SPMV_CSR_UNEVEN_H

#if KCL_PARTS == 1
enum { KCL_CSR_LANES = 4 };
#define KCL_CSR_VECTOR(type) type __attribute__((vector_size(KCL_CSR_LANES * sizeof(type))))
typedef KCL_CSR_VECTOR(element) kcl_csr_elements;
typedef KCL_CSR_VECTOR(scalar) kcl_csr_scalars;
typedef KCL_CSR_VECTOR(single) kcl_csr_singles;
typedef __typeof__(_Generic((element)0, float : (int32_t)0, default : (int64_t)0)) kcl_csr_bits;
typedef KCL_CSR_VECTOR(kcl_csr_bits) kcl_csr_mask;

static inline kcl_csr_elements csr_values(const void *val, int64_t k, const bool narrow) {
  kcl_csr_singles s;
  kcl_csr_scalars v;
  if (narrow) {
    memcpy(&s, (const single *)val + k, sizeof s);
    return __builtin_convertvector(s, kcl_csr_elements);
  }
  memcpy(&v, (const scalar *)val + k, sizeof v);
  return __builtin_convertvector(v, kcl_csr_elements);
}

/* Products of the four entries from k on; zero beyond the end of the row, which has `left` entries more. */
CSR_COPIED kcl_csr_elements csr_masked(const void *val, const int32_t *col, int64_t k, int64_t left,
                                       const bool narrow, const element *x) {
  const kcl_csr_elements at = {x[col[k]], x[col[k + 1]], x[col[k + 2]], x[col[k + 3]]},
                         product = csr_values(val, k, narrow) * at;
  const int own = left < KCL_CSR_LANES ? (int)left : KCL_CSR_LANES;
  const kcl_csr_mask lane = {0, 1, 2, 3}, mask = lane < (kcl_csr_mask){own, own, own, own};
  return (kcl_csr_elements)((kcl_csr_mask)product & mask);
}

/* As csr_masked where the matrix has fewer than four entries more. */
CSR_COPIED kcl_csr_elements csr_last(const void *val, const int32_t *col, int64_t k, int64_t left,
                                     const bool narrow, const element *x) {
  kcl_csr_elements product = {0};
  for (int l = 0; l < KCL_CSR_LANES && l < left; l++)
    product[l] = e_scale(csr_value(val, k + l, narrow), x[col[k + l]]);
  return product;
}

/* inner: the matrix has at least three entries after row hi - 1. */
CSR_COPIED void csr_uneven_range(const kcl_stored *m, const bool narrow, const bool inner,
                                 const element *x, element *y, int64_t lo, int64_t hi) {
  const int64_t *row_ptr = m->array[KCL_CSR_ROW_PTR].data;
  const int32_t *col = m->array[KCL_CSR_COL].data;
  const void *val = m->array[KCL_CSR_VAL].data;
  for (int64_t i = lo; i < hi; i++) {
    const int64_t end = row_ptr[i + 1];
    kcl_csr_elements sum = {0};
    for (int64_t k = row_ptr[i]; k < end; k += KCL_CSR_LANES) {
      csr_ahead(val, col, k, narrow);
      sum += inner ? csr_masked(val, col, k, end - k, narrow, x)
                   : csr_last(val, col, k, end - k, narrow, x);
    }
    y[i] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
}

CSR_COPIED void csr_uneven_parts(const kcl_stored *m, const bool narrow, const void *x, void *y,
                                 int64_t lo, int64_t inner, int64_t hi) {
  csr_uneven_range(m, narrow, true, x, y, lo, inner);
  csr_uneven_range(m, narrow, false, x, y, inner, hi);
}

static inline void csr_uneven_rows(const kcl_stored *m, const void *x, void *y, int64_t lo,
                                   int64_t hi) {
  const int64_t *row_ptr = m->array[KCL_CSR_ROW_PTR].data;
  int64_t inner = hi;
  while (inner > lo && row_ptr[inner] + KCL_CSR_LANES - 1 > m->nnz) inner--;
  if (csr_is_narrow(m))
    csr_uneven_parts(m, true, x, y, lo, inner, hi);
  else
    csr_uneven_parts(m, false, x, y, lo, inner, hi);
}
#else
static inline void csr_uneven_rows(const kcl_stored *m, const void *x, void *y, int64_t lo,
                                   int64_t hi) {
  csr_even_rows(m, x, y, lo, hi);
}
#endif
#endif
