/* The weighted Laplacian plus 1 of a random graph with power-law degrees.
 *
 *   node = floor(n u^2), u uniform in [0, 1): degree ~ node^(-1/2), so P(degree > d) ~ d^(-2)
 *
 * 8 n edges, both ends drawn this way (Chung & Lu 2002), the hubs scattered over the rows; weights
 * uniform in (0, 1]; a_ij = -weight, a_ii = 1 + sum of weights. Symmetric, strictly diagonally dominant,
 * hence positive definite; about 17 entries per row, a few rows with thousands. b: uniform in [-1, 1)
 * (A 1 = 1, so a constant b would be trivial). Fixed seeds: the same system on every machine. */
#include "data/generators/generate.h"

enum { EDGES = 8 };

typedef struct
    neighbour_lists { /* for each row its columns ascending, duplicates next to each other */
  int64_t n, *start;  /* [n + 1] */
  int32_t *col;       /* [start[n]] */
} neighbour_lists;

static void free_neighbours(neighbour_lists *g) { free(g->start), free(g->col); }

static double edge_weight(int64_t i, int64_t j) {
  uint64_t lo = (uint64_t)(i < j ? i : j), hi = (uint64_t)(i < j ? j : i);
  return 1.0 - kcl_uniform((hi << 32) + lo);
}

static int powerlaw_row(const void *self, int64_t i, int32_t *col, double *val) {
  const neighbour_lists *g = self;
  int k = 0, diagonal = 0;
  double sum = 1;
  for (int64_t q = g->start[i]; q < g->start[i + 1]; q++) {
    int32_t j = g->col[q];
    if (q > g->start[i] && j == g->col[q - 1]) continue;
    if (j == i) diagonal = k;
    if (col) {
      col[k] = j;
      val[k] = j == i ? 0 : -edge_weight(i, j);
      sum -= val[k];
    }
    k++;
  }
  if (col) val[diagonal] = sum;
  return k;
}

/* A step near n / golden ratio that is coprime to n: i -> i * step mod n permutes the nodes. */
static int64_t coprime_step(int64_t n) {
  for (int64_t step = (int64_t)(0.6180339887498949 * (double)n) + 1;; step++) {
    int64_t a = step, b = n;
    while (b) {
      int64_t r = a % b;
      a = b, b = r;
    }
    if (a == 1) return step;
  }
}

typedef struct edge_ends {
  int64_t n, step;
  int32_t *node; /* [2 EDGES n] */
} edge_ends;

static void draw_ends(void *arg, int64_t first, int64_t last) {
  const edge_ends *d = arg;
  for (int64_t e = first; e < last; e++) {
    double u = kcl_uniform((uint64_t)e);
    d->node[e] = (int32_t)((int64_t)((double)d->n * u * u) * d->step % d->n);
  }
}

/* Buckets of neighbours: every edge (i, j) puts i into bucket j and j into bucket i; every i is in its own
 * bucket. end[i] moves from the start of bucket i to its end. */
static void scatter_neighbours(int64_t n, const int32_t *node, int64_t *end, int32_t *bucket) {
  for (int64_t i = 0; i < n; i++) bucket[end[i]++] = (int32_t)i;
  for (int64_t e = 0; e < EDGES * n; e++) {
    int32_t i = node[2 * e], j = node[2 * e + 1];
    bucket[end[i]++] = j;
    bucket[end[j]++] = i;
  }
}

/* Transposes the lists, which sorts them: rows are visited in order, so each list of the result is
 * ascending; the structure is symmetric, so the lists are the same sets. */
static void sort_lists(int64_t n, const int64_t *start, const int32_t *bucket, int64_t *end,
                       int32_t *col) {
  for (int64_t j = 0; j < n; j++)
    for (int64_t q = start[j]; q < start[j + 1]; q++) col[end[bucket[q]]++] = (int32_t)j;
}

/* start[i + 1] = entries of the rows up to i, itself included; end[i] = start[i]. */
static void offsets(int64_t n, const int32_t *node, int64_t *start) {
  for (int64_t e = 0; e < 2 * EDGES * n; e++) start[node[e] + 1]++;
  for (int64_t i = 0; i < n; i++) start[i + 1] += start[i] + 1;
}

static int make_graph(kcl_context *ctx, neighbour_lists *g) {
  KCL_OWNED int32_t *node = NULL, *bucket = NULL;
  KCL_OWNED int64_t *end = NULL;
  const int64_t n = g->n, entries = (2 * EDGES + 1) * n;
  KCL_CALL(kcl_alloc(ctx, 2 * EDGES * n, sizeof *node, "the edges of a graph", (void **)&node));
  KCL_CALL(kcl_alloc(ctx, n + 1, sizeof *g->start, "offsets of a graph", (void **)&g->start));
  KCL_CALL(kcl_alloc(ctx, n + 1, sizeof *end, "offsets of a graph", (void **)&end));
  KCL_CALL(kcl_alloc(ctx, entries, sizeof *bucket, "lists of a graph", (void **)&bucket));
  kcl_for(2 * EDGES * n, KCL_FEW, draw_ends, &(edge_ends){n, coprime_step(n), node});
  offsets(n, node, g->start);
  memcpy(end, g->start, (size_t)n * sizeof *end);
  scatter_neighbours(n, node, end, bucket);
  free(node), node = NULL;
  KCL_CALL(kcl_alloc(ctx, entries, sizeof *g->col, "lists of a graph", (void **)&g->col));
  memcpy(end, g->start, (size_t)n * sizeof *end);
  sort_lists(n, g->start, bucket, end, g->col);
  return KCL_OK;
}

static int charges(kcl_context *ctx, const kcl_csr *A, kcl_dense **b) {
  int rc = kcl_rhs_zero(ctx, A, b);
  for (int64_t i = 0; !rc && b && i < A->rows; i++)
    (*b)->val[i] = 2 * kcl_uniform(UINT64_MAX / 2 + (uint64_t)i) - 1;
  return rc;
}

static int powerlaw_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                         kcl_dense **b) {
  KCL_OWNED_BY(free_neighbours) neighbour_lists g = {.n = size[0]};
  if (n_sizes != 1)
    return kcl_fail(ctx, KCL_USAGE, "powerlaw takes one number, the rows: powerlaw:100000");
  kcl_rows rows = {g.n, KCL_D, KCL_SYMMETRIC, KCL_REAL, powerlaw_row, &g};
  KCL_CALL(make_graph(ctx, &g));
  KCL_CALL(kcl_rows_matrix(ctx, &rows, A));
  return charges(ctx, *A, b);
}

const kcl_generator kcl_gen_powerlaw = {
    .name = "powerlaw",
    .example = "powerlaw:20000",
    .summary = "Laplacian of a random graph with power-law row lengths, N rows, SPD",
    .make = powerlaw_make};
