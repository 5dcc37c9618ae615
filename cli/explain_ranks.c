/* krylocl explain --ranks N: the time of an iteration on several ranks, by a model (docs/scaling.md):
 *
 *   T = t + products (a + h / b) + sums a log2 N
 *
 *   t   of one process, timed here, times the largest share of nonzeros     h   bytes of the largest halo, received
 *   a   seconds of a message, b bytes per second
 *
 * Shares and halos are those of the matrix itself, cut into blocks of about as many nonzeros, as libkrylocl_mpi does. */
#include "cli/explain_ranks.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include "krylocl/bench.h"

/* Measured; the sources are in docs/scaling.md. */
typedef struct network {
  const char *name;
  double latency, rate; /* s of a message; bytes/s */
} network;
static const network host = {"ranks of one host", 0.8e-6, 1.5e9},
                     devices = {"devices of one host, through pinned memory", 20e-6, 27e9};

/* The blocks of rows that a matrix is cut into. */
typedef struct blocks {
  int64_t nonzeros, halo,
      all;        /* largest block; elements received by one block at most, and by all */
  int neighbours; /* the most */
} blocks;

/* The block being counted: rows [lo, hi). seen [cols] and of_rank [ranks]: 1 + the last block that needed the
 * column or the rank. */
typedef struct block {
  const kcl_csr *A;
  const int64_t *first;
  int64_t lo, hi;
  int64_t *seen, *of_rank;
  int number, ranks;
} block;

static int row_owner(const block *k, int64_t row) {
  int lo = 0, hi = k->ranks - 1;
  while (lo < hi) {
    const int mid = (lo + hi + 1) / 2;
    if (k->first[mid] <= row)
      lo = mid;
    else
      hi = mid - 1;
  }
  return lo;
}

static void add_block(block *k, blocks *out) {
  const kcl_csr *A = k->A;
  const int64_t nonzeros = A->row_ptr[k->hi] - A->row_ptr[k->lo];
  int64_t halo = 0;
  int neighbours = 0;
  for (int64_t e = A->row_ptr[k->lo]; e < A->row_ptr[k->hi]; e++) {
    const int64_t j = A->col[e];
    if ((j >= k->lo && j < k->hi) || k->seen[j] == k->number + 1) continue;
    k->seen[j] = k->number + 1, halo++;
    const int p = row_owner(k, j);
    neighbours += k->of_rank[p] != k->number + 1, k->of_rank[p] = k->number + 1;
  }
  out->all += halo;
  if (nonzeros > out->nonzeros) out->nonzeros = nonzeros;
  if (halo > out->halo) out->halo = halo;
  if (neighbours > out->neighbours) out->neighbours = neighbours;
}

/* Cuts the rows into blocks of about as many nonzeros, at least one row each. first [ranks + 1]: the first row of
 * each. */
static void cut_rows(const kcl_csr *A, int ranks, int64_t *first) {
  int64_t i = 0;
  for (int p = 0; p < ranks; p++) {
    const double want = (double)A->nnz * p / ranks;
    while (i < A->rows - (ranks - p) && (double)A->row_ptr[i] < want) i++;
    first[p] = p && i <= first[p - 1] ? first[p - 1] + 1 : i;
  }
  first[ranks] = A->rows;
}

static int count_rank_blocks(const kcl_csr *A, int ranks, blocks *out) {
  int64_t *first = calloc((size_t)ranks + 1, sizeof *first);
  block k = {.A = A, .first = first, .ranks = ranks};
  k.seen = calloc((size_t)A->cols, sizeof *k.seen);
  k.of_rank = calloc((size_t)ranks, sizeof *k.of_rank);
  const bool there = first && k.seen && k.of_rank;
  *out = (blocks){0};
  if (there) cut_rows(A, ranks, first);
  for (k.number = 0; there && k.number < ranks; k.number++) {
    k.lo = first[k.number], k.hi = first[k.number + 1];
    add_block(&k, out);
  }
  free(first);
  free(k.seen);
  free(k.of_rank);
  return there ? 0 : cli_fail(KCL_MEMORY, "out of memory");
}

/* Counts the sums over ranks and the products with A in an iteration. */
static void count_waits(const kcl_solver *s, double *sums, double *products) {
  double bytes = 0;
  *sums = *products = 0;
  for (int i = 0; i < kcl_stage_count(s); i++) {
    kcl_stage_info stage;
    kcl_solver_stage(s, i, &stage);
    if (strcmp(stage.phase, "LOOP")) continue;
    bytes += stage.bytes;
    *sums += stage.dots > 0;
    *products += stage.product;
  }
  const double passes = bytes > 0 ? kcl_bytes_per_iteration(s) / bytes : 0;
  *sums *= passes, *products *= passes;
}

static void say_row(const cli_options *o, const kcl_csr *A, int ranks, const blocks *b,
                    const double wait[2], double alone) {
  const double share = (double)b->nonzeros / (double)A->nnz, t = alone * share + wait[0] + wait[1];
  cli_say(o, "%8d %9.2f %9s %6d %9s %9s %9s %9s %8.2f\n", ranks, share * ranks,
          cli_count(b->halo).s, b->neighbours, cli_seconds(alone * share).s, cli_seconds(wait[0]).s,
          cli_seconds(wait[1]).s, cli_seconds(t).s, alone / t / ranks);
}

/* The least of a few timed samples. */
static int time_alone(kcl_solver *s, double *seconds) {
  const kcl_bench_plan plan = {.iterations = 20, .samples = 5, .noise = -1};
  kcl_bench_row row;
  int rc = cli_lib(kcl_bench_solver(s, &plan, &row));
  if (rc) return rc;
  if (!row.validated) rc = cli_fail(KCL_DEVICE, "the product is wrong: nothing was timed");
  *seconds = INFINITY;
  for (int i = 0; i < row.iteration.count; i++) *seconds = fmin(*seconds, row.iteration.seconds[i]);
  kcl_bench_free(&row);
  return rc;
}

int cli_explain_ranks(const cli_options *o, const kcl_csr *A, kcl_solver *s, const kcl_device *d) {
  const network *n = d->platform < 0 ? &host : &devices;
  const double size = (double)kcl_type_size(A->type);
  double sums, products, alone = 0;
  if (A->rows != A->cols || o->ranks > A->rows)
    return cli_fail(KCL_USAGE, "--ranks %lld: a square matrix with as many rows is needed",
                    (long long)o->ranks);
  CLI_CALL(time_alone(s, &alone));
  count_waits(s, &sums, &products);
  cli_say(
      o,
      "\nranks       %.3g sum%s and %.3g product%s with halos per iteration; messages between %s: "
      "%s and %.1f GB/s\n"
      "%8s %9s %9s %6s %9s %9s %9s %9s %8s\n",
      sums, sums == 1 ? "" : "s", products, products == 1 ? "" : "s", n->name,
      cli_seconds(n->latency).s, n->rate * 1e-9, "ranks", "imbalance", "halo", "from", "compute",
      "halos", "sums", "iteration", "efficient");
  for (int64_t p = 1; p <= o->ranks; p = p < o->ranks && 2 * p > o->ranks ? o->ranks : 2 * p) {
    blocks b;
    CLI_CALL(count_rank_blocks(A, (int)p, &b));
    const double wait[2] = {p > 1 ? products * (n->latency + (double)b.halo * size / n->rate) : 0,
                            sums * n->latency * log2((double)p)};
    say_row(o, A, (int)p, &b, wait, alone);
  }
  return 0;
}
