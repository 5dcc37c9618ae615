/* Sums with the same bits on any number of ranks (core/base/shape.h): the rows of all are cut into blocks, whose length depends on their
 * number alone; each block is summed by one chunk of the native executor or one work-group, on whichever rank it is; and all
 * ranks add the sums of all blocks in the same order. So ranks are divided between blocks. */
#include "distributed/distributed.h"

enum { MOST = 2 * KCL_MOST_STAGE_OPS }; /* numbers of a sum, per right-hand side */

int kcl_blocks_begin(kcl_comm *c) {
  kcl_context *ctx = c->ctx;
  const bool asked = kcl_comm_differs(c, ctx->reproducible);
  if (asked)
    return kcl_comm_agree(c, kcl_fail(ctx, KCL_USAGE, "reproducible sums on some ranks alone"));
  if (!ctx->reproducible) return KCL_OK;
  if (c->ranks.unlike)
    return kcl_comm_agree(c, kcl_fail(ctx, KCL_USAGE,
                                      "reproducible sums need devices of one kind on all ranks: "
                                      "OpenCL, or the native executor"));
  return KCL_OK;
}

void kcl_blocks_choose(kcl_comm *c, int64_t rows) {
  c->ranks.sum_rows = c->ctx->reproducible ? kcl_sum_rows(rows) : 0;
}

static int64_t blocks_of_rank(const kcl_comm *c, int64_t rows) {
  return (rows + c->ranks.sum_rows - 1) / c->ranks.sum_rows;
}

int kcl_blocks_align(kcl_comm *c, int64_t *first) {
  const int64_t block = c->ranks.sum_rows;
  const int count = c->ranks.count;
  if (!block) return KCL_OK;
  const int64_t all = blocks_of_rank(c, first[count]);
  if (all < count)
    return kcl_fail(c->ctx, KCL_USAGE,
                    "%lld rows are %lld blocks of reproducible sums, for %d ranks",
                    (long long)first[count], (long long)all, count);
  for (int p = 1; p < count; p++) {
    const int64_t least = first[p - 1] / block + 1, most = all - (count - p),
                  at = (first[p] + block / 2) / block;
    first[p] = block * (at < least ? least : at > most ? most : at);
  }
  return KCL_OK;
}

/* A message: the status, then the partial sums [n, blocks]. */
static int gather_block_sums(kcl_comm *c, int status, int n, int64_t blocks, const double *own) {
  const double start = kcl_now();
  const int size = n * (int)blocks;
  int worst = KCL_OK, at = 0;
  MPI_Request request;
  c->blocks.own[0] = status;
  for (int i = 0; i < size; i++) c->blocks.own[1 + i] = own ? own[i] : 0;
  for (int p = 0; p < c->ranks.count; p++) {
    c->blocks.at[p] = at;
    c->blocks.count[p] = 1 + n * (int)blocks_of_rank(c, c->first[p + 1] - c->first[p]);
    at += c->blocks.count[p];
  }
  MPI_Iallgatherv(c->blocks.own, 1 + size, MPI_DOUBLE, c->blocks.all, c->blocks.count, c->blocks.at,
                  MPI_DOUBLE, c->comm, &request);
  kcl_comm_wait(1, &request);
  c->seconds += kcl_now() - start;
  for (int p = c->ranks.count - 1; p >= 0; p--)
    if (c->blocks.all[c->blocks.at[p]] != 0) worst = (int)c->blocks.all[c->blocks.at[p]];
  return worst;
}

/* The sums of all blocks of number i of n, in the order of the blocks. */
static int64_t collect_number(const kcl_comm *c, int n, int i, double sums[KCL_SUM_BLOCKS]) {
  int64_t count = 0;
  for (int p = 0; p < c->ranks.count; p++) {
    const int each = (c->blocks.count[p] - 1) / n;
    memcpy(sums + count, c->blocks.all + c->blocks.at[p] + 1 + i * each,
           (size_t)each * sizeof *sums);
    count += each;
  }
  return count;
}

static int ranks_sum_blocks(kcl_ranks *r, int status, bool single, int n, int64_t blocks,
                            const double *own, double *values) {
  kcl_comm *c = (kcl_comm *)r;
  double sums[KCL_SUM_BLOCKS];
  const int worst = gather_block_sums(c, status, n, blocks, own);
  for (int i = 0; i < n; i++)
    values[i] = kcl_sum_total(single, sums, collect_number(c, n, i, sums));
  c->told = c->told || (worst && !status), c->failed = c->failed || worst;
  return worst;
}

/* |v| of all ranks as kcl_norm2 computes it; largest: of the parts of all. */
static double norm_by_blocks(kcl_comm *c, kcl_type type, const void *v, int64_t n, double largest) {
  const int exponent = kcl_sum_exponent(largest);
  double own[KCL_SUM_BLOCKS], sum = 0;
  kcl_sum_squares(type, v, n, c->ranks.sum_rows, exponent, own);
  c->ranks.sum_blocks(&c->ranks, KCL_OK, false, 1, blocks_of_rank(c, n), own, &sum);
  return ldexp(sqrt(sum), exponent);
}

static double ranks_norm(kcl_ranks *r, kcl_type type, const void *v, int64_t n) {
  kcl_comm *c = (kcl_comm *)r;
  const double own = c->ranks.sum_rows ? kcl_largest_part(type, v, n) : kcl_norm2(type, v, n);
  const double most = kcl_comm_largest(c, own);
  if (!(most > 0 && most < INFINITY)) return most;
  if (c->ranks.sum_rows) return norm_by_blocks(c, type, v, n, most);
  return most * sqrt(kcl_comm_total(c, own / most * (own / most)));
}

int kcl_blocks_open(kcl_comm *c, int nrhs) {
  c->ranks.norm = ranks_norm;
  const int count = c->ranks.count;
  if (!c->ranks.sum_rows) return KCL_OK;
  const int64_t own = blocks_of_rank(c, c->first[c->ranks.rank + 1] - c->ranks.first_row),
                all = blocks_of_rank(c, c->ranks.rows);
  int rc = kcl_alloc(c->ctx, 2 * count, sizeof(int), "sums", (void **)&c->blocks.count);
  if (!rc)
    rc = kcl_alloc(c->ctx, 1 + count + MOST * nrhs * (own + all), sizeof(double), "sums",
                   (void **)&c->blocks.own);
  KCL_CALL(kcl_comm_agree(c, rc));
  c->blocks.at = c->blocks.count + count, c->blocks.all = c->blocks.own + 1 + MOST * nrhs * own;
  c->ranks.sum_blocks = ranks_sum_blocks;
  return KCL_OK;
}
