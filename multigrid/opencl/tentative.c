/* Prolongation of smoothed aggregation on a device: kernels/sparse_tentative.cl. Smoothing is a product of two sparse
 * matrices, M T, which are not made where rows are short. */
#include "multigrid/opencl/aggregate.h"

enum { ITEMS_PER_AGGREGATE = 32 /* work-items per aggregate, as in the kernel */ };
/* Entries of a row of A that one work-item adds up; up to NARROW_BLOCK of them the kernels take few columns. */
enum { SHORT_AGGREGATE = 64, NARROW_BLOCK = 8 };

/* member: the nodes of each aggregate in any order, from start on. */
static int list_members(const kcl_device_nodes *g, void **start, void **member) {
  void *taken;
  int note;
  KCL_CALL(kcl_amg_device_zeros(g->s, g->count, start));
  KCL_CALL(kcl_amg_device_zeros(g->s, g->count, &taken));
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), member));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_count_members, g->nodes, KCL_ARG_BUFFER(g->aggregate),
                           KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(*start)));
  KCL_CALL(kcl_amg_device_scan(g->s, *start, g->count, *start, &note));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_scatter_members, g->nodes, KCL_ARG_BUFFER(g->aggregate),
                           KCL_ARG_INT(g->nodes), KCL_ARG_BUFFER(*start), KCL_ARG_BUFFER(taken),
                           KCL_ARG_BUFFER(*member)));
  kcl_amg_device_drop(g->s, taken);
  return KCL_OK;
}

static int shape_tentative_rows(const kcl_device_nodes *g, kcl_device_csr *T) {
  const int64_t rows = g->A->rows, vectors = g->rule->vectors;
  *T = (kcl_device_csr){.rows = rows, .cols = g->count * vectors, .block = (int)vectors};
  KCL_CALL(kcl_amg_device_memory(g->s, rows, sizeof(cl_int), &T->ptr));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_count_vectors, rows, KCL_ARG_BUFFER(g->aggregate),
                           KCL_ARG_INT(rows), KCL_ARG_INT(g->rule->block), KCL_ARG_INT(vectors),
                           KCL_ARG_BUFFER(T->ptr)));
  return kcl_amg_device_shape_within(g->s, T, rows * vectors);
}

static int tentative(const kcl_device_nodes *g, const void *B, kcl_device_csr *T, void **coarse) {
  const int block = g->rule->block, vectors = g->rule->vectors;
  void *start, *member, *place;
  KCL_CALL(list_members(g, &start, &member));
  KCL_CALL(shape_tentative_rows(g, T));
  KCL_CALL(kcl_amg_device_memory(g->s, g->nodes, sizeof(cl_int), &place));
  KCL_CALL(kcl_amg_device_memory(g->s, g->count * vectors * vectors, sizeof(cl_double), coarse));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_place_members, g->nodes, KCL_ARG_BUFFER(g->aggregate),
                           KCL_ARG_INT(g->nodes), KCL_ARG_INT(block), KCL_ARG_INT(vectors),
                           KCL_ARG_BUFFER(start), KCL_ARG_BUFFER(member), KCL_ARG_BUFFER(B),
                           KCL_ARG_BUFFER(place), KCL_ARG_CSR(T)));
  KCL_CALL(KCL_LAUNCH(g->s, KCL_KERNEL_orthonormalise, g->count * ITEMS_PER_AGGREGATE,
                      ITEMS_PER_AGGREGATE, KCL_ARG_BUFFER(start), KCL_ARG_BUFFER(place),
                      KCL_ARG_INT(block), KCL_ARG_INT(vectors), KCL_ARG_BUFFER(T->val),
                      KCL_ARG_BUFFER(*coarse)));
  kcl_amg_device_drop(g->s, start);
  kcl_amg_device_drop(g->s, member);
  kcl_amg_device_drop(g->s, place);
  return KCL_OK;
}

/* The factor of P = M T. */
static int make_smoothing_factor(const kcl_device_nodes *g, kcl_device_csr *M) {
  const kcl_device_csr *A = g->A, *S = &g->graph;
  const int64_t n = A->rows;
  const int block = g->rule->block, team = kcl_amg_device_team(A);
  void *d;
  *M = (kcl_device_csr){.rows = n, .cols = n};
  KCL_CALL(kcl_amg_device_memory(g->s, n, sizeof(cl_double), &d));
  KCL_CALL(kcl_amg_device_memory(g->s, n, sizeof(cl_int), &M->ptr));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_count_kept, n * team, KCL_ARG_CSR(A), KCL_ARG_INT(n),
                           KCL_ARG_INT(team), KCL_ARG_INT(block), KCL_ARG_BUFFER(S->col),
                           KCL_ARG_BUFFER(S->end), KCL_ARG_BUFFER(d), KCL_ARG_BUFFER(M->ptr)));
  KCL_CALL(kcl_amg_device_shape_within(g->s, M, A->nnz + n));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_fill_kept, n * team, KCL_ARG_CSR(A), KCL_ARG_INT(n),
                           KCL_ARG_INT(team), KCL_ARG_INT(block), KCL_ARG_BUFFER(S->col),
                           KCL_ARG_BUFFER(S->end), KCL_ARG_BUFFER(d),
                           KCL_ARG_REAL(4.0 / 3 / g->rule->largest), KCL_ARG_CSR(M)));
  kcl_amg_device_drop(g->s, d);
  return KCL_OK;
}

