/* Aggregates of nodes, for smoothed aggregation (Vanek, Mandel & Brezina 1996). A node is `block` consecutive rows, such as
 * the unknowns of a grid point. Aggregates grow around a maximal independent set of distance 2, found by hashed keys
 * that do not depend on the number of threads (Bell, Dalton & Olson 2012). */
#include "multigrid/coarsen.h"

/* ---------------------------------------------------------------- the graph of nodes */

typedef struct node_graph {
  const kcl_csr *A, *all;      /* all: |A_IJ|_F^2 of the nodes I, J; A itself if they are rows */
  double *largest;             /* [nodes] of those beside the diagonal */
  _Atomic int64_t least, most; /* bits of the extremes over all nodes */
  atomic_bool gaps;            /* a node has no diagonal, or no coupling */
  bool *strong;                /* [entries of all] */
  int block;
  double theta;
  kcl_csr *S;
} node_graph;

static void free_node_graph(node_graph *g) {
  free(g->largest), free(g->strong);
  kcl_csr_free(&g->S);
}

static void norm_row(void *arg, kcl_row_list *r, int64_t node) {
  const node_graph *g = arg;
  const kcl_csr *A = g->A;
  const double *a = A->val;
  const int64_t first = node * g->block;
  for (int64_t k = A->row_ptr[first]; k < A->row_ptr[first + g->block]; k++)
    kcl_row_add(r, A->col[k] / g->block, a[k] * a[k]);
  kcl_row_put(r);
}

/* The square of entry k of `all`. */
static double square_entry(const node_graph *g, int64_t k) {
  const double value = ((const double *)g->all->val)[k];
  return g->all == g->A ? value * value : value;
}

static void find_largest_couplings(void *arg, int64_t from, int64_t to) {
  node_graph *g = arg;
  double least = INFINITY, all = 0;
  bool gaps = false;
  for (int64_t i = from; i < to; i++) {
    const int64_t first = g->all->row_ptr[i], end = g->all->row_ptr[i + 1];
    double most = 0;
    bool diagonal = false;
    for (int64_t k = first; k < end; k++) {
      const bool own = g->all->col[k] == i;
      const double size = own ? 0 : square_entry(g, k), coupling = own ? INFINITY : size;
      most = size > most ? size : most, diagonal |= own;
      least = coupling < least ? coupling : least;
    }
    g->largest[i] = most, all = most > all ? most : all;
    gaps |= !diagonal | (end - first < 2) | (end - first > KCL_LONG_ROW);
  }
  kcl_lower(&g->least, kcl_bits(least)), kcl_raise(&g->most, kcl_bits(all));
  if (gaps) g->gaps = true;
}

/* |A_IJ| > theta sqrt(max |A_IK| max |A_JK|), all three given as squares. */
static bool exceeds(const node_graph *g, double size, double largest_i, double largest_j) {
  const double least = g->theta * g->theta;
  return kcl_rounded(size * size) > kcl_rounded(least * least * largest_i * largest_j);
}

static bool is_strong(const node_graph *g, int64_t i, int64_t k) {
  const int64_t j = g->all->col[k];
  return i != j && !kcl_long_row(g->all, j) &&
         exceeds(g, square_entry(g, k), g->largest[i], g->largest[j]);
}

/* Are all couplings strong, where nodes are rows? True on most grids: then A is the graph, and no copy is needed. */
static bool all_are_strong(const node_graph *g) {
  const double least = kcl_of_bits(g->least), most = kcl_of_bits(g->most);
  return g->all == g->A && !g->gaps && exceeds(g, least, most, most);
}

static void count_couplings(void *arg, int64_t from, int64_t to) {
  const node_graph *g = arg;
  for (int64_t i = from; i < to; i++) {
    int64_t count = 0;
    for (int64_t k = g->all->row_ptr[i]; k < g->all->row_ptr[i + 1]; k++)
      count += g->strong[k] = is_strong(g, i, k);
    g->S->row_ptr[i + 1] = count;
  }
}

