/* CSR divided by nonzeros: the rows are cut into tiles of at most 1792 entries and 512 rows, a tile is one
 * work-group's, and so the work does not depend on how long rows are.
 *
 *     col, val as in csr.c; plan, one array since each costs 0.25 us a launch (NVIDIA H200):
 *     0 3 0 5  0 0 1 0 1 ...  3 7 5 11  0 0 1 ...   of each tile its rows and its entries, first and end,
 *                                                   and a bit an entry: it is its row's last
 *     11 1800  1800 2100 ...                        the entries of longer rows, a tile's worth at a time
 *     8 0 2 ...                                     of each such row its number and its pieces
 *     2 4 4 ...                                     of each row where in its tile its last entry is
 *
 * A group streams the products of its tile into local memory, 32 work-items side by side 7 times over; then each
 * work-item adds up 7 that lie together, and what its last row has gathered is carried on to the work-items after
 * it (a segmented scan: Sengupta et al. 2007; Merrill & Garland 2016). No row makes a work-item wait for more
 * than 7 additions, and 32 that meet the end of none add up in registers. A row longer than a tile comes
 * in pieces, a group's each; the group that has the row adds up what the others tell it (Greathouse & Daga 2014,
 * CSR-adaptive). Every sum has a fixed order, and there are no atomics.
 * Bytes: nnz (4 + s) + 2 rows + 272 tiles + 8 pieces + 12 long rows; the cpu executor has row_ptr, 8 (rows + 1),
 * and no plan; tiles at most nnz / 880 + rows / 512 + 2: predicted as this bound, 4 a row. 2 flops an entry.
 */
#include "core/pattern.h"
#include "spmv/csr.h"

/* As in kernels/spmv_csr_split.cl: SHARES of SHARE entries make a tile. */
enum {
  SHARE = 7,
  SHARES = 256,
  TILE = SHARE * SHARES,
  LINE = 32,               /* entries; where a tile or piece begins */
  LEAST = TILE - LINE + 1, /* fit into a tile wherever they begin */
  ROWS = 512,
  WORDS = 4 + SHARES / 4, /* of the plan, of 32 bits, a tile: the bits of a share are a byte */
  NOWHERE = 65535         /* the last entry of an empty row */
};

static kcl_size size(const kcl_stats *s, kcl_type type) {
  double each = (double)kcl_type_size(type), val = (double)s->nnz * each;
  int64_t tiles = s->nnz / (LEAST / 2) + s->rows / ROWS + 2;
  double pieces = s->row_max > LEAST ? 2.0 * (double)s->nnz / LEAST : 0;
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 4.0 * ((double)s->rows + 1) +
                             4.0 * WORDS * (double)tiles + pieces * 20.0,
                    .largest = val};
}

/* Where a tile or piece begins whose first entry is k: at a whole line of memory. */
static int64_t start_of(int64_t k) { return k / LINE * LINE; }

static bool fits(const kcl_csr *A, int64_t i, int64_t next) {
  return A->row_ptr[next] - start_of(A->row_ptr[i]) <= TILE;
}

/* Where the tile that begins with row i ends. */
static int64_t tile_end(const kcl_csr *A, int64_t i) {
  int64_t next = i + 1;
  while (next < A->rows && next - i < ROWS && fits(A, i, next + 1)) next++;
  return next;
}

typedef struct cuts {
  int64_t tiles, pieces, wholes;
  int64_t *tile;  /* [tiles, WORDS]: rows and entries, first and end; the bits */
  int64_t *piece; /* [pieces, 2]: entries, first and end */
  int64_t *whole; /* [wholes, 3]: a row, its pieces, first and end */
  int64_t *last;  /* [rows], two in a word */
} cuts;

