/* Strong connections, the split and interpolation on a device: kernels/sparse_coarsen.cl. Interpolation is a product of two
 * sparse matrices, truncated. */
#include "multigrid/opencl/launch.h"

enum { SPLIT_ROUNDS_FIRST = 3, SPLIT_ROUNDS_MORE = 2 /* of the split, between two reads */ };
enum { TRIES = 64 /* of a point in each */ };

typedef struct coarsening {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  double theta;
  kcl_device_csr S; /* the strong entries */
  void *weak;       /* [n] double: sums of the others */
  void *coarse;     /* [n]: number of the coarse point, or -1 */
  int64_t count;
} coarsening;

/* depend [n]: how many rows depend on each. */
static int find_strong(coarsening *c, void **depend) {
  const kcl_device_csr *A = c->A;
  const int64_t n = A->rows;
  const int team = kcl_amg_device_team(A);
  void *limit;
  if (A->longest > KCL_LONG_ROW) return KCL_UNSUITED; /* left to the host */
  c->S = (kcl_device_csr){.rows = n, .cols = n};
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_double), &limit));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_double), &c->weak));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_int), &c->S.ptr));
  KCL_CALL(kcl_amg_device_zeros(c->s, n, depend));
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_count_strong, n * team, KCL_ARG_CSR(A), KCL_ARG_INT(n),
                           KCL_ARG_INT(team), KCL_ARG_REAL(c->theta), KCL_ARG_BUFFER(limit),
                           KCL_ARG_BUFFER(c->weak), KCL_ARG_BUFFER(c->S.ptr),
                           KCL_ARG_BUFFER(*depend)));
  KCL_CALL(kcl_amg_device_shape_within(c->s, &c->S, A->nnz));
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_fill_strong, n * team, KCL_ARG_CSR(A), KCL_ARG_INT(n),
                           KCL_ARG_INT(team), KCL_ARG_BUFFER(limit), KCL_ARG_CSR(&c->S)));
  kcl_amg_device_drop(c->s, limit);
  return KCL_OK;
}

/* Memory of the split. */
typedef struct device_splitting {
  void *first;                  /* [n] double */
  void *state, *ahead, *before; /* [n] */
} device_splitting;

/* left: the note of whether some points are still undecided. */
static int enqueue_split_rounds(const coarsening *c, const device_splitting *m, int count,
                                int *left) {
  const int64_t n = c->A->rows;
  for (; count > 0; count--) {
    KCL_CALL(kcl_amg_device_notes(c->s, 1, left));
    KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_decide_points, n, KCL_ARG_PATTERN(&c->S),
                             KCL_ARG_INT(n), KCL_ARG_INT(TRIES), KCL_ARG_BUFFER(m->first),
                             KCL_ARG_BUFFER(m->state), KCL_ARG_BUFFER(m->ahead),
                             KCL_ARG_NOTE(c->s, *left)));
  }
  return KCL_OK;
}

/* Enqueues some rounds, and numbers coarse points as if these were the last, so that one wait serves both. */
static int some_split_rounds(coarsening *c, const device_splitting *m, int count, cl_int *left) {
  const int64_t n = c->A->rows;
  int flag, sum;
  cl_int found;
  KCL_CALL(enqueue_split_rounds(c, m, count, &flag));
  KCL_CALL(
      kcl_amg_device_scan(c->s, m->state, n, m->before, &sum)); /* a coarse point is 1, a fine 0 */
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_number_coarse, n, KCL_ARG_BUFFER(m->state),
                           KCL_ARG_BUFFER(m->before), KCL_ARG_INT(n), KCL_ARG_BUFFER(c->coarse)));
  KCL_CALL(kcl_amg_device_read_notes(c->s, sum, 1, &found));
  KCL_CALL(kcl_amg_device_read_notes(c->s, flag, 1, left));
  c->count = found;
  return KCL_OK;
}

