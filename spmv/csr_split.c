/* CSR divided by nonzeros: the rows are divided into tiles of at most 1792 entries and 512 rows, one work-group per tile,
 * so the work per group does not depend on the row lengths.
 *
 *     col, val as in csr.c; plan, one array because each argument costs 0.25 us per launch (NVIDIA H200):
 *     0 3 0 5  0 0 1 0 1 ...  3 7 5 11  0 0 1 ...   per tile: its rows and entries, first and end, and one bit
 *                                                   per entry, set at the last entry of a row
 *     11 1800  1800 2100 ...                        per segment of a row longer than a tile: its entries
 *     8 0 2 ...                                     per such row: its number and its segments
 *     2 4 4 ...                                     per row: the position of its last entry in its tile
 *
 * A group streams the products of its tile into local memory, 32 neighbouring entries at a time; then each work-item adds
 * up 7 consecutive products, and sums of rows that continue are carried on by a segmented scan (Sengupta et al. 2007;
 * Merrill & Garland 2016). No work-item does more than 7 additions per pass whatever the row lengths; 32 work-items
 * without the end of a row add up in registers. A row longer than a tile is divided into segments, one group each; the
 * group that owns the row adds up the sums the others send (Greathouse & Daga 2014, CSR-adaptive). The order of every sum
 * is fixed, and there are no atomics.
 * Bytes: nnz (4 + s) + 2 rows + 272 tiles + 8 segments + 12 long rows; at most nnz / 880 + rows / 512 + 2 tiles, and the
 * prediction is this bound with 4 bytes per row. The cpu executor has row_ptr, 8 (rows + 1), and no plan. 2 flops per
 * entry.
 */
#include "core/matrix/structure.h"
#include "spmv/csr.h"

/* As in kernels/spmv_csr_split.cl: SHARES of SHARE entries make a tile. */
enum {
  SHARE = 7,
  SHARES = 256,
  TILE = SHARE * SHARES,
  CSR_SPLIT_LINE = 32, /* entries; tiles and segments begin at multiples */
  CSR_SPLIT_LEAST =
      TILE - CSR_SPLIT_LINE + 1, /* entries that fit into a tile wherever they begin */
  CSR_SPLIT_ROWS = 512,
  CSR_SPLIT_WORDS =
      4 + SHARES / 4,       /* of 32 bits, of the plan per tile; the bits of a share are a byte */
  CSR_SPLIT_NOWHERE = 65535 /* the last entry of an empty row */
};

static kcl_size csr_split_size(const kcl_stats *s, kcl_type type) {
  double each = (double)kcl_type_size(type), val = (double)s->nnz * each;
  int64_t tiles = s->nnz / (CSR_SPLIT_LEAST / 2) + s->rows / CSR_SPLIT_ROWS + 2;
  double segments = s->row_max > CSR_SPLIT_LEAST ? 2.0 * (double)s->nnz / CSR_SPLIT_LEAST : 0;
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 4.0 * ((double)s->rows + 1) +
                             4.0 * CSR_SPLIT_WORDS * (double)tiles + segments * 20.0,
                    .largest = val};
}

/* A tile or segment whose first entry is k begins at the start of its cache line. */
static int64_t csr_split_start_of(int64_t k) { return k / CSR_SPLIT_LINE * CSR_SPLIT_LINE; }

static bool csr_split_fits(const kcl_csr *A, int64_t i, int64_t next) {
  return A->row_ptr[next] - csr_split_start_of(A->row_ptr[i]) <= TILE;
}

/* The end of the tile that begins with row i. */
static int64_t tile_end(const kcl_csr *A, int64_t i) {
  int64_t next = i + 1;
  while (next < A->rows && next - i < CSR_SPLIT_ROWS && csr_split_fits(A, i, next + 1)) next++;
  return next;
}

typedef struct cuts {
  int64_t tiles, segments, long_rows;
  int64_t *tile;     /* [tiles, CSR_SPLIT_WORDS]: rows and entries, first and end; bits */
  int64_t *segment;  /* [segments, 2]: entries, first and end */
  int64_t *long_row; /* [long_rows, 3]: a row, its segments, first and end */
  int64_t *last;     /* [rows], two per word */
} cuts;

static void add_tile(const kcl_csr *A, int64_t i, int64_t next, cuts *c) {
  int64_t *tile = c->tile + CSR_SPLIT_WORDS * c->tiles, from = A->row_ptr[i];
  tile[0] = i;
  tile[1] = next;
  tile[2] = from;
  tile[3] = A->row_ptr[next];
  for (; i < next; i++) {
    int64_t last = A->row_ptr[i + 1] - 1 - csr_split_start_of(from), share = last / SHARE;
    bool empty = kcl_row_length(A, i) == 0;
    if (!empty) tile[4 + share / 4] |= INT64_C(1) << (share % 4 * 8 + last % SHARE);
    c->last[i / 2] |= (empty ? CSR_SPLIT_NOWHERE : last) << i % 2 * 16;
  }
}

