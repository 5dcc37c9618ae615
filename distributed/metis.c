/* Parts of rows by METIS (Karypis, Kumar 1998): few elements of x cross between them, and their nonzeros are in proportion to the
 * weights of the ranks. The graph is that of A + A^T, on rank 0. */
#include "distributed/distributed.h"

#ifdef HAVE_METIS
#include <metis.h>

/* The structure of the whole matrix, on rank 0. */
typedef struct structure {
  int64_t rows;
  const int64_t *row_ptr;
  const int32_t *col;
  int64_t *own_row_ptr; /* gathered */
  int32_t *own_col;
} structure;

static void free_structure(structure *s) { free(s->own_row_ptr), free(s->own_col); }

/* ---------------------------------------------------------------- the graph */

typedef struct graph {
  idx_t *at, *neighbour; /* [rows + 1], [at[rows]] */
  idx_t *weight, *part;  /* [rows] entries of a row; its part */
} graph;

static void free_graph(graph *g) {
  free(g->at), free(g->neighbour), free(g->weight), free(g->part);
}

/* Each neighbour once. seen [rows]: 1 + the last row that had it. */
static void merge_edges(graph *g, idx_t rows, idx_t *seen) {
  idx_t kept = 0;
  for (idx_t i = 0, from = 0; i < rows; i++) {
    const idx_t end = g->at[i + 1];
    for (idx_t k = from; k < end; k++) {
      const idx_t j = g->neighbour[k];
      if (seen[j] == i + 1) continue;
      seen[j] = i + 1, g->neighbour[kept++] = j;
    }
    from = end, g->at[i + 1] = kept;
  }
}

/* Both (i, j) and (j, i) of every entry beside the diagonal. next [rows] */
static void fill_graph(graph *g, const structure *s, idx_t *next) {
  for (int64_t i = 0; i < s->rows; i++)
    for (int64_t k = s->row_ptr[i]; k < s->row_ptr[i + 1]; k++)
      if (s->col[k] != i) g->at[i + 1]++, g->at[s->col[k] + 1]++;
  for (int64_t i = 0; i < s->rows; i++) next[i] = g->at[i], g->at[i + 1] += g->at[i];
  for (int64_t i = 0; i < s->rows; i++)
    for (int64_t k = s->row_ptr[i]; k < s->row_ptr[i + 1]; k++)
      if (s->col[k] != i) {
        g->neighbour[next[i]++] = s->col[k];
        g->neighbour[next[s->col[k]]++] = (idx_t)i;
      }
}

static int build_graph(kcl_context *ctx, const structure *s, graph *g) {
  const int64_t n = s->rows, nnz = s->row_ptr[n];
  KCL_OWNED idx_t *work = NULL;
  if (2 * nnz > IDX_MAX)
    return kcl_fail(ctx, KCL_USAGE,
                    "partition metis: the graph of %lld nonzeros needs a METIS with 64-bit indices",
                    (long long)nnz);
  KCL_CALL(kcl_alloc(ctx, n + 1, sizeof *g->at, "the graph of A", (void **)&g->at));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *g->weight, "the graph of A", (void **)&g->weight));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *g->part, "the graph of A", (void **)&g->part));
  KCL_CALL(kcl_alloc(ctx, 2 * nnz, sizeof *g->neighbour, "the graph of A", (void **)&g->neighbour));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *work, "the graph of A", (void **)&work));
  fill_graph(g, s, work);
  for (int64_t i = 0; i < n; i++) work[i] = 0;
  merge_edges(g, (idx_t)n, work);
  for (int64_t i = 0; i < n; i++) g->weight[i] = (idx_t)(s->row_ptr[i + 1] - s->row_ptr[i]);
  return KCL_OK;
}

/* ---------------------------------------------------------------- its parts */

/* A row of the part with the most for each part without one. rows [parts]: of each */
static void leave_none_empty(idx_t n, idx_t *part, int parts, int64_t *rows) {
  for (idx_t i = 0; i < n; i++) rows[part[i]]++;
  for (int p = 0; p < parts; p++) {
    int most = 0;
    for (int q = 1; q < parts; q++) most = rows[q] > rows[most] ? q : most;
    for (idx_t i = 0; i < n && !rows[p]; i++)
      if (part[i] == most) part[i] = p, rows[p]++, rows[most]--;
  }
}