static int multiply_prolongation(const kcl_device_nodes *g, const kcl_device_csr *T,
                                 kcl_device_csr *P) {
  kcl_device_csr M;
  KCL_CALL(make_smoothing_factor(g, &M));
  KCL_CALL(kcl_amg_device_product(g->s, &M, T, P));
  kcl_amg_device_drop_matrix(g->s, &M);
  return KCL_OK;
}

#define SMOOTHED(g, T)                                                                             \
  KCL_ARG_CSR((g)->A), KCL_ARG_INT((g)->A->rows), KCL_ARG_BUFFER((g)->graph.col),                  \
      KCL_ARG_BUFFER((g)->graph.end), KCL_ARG_BUFFER((g)->aggregate), KCL_ARG_BUFFER((T)->ptr),    \
      KCL_ARG_BUFFER((T)->val), KCL_ARG_REAL(4.0 / 3 / (g)->rule->largest),                        \
      KCL_ARG_INT((g)->A->longest > NARROW_BLOCK)

/* P without M, where nodes are rows, there is one vector, and no row of P is long; else *done is false. */
static int smooth_short_rows(const kcl_device_nodes *g, const kcl_device_csr *T, kcl_device_csr *P,
                             bool *done) {
  const int64_t n = g->A->rows;
  cl_int full = 0;
  int note;
  *done = g->rule->block == 1 && g->rule->vectors == 1 && g->A->longest <= SHORT_AGGREGATE;
  if (!*done) return KCL_OK;
  *P = (kcl_device_csr){.rows = n, .cols = g->count};
  KCL_CALL(kcl_amg_device_memory(g->s, n, sizeof(cl_int), &P->ptr));
  KCL_CALL(kcl_amg_device_notes(g->s, 1, &note));
  KCL_CALL(KCL_LAUNCH_EACH(g->s, KCL_KERNEL_count_smoothed, n, SMOOTHED(g, T),
                           KCL_ARG_BUFFER(P->ptr), KCL_ARG_NOTE(g->s, note)));
  KCL_CALL(kcl_amg_device_scan(g->s, P->ptr, n, P->ptr, &P->note));
  KCL_CALL(kcl_amg_device_measure(g->s, P));
  KCL_CALL(kcl_amg_device_read_notes(g->s, note, 1, &full));
  *done = !full;
  if (full) kcl_amg_device_drop(g->s, P->ptr);
  if (full) return KCL_OK;
  KCL_CALL(kcl_amg_device_shape(g->s, P));
  return KCL_LAUNCH_EACH(g->s, KCL_KERNEL_fill_smoothed, n, SMOOTHED(g, T), KCL_ARG_CSR(P));
}

static int smooth(const kcl_device_nodes *g, const kcl_device_csr *T, kcl_device_csr *P) {
  bool done;
  KCL_CALL(smooth_short_rows(g, T, P, &done));
  if (!done) KCL_CALL(multiply_prolongation(g, T, P));
  kcl_amg_device_drop_matrix(g->s, T);
  const int rc = kcl_amg_device_check_limit(g, P);
  if (rc) kcl_amg_device_drop_matrix(g->s, P);
  return rc;
}

/* Does the device suit? Too long rows, and numbers too large for 32 bits, are left to the host. */
static bool is_suited(const kcl_device_nodes *g) {
  const int64_t n = g->A->rows;
  return g->A->longest <= KCL_LONG_ROW && n * KCL_MOST_NEAR_NULL < INT32_MAX &&
         g->A->nnz + n < INT32_MAX;
}

static void drop_nodes(const kcl_device_nodes *g) {
  kcl_amg_device_drop(g->s, g->graph.col), kcl_amg_device_drop(g->s, g->graph.val);
  kcl_amg_device_drop(g->s, g->graph.end), kcl_amg_device_drop(g->s, g->aggregate);
}

int kcl_amg_device_aggregation(kcl_device_setup *s, const kcl_device_csr *A,
                               const kcl_aggregation_rule *rule, void **B, kcl_device_csr *P,
                               bool *made) {
  kcl_device_nodes g = {.s = s, .A = A, .rule = rule, .nodes = A->rows / rule->block};
  kcl_device_csr T;
  void *coarse;
  int rc;
  *made = false;
  if (!is_suited(&g)) return KCL_UNSUITED;
  KCL_TRY(kcl_amg_device_aggregates(&g));
  if (!g.count || (double)(g.count * rule->vectors) > rule->enough) goto done;
  KCL_TRY(tentative(&g, *B, &T, &coarse));
  if (rule->largest > 0)
    KCL_TRY(smooth(&g, &T, P));
  else
    *P = T;
  kcl_amg_device_drop(s, *B);
  *B = coarse;
  *made = true;
done:
  drop_nodes(&g);
  return rc;
}

/* ---------------------------------------------------------------- near-null vectors */

int kcl_amg_device_send_vectors(kcl_device_setup *s, const double *from, int64_t count,
                                void **out) {
  const kcl_upload all = {1, 8 * count, kcl_fill_bytes, from};
  int rc = kcl_amg_device_memory(s, count, sizeof *from, out);
  return rc ? rc
            : kcl_opencl_write(kcl_amg_device_context(s), *out, &all,
                               "uploading near-null vectors");
}

int kcl_amg_device_read_vectors(kcl_device_setup *s, const void *from, int64_t count, double *to) {
  return kcl_amg_device_read(s, from, 0, (size_t)count * sizeof *to, to);
}
