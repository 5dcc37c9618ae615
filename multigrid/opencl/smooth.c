/* Diagonals and eigenvalue bounds of smoothers, on a device: kernels/sparse_smooth.cl. */
#include "multigrid/opencl/launch.h"

enum { LANCZOS_PARTS = 1024, DEVICE_STEPS = KCL_LANCZOS_STEPS };

typedef struct device_lanczos {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  void *d, *u, *w, *v[2], *part[2], *scalars;
} device_lanczos;

static int open_lanczos(device_lanczos *l) {
  const int64_t n = l->A->rows;
  void **const list[] = {&l->u, &l->w, &l->v[0], &l->v[1]};
  int rc = KCL_OK;
  for (int i = 0; i < 4 && !rc; i++)
    rc = kcl_amg_device_memory(l->s, n, sizeof(cl_double), list[i]);
  for (int i = 0; i < 2 && !rc; i++)
    rc = kcl_amg_device_memory(l->s, LANCZOS_PARTS, sizeof(cl_double), &l->part[i]);
  return rc ? rc
            : kcl_amg_device_zeros(l->s, 2 * (2 * DEVICE_STEPS + LANCZOS_PARTS + 1), &l->scalars);
}

static void close_lanczos(const device_lanczos *l) {
  const void *const list[] = {l->u, l->w, l->v[0], l->v[1], l->part[0], l->part[1], l->scalars};
  for (int i = 0; i < 7; i++) kcl_amg_device_drop(l->s, list[i]);
}

static int enqueue_lanczos_step(const device_lanczos *l, int k) {
  const int64_t n = l->A->rows, items = LANCZOS_PARTS * KCL_AMG_DEVICE_GROUP;
  const cl_mem v = l->v[k % 2], before = l->v[1 - k % 2];
  KCL_CALL(KCL_LAUNCH_EACH(l->s, KCL_KERNEL_lanczos_multiply, items, KCL_ARG_CSR(l->A),
                           KCL_ARG_INT(n), KCL_ARG_INT(kcl_amg_device_team(l->A)), KCL_ARG_INT(k),
                           KCL_ARG_BUFFER(l->d), KCL_ARG_BUFFER(l->u), KCL_ARG_BUFFER(v),
                           KCL_ARG_BUFFER(l->w), KCL_ARG_BUFFER(l->part[0]),
                           KCL_ARG_BUFFER(l->part[1]), KCL_ARG_BUFFER(l->scalars)));
  return KCL_LAUNCH_EACH(l->s, KCL_KERNEL_lanczos_orthogonalise, items, KCL_ARG_INT(n),
                         KCL_ARG_INT(k), KCL_ARG_BUFFER(l->d), KCL_ARG_BUFFER(l->u),
                         KCL_ARG_BUFFER(l->w), KCL_ARG_BUFFER(v), KCL_ARG_BUFFER(before),
                         KCL_ARG_BUFFER(l->part[1]), KCL_ARG_BUFFER(l->part[0]),
                         KCL_ARG_BUFFER(l->scalars));
}

/* The scalars of all steps; Gershgorin's radii; is a diagonal entry not positive? */
typedef struct lanczos_results {
  double alpha[DEVICE_STEPS], beta[DEVICE_STEPS], radius[LANCZOS_PARTS], not_positive;
} lanczos_results;

static int run_lanczos_steps(device_lanczos *l, lanczos_results *out) {
  const int64_t n = l->A->rows, items = LANCZOS_PARTS * KCL_AMG_DEVICE_GROUP;
  KCL_CALL(open_lanczos(l));
  KCL_CALL(KCL_LAUNCH_EACH(l->s, KCL_KERNEL_lanczos_start, items, KCL_ARG_CSR(l->A), KCL_ARG_INT(n),
                           KCL_ARG_INT(kcl_amg_device_team(l->A)), KCL_ARG_BUFFER(l->d),
                           KCL_ARG_BUFFER(l->u), KCL_ARG_BUFFER(l->part[0]),
                           KCL_ARG_BUFFER(l->scalars)));
  for (int k = 0; k < DEVICE_STEPS; k++) KCL_CALL(enqueue_lanczos_step(l, k));
  KCL_CALL(kcl_amg_device_read(l->s, l->scalars, 0, sizeof *out, out));
  close_lanczos(l);
  return KCL_OK;
}

/* D^-1, and the largest eigenvalue, as kcl_sparse_largest finds it. */
static int chebyshev(kcl_device_setup *s, const kcl_device_csr *A, void *d, double *largest) {
  device_lanczos l = {.s = s, .A = A, .d = d};
  lanczos_results r;
  double bound = 0;
  KCL_CALL(run_lanczos_steps(&l, &r));
  if (r.not_positive != 0) return KCL_NOT_POSITIVE;
  for (int i = 0; i < LANCZOS_PARTS; i++) bound = fmax(bound, r.radius[i]);
  *largest = kcl_largest_ritz(r.alpha, r.beta, bound);
  return KCL_OK;
}

void kcl_amg_device_free(kcl_context *ctx, void *buffer) { kcl_pool_give(ctx, buffer); }

/* One step's diagonal; *doubt: the note of the rows, if l1 finds one without a positive diagonal entry. */
static int step_diagonal(kcl_device_setup *s, const kcl_device_csr *A, bool l1, const void *d,
                         int *doubt) {
  const int team = kcl_amg_device_team(A);
  KCL_CALL(kcl_amg_device_notes(s, 1, doubt));
  return KCL_LAUNCH_EACH(s, KCL_KERNEL_step_diagonal, A->rows * team, KCL_ARG_CSR(A),
                         KCL_ARG_INT(A->rows), KCL_ARG_INT(team), KCL_ARG_INT(l1),
                         KCL_ARG_BUFFER(d), KCL_ARG_NOTE(s, *doubt));
}

int kcl_amg_device_doubted(kcl_device_setup *s, int doubt, int64_t *rows) {
  cl_int found = 0;
  int rc = doubt ? kcl_amg_device_read_notes(s, doubt, 1, &found) : KCL_OK;
  *rows = found;
  return rc;
}

int kcl_amg_device_smoother(kcl_device_setup *s, const kcl_device_csr *A, kcl_smoother kind,
                            bool narrow, kcl_device_smoother *out) {
  const size_t bytes = ((size_t)A->rows + 1) *
                       (narrow || kcl_amg_device_single(s) ? sizeof(cl_float) : sizeof(cl_double));
  double factor = kind == KCL_L1_JACOBI ? kcl_l1_weight : 1;
  void *d;
  int rc;
  *out = (kcl_device_smoother){.d = NULL};
  KCL_TRY(kcl_pool_take(kcl_amg_device_context(s), bytes, false, &out->d));
  KCL_TRY(kcl_amg_device_memory(s, A->rows, sizeof(cl_double), &d));
  if (kind == KCL_CHEBYSHEV) {
    KCL_TRY(chebyshev(s, A, d, &out->largest));
    factor = 1 / out->largest;
  } else
    KCL_TRY(step_diagonal(s, A, kind == KCL_L1_JACOBI, d, &out->doubt));
  KCL_TRY(kcl_amg_device_convert(s, d, A->rows, factor, narrow, out->d));
  kcl_amg_device_drop(s, d);
done:
  if (rc) kcl_amg_device_free(kcl_amg_device_context(s), out->d), out->d = NULL;
  return rc;
}
