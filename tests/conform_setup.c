/* Set-ups on the device (multigrid/opencl) against those on the host (multigrid): each function alone, and the levels of
 * multigrid. Integers are equal, sums up to rounding. In the layout of GPUs, on any device.
 */
#include "core/matrix/repeats.h"
#include "solver/engine/engine.h"
#include "tests/calls.h"
#include "tests/options.h"
#include "tests/setups.h"

#ifndef KCL_NO_OPENCL
static int host_interpolation(const pair *p, const kcl_csr *A, const kcl_coarsening_rule *rule,
                              kcl_csr **P) {
  kcl_csr *S = NULL;
  int32_t *coarse = NULL;
  int64_t count;
  int rc;
  KCL_TRY(kcl_amg_strong(p->ctx, A, rule->theta, &S));
  KCL_TRY(kcl_amg_split(p->ctx, S, &coarse, &count));
  KCL_TRY(kcl_amg_interpolation(p->ctx, A, S, coarse, count, rule->most, P));
done:
  free(coarse), kcl_csr_free(&S);
  return rc;
}

/* C has the entries of H, up to rounding, and zeros. */
static void compare_within(const pair *p, const char *what, kcl_device_csr *C, const kcl_csr *H) {
  kcl_csr *D = NULL;
  int64_t off = 0, found = 0;
  const double size = kcl_norm_inf(KCL_D, H->val, H->nnz);
  if (!CHECK(!kcl_amg_device_download(p->s, C, &D) && D->rows == H->rows && D->nnz >= H->nnz))
    return;
  for (int64_t i = 0; i < D->rows; i++) {
    int64_t h = H->row_ptr[i];
    for (int64_t k = D->row_ptr[i]; k < D->row_ptr[i + 1]; k++) {
      const bool there = h < H->row_ptr[i + 1] && H->col[h] == D->col[k];
      off += fabs(((double *)D->val)[k] - (there ? ((double *)H->val)[h] : 0)) >
             (there ? CLOSE * size : 0);
      h += there, found += there;
    }
  }
  CHECKF(!off && found == H->nnz, "%s: %s: %lld entries differ, %lld of %lld are there", p->name,
         what, (long long)off, (long long)found, (long long)H->nnz);
  kcl_csr_free(&D);
}

/* A truncated, which has many equal entries; P, R, A P, R A P; R A P of A truncated in the pattern of the whole one. */
static int test_coarsening(const pair *p, const kcl_csr *A) {
  const kcl_coarsening_rule rule = {.theta = 0.25, .most = 4, .enough = (double)A->rows};
  kcl_csr *P = NULL, *R = NULL, *AP = NULL, *C = NULL, *D = NULL, *few = NULL, *E = NULL;
  kcl_device_csr dA, dP, dR, dAP, dC, dD, dE, dF, dfew, dfewer;
  kcl_galerkin_shape shape = {.known = false}, fewer = {.known = false};
  bool made, expected;
  int rc;
  KCL_TRY(kcl_amg_device_upload(p->s, A, NULL, NULL, &dA));
  KCL_TRY(kcl_amg_truncate(p->ctx, A, 3, &few));
  KCL_TRY(kcl_amg_device_truncate(p->s, &dA, 3, &dfew));
  KCL_TRY(host_interpolation(p, A, &rule, &P));
  KCL_TRY(kcl_amg_device_interpolation(p->s, &dA, &rule, &dP, &made));
  if (!CHECKF(made, "%s: is not coarsened", p->name)) goto done;
  KCL_TRY(kcl_sparse_transpose(p->ctx, P, &R));
  KCL_TRY(kcl_amg_device_transpose(p->s, &dP, &dR));
  KCL_TRY(kcl_sparse_product(p->ctx, A, P, &AP));
  KCL_TRY(kcl_amg_device_product(p->s, &dA, &dP, &dAP));
  KCL_TRY(kcl_sparse_product(p->ctx, R, AP, &C));
  KCL_TRY(kcl_sparse_product(p->ctx, R, AP, &D));
  KCL_TRY(kcl_amg_device_galerkin(p->s, &dR, &dA, &dP, NULL, &shape, &dC));
  CHECK(shape.known);
  KCL_TRY(kcl_amg_device_galerkin(p->s, &dR, &dA, &dP, &dC, &shape, &dD));
  KCL_TRY(kcl_amg_device_as_expected(p->s, &expected));
  CHECKF(expected, "%s: P^T A P has another pattern the second time", p->name);
  KCL_TRY(kcl_sparse_galerkin(p->ctx, R, few, P, NULL, &E));
  KCL_TRY(kcl_amg_device_galerkin(p->s, &dR, &dfew, &dP, &dC, &shape, &dE));
  KCL_TRY(kcl_amg_device_as_expected(p->s, &expected));
  CHECKF(expected, "%s: entries without products are no fault", p->name);
  compare_within(p, "P^T A P with fewer entries than the pattern", &dE, E);
  KCL_TRY(kcl_amg_device_galerkin(p->s, &dR, &dfew, &dP, NULL, &fewer, &dfewer));
  fewer.between = shape.between; /* the room of A P */
  if (dfewer.nnz < dC.nnz) {
    KCL_TRY(kcl_amg_device_galerkin(p->s, &dR, &dA, &dP, &dfewer, &fewer, &dF));
    KCL_TRY(kcl_amg_device_as_expected(p->s, &expected));
    CHECKF(!expected, "%s: products that have no place were not noticed", p->name);
  }
  compare(p, "three entries per row", &dfew, &few);
  compare(p, "P", &dP, &P), compare(p, "P^T", &dR, &R), compare(p, "A P", &dAP, &AP);
  compare(p, "P^T A P", &dC, &C), compare(p, "P^T A P in its pattern", &dD, &D);
done:
  kcl_csr_free(&P), kcl_csr_free(&R), kcl_csr_free(&AP), kcl_csr_free(&C), kcl_csr_free(&D);
  kcl_csr_free(&few), kcl_csr_free(&E);
  return rc;
}

