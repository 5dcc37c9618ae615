/* What smoothers need, on a device: kernels/sparse_smooth.cl. */
#include "sparse/opencl/launch.h"
#include "sparse/sparse.h"

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
  if (r.not_positive != 0)
    return kcl_fail(kcl_setup_context(s), KCL_USAGE,
                    "multigrid needs a positive definite matrix: a diagonal entry of a system of "
                    "%lld rows is not positive",
                    (long long)A->rows);
  for (int i = 0; i < PARTS; i++) bound = fmax(bound, r.radius[i]);
  *largest = kcl_largest_ritz(r.alpha, r.beta, bound);
  return KCL_OK;
}

void kcl_setup_free(kcl *ctx, void *buffer) { kcl_pool_give(ctx, buffer); }

int kcl_setup_smoother(kcl_device_setup *s, const kcl_device_csr *A, bool hermitian, bool narrow,
                       double *largest, void **out) {
  const size_t bytes = ((size_t)A->rows + 1) *
                       (narrow || kcl_setup_single(s) ? sizeof(cl_float) : sizeof(cl_double));
  void *d;
  int rc;
  KCL_TRY(kcl_pool_take(kcl_setup_context(s), bytes, false, out));
  KCL_TRY(kcl_setup_memory(s, A->rows, sizeof(cl_double), &d));
  if (hermitian)
    KCL_TRY(chebyshev(s, A, d, largest));
  else
    KCL_TRY(EACH(s, "spai0", A->rows, CSR(A), INT(A->rows), BUFFER(d)));
  KCL_TRY(kcl_setup_convert(s, d, A->rows, hermitian ? 1 / *largest : 1, narrow, *out));
  kcl_setup_drop(s, d);
done:
  if (rc) kcl_setup_free(kcl_setup_context(s), *out), *out = NULL;
  return rc;
}
