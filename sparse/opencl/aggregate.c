/* The graph of nodes and its aggregates on a device: kernels/sparse_aggregate.cl. */
#include "sparse/opencl/aggregate.h"
#include "sparse/sparse.h"

enum { ROUNDS_LEAST = 3, ROUNDS_MORE = 4 /* of the set of roots, between two reads */ };
#define GRAPH(g, N) BUFFER((N)->ptr), INT((g)->rule->block), BUFFER((N)->col), ENDS(N)

/* ---------------------------------------------------------------- the graph of nodes */

/* N: the squares of the norms of blocks; A itself where nodes are rows. */
static int square_blocks(const kcl_device_nodes *g, kcl_device_csr *N, void *largest) {
  const kcl_device_csr *A = g->A;
  const int team = kcl_setup_team(A);
  int rc;
  *N = *A;
  if (g->rule->block == 1)
    return EACH(g->s, "largest_square", A->rows * team, CSR(A), INT(A->rows), INT(team),
                BUFFER(largest));
  N->col = g->graph.col, N->val = g->graph.val;
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_int), &N->end));
  KCL_TRY(EACH(g->s, "square_blocks", g->nodes * team, CSR(A), INT(g->nodes), INT(g->rule->block),
               INT(team), BUFFER(N->col), BUFFER(N->val), BUFFER(N->end), BUFFER(largest)));
done:
  return rc;
}

static int couple_nodes(kcl_device_nodes *g) {
  const bool plain = g->rule->block == 1;
  const int team = plain ? kcl_setup_team(g->A) : 1;
  const double least = g->rule->theta * g->rule->theta;
  kcl_device_csr *S = &g->graph, N;
  void *largest;
  int rc;
  *S = (kcl_device_csr){.rows = g->nodes, .cols = g->nodes, .ptr = g->A->ptr};
  KCL_TRY(kcl_setup_memory(g->s, g->A->nnz, sizeof(cl_int), &S->col));
  KCL_TRY(kcl_setup_memory(g->s, g->A->nnz, sizeof(cl_double), &S->val));
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_int), &S->end));
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_double), &largest));
  KCL_TRY(square_blocks(g, &N, largest));
  KCL_TRY(EACH(g->s, "couple_nodes", g->nodes * team, GRAPH(g, &N), BUFFER(N.val), INT(g->nodes),
               INT(team), INT(plain), REAL(least * least), BUFFER(largest), BUFFER(S->col),
               BUFFER(S->val), BUFFER(S->end)));
  kcl_setup_drop(g->s, N.end), kcl_setup_drop(g->s, largest);
done:
  return rc;
}

/* ---------------------------------------------------------------- roots */

/* Memory of the search, and what it has found. */
typedef struct rooting {
  void *key, *near;   /* [nodes] ulong */
  void *spare, *flag; /* [nodes] */
  void *size;         /* [nodes] of aggregates; NULL: not counted */
  cl_int left, count, large;
} rooting;

static int open(const kcl_device_nodes *g, rooting *m) {
  int rc;
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_ulong), &m->key));
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_ulong), &m->near));
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_int), &m->spare));
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_int), &m->flag));
done:
  return rc;
}

static void close(const kcl_device_nodes *g, const rooting *m) {
  const void *const list[] = {m->key, m->near, m->spare, m->flag, m->size};
  for (int i = 0; i < 5; i++) kcl_setup_drop(g->s, list[i]);
}

/* left: the note of whether some nodes are still undecided. */
static int rounds(const kcl_device_nodes *g, const rooting *m, int count, int *left) {
  int rc = KCL_OK;
  for (int round = 0; round < count; round++) {
    KCL_TRY(kcl_setup_notes(g->s, 1, left));
    KCL_TRY(EACH(g->s, "look_near", g->nodes, GRAPH(g, &g->graph), INT(g->nodes), BUFFER(m->key),
                 BUFFER(m->near)));
    KCL_TRY(EACH(g->s, "decide_roots", g->nodes, GRAPH(g, &g->graph), INT(g->nodes),
                 BUFFER(m->near), BUFFER(m->key), NOTE(g->s, *left)));
  }
done:
  return rc;
}