static void fill_couplings(void *arg, int64_t from, int64_t to) {
  const node_graph *g = arg;
  double *value = g->S->val;
  for (int64_t i = from; i < to; i++) {
    int64_t at = g->S->row_ptr[i];
    for (int64_t k = g->all->row_ptr[i]; k < g->all->row_ptr[i + 1]; k++)
      if (g->strong[k]) g->S->col[at] = g->all->col[k], value[at++] = square_entry(g, k);
  }
}

static int copy_strong(kcl_context *ctx, node_graph *g, int64_t nodes) {
  const int64_t grain = kcl_row_list_grain(nodes);
  KCL_CALL(kcl_alloc_unset(ctx, g->all->nnz, sizeof *g->strong, "aggregates", (void **)&g->strong));
  KCL_CALL(kcl_csr_create(ctx, nodes, nodes, 0, KCL_D, &g->S));
  kcl_for_each(nodes, grain, count_couplings, g);
  KCL_CALL(kcl_sparse_shape(ctx, g->S));
  kcl_for_each(nodes, grain, fill_couplings, g);
  return KCL_OK;
}

int kcl_amg_nodes(kcl_context *ctx, const kcl_csr *A, int block, double theta, kcl_nodes *out) {
  const int64_t nodes = A->rows / block;
  KCL_OWNED_BY(free_node_graph)
  node_graph g = {.A = A, .all = A, .block = block, .theta = theta, .least = kcl_bits(INFINITY)};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *norms = NULL;
  if (block > 1) {
    KCL_CALL(kcl_row_list_make(ctx, nodes, nodes, KCL_D, norm_row, &g, NULL, &norms));
    g.all = norms;
  }
  KCL_CALL(kcl_alloc_unset(ctx, nodes, sizeof *g.largest, "aggregates", (void **)&g.largest));
  kcl_for(nodes, KCL_FEW_ROWS, find_largest_couplings, &g);
  if (!all_are_strong(&g)) KCL_CALL(copy_strong(ctx, &g, nodes));
  *out = (kcl_nodes){g.S ? g.S : A, g.S}, g.S = NULL;
  return KCL_OK;
}

void kcl_amg_nodes_free(kcl_nodes *nodes) { kcl_csr_free(&nodes->owned), nodes->S = NULL; }

/* ---------------------------------------------------------------- the set of roots */

/* key: state in the upper two bits, then a hash, then the number of the node: the largest wins. */
enum { OUT, NOT_DECIDED, ROOT };
static uint64_t state_of(uint64_t key) { return key >> 62; }
static uint64_t with_state(uint64_t key, uint64_t state) { return key << 2 >> 2 | state << 62; }
static uint64_t node_of(uint64_t key) { return key & UINT32_MAX; }

/* A list of nodes in parts: part p lists some of the nodes [p ROOTING_PART, (p + 1) ROOTING_PART) from p ROOTING_PART on. */
enum { ROOTING_PART = 4096 };
typedef struct part_list {
  int32_t *node;  /* [nodes] */
  int32_t *count; /* [parts] */
} part_list;

typedef struct root_search {
  const kcl_csr *S;
  uint64_t *key, *near;         /* [nodes]; the largest key at distance 1 */
  part_list undecided, pending; /* nodes whose key, and whose `near`, may change */
  _Atomic int64_t left;         /* undecided ones */
} root_search;

static void free_root_search(root_search *m) { free(m->key), free(m->undecided.node); }

static void begin_rooting(void *arg, int64_t from, int64_t to) {
  root_search *m = arg;
  int32_t open = 0;
  for (int64_t i = from; i < to; i++) {
    const uint64_t h = kcl_hash((uint64_t)i);
    const bool alone = m->S->row_ptr[i] == m->S->row_ptr[i + 1];
    m->key[i] = with_state(h >> 34 << 32 | (uint64_t)i, alone ? OUT : NOT_DECIDED);
    m->pending.node[i] = (int32_t)i;
    if (!alone) m->undecided.node[from + open++] = (int32_t)i;
  }
  m->pending.count[from / ROOTING_PART] = (int32_t)(to - from),
                          m->undecided.count[from / ROOTING_PART] = open;
}

