/* Where rows are cut into blocks of about as many nonzeros, from counts of entries that are anywhere on the ranks: first by
 * blocks of rows, then by the rows of the blocks in which a cut lies. The cuts are those of kcl_partition. */
#include "distributed/files/files.h"

enum { MOST_BLOCKS = 1 << 16 };

typedef struct cutting {
  kcl_comm *c;
  kcl_count_entries *count;
  const void *self;
  kcl_bins bins;
  int64_t blocks;
  double *weight;  /* [ranks] */
  int64_t *before; /* [blocks + 1] entries */
  int32_t *slot;   /* [blocks] */
  int64_t *fine;   /* [ranks << shift] entries of rows */
  int64_t *ptr;    /* [(1 << shift) + 1] */
} cutting;

static void sum_counts(const cutting *k, int64_t *count, int64_t n) {
  kcl_bins bins = k->bins;
  MPI_Request request;
  bins.count = count;
  k->count(k->self, &bins);
  MPI_Iallreduce(MPI_IN_PLACE, count, (int)n, MPI_INT64_T, MPI_SUM, k->c->comm, &request);
  kcl_comm_wait(1, &request);
}

static double want(const cutting *k, int p) {
  return kcl_want((double)k->before[k->blocks], k->c->ranks.count, k->weight, p);
}

/* The block in which the cut lies. */
static int64_t block_of_rank(const cutting *k, double want) {
  return kcl_first_offset_from(k->before + 1, 0, k->blocks - 1, (int64_t)ceil(want));
}

static int64_t cut_block(const cutting *k, int64_t block, double want) {
  const int64_t first = block << k->bins.shift, most = INT64_C(1) << k->bins.shift,
                left = k->bins.rows - first, rows = left < most ? left : most;
  const int64_t *fine = k->fine + ((int64_t)k->slot[block] << k->bins.shift);
  k->ptr[0] = k->before[block];
  for (int64_t i = 0; i < rows; i++) k->ptr[i + 1] = k->ptr[i] + fine[i];
  return first + kcl_cut(k->ptr, rows, want);
}

static void find_cuts(cutting *k) {
  const int ranks = k->c->ranks.count;
  int32_t slots = 0;
  sum_counts(k, k->before + 1, k->blocks);
  for (int64_t i = 0; i < k->blocks; i++) k->before[i + 1] += k->before[i], k->slot[i] = -1;
  for (int p = 1; p < ranks; p++) {
    int32_t *slot = &k->slot[block_of_rank(k, want(k, p))];
    if (*slot < 0) *slot = slots++;
  }
  k->bins.slot = k->slot;
  sum_counts(k, k->fine, (int64_t)slots << k->bins.shift);
  for (int p = 1; p < ranks; p++)
    k->c->first[p] = cut_block(k, block_of_rank(k, want(k, p)), want(k, p));
  kcl_settle(k->bins.rows, ranks, k->c->first);
}

static int allocate_blocks(cutting *k) {
  kcl_context *ctx = k->c->ctx;
  const int64_t ranks = k->c->ranks.count, each = INT64_C(1) << k->bins.shift;
  KCL_CALL(kcl_alloc(ctx, k->blocks + 1, sizeof *k->before, "counts", (void **)&k->before));
  KCL_CALL(kcl_alloc(ctx, k->blocks, sizeof *k->slot, "counts", (void **)&k->slot));
  KCL_CALL(kcl_alloc(ctx, ranks * each, sizeof *k->fine, "counts", (void **)&k->fine));
  return kcl_alloc(ctx, each + 1, sizeof *k->ptr, "counts", (void **)&k->ptr);
}

static void free_cutting(cutting *k) {
  free(k->weight), free(k->before), free(k->slot), free(k->fine), free(k->ptr);
}

int kcl_cut_rows(kcl_comm *c, int64_t rows, kcl_count_entries *count, const void *self) {
  KCL_OWNED_BY(free_cutting)
  cutting k = {.c = c, .count = count, .self = self, .bins = {.rows = rows}};
  KCL_CALL(kcl_comm_agree(c, kcl_check_count(c, rows)));
  while (rows >> k.bins.shift >= MOST_BLOCKS) k.bins.shift++;
  k.blocks = ((rows - 1) >> k.bins.shift) + 1;
  KCL_CALL(kcl_comm_agree(c, allocate_blocks(&k)));
  KCL_CALL(kcl_weigh(c, &k.weight));
  if (c->ctx->shares == KCL_SHARES_ROWS)
    kcl_partition_equally(rows, c->ranks.count, c->first);
  else
    find_cuts(&k);
  c->ranks.rows = rows;
  kcl_blocks_choose(c, rows);
  KCL_CALL(kcl_comm_agree(c, kcl_blocks_align(c, c->first)));
  c->ranks.first_row = c->first[c->ranks.rank];
  return KCL_OK;
}