static void cut_row(const kcl_csr *A, int64_t i, cuts *c) {
  int64_t first = c->segments, end = A->row_ptr[i + 1];
  for (int64_t k = A->row_ptr[i], next; k < end; k = next, c->segments++) {
    next = csr_split_start_of(k) + TILE < end ? csr_split_start_of(k) + TILE : end;
    if (c->segment) c->segment[2 * c->segments] = k, c->segment[2 * c->segments + 1] = next;
  }
  if (c->long_row) {
    int64_t *row = c->long_row + 3 * c->long_rows;
    row[0] = i;
    row[1] = first;
    row[2] = c->segments;
  }
  c->long_rows++;
}

/* Counts tiles, segments and long rows; fills the plan, zero before, unless its arrays are NULL. */
static void csr_split_cut(const kcl_csr *A, cuts *c) {
  c->tiles = c->segments = c->long_rows = 0;
  for (int64_t i = 0, next; i < A->rows; i = next) {
    next = tile_end(A, i);
    if (!csr_split_fits(A, i, next)) {
      cut_row(A, i, c);
    } else {
      if (c->tile) add_tile(A, i, next, c);
      c->tiles++;
    }
  }
}

static int csr_split_build(kcl_stored *m, const kcl_csr *A) {
  const bool plan = kcl_stored_gpu_layout(m);
  cuts c = {0};
  if (!plan) kcl_stored_borrow(m, "row_ptr", KCL_INT64, A->rows + 1, A->row_ptr);
  kcl_stored_borrow(m, "col", KCL_INT32, A->nnz, A->col);
  kcl_stored_borrow(m, "val", KCL_SCALAR, A->nnz, A->val);
  if (!plan) return KCL_OK; /* one work-item per row, as csr-scalar */
  csr_split_cut(A, &c);
  int64_t words = CSR_SPLIT_WORDS * c.tiles + 2 * c.segments + 3 * c.long_rows + (A->rows + 1) / 2;
  KCL_CALL(kcl_stored_array(m, "plan", KCL_INT64, words, (void **)&c.tile));
  c.segment = c.tile + CSR_SPLIT_WORDS * c.tiles, c.long_row = c.segment + 2 * c.segments;
  c.last = c.long_row + 3 * c.long_rows;
  csr_split_cut(A, &c);
  kcl_stored_param(m, "tiles", c.tiles);
  kcl_stored_param(m, "segments", c.segments);
  kcl_stored_param(m, "last_at", c.last - c.tile);
  if (c.segments) {
    m->kernel.variant = 1;
    m->kernel.message_slots = c.segments;
    kcl_stored_param(m, "long_rows", c.long_rows);
    kcl_stored_param(m, "segment_at", c.segment - c.tile);
    kcl_stored_param(m, "long_row_at", c.long_row - c.tile);
  }
  m->kernel.local_scalars = TILE;
  m->kernel.tasks = c.segments + c.tiles;
  /* For 7 columns, 7 values and 7 elements of x in flight; 48 measured best in double. */
  m->kernel.registers = 32 + 2 * (int)kcl_type_size(m->type);
  return KCL_OK;
}

/* 1.2 at 27 entries per row (NVIDIA H200). */
static double csr_split_slowdown(const kcl_stats *s, const kcl_device *d) {
  (void)s;
  return kcl_is_gpu(d) ? 1.2 : 1.02;
}

/* Two passes over a tile and a scan take as long as a chain of 40 entries, and a row longer than a tile waits for the
 * sums of others. */
static void csr_split_outline(kcl_stored *m, const kcl_stats *s) {
  m->cost.chain = m->cost.mean = s->row_max > CSR_SPLIT_LEAST ? 70 : 40;
}

const kcl_format KCL_TYPED(kcl_format_csr_split) = {
    .name = "csr-split",
    .summary = "compressed rows, work divided by nonzeros",
    .source = "Merrill & Garland 2016; Greathouse & Daga 2014",
    .kernel = "spmv_csr_split",
    .cpu_kernel = "spmv_csr",
    .size = csr_split_size,
    .size_is_bound = true,
    .slowdown = csr_split_slowdown,
    .outline = csr_split_outline,
    .build = csr_split_build,
    .rows = csr_rows,
    .bounded = csr_bounded,
    .bounded_entries = CSR_BOUNDED_ENTRIES,
    .rows_multi = csr_columns};
