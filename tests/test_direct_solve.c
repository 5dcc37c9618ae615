/* Solver "direct" and the rules by which "auto" takes a direct solution or multigrid: what is refused, what is solved without an
 * iteration, and which matrices count as elliptic. */
#include "krylocl/check.h"
#include "krylocl/explain.h"
#include "krylocl/io.h"
#include "solver/auto/auto.h"
#include "solver/direct/factor.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "core/matrix/row_blocks.h"
#include "tests/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static kcl_csr *generated(kcl_context *ctx, const char *what) {
  kcl_csr *A = NULL;
  CHECKF(!kcl_generate(ctx, what, &A, NULL), "%s: %s", what, kcl_error());
  return A;
}

/* b = A 1 by solver "direct": x = 1 without an iteration, by this factorisation. */
static void check_solved(kcl_context *ctx, const char *what, const char *by) {
  kcl_csr *A = generated(ctx, what);
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  kcl_report r;
  double *b = calloc((size_t)A->rows, sizeof *b), *x = calloc((size_t)A->rows, sizeof *x), most = 0;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) b[i] += ((double *)A->val)[k];
  o.solver = "direct";
  for (int again = 0; again < 2; again++) {
    if (CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s: %s", what,
               kcl_error())) {
      kcl_solver_info(s, &info);
      for (int64_t i = 0; i < A->rows; i++) most = fmax(most, fabs(x[i] - 1)), x[i] = 0;
      CHECKF(r.converged && r.iterations == 0 && r.relative_residual == -1 &&
                 r.true_relative_residual < 1e-12 && most < 1e-9,
             "%s: %lld iterations, %g, %g", what, (long long)r.iterations, r.true_relative_residual,
             most);
      CHECKF(strstr(info.solver, by), "%s: by %s", what, info.solver);
    }
    kcl_solver_free(&s);
  }
  free(b), free(x), kcl_csr_free(&A);
}

/* x of a new solver for b. */
static void solve_anew(kcl_context *ctx, const kcl_csr *A, const double *b, double *x) {
  kcl_solver *s = NULL;
  kcl_options o = kcl_defaults;
  o.solver = "direct";
  CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_one(s, b, x, NULL), "%s", kcl_error());
  kcl_solver_free(&s);
}

/* Solves of one solver have one factorisation, and the answers of new solvers to the bit; an update has its own. */
static void check_kept(kcl_context *ctx, const char *what) {
  kcl_csr *A = generated(ctx, what), *B = generated(ctx, what);
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  const size_t n = (size_t)(A->rows > A->cols ? A->rows : A->cols), bytes = n * sizeof(double);
  double *b = malloc(bytes), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
  const void *factor = NULL;
  for (int64_t k = 0; k < B->nnz; k++) ((double *)B->val)[k] *= 3;
  o.solver = "direct";
  CHECKF(!kcl_setup(ctx, A, &o, &s), "%s: %s", what, kcl_error());
  for (int solve = 0; solve < 4 && s; solve++) {
    if (solve == 2) CHECKF(!update_hierarchy(s, B) && !s->factor, "%s: %s", what, kcl_error());
    for (size_t i = 0; i < n; i++)
      b[i] = (double)((i * 7 + (size_t)solve) % 11) - 5, x[i] = y[i] = 0;
    CHECKF(!kcl_solve_one(s, b, x, NULL) && s->factor, "%s: %s", what, kcl_error());
    CHECKF(solve % 2 == 0 || s->factor == factor, "%s: factorised again", what);
    solve_anew(ctx, solve < 2 ? A : B, b, y);
    CHECKF(!memcmp(x, y, bytes), "%s: other bits in solve %d", what, solve);
    factor = s->factor;
  }
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_csr_free(&B);
  free(b), free(x), free(y);
}