static int test_smoother(const pair *p, const kcl_csr *A) {
  const int64_t n = A->rows;
  double *d = calloc((size_t)n, sizeof *d), *e = calloc((size_t)n, sizeof *e), lambda, off = 0;
  kcl_device_csr dA;
  kcl_device_smoother s = {.d = NULL};
  int rc;
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) d[i] = 1 / ((double *)A->val)[k];
  KCL_TRY(kcl_sparse_largest(p->ctx, A, d, &lambda));
  KCL_TRY(kcl_amg_device_upload(p->s, A, NULL, NULL, &dA));
  KCL_TRY(kcl_amg_device_smoother(p->s, &dA, KCL_CHEBYSHEV, false, &s));
  KCL_TRY(kcl_amg_device_read(p->s, s.d, 0, (size_t)n * sizeof *e, e));
  for (int64_t i = 0; i < n; i++) off = fmax(off, fabs(e[i] * lambda / d[i] - 1));
  off = fmax(off, fabs(s.largest / lambda - 1));
  CHECKF(off < 1e-6, "%s: the smoother differs by %g", p->name, off); /* sums in another order */
done:
  free(d), free(e), kcl_amg_device_free(p->ctx, s.d);
  return rc;
}

/* The diagonal of one step; negative: a matrix with such a diagonal entry. */
static int test_step(const pair *p, const kcl_csr *A, kcl_smoother kind, bool negative) {
  const int64_t n = A->rows;
  double *d = NULL, *e = calloc((size_t)n, sizeof *e), off = 0;
  kcl_device_csr dA;
  kcl_device_smoother s = {.d = NULL};
  int64_t doubted = -1;
  int rc;
  KCL_TRY(kcl_amg_diagonal(p->ctx, A, kind, &d));
  KCL_TRY(kcl_amg_device_upload(p->s, A, NULL, NULL, &dA));
  KCL_TRY(kcl_amg_device_smoother(p->s, &dA, kind, false, &s));
  KCL_TRY(kcl_amg_device_doubted(p->s, s.doubt, &doubted));
  KCL_TRY(kcl_amg_device_read(p->s, s.d, 0, (size_t)n * sizeof *e, e));
  for (int64_t i = 0; i < n; i++) off = fmax(off, d[i] == 0 ? 0 : fabs(e[i] / d[i] - 1));
  CHECKF(off < 1e-12, "%s: a diagonal differs by %g", p->name, off);
  CHECKF(doubted == (negative ? n : 0), "%s: %lld rows are not definite", p->name,
         (long long)doubted);
done:
  free(d), free(e), kcl_amg_device_free(p->ctx, s.d);
  return rc;
}

static int test_steps(const pair *p, const kcl_csr *A) {
  double *last = (double *)A->val + A->nnz - 1; /* on the diagonal */
  int rc;
  KCL_TRY(test_step(p, A, KCL_L1_JACOBI, false));
  KCL_TRY(test_step(p, A, KCL_SPAI0, false));
  *last = -*last;
  KCL_TRY(test_step(p, A, KCL_L1_JACOBI, true));
  *last = -*last;
done:
  return rc;
}

static int test_system(const pair *p, const kcl_csr *A) {
  CHECKF(kcl_amg_device_possible(p->ctx, A), "%s: set up on the host", p->name);
  int rc = test_coarsening(p, A);
  if (!rc) rc = test_smoother(p, A);
  return rc ? rc : test_steps(p, A);
}

/* ---------------------------------------------------------------- rows of every class of products */

