/* Counts that storage formats are sized by: slices, the width a third of the rows fill, blocks. */
#include "core/pattern.h"
#include <stdlib.h>

/* ---------------------------------------------------------------- rows by length */

static int ascending(const void *a_, const void *b_) {
  int64_t a = *(const int64_t *)a_, b = *(const int64_t *)b_;
  return (a > b) - (a < b);
}

void kcl_longest_first(const kcl_csr *A, int64_t lo, int64_t hi, int64_t *row) {
  bool ordered = true;
  for (int64_t i = lo; i < hi; i++) {
    row[i - lo] = (INT32_MAX - kcl_row_length(A, i)) * INT64_C(0x100000000) + (i - lo);
    ordered &= i == lo || row[i - lo - 1] < row[i - lo];
  }
  if (!ordered) qsort(row, (size_t)(hi - lo), sizeof *row, ascending);
  for (int64_t i = 0; i < hi - lo; i++) row[i] = lo + (row[i] & 0xffffffff);
}

/* Entries of rows padded in slices; row: of the window [lo, hi), or NULL for rows as they are. */
static int64_t sliced(const kcl_csr *A, int64_t lo, int64_t hi, const int64_t *row) {
  int64_t entries = 0;
  for (int64_t base = lo; base < hi; base += KCL_SLICE) {
    int64_t width = 0, end = base + KCL_SLICE < hi ? base + KCL_SLICE : hi;
    for (int64_t i = base; i < end; i++) {
      int64_t n = kcl_row_length(A, row ? row[i - lo] : i);
      if (n > width) width = n;
    }
    entries += width * KCL_SLICE;
  }
  return entries;
}

void kcl_slices(const kcl_csr *A, int unit, int32_t *slice) {
  slice[0] = 0;
#pragma omp parallel for schedule(static)
  for (int64_t base = 0; base < A->rows; base += KCL_SLICE) {
    int64_t end = base + KCL_SLICE < A->rows ? base + KCL_SLICE : A->rows;
    int64_t width = sliced(A, base, end, NULL) / KCL_SLICE;
    slice[base / KCL_SLICE + 1] = (int32_t)((width + unit - 1) / unit);
  }
  for (int64_t s = 0; s < kcl_slice_count(A->rows); s++) slice[s + 1] += slice[s];
}

/* The same with every width rounded up to a multiple of 2, or 4. */
static void count_rounded(const kcl_csr *A, kcl_stats *s) {
  s->sliced_even = s->sliced_fours = 0;
  for (int64_t base = 0; base < A->rows; base += KCL_SLICE) {
    int64_t entries =
        sliced(A, base, base + KCL_SLICE < A->rows ? base + KCL_SLICE : A->rows, NULL);
    s->sliced_even += (entries + 2 * KCL_SLICE - 1) / (2 * KCL_SLICE) * (2 * KCL_SLICE);
    s->sliced_fours += (entries + 4 * KCL_SLICE - 1) / (4 * KCL_SLICE) * (4 * KCL_SLICE);
  }
}

/* Sorting is only tried where slices as they are waste a tenth. */
static int count_slices(kcl *ctx, const kcl_csr *A, kcl_stats *s) {
  int64_t *row = NULL;
  s->sliced = s->sliced_sorted = sliced(A, 0, A->rows, NULL);
  count_rounded(A, s);
  if (s->sliced < A->nnz + A->nnz / 10) return KCL_OK;
  int rc = kcl_alloc(ctx, KCL_WINDOW, sizeof *row, "rows by length", (void **)&row);
  if (rc) return rc;
  s->sliced_sorted = 0;
  for (int64_t lo = 0; lo < A->rows; lo += KCL_WINDOW) {
    int64_t hi = lo + KCL_WINDOW < A->rows ? lo + KCL_WINDOW : A->rows;
    kcl_longest_first(A, lo, hi, row);
    s->sliced_sorted += sliced(A, lo, hi, row);
  }
  free(row);
  return KCL_OK;
}

/* The largest width that at least a third of the rows fill (Bell & Garland 2009), and what is
 * beyond it. */
