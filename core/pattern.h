/* What a format's `size` predicts and its `build` makes must agree: both take it from here. */
#ifndef KCL_PATTERN_H
#define KCL_PATTERN_H

#include "core/impl.h"

enum { KCL_SLICE = 32, KCL_WINDOW = 256 * KCL_SLICE }; /* rows: C and sigma of SELL-C-sigma */

/* The fields of kcl_stats that formats are sized by: row_max, sliced, sliced_sorted, sliced_even,
 * sliced_fours, row_third, beyond_third, blocks. */
int kcl_pattern(kcl *ctx, const kcl_csr *A, kcl_stats *s);
/* Of kcl_csr_stats what the pattern alone tells, a tenth to a quarter of its time: sizes of formats without `refuses`. */
int kcl_csr_shape(kcl *ctx, const kcl_csr *A, kcl_stats *out);
/* row[0 .. hi - lo) = rows lo .. hi - 1, the longest first, equal ones in their order. */
void kcl_longest_first(const kcl_csr *A, int64_t lo, int64_t hi, int64_t *row);

/* KCL_SYMMETRIC where A = A^T, else KCL_HERMITIAN where A = A^H, else KCL_GENERAL: every entry has
 * looked at its mirror image, whatever A->symmetry says. */
int kcl_mirrored(kcl *ctx, const kcl_csr *A, kcl_symmetry *out);

/* slice[s + 1] - slice[s]: the longest row of slice s, in units of `unit` entries, rounded up. */
void kcl_slices(const kcl_csr *A, int unit, int32_t *slice);

static inline int64_t kcl_slice_count(int64_t rows) { return (rows + KCL_SLICE - 1) / KCL_SLICE; }
static inline int64_t kcl_row_length(const kcl_csr *A, int64_t i) {
  return A->row_ptr[i + 1] - A->row_ptr[i];
}
/* Where padding of row i points: to an entry of the row, so that no foreign infinity comes in. */
static inline int32_t kcl_padding_column(const kcl_csr *A, int64_t i) {
  if (kcl_row_length(A, i)) return A->col[A->row_ptr[i + 1] - 1];
  return (int32_t)(i < A->cols ? i : 0);
}
#endif