static void check_refused(kcl_context *ctx, const char *options, const char *says) {
  kcl_csr *A = generated(ctx, "poisson2d:5");
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  CHECK(!kcl_options_parse(&o, options));
  CHECKF(kcl_setup(ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(), says), "%s: %s", options,
         kcl_error());
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Predictions grow with the work, and nothing is within no operations. */
static void test_prediction(kcl_context *ctx) {
  kcl_csr *small = generated(ctx, "poisson2d:20"), *large = generated(ctx, "poisson2d:200"),
          *other = generated(ctx, "convection:100");
  double seconds[4];
  CHECK(!kcl_direct_predict(ctx, small, true, INFINITY, &seconds[0]));
  CHECK(!kcl_direct_predict(ctx, large, true, INFINITY, &seconds[1]));
  CHECK(!kcl_direct_predict(ctx, large, true, 1, &seconds[2]));
  CHECK(!kcl_direct_predict(ctx, other, false, INFINITY, &seconds[3]));
  if (kcl_direct_available())
    CHECKF(seconds[0] > 0 && seconds[0] < 0.01 && seconds[1] > 2 * seconds[0] && seconds[1] < 1 &&
               seconds[3] > seconds[0] && seconds[3] < 1,
           "%g %g %g", seconds[0], seconds[1], seconds[3]);
  CHECK(seconds[2] == INFINITY);
  kcl_csr_free(&small), kcl_csr_free(&large), kcl_csr_free(&other);
}

/* The condition number of poisson2d:N is (2 (N + 1) / pi)^2. */
static void test_elliptic(kcl_context *ctx) {
  static const char *const yes[] = {"poisson2d:60", "poisson3d:12", "jump2d:40", "aniso2d:40"},
                           *const no[] = {"elasticity:6x3x3", "trefethen:500", "spd:500x4"};
  for (int i = 0; i < 4; i++) {
    kcl_csr *A = generated(ctx, yes[i]);
    if (!A) continue;
    kcl_stats known;
    CHECK(!kcl_csr_stats(ctx, A, &known));
    const kcl_elliptic least = kcl_elliptic_of(A, &known);
    kcl_elliptic e = least;
    kcl_elliptic_search(A, &e);
    CHECKF(!least.searched && e.searched && least.condition_root <= e.condition_root &&
               least.condition_root > 0.2 * e.condition_root,
           "%s: %g by the bandwidth, %g by a search", yes[i], least.condition_root,
           e.condition_root);
    CHECKF(e.known && e.holds && e.condition_root > 3, "%s: %g", yes[i], e.condition_root);
    if (!i)
      CHECKF(e.condition_root > 0.3 * 61 * 2 / M_PI && e.condition_root < 61 * 2 / M_PI, "%g",
             e.condition_root);
    kcl_csr_free(&A);
  }
  for (int i = 0; i < 3; i++) {
    kcl_csr *A = generated(ctx, no[i]);
    if (!A) continue;
    kcl_stats known;
    CHECK(!kcl_csr_stats(ctx, A, &known));
    CHECKF(!kcl_elliptic_of(A, &known).holds, "%s", no[i]);
    kcl_csr_free(&A);
  }
}

/* OpenBLAS has the threads of the context during a direct solution, and afterwards those of before, as OpenMP has its regions. A small
 * factorisation has one thread. */
static void test_blas_threads(kcl_context *ctx) {
  enum { MANY = 3, LEVELS = 2 };
  const int levels = kcl_openmp_levels(LEVELS);
  const int usual = kcl_blas_threads(MANY);
  if (!usual) {
    skip("threads of the BLAS: it is not OpenBLAS");
    return;
  }
  check_solved(ctx, "poisson2d:30", "CHOLMOD");
  if (levels >= 0) CHECK(kcl_openmp_levels(levels) == LEVELS);
  CHECK(kcl_direct_threads(ctx) >= 1 && kcl_direct_threads(ctx) <= kcl_threads());
  kcl_blas_fit(1e12);
  CHECK(kcl_blas_threads(MANY) == MANY);
  kcl_blas_fit(1e6);
  CHECK(kcl_blas_threads(usual) == 1);
}

int main(void) {
  kcl_context *ctx = NULL;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0)))
    return check_report();
  test_prediction(ctx), test_elliptic(ctx);
  if (kcl_direct_available()) {
    check_solved(ctx, "poisson2d:30", "CHOLMOD");
    check_solved(ctx, "convection:30", "UMFPACK");
    test_blas_threads(ctx);
    check_kept(ctx, "poisson2d:30"), check_kept(ctx, "convection:30");
    if (kcl_direct_least_squares()) check_kept(ctx, "bibd:9x3");
    check_refused(ctx, "solver=direct precond=jacobi", "precond");
    check_refused(ctx, "solver=direct mixed", "mixed");
  } else {
    check_refused(ctx, "solver=direct", "SuiteSparse");
  }
  kcl_context_free(&ctx);
  return check_report();
}
