/* Counts of the non-zero structure: a format's `size` predicts with them what its `build` makes with the same functions. */
#ifndef KCL_STRUCTURE_H
#define KCL_STRUCTURE_H

#include "core/matrix/offset_runs.h"
#include "core/matrix/repeats.h"

enum { KCL_SLICE = 32, KCL_SIGMA = 256 * KCL_SLICE }; /* rows: C and sigma of SELL-C-sigma */

/* The fields of kcl_stats that formats are sized by: */
void kcl_count_slices(const kcl_csr *A, kcl_stats *s); /* row_max, sell_*padded* */
int kcl_count_overflow(kcl_context *ctx, const kcl_csr *A,
                       kcl_stats *s);                  /* from row_max: hyb_width, hyb_overflow */
void kcl_count_blocks(const kcl_csr *A, kcl_stats *s); /* bcsr_blocks */
int kcl_structure(kcl_context *ctx, const kcl_csr *A, kcl_stats *s); /* all of them */
/* The fields of kcl_csr_stats that depend on the structure alone, in a tenth to a quarter of its time: enough for the size
 * of formats without `refuses`. */
int kcl_csr_structure(kcl_context *ctx, const kcl_csr *A, kcl_stats *out);
/* The fields that depend on values, but for those of kcl_compression. out has the others: of A, or all of a matrix with A's
 * structure. distinct: A's rows; where their runs are listed, distinct rows alone are read. runs: of A; where they are listed, no
 * columns are read. Both may be NULL. */
int kcl_csr_values(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                   const kcl_offset_runs *runs, kcl_stats *out);
/* Are the b rows from `base` on equal to the rows `back` before them, shifted by `back` columns? On most of a grid they are. */
bool kcl_rows_moved(const kcl_csr *A, int b, int64_t base, int back);
/* row[0 .. hi - lo): rows lo .. hi - 1, the longest first, rows of equal length in order. */
void kcl_longest_first(const kcl_csr *A, int64_t lo, int64_t hi, int64_t *row);

/* A = A^T, A = A^H, A = c I + S with c real and S = -S^H, A = -A^T; explicit zeros count, and -0 is 0. Compares all
 * entries, whatever A->symmetry says. */
typedef struct kcl_mirror {
  bool symmetric, hermitian, shifted_skew, skew;
} kcl_mirror;
int kcl_mirrored(kcl_context *ctx, const kcl_csr *A, kcl_mirror *out);
/* Symmetry as kcl_mirrored finds it, compared once per pair of distinct rows that meet, from A's distinct rows and runs. */
int kcl_mirrored_in_runs(kcl_context *ctx, const kcl_distinct_rows *d, kcl_mirror *out);
/* Symmetry as kcl_mirrored finds it, from listed runs of A's rows with the same offsets; A is square. Any number of searches, each of
 * some of the rows, have the result together: of the sum of `apart` and all bits of `broken`. */
typedef struct kcl_mirror_search {
  const kcl_csr *A;
  const kcl_offset_runs *runs;
  double shift;    /* the first element of the diagonal */
  int64_t apart;   /* entries below the diagonal, minus those above it */
  unsigned broken; /* a bit for each symmetry that A does not have */
} kcl_mirror_search;
kcl_mirror_search kcl_mirror_search_begin(const kcl_csr *A, const kcl_offset_runs *runs);
void kcl_mirror_search_rows(kcl_mirror_search *s, int64_t i, int64_t end); /* [i, end) of one run */
kcl_mirror kcl_mirror_search_end(const kcl_mirror_search *s);
/* The fields of kcl_csr_values but for symmetry: of single rows and columns, and norms. distinct: listed runs of A's, or NULL. m: its
 * symmetry, found in the same pass, where A is square and runs are listed; else it is left alone. */
int kcl_count_values(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                     const kcl_offset_runs *runs, kcl_stats *s, kcl_mirror *m);
/* KCL_USAGE: by its statistics A is not what A->symmetry declares, not even up to rounding: a triangle is missing, or the
 * declaration is wrong. A is not KCL_GENERAL. */
int kcl_check_declared(kcl_context *ctx, const kcl_csr *A, const kcl_stats *s);
/* kcl_stats.asymmetry of a square matrix. The search stops at 1e6: a greater value may not be the largest. */
int kcl_asymmetry(kcl_context *ctx, const kcl_csr *A, double *out);

/* slice[s + 1] - slice[s]: the longest row of slice s, in units of `unit` entries, rounded up. */
void kcl_slices(const kcl_csr *A, int unit, int32_t *slice);

static inline int64_t kcl_slice_count(int64_t rows) { return (rows + KCL_SLICE - 1) / KCL_SLICE; }
/* Rows rounded up to whole slices. */
static inline int64_t kcl_padded(int64_t rows) { return kcl_slice_count(rows) * KCL_SLICE; }
static inline int64_t kcl_row_length(const kcl_csr *A, int64_t i) {
  return A->row_ptr[i + 1] - A->row_ptr[i];
}
/* The size of natural blocks, such as the unknowns of a grid point: 2, 3, 4, 6 or 8 rows that mostly share their columns; else
 * 1. */
int kcl_natural_block(const kcl_stats *s);
/* The column of padding in row i: a column of the row's own entries, so that 0 times an infinity elsewhere in x is not added. */
static inline int32_t kcl_padding_column(const kcl_csr *A, int64_t i) {
  if (kcl_row_length(A, i)) return A->col[A->row_ptr[i + 1] - 1];
  return (int32_t)(i < A->cols ? i : 0);
}
#endif