static int count_third(kcl *ctx, const kcl_csr *A, kcl_stats *s) {
  int64_t *rows = NULL, filled = 0; /* rows[w]: of length w */
  int rc = kcl_alloc(ctx, s->row_max + 1, sizeof *rows, "row lengths", (void **)&rows);
  if (rc) return rc;
  for (int64_t i = 0; i < A->rows; i++) rows[kcl_row_length(A, i)]++;
  s->row_third = s->row_max;
  while (s->row_third > 0 && 3 * (filled += rows[s->row_third]) < A->rows) s->row_third--;
  for (int64_t w = s->row_third; w <= s->row_max; w++)
    s->beyond_third += rows[w] * (w - s->row_third);
  free(rows);
  return KCL_OK;
}

/* ---------------------------------------------------------------- blocks */

/* b x b blocks that hold an entry; last[j]: 1 + the last block row that met block column j. */
static int64_t count_blocks(const kcl_csr *A, int b, int32_t *last, int32_t *stamp) {
  int64_t blocks = 0;
  for (int64_t base = 0; base < A->rows; base += b) {
    int64_t end = base + b < A->rows ? base + b : A->rows;
    ++*stamp;
    for (int64_t k = A->row_ptr[base]; k < A->row_ptr[end]; k++) {
      int32_t j = A->col[k] / b;
      blocks += last[j] != *stamp;
      last[j] = *stamp;
    }
  }
  return blocks;
}

/* A block is no fuller than the best of its parts: where 2 x 2 is hardly filled, 4 x 4 is not
 * counted, and so on. */
static int count_all_blocks(kcl *ctx, const kcl_csr *A, kcl_stats *s) {
  static const int size[] = {2, 3, 4, 6, 8}, part[] = {0, 0, 2, 3, 4};
  int32_t *last = NULL, stamp = 0;
  int rc = kcl_alloc(ctx, A->cols / 2 + 1, sizeof *last, "block columns", (void **)&last);
  if (rc) return rc;
  for (int i = 0; i < 5; i++) {
    int b = size[i], p = part[i];
    if (p && (double)A->nnz < 0.4 * p * p * (double)s->blocks[p]) continue;
    if (p && !s->blocks[p]) continue;
    if (stamp > INT32_MAX - A->rows / 2 - 1) break;
    s->blocks[b] = count_blocks(A, b, last, &stamp);
  }
  free(last);
  return KCL_OK;
}

int kcl_pattern(kcl *ctx, const kcl_csr *A, kcl_stats *s) {
  int rc;
  s->row_max = 0;
  for (int64_t i = 0; i < A->rows; i++)
    if (kcl_row_length(A, i) > s->row_max) s->row_max = kcl_row_length(A, i);
  if ((rc = count_slices(ctx, A, s))) return rc;
  if ((rc = count_third(ctx, A, s))) return rc;
  return count_all_blocks(ctx, A, s);
}

/* ---------------------------------------------------------------- mirror images */

/* Rows in order, and the part of row j beyond the diagonal in order too: the mirror image of (i, j), j <= i,
 * is the next entry of row j that none has looked at. */
int kcl_mirrored(kcl *ctx, const kcl_csr *A, kcl_symmetry *out) {
  int64_t *next = NULL; /* [rows]; of row j, from the diagonal on */
  bool symmetric = A->rows == A->cols, hermitian = symmetric;
  int rc = kcl_alloc(ctx, A->rows, sizeof *next, "mirror images", (void **)&next);
  if (rc) return rc;
  for (int64_t i = 0; i < A->rows; i++)
    for (next[i] = A->row_ptr[i]; next[i] < A->row_ptr[i + 1] && A->col[next[i]] < i;) next[i]++;
  for (int64_t i = 0; i < A->rows && (symmetric || hermitian); i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1] && A->col[k] <= i; k++) {
      int64_t j = A->col[k], m = next[j]++;
      double a[2], b[2];
      if (m >= A->row_ptr[j + 1] || A->col[m] != i) {
        symmetric = hermitian = false;
        break;
      }
      kcl_element(A->type, A->val, k, a), kcl_element(A->type, A->val, m, b);
      symmetric = symmetric && a[0] == b[0] && a[1] == b[1];
      hermitian = hermitian && a[0] == b[0] && a[1] == -b[1];
    }
  for (int64_t i = 0; i < A->rows; i++)
    if (next[i] != A->row_ptr[i + 1]) symmetric = hermitian = false;
  free(next);
  *out = symmetric ? KCL_SYMMETRIC : hermitian ? KCL_HERMITIAN : KCL_GENERAL;
  return KCL_OK;
}