static int split_points(coarsening *c, void *depend) {
  const int64_t n = c->A->rows;
  device_splitting m;
  cl_int left;
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_double), &m.first));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_int), &m.state));
  KCL_CALL(kcl_amg_device_zeros(c->s, n, &m.ahead));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_int), &m.before));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_int), &c->coarse));
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_begin_split, n, KCL_ARG_PATTERN(&c->S), KCL_ARG_INT(n),
                           KCL_ARG_BUFFER(depend), KCL_ARG_BUFFER(m.first), KCL_ARG_BUFFER(m.state),
                           KCL_ARG_BUFFER(m.ahead)));
  KCL_CALL(some_split_rounds(c, &m, SPLIT_ROUNDS_FIRST, &left));
  while (left) KCL_CALL(some_split_rounds(c, &m, SPLIT_ROUNDS_MORE, &left));
  kcl_amg_device_drop(c->s, m.first);
  kcl_amg_device_drop(c->s, m.state);
  kcl_amg_device_drop(c->s, m.ahead);
  kcl_amg_device_drop(c->s, m.before);
  kcl_amg_device_drop(c->s, depend);
  return KCL_OK;
}

/* The factors of interpolation. */
static int make_factors(const coarsening *c, kcl_device_csr *L, kcl_device_csr *B) {
  const int64_t n = c->A->rows;
  const int team = kcl_amg_device_team(c->A);
  void *beta;
  *L = (kcl_device_csr){.rows = n, .cols = n}, *B = (kcl_device_csr){.rows = n, .cols = c->count};
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_double), &beta));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_int), &L->ptr));
  KCL_CALL(kcl_amg_device_memory(c->s, n, sizeof(cl_int), &B->ptr));
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_sum_coarse, n, KCL_ARG_CSR(&c->S), KCL_ARG_INT(n),
                           KCL_ARG_BUFFER(c->coarse), KCL_ARG_BUFFER(beta)));
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_sum_diagonal, n, KCL_ARG_CSR(&c->S), KCL_ARG_INT(n),
                           KCL_ARG_BUFFER(c->coarse), KCL_ARG_BUFFER(beta), KCL_ARG_BUFFER(c->weak),
                           KCL_ARG_BUFFER(L->ptr), KCL_ARG_BUFFER(B->ptr)));
  KCL_CALL(kcl_amg_device_shape_within(c->s, L, c->A->nnz + n));
  KCL_CALL(kcl_amg_device_shape_within(c->s, B, c->A->nnz + n));
  KCL_CALL(KCL_LAUNCH_EACH(c->s, KCL_KERNEL_fill_factors, n * team, KCL_ARG_CSR(&c->S),
                           KCL_ARG_INT(n), KCL_ARG_INT(team), KCL_ARG_BUFFER(c->coarse),
                           KCL_ARG_BUFFER(beta), KCL_ARG_BUFFER(c->weak), KCL_ARG_CSR(L),
                           KCL_ARG_CSR(B)));
  kcl_amg_device_drop(c->s, beta);
  return KCL_OK;
}

static void drop_coarsening(const coarsening *c) {
  kcl_amg_device_drop_matrix(c->s, &c->S);
  kcl_amg_device_drop(c->s, c->weak), kcl_amg_device_drop(c->s, c->coarse);
}

int kcl_amg_device_interpolation(kcl_device_setup *s, const kcl_device_csr *A,
                                 const kcl_coarsening_rule *rule, kcl_device_csr *P, bool *made) {
  coarsening c = {.s = s, .A = A, .theta = rule->theta};
  kcl_device_csr L, B, W;
  void *depend;
  *made = false;
  KCL_CALL(find_strong(&c, &depend));
  KCL_CALL(split_points(&c, depend));
  if (!c.count || (double)c.count > rule->enough) goto drop;
  KCL_CALL(make_factors(&c, &L, &B));
  KCL_CALL(kcl_amg_device_loose_product(s, &L, &B, true, &W));
  kcl_amg_device_drop_matrix(s, &L), kcl_amg_device_drop_matrix(s, &B);
  KCL_CALL(kcl_amg_device_truncate(s, &W, rule->most, P));
  kcl_amg_device_drop_matrix(s, &W);
  *made = true;
drop:
  drop_coarsening(&c);
  return KCL_OK;
}
