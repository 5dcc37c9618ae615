/* Strong connections, the split and interpolation on a device: kernels/sparse_coarsen.cl. Interpolation is a product of two
 * sparse matrices, truncated. */
#include "sparse/opencl/launch.h"
#include "sparse/sparse.h"

enum { ROUNDS = 3 };

typedef struct coarsening {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  double theta;
  void *limit;  /* [n] double: of strong entries */
  void *state;  /* [n] of the split */
  void *coarse; /* [n]: number of the coarse point, or -1 */
  int64_t count;
} coarsening;

static int find_strong(coarsening *c, void **depend) {
  const int64_t n = c->A->rows;
  int rc = KCL_UNSUITED;
  if (c->A->longest > KCL_LONG_ROW) goto done; /* left to the host */
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_double), &c->limit));
  KCL_TRY(kcl_setup_zeros(c->s, n, depend));
  KCL_TRY(EACH(c->s, "find_strong", n, CSR(c->A), INT(n), REAL(c->theta), BUFFER(c->limit),
               BUFFER(*depend)));
done:
  return rc;
}

/* *left: some points are still undecided. */
static int rounds(const coarsening *c, void *priority, void *beaten, cl_int *left) {
  const int64_t n = c->A->rows;
  void *flag = NULL;
  int rc;
  for (int round = 0; round < ROUNDS; round++) {
    kcl_setup_drop(c->s, flag);
    KCL_TRY(kcl_setup_zeros(c->s, 1, &flag));
    KCL_TRY(EACH(c->s, "compare_points", n, CSR(c->A), INT(n), BUFFER(c->limit), BUFFER(priority),
                 BUFFER(c->state), BUFFER(beaten)));
    KCL_TRY(EACH(c->s, "choose_points", n, INT(n), BUFFER(c->state), BUFFER(beaten)));
    KCL_TRY(EACH(c->s, "exclude_points", n, CSR(c->A), INT(n), BUFFER(c->limit), BUFFER(c->state),
                 BUFFER(flag)));
  }
  KCL_TRY(kcl_setup_read(c->s, flag, 0, sizeof *left, left));
  kcl_setup_drop(c->s, flag);
done:
  return rc;
}

static int split(coarsening *c, void *depend) {
  const int64_t n = c->A->rows;
  void *priority, *beaten, *before;
  cl_int left = 1;
  int64_t found[2];
  int rc;
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_double), &priority));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_int), &c->state));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_int), &beaten));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_int), &before));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_int), &c->coarse));
  KCL_TRY(EACH(c->s, "begin_split", n, BUFFER(depend), INT(n), BUFFER(priority), BUFFER(c->state),
               BUFFER(beaten)));
  while (left) KCL_TRY(rounds(c, priority, beaten, &left));
  KCL_TRY(EACH(c->s, "mark_coarse", n, BUFFER(c->state), INT(n), BUFFER(before)));
  KCL_TRY(kcl_setup_scan(c->s, before, n, found));
  c->count = found[0];
  KCL_TRY(
      EACH(c->s, "number_coarse", n, BUFFER(c->state), BUFFER(before), INT(n), BUFFER(c->coarse)));
done:
  return rc;
}

/* The factors of interpolation. */
static int factors(const coarsening *c, kcl_device_csr *L, kcl_device_csr *B) {
  const int64_t n = c->A->rows;
  void *beta, *scale;
  int rc;
  *L = (kcl_device_csr){.rows = n, .cols = n}, *B = (kcl_device_csr){.rows = n, .cols = c->count};
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_double), &beta));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_double), &scale));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_int), &L->ptr));
  KCL_TRY(kcl_setup_memory(c->s, n, sizeof(cl_int), &B->ptr));
  KCL_TRY(EACH(c->s, "sum_coarse", n, CSR(c->A), INT(n), BUFFER(c->limit), BUFFER(c->coarse),
               BUFFER(beta)));
  KCL_TRY(EACH(c->s, "sum_diagonal", n, CSR(c->A), INT(n), BUFFER(c->limit), BUFFER(c->coarse),
               BUFFER(beta), BUFFER(scale), BUFFER(L->ptr), BUFFER(B->ptr)));
  KCL_TRY(kcl_setup_shape(c->s, L));
  KCL_TRY(kcl_setup_shape(c->s, B));
  KCL_TRY(EACH(c->s, "fill_factors", n, CSR(c->A), INT(n), BUFFER(c->limit), BUFFER(c->coarse),
               BUFFER(beta), BUFFER(scale), CSR(L), CSR(B)));
  kcl_setup_drop(c->s, beta), kcl_setup_drop(c->s, scale), kcl_setup_drop(c->s, c->coarse);
  kcl_setup_drop(c->s, c->limit);
done:
  return rc;
}

int kcl_setup_interpolation(kcl_device_setup *s, const kcl_device_csr *A,
                            const kcl_coarsening_rule *rule, kcl_device_csr *P, bool *made) {
  coarsening c = {.s = s, .A = A, .theta = rule->theta};
  kcl_device_csr L, B, W;
  void *depend;
  int rc;
  *made = false;
  KCL_TRY(find_strong(&c, &depend));
  KCL_TRY(split(&c, depend));
  if (!c.count || (double)c.count > rule->enough) goto done;
  KCL_TRY(factors(&c, &L, &B));
  KCL_TRY(kcl_setup_product(s, &L, &B, &W));
  kcl_setup_drop_matrix(s, &L), kcl_setup_drop_matrix(s, &B);
  KCL_TRY(kcl_setup_truncate(s, &W, rule->most, P));
  kcl_setup_drop_matrix(s, &W);
  *made = true;
done:
  return rc;
}
