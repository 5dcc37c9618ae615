/* The graph of nodes and its aggregates on a device: kernels/sparse_aggregate.cl. */
#include "multigrid/opencl/aggregate.h"

enum { ROOT_ROUNDS_LEAST = 3, ROOT_ROUNDS_MORE = 4 /* of the set of roots, between two reads */ };
#define GRAPH(g, N)                                                                                \
  KCL_ARG_BUFFER((N)->ptr), KCL_ARG_INT((g)->rule->block), KCL_ARG_BUFFER((N)->col), KCL_ARG_ENDS(N)

/* ---------------------------------------------------------------- the graph of nodes */

/* N: the squares of the norms of blocks; A itself where nodes are rows. */
static int square_blocks(const kcl_device_nodes *g, kcl_device_csr *N, void *largest) {
  const kcl_device_csr *A = g->A;
  const int team = kcl_amg_device_team(A);
  *N = *A;
  if (g->rule->block == 1)
    return KCL_LAUNCH_EACH(g->s, KCL_KERNEL_largest_square, A->rows * team, KCL_ARG_CSR(A),
                           KCL_ARG_INT(A->rows), KCL_ARG_INT(team), KCL_ARG_BUFFER(largest));
  N->col = g->graph.col, N->val = g->graph.val;
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), &N->end));
  return KCL_LAUNCH_EACH(g->s, KCL_KERNEL_square_blocks, g->nodes * team, KCL_ARG_CSR(A),
                         KCL_ARG_INT(g->nodes), KCL_ARG_INT(g->rule->block), KCL_ARG_INT(team),
                         KCL_ARG_BUFFER(N->col), KCL_ARG_BUFFER(N->val), KCL_ARG_BUFFER(N->end),
                         KCL_ARG_BUFFER(largest));
}

static int couple_nodes(kcl_device_nodes *g) {
  const bool plain = g->rule->block == 1;
  const int team = plain ? kcl_amg_device_team(g->A) : 1;
  const double least = g->rule->theta * g->rule->theta;
  kcl_device_csr *S = &g->graph, N;
  void *largest;
  *S = (kcl_device_csr){.rows = g->nodes, .cols = g->nodes, .ptr = g->A->ptr};
  KCL_CALL(kcl_amg_device_memory(g->s, g->A->nnz, sizeof(cl_int), &S->col));
  KCL_CALL(kcl_amg_device_memory(g->s, g->A->nnz, sizeof(cl_double), &S->val));
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), &S->end));
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_double), &largest));
  KCL_CALL(square_blocks(g, &N, largest));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_couple_nodes, g->nodes * team, GRAPH(g, &N),
                           KCL_ARG_BUFFER(N.val), KCL_ARG_INT(g->nodes), KCL_ARG_INT(team),
                           KCL_ARG_INT(plain), KCL_ARG_REAL(least * least), KCL_ARG_BUFFER(largest),
                           KCL_ARG_BUFFER(S->col), KCL_ARG_BUFFER(S->val), KCL_ARG_BUFFER(S->end)));
  kcl_amg_device_drop(g->s, N.end), kcl_amg_device_drop(g->s, largest);
  return KCL_OK;
}

/* ---------------------------------------------------------------- roots */

/* Memory of the search, and what it has found. */
typedef struct device_rooting {
  void *key, *near;   /* [nodes] ulong */
  void *spare, *flag; /* [nodes] */
  void *size;         /* [nodes] of aggregates; NULL: not counted */
  cl_int left, count, large;
} device_rooting;

static int open_rooting(const kcl_device_nodes *g, device_rooting *m) {
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_ulong), &m->key));
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_ulong), &m->near));
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), &m->spare));
  return kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), &m->flag);
}

static void close_rooting(const kcl_device_nodes *g, const device_rooting *m) {
  const void *const list[] = {m->key, m->near, m->spare, m->flag, m->size};
  for (int i = 0; i < 5; i++) kcl_amg_device_drop(g->s, list[i]);
}

/* left: the note of whether some nodes are still undecided. */
static int enqueue_root_rounds(const kcl_device_nodes *g, const device_rooting *m, int count,
                               int *left) {
  for (int round = 0; round < count; round++) {
    KCL_CALL(kcl_amg_device_notes(g->s, 1, left));
    KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_look_near, g->nodes, GRAPH(g, &g->graph),
                             KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(m->key),
                             KCL_ARG_BUFFER(m->near)));
    KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_decide_roots, g->nodes, GRAPH(g, &g->graph),
                             KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(m->near), KCL_ARG_BUFFER(m->key),
                             KCL_ARG_NOTE(g->s, *left)));
  }
  return KCL_OK;
}

