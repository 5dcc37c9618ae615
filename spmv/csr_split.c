/* CSR divided by nonzeros: the rows are cut into tiles of at most 2048 entries and 256 rows, a tile is
 * one work-group's, and so the work does not depend on how long rows are.
 *
 *     row_ptr, col, val as in csr.c;      tile  0 3 5 6 9 ...      the first row of each tile
 *
 * A group streams the products of its tile into local memory, all work-items side by side whatever the
 * rows, then each row is summed from there by as many work-items as there are to spare. A longer row is a
 * tile of its own: the whole group adds it up (Greathouse & Daga 2014, CSR-adaptive; Merrill & Garland
 * 2016 also cut such rows in two, which needs a second pass or atomics: here every row is finished by one
 * group, in a fixed order). So one row with most of the entries is one group's work.
 * Bytes: nnz (4 + s) + 4 (rows + 1) + 4 (tiles + 1), row_ptr 8 on the cpu executor; tiles at most
 * nnz / 1024 + rows / 256 + 2, which is what is predicted. 2 flops an entry.
 */
#include "core/pattern.h"
#include "spmv/csr.h"

enum { TILE = 2048, ROWS = 256 }; /* as in kernels/spmv_csr_split.cl */

static kcl_size size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  int64_t tiles = s->nnz / (TILE / 2) + s->rows / ROWS + 2;
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 4.0 * ((double)s->rows + 1) +
                             4.0 * (double)(tiles + 1),
                    .largest = val};
}

/* Tiles, and where each begins if tile is given. */
static int64_t cut(const kcl_csr *A, int32_t *tile) {
  int64_t tiles = 0;
  for (int64_t i = 0, next; i < A->rows; i = next, tiles++) {
    for (next = i + 1; next < A->rows && next - i < ROWS; next++)
      if (A->row_ptr[next + 1] - A->row_ptr[i] > TILE) break;
    if (tile) tile[tiles] = (int32_t)i, tile[tiles + 1] = (int32_t)next;
  }
  return tiles;
}

static int build(kcl_matrix *m, const kcl_csr *A) {
  int32_t *tile; /* [tiles + 1] */
  int64_t tiles = cut(A, NULL);
  int rc = kcl_matrix_array(m, "tile", KCL_INT32, tiles + 1, (void **)&tile);
  if (rc) return rc;
  cut(A, tile);
  m->array[3] = m->array[0], m->arrays = 0; /* csr_rows wants the three of CSR first */
  kcl_matrix_borrow(m, "row_ptr", KCL_INT64, A->rows + 1, A->row_ptr);
  kcl_matrix_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_matrix_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  m->arrays++;
  kcl_matrix_param(m, "tiles", tiles);
  m->tree = TILE;
  m->lanes = (int)(A->rows ? 1 + A->nnz / A->rows / 8 : 1); /* so many groups are worth starting */
  return KCL_OK;
}

/* On GPUs estimated, but for the longest row, which one group of 256 adds up. */
static double slowdown(const kcl_stats *s, const kcl_device *d) {
  double skew = s->nnz ? 500.0 * (double)s->row_max / (double)s->nnz : 0;
  return d->kind && d->kind[0] == 'g' ? 1.1 + (s->row_max > TILE ? skew : 0) : 1.02;
}

const kcl_format KCL_TYPED(kcl_format_csr_split) = {
    .name = "csr-split",
    .summary = "compressed rows, work divided by nonzeros",
    .source = "Greathouse & Daga 2014; Merrill & Garland 2016",
    .kernel = "spmv_csr_split",
    .size = size,
    .slowdown = slowdown,
    .build = build,
    .rows = csr_rows};