static int divide_graph(kcl_context *ctx, graph *g, int64_t rows, int parts, const double *weight) {
  idx_t n = (idx_t)rows, one = 1, count = parts, volume, options[METIS_NOPTIONS];
  KCL_OWNED real_t *target = NULL;
  KCL_OWNED int64_t *size = NULL;
  double all = 0;
  int rc = KCL_OK;
  KCL_CALL(kcl_alloc(ctx, parts, sizeof *target, "the ranks", (void **)&target));
  KCL_CALL(kcl_alloc(ctx, parts, sizeof *size, "the ranks", (void **)&size));
  for (int p = 0; p < parts; p++) all += weight[p];
  for (int p = 0; p < parts; p++) target[p] = (real_t)(weight[p] / all);
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
  const int status = METIS_PartGraphKway(&n, &one, g->at, g->neighbour, g->weight, NULL, NULL,
                                         &count, target, NULL, options, &volume, g->part);
  if (status == METIS_ERROR_MEMORY)
    rc = kcl_fail(ctx, KCL_MEMORY, "METIS: out of memory for %lld rows", (long long)rows);
  else if (status != METIS_OK)
    rc = kcl_fail(ctx, KCL_USAGE, "METIS_PartGraphKway: code %d", status);
  else
    leave_none_empty(n, g->part, parts, size);
  return rc;
}

static int parts_of(kcl_comm *c, const structure *s, const double *weight, int32_t *part) {
  KCL_OWNED_BY(free_graph) graph g = {0};
  KCL_CALL(build_graph(c->ctx, s, &g));
  KCL_CALL(divide_graph(c->ctx, &g, s->rows, c->ranks.count, weight));
  for (int64_t i = 0; i < s->rows; i++) part[i] = (int32_t)g.part[i];
  return KCL_OK;
}

/* ---------------------------------------------------------------- to rank 0 and back */

static int gather_structure(kcl_comm *c, const kcl_csr *held, structure *s) {
  const bool root = c->ranks.rank == 0;
  KCL_OWNED int64_t *entries = NULL,
                    *ends = NULL; /* [held->rows] of rows, among the entries of all */
  int rc = kcl_alloc(c->ctx, c->ranks.count + 1, sizeof *entries, "the ranks", (void **)&entries);
  if (!rc) rc = kcl_alloc(c->ctx, held->rows, sizeof *ends, "the graph of A", (void **)&ends);
  if (!rc && root)
    rc = kcl_alloc(c->ctx, s->rows + 1, sizeof *ends, "the graph of A", (void **)&s->own_row_ptr);
  KCL_CALL(kcl_comm_agree(c, rc));
  kcl_comm_offsets(c, held->nnz, entries);
  if (root)
    rc = kcl_alloc(c->ctx, entries[c->ranks.count], sizeof *s->own_col, "the graph of A",
                   (void **)&s->own_col);
  KCL_CALL(kcl_comm_agree(c, rc));
  for (int64_t i = 0; i < held->rows; i++) ends[i] = entries[c->ranks.rank] + held->row_ptr[i + 1];
  kcl_comm_collect(c, c->first, sizeof *ends, ends, root ? s->own_row_ptr + 1 : NULL);
  kcl_comm_collect(c, entries, sizeof *held->col, held->col, s->own_col);
  s->row_ptr = s->own_row_ptr, s->col = s->own_col;
  return KCL_OK;
}

int kcl_metis_parts(kcl_comm *c, const kcl_csr *held, const double *weight, int32_t *part) {
  const bool root = c->ranks.rank == 0;
  KCL_OWNED_BY(free_structure)
  structure s = {.rows = c->ranks.rows, .row_ptr = held->row_ptr, .col = held->col};
  KCL_OWNED int32_t *all = NULL;
  int rc = KCL_OK;
  if (c->first[1] < s.rows) KCL_CALL(gather_structure(c, held, &s));
  if (root) rc = kcl_alloc(c->ctx, s.rows, sizeof *all, "parts of rows", (void **)&all);
  if (root && !rc) rc = parts_of(c, &s, weight, all);
  KCL_CALL(kcl_comm_agree(c, rc));
  kcl_comm_give(c, c->first, sizeof *part, all, part);
  return KCL_OK;
}

#else

int kcl_metis_parts(kcl_comm *c, const kcl_csr *held, const double *weight, int32_t *part) {
  (void)held, (void)weight, (void)part;
  return kcl_fail(c->ctx, KCL_DEVICE, "partition metis: built without METIS");
}

#endif