/* Rows of i mod `longest` random columns, some empty. */
static kcl_csr *ragged(kcl_context *ctx, int n, int longest) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, n, n, (int64_t)n * longest, KCL_D, &A)) exit(1);
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    const int length = i % longest, step = n / (length + 1);
    for (int q = 0; q < length; q++)
      A->col[at] = q * step + i % step, ((double *)A->val)[at++] = random_number();
    A->row_ptr[i + 1] = at;
  }
  A->nnz = A->stored = at;
  return A;
}

/* A A has rows of up to longest^2 columns. KCL_UNSUITED where they do not fit. */
static void test_lengths(kcl_context *ctx, int longest, bool fits) {
  pair p = {.ctx = ctx, .name = "rows of many lengths"};
  kcl_csr *A = ragged(ctx, 5000, longest), *C = NULL;
  kcl_device_csr dA, dC;
  int rc;
  KCL_TRY(kcl_amg_device_open(ctx, KCL_D, false, &p.s));
  KCL_TRY(kcl_sparse_product(ctx, A, A, &C));
  KCL_TRY(kcl_amg_device_upload(p.s, A, NULL, NULL, &dA));
  rc = kcl_amg_device_product(p.s, &dA, &dA, &dC);
  CHECKF(rc == (fits ? KCL_OK : KCL_UNSUITED), "rows of up to %d: %d", longest, rc);
  if (!rc) compare(&p, "A A", &dC, &C);
  rc = KCL_OK;
done:
  CHECKF(!rc, "%s", kcl_error());
  kcl_amg_device_close(&p.s), kcl_csr_free(&A), kcl_csr_free(&C);
}

/* ---------------------------------------------------------------- to the device and back */

static void test_transfer_knowing(kcl_context *ctx, const kcl_csr *A, const kcl_stats *known,
                                  const char *what) {
  pair p = {.ctx = ctx, .name = what};
  kcl_device_csr dA;
  kcl_csr *B = NULL;
  int rc;
  KCL_TRY(kcl_amg_device_open(ctx, KCL_D, false, &p.s));
  KCL_TRY(kcl_amg_device_upload(p.s, A, known, NULL, &dA));
  KCL_TRY(kcl_amg_device_download(p.s, &dA, &B));
  bool same = B->nnz == A->nnz && !memcmp(B->row_ptr, A->row_ptr, (size_t)(A->rows + 1) * 8);
  same = same && !memcmp(B->col, A->col, (size_t)A->nnz * sizeof *A->col);
  CHECKF(same && !memcmp(B->val, A->val, (size_t)A->nnz * 8), "%s: not as it was", what);
done:
  CHECKF(!rc, "%s: %s", what, kcl_error());
  kcl_amg_device_close(&p.s), kcl_csr_free(&B);
}

/* Also by the numbers of its distinct rows, where they are few. */
static void test_transfer(kcl_context *ctx, const kcl_csr *A, const char *what) {
  kcl_stats known = {.rows = A->rows, .cols = A->cols, .nnz = A->nnz};
  test_transfer_knowing(ctx, A, NULL, what);
  CHECK(!kcl_compression(ctx, A, NULL, &known));
  test_transfer_knowing(ctx, A, &known, what);
}

/* `n` rows of up to `longest` entries, within `reach` of the diagonal. */
static kcl_csr *band(kcl_context *ctx, int n, int longest, int reach) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, n, n, (int64_t)n * longest, KCL_D, &A)) exit(1);
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    for (int q = 0; q < i % (longest + 1); q++) {
      const int64_t col = i - reach + (int64_t)q * 2 * reach / (longest > 1 ? longest - 1 : 1);
      if (col >= 0 && col < n) A->col[at] = (int32_t)col, ((double *)A->val)[at++] = 1 + q;
    }
    A->row_ptr[i + 1] = at;
  }
  A->nnz = A->stored = at;
  return A;
}

/* Columns of 16 bits and just more; values that are float, but for one at a place that is hardly ever sampled. */
static void test_transfers(kcl_context *ctx) {
  static const int reach[] = {10, INT16_MAX, INT16_MAX + 1};
  for (int i = 0; i < 3; i++) {
    kcl_csr *A = band(ctx, 80000, 7, reach[i]);
    test_transfer(ctx, A, "values as float");
    ((double *)A->val)[A->nnz / 2 + 1] = 0.1;
    test_transfer(ctx, A, "all but one value as float");
    ((double *)A->val)[0] = 0.1;
    test_transfer(ctx, A, "values as double");
    kcl_csr_free(&A);
  }
}

/* ---------------------------------------------------------------- after a failure */

enum { PROGRAMS_NEEDED = 4 };
static int programs_left; /* 0; or the kernels of so many programs are asked for until a failure */