static uint64_t largest_near(const kcl_csr *S, const uint64_t *key, int64_t i) {
  uint64_t most = key[i];
  for (int64_t k = S->row_ptr[i]; k < S->row_ptr[i + 1]; k++)
    if (key[S->col[k]] > most) most = key[S->col[k]];
  return most;
}

/* Prefetches the rows of nodes and the keys of their first and last neighbours: nodes of a short list are far apart. Always
 * inlined, since the compiler would drop a function without effects. */
__attribute__((always_inline)) static inline void prefetch_neighbours(const kcl_csr *S,
                                                                      const uint64_t *key,
                                                                      const int32_t *node,
                                                                      int32_t q, int32_t count) {
  enum { KEYS_NEAR = 6, KEYS_FAR = 2 * KEYS_NEAR, KEYS_FARTHEST = 3 * KEYS_NEAR };
  if (q + KEYS_FARTHEST >= count || count > ROOTING_PART / 2) return;
  const int64_t first = S->row_ptr[node[KEYS_NEAR]], last = S->row_ptr[node[KEYS_NEAR] + 1] - 1;
  __builtin_prefetch(&S->row_ptr[node[KEYS_FARTHEST]]);
  __builtin_prefetch(&S->col[S->row_ptr[node[KEYS_FAR]]]);
  if (first > last) return;
  __builtin_prefetch(&key[node[KEYS_NEAR]]);
  __builtin_prefetch(&key[S->col[first]]), __builtin_prefetch(&key[S->col[last]]);
}

/* Finds the largest key among each node and its neighbours. Where it belongs to a root, or all of them are out, it is final, and
 * the node leaves the list. */
static void look_near(void *arg, int64_t from, int64_t to) {
  const root_search *m = arg;
  int32_t *node = m->pending.node + from, *count = &m->pending.count[from / ROOTING_PART], left = 0;
  const int32_t all = *count;
  (void)to;
  for (int32_t q = 0; q < all; q++) {
    const int32_t i = node[q];
    prefetch_neighbours(m->S, m->key, node + q, q, all);
    m->near[i] = largest_near(m->S, m->key, i);
    node[left] = i, left += state_of(m->near[i]) == NOT_DECIDED;
  }
  *count = left;
}

/* Decides nodes by the largest key within distance 2. Without branches, since keys are random. */
static void decide_roots(void *arg, int64_t from, int64_t to) {
  root_search *m = arg;
  int32_t *node = m->undecided.node + from, *count = &m->undecided.count[from / ROOTING_PART],
          left = 0;
  const int32_t all = *count;
  (void)to;
  for (int32_t q = 0; q < all; q++) {
    const int32_t i = node[q];
    prefetch_neighbours(m->S, m->near, node + q, q, all);
    const uint64_t far = largest_near(m->S, m->near, i);
    const bool root = node_of(far) == (uint64_t)i, out = !root & (state_of(far) == ROOT);
    m->key[i] = with_state(m->key[i], root ? ROOT : out ? OUT : NOT_DECIDED);
    node[left] = i, left += !root & !out;
  }
  *count = left, m->left += left;
}

static int find_roots(kcl_context *ctx, root_search *m) {
  const int64_t n = m->S->rows, parts = (n + ROOTING_PART - 1) / ROOTING_PART;
  KCL_CALL(kcl_alloc_unset(ctx, 2 * n, sizeof *m->key, "aggregates", (void **)&m->key));
  KCL_CALL(kcl_alloc_unset(ctx, 2 * (n + parts), sizeof *m->undecided.node, "aggregates",
                           (void **)&m->undecided.node));
  m->near = m->key + n, m->pending.node = m->undecided.node + n;
  m->undecided.count = m->pending.node + n, m->pending.count = m->undecided.count + parts;
  kcl_for_each(n, ROOTING_PART, begin_rooting, m);
  do {
    m->left = 0;
    kcl_for_each(n, ROOTING_PART, look_near, m);
    kcl_for_each(n, ROOTING_PART, decide_roots, m);
  } while (m->left);
  return KCL_OK;
}