/* ---------------------------------------------------------------- aggregates */

static int enqueue_join(const kcl_device_nodes *g, const void *from, const void *to) {
  return KCL_LAUNCH_EACH(g->s, KCL_KERNEL_join_nodes, g->nodes, GRAPH(g, &g->graph),
                         KCL_ARG_BUFFER(g->graph.val), KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(from),
                         KCL_ARG_BUFFER(to));
}

/* Grows aggregates from the roots by two steps. */
static int enqueue_growth(const kcl_device_nodes *g, const device_rooting *m) {
  int rc = enqueue_join(g, g->aggregate, m->spare);
  return rc ? rc : enqueue_join(g, m->spare, g->aggregate);
}

/* count: the note of how many there are. */
static int mark_first_roots(const kcl_device_nodes *g, const device_rooting *m, int *count) {
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_mark_roots, g->nodes, KCL_ARG_BUFFER(m->key),
                           KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(m->flag)));
  KCL_CALL(kcl_amg_device_scan(g->s, m->flag, g->nodes, m->flag, count));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_number_roots, g->nodes, KCL_ARG_BUFFER(m->key),
                           KCL_ARG_BUFFER(m->flag), KCL_ARG_INT(g->nodes),
                           KCL_ARG_BUFFER(g->aggregate)));
  return enqueue_growth(g, m);
}

/* flag: large aggregates before each; large: the note of how many there are. */
static int find_large(const kcl_device_nodes *g, device_rooting *m, int *large) {
  kcl_amg_device_drop(g->s, m->size);
  KCL_CALL(kcl_amg_device_zeros(g->s, g->nodes, &m->size));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_count_members, g->nodes, KCL_ARG_BUFFER(g->aggregate),
                           KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(m->size)));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_mark_large, g->nodes, KCL_ARG_BUFFER(m->size),
                           KCL_ARG_INT(g->nodes), KCL_ARG_INT(g->rule->least),
                           KCL_ARG_BUFFER(m->flag)));
  return kcl_amg_device_scan(g->s, m->flag, g->nodes, m->flag, large);
}

/* Enqueues some rounds, and aggregates as if these were the last, so that one wait serves both. */
static int some_root_rounds(const kcl_device_nodes *g, device_rooting *m, int count) {
  int left, roots, large;
  KCL_CALL(enqueue_root_rounds(g, m, count, &left));
  KCL_CALL(mark_first_roots(g, m, &roots));
  large = roots;
  if (g->rule->least > 1) KCL_CALL(find_large(g, m, &large));
  KCL_CALL(kcl_amg_device_read_notes(g->s, left, 1, &m->left));
  KCL_CALL(kcl_amg_device_read_notes(g->s, roots, 1, &m->count));
  return kcl_amg_device_read_notes(g->s, large, 1, &m->large);
}

/* Aggregates that are too small are dissolved, their nodes join neighbours. */
static int dissolve_small_aggregates(const kcl_device_nodes *g, const device_rooting *m) {
  if (m->large == m->count) return KCL_OK;
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_number_large, g->nodes, KCL_ARG_BUFFER(m->size),
                           KCL_ARG_BUFFER(m->flag), KCL_ARG_INT(g->nodes),
                           KCL_ARG_INT(g->rule->least), KCL_ARG_BUFFER(g->aggregate)));
  return enqueue_growth(g, m);
}

/* Rounds before the first wait: as many as grids and meshes of this size need. */
static int first_rounds(int64_t nodes) {
  int rounds = ROOT_ROUNDS_LEAST;
  for (; nodes > 2; nodes /= 3) rounds++;
  return rounds;
}

int kcl_amg_device_aggregates(kcl_device_nodes *g) {
  device_rooting m = {.left = 1};
  int rc;
  KCL_TRY(couple_nodes(g));
  KCL_TRY(open_rooting(g, &m));
  KCL_TRY(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), &g->aggregate));
  KCL_TRY(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_begin_roots, g->nodes, GRAPH(g, &g->graph),
                          KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(m.key), KCL_ARG_BUFFER(m.near)));
  for (int count = first_rounds(g->nodes); m.left; count = ROOT_ROUNDS_MORE)
    KCL_TRY(some_root_rounds(g, &m, count));
  KCL_TRY(dissolve_small_aggregates(g, &m));
  g->count = m.large;
done:
  close_rooting(g, &m);
  return rc;
}