static __typeof__(clCreateKernelsInProgram) driver_kernels;
static cl_int fail_kernels(cl_program program, cl_uint most, cl_kernel *list, cl_uint *count) {
  return programs_left && !--programs_left ? CL_OUT_OF_RESOURCES
                                           : driver_kernels(program, most, list, count);
}

static int truncate_on_device(kcl_context *ctx, const kcl_csr *A) {
  kcl_device_setup *s = NULL;
  kcl_device_csr dA, few;
  int rc;
  KCL_TRY(kcl_amg_device_open(ctx, KCL_D, false, &s));
  KCL_TRY(kcl_amg_device_upload(s, A, NULL, NULL, &dA));
  KCL_TRY(kcl_amg_device_truncate(s, &dA, 3, &few));
done:
  kcl_amg_device_close(&s);
  return rc;
}

/* A set-up that did not get its kernels fails; the next one in the same context gets them. */
static void test_after_failure(const place *p) {
  const int failing = programs_left;
  kcl_csr *A = NULL;
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:70", &A, NULL))) return;
  CHECKF(truncate_on_device(p->ctx, A) == KCL_DEVICE && !programs_left,
         "without the kernels of program %d: %s", failing, kcl_error());
  kcl_csr_free(&A);
  with_setup(p->ctx, "poisson2d:70", false, test_system);
}

/* ---------------------------------------------------------------- whole set-ups */

/* Iterations with multigrid that was set up where `ctx` computes. */
static void solve_system(kcl_context *ctx, const char *name, const char *precond, kcl_type type,
                         kcl_setup_info *u, kcl_report *r) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  o.precond = precond, o.format = "csr-scalar", o.precision = type;
  o.tol = type == KCL_S ? 1e-4 : 1e-8;
  if (!CHECKF(!kcl_generate(ctx, name, &A, NULL), "%s", kcl_error())) return;
  double *b = malloc((size_t)A->rows * sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1 + (double)(i % 3);
  CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_one(s, b, x, r) && r->converged, "%s: %s", name,
         kcl_error());
  if (s) kcl_solver_info(s, u);
  free(b), free(x), kcl_solver_free(&s), kcl_csr_free(&A);
}

static void test_solve(kcl_context *host, kcl_context *device, const char *name,
                       const char *precond, kcl_type type) {
  kcl_setup_info on_host = {0}, u = {0};
  kcl_report h = {0}, d = {0};
  solve_system(host, name, precond, type, &on_host, &h),
      solve_system(device, name, precond, type, &u, &d);
  CHECKF(u.precond_levels == on_host.precond_levels &&
             u.precond_nonzeros == on_host.precond_nonzeros,
         "%s: %d levels of %g entries, on the host %d of %g", name, u.precond_levels,
         u.precond_nonzeros, on_host.precond_levels, on_host.precond_nonzeros);
  CHECKF(d.iterations <= h.iterations + 1 && h.iterations <= d.iterations + 1,
         "%s: %lld iterations, on the host %lld", name, (long long)d.iterations,
         (long long)h.iterations);
}

int main(void) {
  static const char *const systems[] = {"poisson2d:80", "jump2d:70", "poisson3d:20", "hpcg:20",
                                        "aniso3d:20",   "jump3d:18", "heatsink:40"};
  setenv("KRYLOCL_LAYOUT", "gpu", 1);
  open_places();
  driver_kernels = clCreateKernelsInProgram, clCreateKernelsInProgram = fail_kernels;
  for (int i = 0; i < place_count; i++) {
    kcl_context *ctx = places[i].ctx;
    if (!ctx->opencl || !can(&places[i], KCL_D)) continue;
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s += quick(&places[i]) + 1)
      with_setup(ctx, systems[s], false, test_system);
    test_lengths(ctx, 5, true), test_lengths(ctx, 18, true), test_lengths(ctx, 36, true);
    test_lengths(ctx, 120, false), test_transfers(ctx);
    if (!i) continue;
    test_solve(places[0].ctx, ctx, "poisson2d:80", "amg", KCL_D);
    test_solve(places[0].ctx, ctx, "jump3d:20", "sa", KCL_S);
    test_solve(places[0].ctx, ctx, "elasticity:14x14x14", "sa", KCL_D);
    if (quick(&places[i])) continue;
    test_solve(places[0].ctx, ctx, "jump3d:20", "amg", KCL_S);
    test_solve(places[0].ctx, ctx, "poisson3d:24", "sa", KCL_D);
    test_solve(places[0].ctx, ctx, "powerlaw:20000", "sa", KCL_D);
  }
  close_places();
  for (int i = 1; i <= PROGRAMS_NEEDED; i++) programs_left = i, as_gpu(test_after_failure);
  return check_report();
}
#else
int main(void) { return check_report(); }
#endif
