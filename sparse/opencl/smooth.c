/* What smoothers need, on a device: kernels/sparse_smooth.cl. */
#include "sparse/opencl/launch.h"

enum { PARTS = 1024, STEPS = KCL_LANCZOS_STEPS };

typedef struct lanczos {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  void *d, *u, *w, *v[2], *part[2], *scalars;
} lanczos;

static int open(lanczos *l) {
  const int64_t n = l->A->rows;
  void **const list[] = {&l->u, &l->w, &l->v[0], &l->v[1]};
  int rc = KCL_OK;
  for (int i = 0; i < 4 && !rc; i++) rc = kcl_setup_memory(l->s, n, sizeof(cl_double), list[i]);
  for (int i = 0; i < 2 && !rc; i++)
    rc = kcl_setup_memory(l->s, PARTS, sizeof(cl_double), &l->part[i]);
  return rc ? rc : kcl_setup_zeros(l->s, 2 * (2 * STEPS + PARTS + 1), &l->scalars);
}

static void close(const lanczos *l) {
  const void *const list[] = {l->u, l->w, l->v[0], l->v[1], l->part[0], l->part[1], l->scalars};
  for (int i = 0; i < 7; i++) kcl_setup_drop(l->s, list[i]);
}

static int step(const lanczos *l, int k) {
  const int64_t n = l->A->rows, items = PARTS * KCL_SETUP_GROUP;
  const cl_mem v = l->v[k % 2], before = l->v[1 - k % 2];
  int rc;
  KCL_TRY(EACH(l->s, "lanczos_multiply", items, CSR(l->A), INT(n), INT(kcl_setup_team(l->A)),
               INT(k), BUFFER(l->d), BUFFER(l->u), BUFFER(v), BUFFER(l->w), BUFFER(l->part[0]),
               BUFFER(l->part[1]), BUFFER(l->scalars)));
  KCL_TRY(EACH(l->s, "lanczos_orthogonalise", items, INT(n), INT(k), BUFFER(l->d), BUFFER(l->u),
               BUFFER(l->w), BUFFER(v), BUFFER(before), BUFFER(l->part[1]), BUFFER(l->part[0]),
               BUFFER(l->scalars)));
done:
  return rc;
}

/* The scalars of all steps; Gershgorin's radii; is a diagonal entry not positive? */
typedef struct results {
  double alpha[STEPS], beta[STEPS], radius[PARTS], not_positive;
} results;

static int run(lanczos *l, results *out) {
  const int64_t n = l->A->rows, items = PARTS * KCL_SETUP_GROUP;
  int rc;
  KCL_TRY(open(l));
  KCL_TRY(EACH(l->s, "lanczos_start", items, CSR(l->A), INT(n), INT(kcl_setup_team(l->A)),
               BUFFER(l->d), BUFFER(l->u), BUFFER(l->part[0]), BUFFER(l->scalars)));
  for (int k = 0; k < STEPS; k++) KCL_TRY(step(l, k));
  KCL_TRY(kcl_setup_read(l->s, l->scalars, 0, sizeof *out, out));
  close(l);
done:
  return rc;
}

/* D^-1, and the largest eigenvalue, as kcl_sparse_largest finds it. */
static int chebyshev(kcl_device_setup *s, const kcl_device_csr *A, void *d, double *largest) {
  lanczos l = {.s = s, .A = A, .d = d};
  results r;
  double bound = 0;
  int rc = run(&l, &r);
  if (rc) return rc;
  if (r.not_positive != 0) return KCL_REFUSED;
  for (int i = 0; i < PARTS; i++) bound = fmax(bound, r.radius[i]);
  *largest = kcl_largest_ritz(r.alpha, r.beta, bound);
  return KCL_OK;
}

void kcl_setup_free(kcl *ctx, void *buffer) { kcl_pool_give(ctx, buffer); }

/* One step's diagonal; *doubt: the note of the rows, if l1 finds one without a positive diagonal entry. */
static int step_diagonal(kcl_device_setup *s, const kcl_device_csr *A, bool l1, const void *d,
                         int *doubt) {
  const int team = kcl_setup_team(A);
  int rc = kcl_setup_notes(s, 1, doubt);
  if (rc) return rc;
  return EACH(s, "step_diagonal", A->rows * team, CSR(A), INT(A->rows), INT(team), INT(l1),
              BUFFER(d), NOTE(s, *doubt));
}

int kcl_setup_doubted(kcl_device_setup *s, int doubt, int64_t *rows) {
  cl_int found = 0;
  int rc = doubt ? kcl_setup_read_notes(s, doubt, 1, &found) : KCL_OK;
  *rows = found;
  return rc;
}

int kcl_setup_smoother(kcl_device_setup *s, const kcl_device_csr *A, kcl_smoother kind, bool narrow,
                       kcl_device_smoother *out) {
  const size_t bytes = ((size_t)A->rows + 1) *
                       (narrow || kcl_setup_single(s) ? sizeof(cl_float) : sizeof(cl_double));
  double factor = kind == KCL_L1_JACOBI ? kcl_l1_weight : 1;
  void *d;
  int rc;
  *out = (kcl_device_smoother){.d = NULL};
  KCL_TRY(kcl_pool_take(kcl_setup_context(s), bytes, false, &out->d));
  KCL_TRY(kcl_setup_memory(s, A->rows, sizeof(cl_double), &d));
  if (kind == KCL_CHEBYSHEV) {
    KCL_TRY(chebyshev(s, A, d, &out->largest));
    factor = 1 / out->largest;
  } else
    KCL_TRY(step_diagonal(s, A, kind == KCL_L1_JACOBI, d, &out->doubt));
  KCL_TRY(kcl_setup_convert(s, d, A->rows, factor, narrow, out->d));
  kcl_setup_drop(s, d);
done:
  if (rc) kcl_setup_free(kcl_setup_context(s), out->d), out->d = NULL;
  return rc;
}
