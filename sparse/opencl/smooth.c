/* What smoothers need, on a device: kernels/sparse_smooth.cl. */
#include "sparse/opencl/launch.h"
#include "sparse/sparse.h"

enum { PARTS = 256, STEPS = KCL_LANCZOS_STEPS };

typedef struct lanczos {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  void *d, *u, *v, *before, *part[2], *scalars;
} lanczos;

static int open(lanczos *l) {
  const int64_t n = l->A->rows;
  void **const list[] = {&l->u, &l->v, &l->before};
  int rc = KCL_OK;
  for (int i = 0; i < 3 && !rc; i++) rc = kcl_setup_memory(l->s, n, sizeof(cl_double), list[i]);
  for (int i = 0; i < 2 && !rc; i++)
    rc = kcl_setup_memory(l->s, PARTS, sizeof(cl_double), &l->part[i]);
  return rc ? rc : kcl_setup_memory(l->s, 2 * STEPS, sizeof(cl_double), &l->scalars);
}

static void close(const lanczos *l) {
  const void *const list[] = {l->u, l->v, l->before, l->part[0], l->part[1], l->scalars};
  for (int i = 0; i < 6; i++) kcl_setup_drop(l->s, list[i]);
}

static int step(const lanczos *l, int k) {
  const int64_t n = l->A->rows, items = PARTS * KCL_SETUP_GROUP;
  int rc;
  KCL_TRY(EACH(l->s, "lanczos_step", items, INT(n), INT(k), BUFFER(l->u), BUFFER(l->v),
               BUFFER(l->before), BUFFER(l->part[0]), BUFFER(l->scalars)));
  KCL_TRY(EACH(l->s, "lanczos_multiply", items, CSR(l->A), INT(n), BUFFER(l->d), BUFFER(l->v),
               BUFFER(l->u), BUFFER(l->part[1])));
  KCL_TRY(EACH(l->s, "lanczos_orthogonalise", items, INT(n), INT(k), BUFFER(l->d), BUFFER(l->u),
               BUFFER(l->v), BUFFER(l->before), BUFFER(l->part[1]), BUFFER(l->part[0]),
               BUFFER(l->scalars)));
done:
  return rc;
}

/* Gershgorin's bound. */
static int find_bound(const lanczos *l, double *out) {
  const int64_t items = PARTS * KCL_SETUP_GROUP;
  double part[PARTS];
  int rc;
  KCL_TRY(EACH(l->s, "largest_radius", items, CSR(l->A), INT(l->A->rows), BUFFER(l->d),
               BUFFER(l->part[1])));
  KCL_TRY(kcl_setup_read(l->s, l->part[1], 0, sizeof part, part));
  *out = 0;
  for (int i = 0; i < PARTS; i++) *out = fmax(*out, part[i]);
done:
  return rc;
}

/* As kcl_sparse_largest. */
static int largest(lanczos *l, double *out) {
  double scalars[2 * STEPS], bound;
  int rc;
  KCL_TRY(open(l));
  KCL_TRY(EACH(l->s, "lanczos_start", PARTS * KCL_SETUP_GROUP, INT(l->A->rows), BUFFER(l->d),
               BUFFER(l->u), BUFFER(l->part[0])));
  for (int k = 0; k < STEPS; k++) KCL_TRY(step(l, k));
  KCL_TRY(kcl_setup_read(l->s, l->scalars, 0, sizeof scalars, scalars));
  KCL_TRY(find_bound(l, &bound));
  *out = kcl_largest_ritz(scalars, scalars + STEPS, bound);
  close(l);
done:
  return rc;
}

/* D^-1 over the largest eigenvalue. */
static int chebyshev(kcl_device_setup *s, const kcl_device_csr *A, void *d) {
  lanczos l = {.s = s, .A = A, .d = d};
  void *failed;
  cl_int not_positive;
  double lambda;
  int rc;
  KCL_TRY(kcl_setup_zeros(s, 1, &failed));
  KCL_TRY(EACH(s, "invert_diagonal", A->rows, CSR(A), INT(A->rows), BUFFER(d), BUFFER(failed)));
  KCL_TRY(kcl_setup_read(s, failed, 0, sizeof not_positive, &not_positive));
  kcl_setup_drop(s, failed);
  if (not_positive)
    KCL_TRY(kcl_fail(kcl_setup_context(s), KCL_USAGE,
                     "multigrid needs a positive definite matrix: a diagonal entry of a system of "
                     "%lld rows is not positive",
                     (long long)A->rows));
  KCL_TRY(largest(&l, &lambda));
  KCL_TRY(EACH(s, "divide", A->rows, BUFFER(d), INT(A->rows), REAL(lambda)));
done:
  return rc;
}

int kcl_setup_smoother(kcl_device_setup *s, const kcl_device_csr *A, bool hermitian, double *out) {
  void *d;
  int rc;
  KCL_TRY(kcl_setup_memory(s, A->rows, sizeof(cl_double), &d));
  if (hermitian)
    KCL_TRY(chebyshev(s, A, d));
  else
    KCL_TRY(EACH(s, "spai0", A->rows, CSR(A), INT(A->rows), BUFFER(d)));
  KCL_TRY(kcl_setup_read(s, d, 0, (size_t)A->rows * sizeof *out, out));
  kcl_setup_drop(s, d);
done:
  return rc;
}