static void note_tile(const kcl_csr *A, int64_t i, int64_t next, cuts *c) {
  int64_t *tile = c->tile + WORDS * c->tiles, from = A->row_ptr[i];
  tile[0] = i, tile[1] = next, tile[2] = from, tile[3] = A->row_ptr[next];
  for (; i < next; i++) {
    int64_t last = A->row_ptr[i + 1] - 1 - start_of(from), share = last / SHARE;
    bool empty = kcl_row_length(A, i) == 0;
    if (!empty) tile[4 + share / 4] |= INT64_C(1) << (share % 4 * 8 + last % SHARE);
    c->last[i / 2] |= (empty ? NOWHERE : last) << i % 2 * 16;
  }
}

static void cut_row(const kcl_csr *A, int64_t i, cuts *c) {
  int64_t first = c->pieces, end = A->row_ptr[i + 1];
  for (int64_t k = A->row_ptr[i], next; k < end; k = next, c->pieces++) {
    next = start_of(k) + TILE < end ? start_of(k) + TILE : end;
    if (c->piece) c->piece[2 * c->pieces] = k, c->piece[2 * c->pieces + 1] = next;
  }
  if (c->whole) {
    int64_t *whole = c->whole + 3 * c->wholes;
    whole[0] = i, whole[1] = first, whole[2] = c->pieces;
  }
  c->wholes++;
}

/* Counts, and notes what there is room for, of zeros at first. */
static void cut(const kcl_csr *A, cuts *c) {
  c->tiles = c->pieces = c->wholes = 0;
  for (int64_t i = 0, next; i < A->rows; i = next) {
    next = tile_end(A, i);
    if (!fits(A, i, next)) {
      cut_row(A, i, c);
    } else {
      if (c->tile) note_tile(A, i, next, c);
      c->tiles++;
    }
  }
}

static int build(kcl_matrix *m, const kcl_csr *A) {
  const bool plan = kcl_matrix_neighbours(m);
  cuts c = {0};
  int rc;
  if (!plan) kcl_matrix_borrow(m, "row_ptr", KCL_INT64, A->rows + 1, A->row_ptr);
  kcl_matrix_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_matrix_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  if (!plan) return KCL_OK; /* a row is one work-item's, as in csr-scalar */
  cut(A, &c);
  int64_t words = WORDS * c.tiles + 2 * c.pieces + 3 * c.wholes + (A->rows + 1) / 2;
  if ((rc = kcl_matrix_array(m, "plan", KCL_INT64, words, (void **)&c.tile))) return rc;
  c.piece = c.tile + WORDS * c.tiles, c.whole = c.piece + 2 * c.pieces;
  c.last = c.whole + 3 * c.wholes;
  cut(A, &c);
  kcl_matrix_param(m, "tiles", c.tiles);
  kcl_matrix_param(m, "pieces", c.pieces);
  kcl_matrix_param(m, "last_at", c.last - c.tile);
  if (c.pieces) {
    m->variant = 1;
    m->letters = c.pieces;
    kcl_matrix_param(m, "wholes", c.wholes);
    kcl_matrix_param(m, "piece_at", c.piece - c.tile);
    kcl_matrix_param(m, "whole_at", c.whole - c.tile);
  }
  m->tree = TILE;
  m->tasks = c.pieces + c.tiles;
  /* For 7 columns, 7 values and 7 of x; tried in double: 48. */
  m->registers = 32 + 2 * (int)kcl_type_size(m->type);
  return KCL_OK;
}

/* 1.2 at 27 entries a row (NVIDIA H200). */
static double slowdown(const kcl_stats *s, const kcl_device *d) {
  (void)s;
  return d->kind && d->kind[0] == 'g' ? 1.2 : 1.02;
}

const kcl_format KCL_TYPED(kcl_format_csr_split) = {
    .name = "csr-split",
    .summary = "compressed rows, work divided by nonzeros",
    .source = "Merrill & Garland 2016; Greathouse & Daga 2014",
    .kernel = "spmv_csr_split",
    .size = size,
    .slowdown = slowdown,
    .build = build,
    .rows = csr_rows,
    .rows_of_columns = csr_columns};
