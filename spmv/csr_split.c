/* CSR divided by nonzeros: the rows are cut into tiles of at most 2048 entries and 256 rows, a tile is
 * one work-group's, and so the work does not depend on how long rows are.
 *
 *     row_ptr, col, val as in csr.c;      tile   0 3 5 6 9 ...    the first row of each tile
 *                                         before 0 0 0 4 4 ...    pieces before each tile
 *
 * A group streams the products of its tile into local memory, all work-items side by side whatever the
 * rows, then each row is summed from there by as many work-items as there are to spare (Greathouse & Daga
 * 2014, CSR-adaptive). A tile ends early where a long row among many short ones would keep one work-item
 * busy with more than STEPS additions. A row longer than a tile is a tile of its own and comes in pieces of
 * 1024 entries: a kernel before the product sums each piece, a group each, and the row's group adds up the
 * pieces. Merrill & Garland (2016) carry between groups likewise; here every sum has a fixed order, and
 * there are no atomics.
 * Bytes: nnz (4 + s) + 4 (rows + 1) + 8 (tiles + 1) + (8 + s) pieces, row_ptr 8 on the cpu executor; tiles at
 * most nnz / 1024 + rows / 256 + 2, and nnz / STEPS more where rows are longer than STEPS: predicted as these
 * bounds. 2 flops an entry.
 */
#include "core/pattern.h"
#include "spmv/csr.h"

enum { TILE = 2048, ROWS = 256, PIECE = 1024, STEPS = 32 }; /* as in kernels/spmv_csr_split.cl */

static kcl_size size(const kcl_stats *s, kcl_type type) {
  double val = (double)s->nnz * (double)kcl_type_size(type);
  int64_t whole = s->nnz / (TILE / 2) + s->rows / ROWS + 2;
  double tiles = (double)whole;
  double pieces = s->row_max > TILE ? 2.0 * (double)s->nnz / PIECE : 0;
  if (s->row_max > STEPS) tiles += (double)s->nnz / STEPS;
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 4.0 * ((double)s->rows + 1) +
                             8.0 * (tiles + 1) + pieces * (8.0 + (double)kcl_type_size(type)),
                    .largest = val};
}

/* Additions one after another when `rows` rows, the longest of `longest` entries, share 256 work-items. */
static int64_t steps(int64_t rows, int64_t longest) {
  int64_t lanes = 1;
  while (lanes < 32 && 2 * lanes * rows <= ROWS) lanes *= 2;
  return longest / lanes;
}

/* Where the tile that begins with row i ends. */
static int64_t tile_end(const kcl_csr *A, int64_t i) {
  int64_t longest = kcl_row_length(A, i), next = i + 1;
  for (; next < A->rows && next - i < ROWS; next++) {
    int64_t length = kcl_row_length(A, next);
    if (length > longest) longest = length;
    if (A->row_ptr[next + 1] - A->row_ptr[i] > TILE) break;
    if (steps(next + 1 - i, longest) > STEPS) break;
  }
  return next;
}

typedef struct cuts {
  int64_t tiles, pieces;
  int32_t *tile, *before; /* [tiles + 1] */
  int64_t *piece;         /* [pieces, 2]: its first entry, and where it ends */
} cuts;

/* Counts tiles and pieces, and notes them where there are arrays. */
static void cut(const kcl_csr *A, cuts *c) {
  c->tiles = c->pieces = 0;
  for (int64_t i = 0, next; i < A->rows; i = next, c->tiles++) {
    int64_t from = A->row_ptr[i], to = A->row_ptr[next = tile_end(A, i)];
    for (int64_t k = from; to - from > TILE && k < to; k += PIECE, c->pieces++) {
      if (!c->piece) continue;
      c->piece[2 * c->pieces] = k, c->piece[2 * c->pieces + 1] = k + PIECE < to ? k + PIECE : to;
    }
    if (!c->tile) continue;
    c->tile[c->tiles + 1] = (int32_t)next, c->before[c->tiles + 1] = (int32_t)c->pieces;
  }
}

static int build(kcl_matrix *m, const kcl_csr *A) {
  cuts c = {0};
  int rc;
  kcl_matrix_borrow(m, "row_ptr", KCL_INT64, A->rows + 1, A->row_ptr);
  kcl_matrix_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_matrix_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  if (!kcl_matrix_neighbours(m)) return KCL_OK; /* a row is one work-item's, as in csr-scalar */
  cut(A, &c);
  if ((rc = kcl_matrix_array(m, "tile", KCL_INT32, c.tiles + 1, (void **)&c.tile))) return rc;
  if ((rc = kcl_matrix_array(m, "before", KCL_INT32, c.tiles + 1, (void **)&c.before))) return rc;
  if ((rc = kcl_matrix_array(m, "piece", KCL_INT64, 2 * c.pieces, (void **)&c.piece))) return rc;
  cut(A, &c);
  kcl_matrix_scratch(m, "part", KCL_SCALAR, c.pieces, c.pieces * ROWS);
  kcl_matrix_param(m, "tiles", c.tiles);
  kcl_matrix_param(m, "pieces", c.pieces);
  m->tree = TILE;
  m->lanes = (int)(A->rows ? 1 + A->nnz / A->rows / 8 : 1); /* so many groups are worth starting */
  return KCL_OK;
}

/* On GPUs estimated; a row in pieces costs a launch more, about what streaming 8 MB does. */
static double slowdown(const kcl_stats *s, const kcl_device *d) {
  double launch = s->row_max > TILE ? 8e6 / (12.0 * (double)s->nnz + 1) : 0;
  return d->kind && d->kind[0] == 'g' ? 1.1 + launch : 1.02;
}

const kcl_format KCL_TYPED(kcl_format_csr_split) = {
    .name = "csr-split",
    .summary = "compressed rows, work divided by nonzeros",
    .source = "Greathouse & Daga 2014; Merrill & Garland 2016",
    .kernel = "spmv_csr_split",
    .size = size,
    .slowdown = slowdown,
    .build = build,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};