/* ---------------------------------------------------------------- who joins which */

/* to[i]: the aggregate of i's most strongly coupled neighbour among those that have one in `from`; or -1. */
typedef struct joining {
  const kcl_nodes *nodes;
  const int32_t *from;
  int32_t *to;
} joining;

static int32_t strongest(const joining *j, int64_t i) {
  const kcl_csr *S = j->nodes->S;
  const double *value = S->val;
  const bool squares = j->nodes->owned != NULL;
  int32_t to = -1;
  double most = 0;
  for (int64_t k = S->row_ptr[i]; k < S->row_ptr[i + 1]; k++) {
    const double square = squares ? value[k] : value[k] * value[k],
                 size = j->from[S->col[k]] >= 0 ? kcl_rounded(square) : 0;
    to = size > most ? j->from[S->col[k]] : to;
    most = size > most ? size : most;
  }
  return to;
}

static void join_strongest(void *arg, int64_t first, int64_t end) {
  const joining *j = arg;
  for (int64_t i = first; i < end; i++) j->to[i] = j->from[i] >= 0 ? j->from[i] : strongest(j, i);
}

/* Grows aggregates from the roots by two steps; `spare` [nodes] is overwritten. */
static void grow_aggregates(const kcl_nodes *nodes, int32_t *aggregate, int32_t *spare) {
  kcl_for(nodes->S->rows, KCL_FEW_ROWS, join_strongest, &(joining){nodes, aggregate, spare});
  kcl_for(nodes->S->rows, KCL_FEW_ROWS, join_strongest, &(joining){nodes, spare, aggregate});
}

/* Aggregates of fewer than `least` nodes are dissolved, their nodes join neighbours; the others are numbered. */
static int64_t dissolve_small(const kcl_nodes *nodes, int32_t *aggregate, int32_t *spare,
                              int32_t *size, int64_t count, int least) {
  const int64_t n = nodes->S->rows;
  int64_t kept = 0;
  memset(size, 0, (size_t)count * sizeof *size);
  for (int64_t i = 0; i < n; i++)
    if (aggregate[i] >= 0) size[aggregate[i]]++;
  for (int64_t a = 0; a < count; a++) size[a] = size[a] >= least ? (int32_t)kept++ : -1;
  for (int64_t i = 0; i < n; i++)
    if (aggregate[i] >= 0) aggregate[i] = size[aggregate[i]];
  if (kept < count) grow_aggregates(nodes, aggregate, spare);
  return kept;
}

int kcl_amg_aggregates(kcl_context *ctx, const kcl_nodes *nodes, int least, int32_t **out,
                       int64_t *count) {
  const kcl_csr *S = nodes->S;
  KCL_OWNED_BY(free_root_search) root_search m = {.S = S};
  KCL_OWNED int32_t *aggregate = NULL, *spare = NULL;
  *count = 0;
  KCL_CALL(find_roots(ctx, &m));
  KCL_CALL(kcl_alloc_unset(ctx, S->rows, sizeof *aggregate, "aggregates", (void **)&aggregate));
  KCL_CALL(kcl_alloc_unset(ctx, 2 * S->rows, sizeof *spare, "aggregates", (void **)&spare));
  for (int64_t i = 0; i < S->rows; i++)
    aggregate[i] = state_of(m.key[i]) == ROOT ? (int32_t)(*count)++ : -1;
  grow_aggregates(nodes, aggregate, spare);
  if (least > 1) *count = dissolve_small(nodes, aggregate, spare, spare + S->rows, *count, least);
  *out = aggregate, aggregate = NULL;
  return KCL_OK;
}