/* ---------------------------------------------------------------- aggregates */

static int join(const kcl_device_nodes *g, const void *from, const void *to) {
  return EACH(g->s, "join_nodes", g->nodes, GRAPH(g, &g->graph), BUFFER(g->graph.val),
              INT(g->nodes), BUFFER(from), BUFFER(to));
}

/* Two steps from the roots. */
static int grow(const kcl_device_nodes *g, const rooting *m) {
  int rc = join(g, g->aggregate, m->spare);
  return rc ? rc : join(g, m->spare, g->aggregate);
}

/* count: the note of how many there are. */
static int begin(const kcl_device_nodes *g, const rooting *m, int *count) {
  int rc;
  KCL_TRY(EACH(g->s, "mark_roots", g->nodes, BUFFER(m->key), INT(g->nodes), BUFFER(m->flag)));
  KCL_TRY(kcl_setup_scan(g->s, m->flag, g->nodes, m->flag, count));
  KCL_TRY(EACH(g->s, "number_roots", g->nodes, BUFFER(m->key), BUFFER(m->flag), INT(g->nodes),
               BUFFER(g->aggregate)));
  rc = grow(g, m);
done:
  return rc;
}

/* flag: large aggregates before each; large: the note of how many there are. */
static int find_large(const kcl_device_nodes *g, rooting *m, int *large) {
  int rc;
  kcl_setup_drop(g->s, m->size);
  KCL_TRY(kcl_setup_zeros(g->s, g->nodes, &m->size));
  KCL_TRY(
      EACH(g->s, "count_members", g->nodes, BUFFER(g->aggregate), INT(g->nodes), BUFFER(m->size)));
  KCL_TRY(EACH(g->s, "mark_large", g->nodes, BUFFER(m->size), INT(g->nodes), INT(g->rule->least),
               BUFFER(m->flag)));
  KCL_TRY(kcl_setup_scan(g->s, m->flag, g->nodes, m->flag, large));
done:
  return rc;
}

/* Some rounds, and the aggregates as if these were the last: one wait for both. */
static int some_rounds(const kcl_device_nodes *g, rooting *m, int count) {
  int left, roots, large, rc;
  KCL_TRY(rounds(g, m, count, &left));
  KCL_TRY(begin(g, m, &roots));
  large = roots;
  if (g->rule->least > 1) KCL_TRY(find_large(g, m, &large));
  KCL_TRY(kcl_setup_read_notes(g->s, left, 1, &m->left));
  KCL_TRY(kcl_setup_read_notes(g->s, roots, 1, &m->count));
  KCL_TRY(kcl_setup_read_notes(g->s, large, 1, &m->large));
done:
  return rc;
}

/* Aggregates that are too small are dissolved, their nodes join neighbours. */
static int dissolve(const kcl_device_nodes *g, const rooting *m) {
  int rc;
  if (m->large == m->count) return KCL_OK;
  KCL_TRY(EACH(g->s, "number_large", g->nodes, BUFFER(m->size), BUFFER(m->flag), INT(g->nodes),
               INT(g->rule->least), BUFFER(g->aggregate)));
  rc = grow(g, m);
done:
  return rc;
}

/* As many as grids and meshes need, with one node or with millions. */
static int first_rounds(int64_t nodes) {
  int rounds = ROUNDS_LEAST;
  for (; nodes > 2; nodes /= 3) rounds++;
  return rounds;
}

int kcl_setup_aggregates(kcl_device_nodes *g) {
  rooting m = {.left = 1};
  int rc;
  KCL_TRY(couple_nodes(g));
  KCL_TRY(open(g, &m));
  KCL_TRY(kcl_setup_memory(g->s, g->nodes, sizeof(cl_int), &g->aggregate));
  KCL_TRY(EACH(g->s, "begin_roots", g->nodes, GRAPH(g, &g->graph), INT(g->nodes), BUFFER(m.key),
               BUFFER(m.near)));
  for (int count = first_rounds(g->nodes); m.left; count = ROUNDS_MORE)
    KCL_TRY(some_rounds(g, &m, count));
  KCL_TRY(dissolve(g, &m));
  g->count = m.large;
done:
  close(g, &m);
  return rc;
}
