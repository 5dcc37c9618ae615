/* Solves with kcl_defaults, where method, preconditioner and format are "auto", of easy and of hard systems: the method
 * that is chosen, the one that takes over, and the x of a system that none solves.
 */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

enum { N = 400 };

/* Tridiagonal: below, on and above the diagonal; entries that are 0 are not stored. */
static kcl_csr *tridiagonal(kcl_context *ctx, double below, double on, double above) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, N, N, 3 * N, KCL_D, &A)) exit(1);
  const double value[] = {below, on, above};
  int64_t k = 0;
  for (int i = 0; i < N; i++) {
    for (int d = 0; d < 3; d++) {
      int j = i + d - 1;
      if (value[d] == 0 || j < 0 || j == N) continue;
      A->col[k] = j, ((double *)A->val)[k++] = value[d];
    }
    A->row_ptr[i + 1] = k;
  }
  A->nnz = k;
  return A;
}

typedef struct result {
  kcl_report r;
  char solver[64], precond[32], first[32], changes[2000];
  double residual; /* of x, in long double */
  int rc;
} result;

/* b = A 1, or given; x = 0. */
static result solve_with_options(const place *p, const kcl_csr *A, const kcl_options *o,
                                 const double *given) {
  result q = {.rc = 0};
  kcl_solver *s = NULL;
  kcl_setup_info info;
  double b[N], x[N] = {0}, one[N], doubt;
  for (int i = 0; i < N; i++) one[i] = 1;
  kcl_csr_product(A, one, NULL, b);
  if (given) memcpy(b, given, sizeof b);
  if (!(q.rc = kcl_setup(p->ctx, A, o, &s))) {
    snprintf(q.first, sizeof q.first, "%s", s->selection.engine->method->name);
    q.rc = kcl_solve_one(s, b, x, &q.r);
    kcl_solver_info(s, &info);
    snprintf(q.solver, sizeof q.solver, "%s", info.solver);
    snprintf(q.precond, sizeof q.precond, "%s", info.precond);
    snprintf(q.changes, sizeof q.changes, "%s", q.r.changes);
    q.residual = residual(A, b, x, &doubt);
    CHECKF(fabs(q.residual - q.r.true_relative_residual) <= tol_certificate(q.residual, doubt),
           "%s: certificate %g, residual %g", p->name, q.r.true_relative_residual, q.residual);
  }
  kcl_solver_free(&s);
  return q;
}

/* Without direct solutions, which take over by the time that has passed. */
static kcl_options quick_defaults(void) {
  kcl_options o = kcl_defaults;
  o.format = "csr-scalar"; /* one kernel to compile */
  o.no_direct = true;
  return o;
}

/* ---------------------------------------------------------------- who is chosen */

/* Jacobi where the diagonal varies, and not where it does not; schur where it has a zero: a saddle point. */
static void test_precond(const place *p) {
  kcl_csr *A = tridiagonal(p->ctx, -1, 2.5, -1);
  kcl_options o = quick_defaults();
  double *val = A->val;
  A->symmetry = KCL_SYMMETRIC;
  result q = solve_with_options(p, A, &o, NULL);
  CHECKF(q.r.converged && !strcmp(family(q.solver), "cg") && !strcmp(q.precond, "none"),
         "%s: %s, %s", p->name, q.solver, q.precond);
  for (int64_t i = 0; i < N; i++) /* row and column i by 1000 ^ (i / N) */
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      val[k] *= pow(1000, ((double)i + A->col[k]) / N);
  q = solve_with_options(p, A, &o, NULL);
  CHECKF(q.r.converged && !strcmp(family(q.solver), "cg") && !strcmp(q.precond, "jacobi"),
         "%s: %s, %s", p->name, q.solver, q.precond);
  val[A->row_ptr[7] + 1] = 0; /* a_77 */
  q = solve_with_options(p, A, &o, NULL);
  CHECKF(q.r.converged && !strcmp(q.first, "minres") && !strcmp(q.precond, "schur"), "%s: %s, %s",
         p->name, q.first, q.precond);
  o.precond = "jacobi";
  CHECK(solve_with_options(p, A, &o, NULL).rc == KCL_USAGE);
  kcl_csr_free(&A);
}

/* A last bit does not make a matrix unsymmetric; more than rounding does, unless the caller says otherwise. */
static void test_symmetry(const place *p) {
  static const struct {
    double change;
    kcl_symmetry_rule rule;
    const char *first;
    int cg; /* status of a set-up that asks for it */
  } all[] = {{0, KCL_SYMMETRY_EXACT, "cg", KCL_OK},
             {DBL_EPSILON, KCL_SYMMETRY_ROUNDING, "cg", KCL_OK},
             {DBL_EPSILON, KCL_SYMMETRY_EXACT, "idr", KCL_USAGE},
             {1e-9, KCL_SYMMETRY_ROUNDING, "idr", KCL_USAGE},
             {1e-9, KCL_SYMMETRY_ASSUME, "cg", KCL_OK}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    kcl_csr *A = tridiagonal(p->ctx, -1, 2.5, -1);
    kcl_options o = quick_defaults();
    ((double *)A->val)[100] *= 1 + all[i].change;
    o.symmetry = all[i].rule;
    result q = solve_with_options(p, A, &o, NULL);
    CHECKF(q.r.converged && !strcmp(family(q.first), all[i].first), "%s, case %d: %s", p->name,
           (int)i, q.first);
    o.solver = "cg", q = solve_with_options(p, A, &o, NULL);
    CHECKF(q.rc == all[i].cg, "%s, case %d: cg %d, %s", p->name, (int)i, q.rc, kcl_error());
    if (q.rc) CHECKF(strstr(kcl_error(), "solvers that fit: auto, "), "%s", kcl_error());
    kcl_csr_free(&A);
  }
}

/* Every method solves 1e300 A and 1e-300 A as it solves A, b and x of any size that fits. */
static void test_scaled(const place *p) {
  static const double of_A[] = {1, 1e300, 1e-300}, of_b[] = {1, 1e250, 1e-250};
  for (int m = 0; m < kcl_list_size(KCL_SOLVERS); m++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        kcl_csr *A = tridiagonal(p->ctx, -of_A[i], 2.5 * of_A[i], -of_A[i]);
        kcl_options o = quick_defaults();
        double b[N];
        for (int k = 0; k < N; k++) b[k] = of_b[j] * (1 + k % 3);
        A->symmetry = KCL_SYMMETRIC, o.solver = kcl_list(KCL_SOLVERS, m).name;
        bool fits = of_b[j] / of_A[i] < 1e300 && of_b[j] / of_A[i] > 1e-300;
        result q = {0};
        if (fits && (!p->ctx->opencl || i || !m))
          q = solve_with_options(p, A, &o, b);
        else
          q.r.converged = true;
        CHECKF(!q.rc && q.r.converged, "%s, %s, %g A, %g b: %s, %g", p->name, o.solver, of_A[i],
               of_b[j], q.rc ? kcl_error() : kcl_reason_text(q.r.reason), q.residual);
        kcl_csr_free(&A);
      }
}

/* ---------------------------------------------------------------- who takes over */

/* Bidiagonal, 1 and 2: |A^-1| is 2^199. No method solves it; back substitution does. */
static void test_direct(const place *p) {
  kcl_csr *A = tridiagonal(p->ctx, 0, 1, 2);
  kcl_options o = quick_defaults();
  o.no_direct = false;
  result q = solve_with_options(p, A, &o, NULL);
  if (kcl_direct_available())
    CHECKF(q.r.converged && q.residual <= 1e-8 && strstr(q.solver, "UMFPACK") &&
               strstr(q.changes, "UMFPACK"),
           "%s: %s, %s, %s", p->name, q.solver, kcl_reason_text(q.r.reason), q.changes);
  o.no_direct = true, q = solve_with_options(p, A, &o, NULL);
  /* rounding decides whether a later method happens to solve it */
  CHECKF(!strstr(q.solver, "UMFPACK") && q.residual <= (q.r.converged ? 1e-8 : 1) &&
             strstr(q.changes, "continued with bicgstab-l"),
         "%s: %s, %g, after %s", p->name, kcl_reason_text(q.r.reason), q.residual, q.changes);
  o.no_direct = false, o.max_iter = 50,
  q = solve_with_options(p, A, &o, NULL); /* the caller's limit holds */
  CHECKF(q.r.reason == KCL_ITERATION_LIMIT && q.r.iterations == 50 && q.r.x_iteration == 50 &&
             !strstr(q.changes, "UMFPACK"),
         "%s: %s, %lld", p->name, kcl_reason_text(q.r.reason), (long long)q.r.iterations);
  kcl_csr_free(&A);
}

/* Systems without a solution, and with an empty row: x is never worse than 0. */
static void test_no_solution(const place *p) {
  kcl_csr *A = tridiagonal(p->ctx, 0, 1, 0);
  kcl_options o = quick_defaults();
  double b[N];
  o.no_direct = false;
  for (int i = 0; i < N; i++) b[i] = 1;
  ((double *)A->val)[5] = 0;
  result q = solve_with_options(p, A, &o, b);
  CHECKF(q.r.reason == KCL_LEAST_SQUARES && q.r.least_squares && !q.r.converged &&
             fabs(q.residual - sqrt(1.0 / N)) < 1e-7,
         "%s: %s, %g, %s", p->name, kcl_reason_text(q.r.reason), q.residual, q.changes);
  for (int i = 0; i < N; i++) ((double *)A->val)[i] = 0;
  q = solve_with_options(p, A, &o, b);
  CHECKF(q.r.reason == KCL_LEAST_SQUARES && q.residual == 1, "%s, zeros: %s, %g", p->name,
         kcl_reason_text(q.r.reason), q.residual);
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- what a failed solve hands out */

static void test_best(const place *p) {
  kcl_csr *A = tridiagonal(p->ctx, 0, 1, 1.3), *B = tridiagonal(p->ctx, -1, 0.01, 1);
  kcl_options o = quick_defaults();
  o.solver = "idr", o.precond = "none";
  setenv("KRYLOCL_PERSISTENT", "0",
         1); /* x is looked at after each batch, which would have 96 iterations */
  result q = solve_with_options(p, A, &o, NULL), z = solve_with_options(p, B, &o, NULL);
  unsetenv("KRYLOCL_PERSISTENT");
  CHECKF(q.r.reason == KCL_DIVERGED && q.residual < 0.5 && q.r.x_iteration > 0 &&
             q.r.x_iteration < q.r.iterations && q.r.relative_residual > 1e8,
         "%s: %s, %g of iteration %lld of %lld", p->name, kcl_reason_text(q.r.reason), q.residual,
         (long long)q.r.x_iteration, (long long)q.r.iterations);
  CHECKF(z.r.reason == KCL_DIVERGED && z.residual <= 1 && z.r.iterations < 5000,
         "%s: %s, %g of iteration %lld of %lld", p->name, kcl_reason_text(z.r.reason), z.residual,
         (long long)z.r.x_iteration, (long long)z.r.iterations);
  kcl_csr_free(&A), kcl_csr_free(&B);
}

/* Diagonally dominant but for column 7, which is zero: x is the finite minimiser that is 0 there. Where the system is solved
 * directly, by a library that may not be there, it is the smallest of all. */
static void test_zero_column(const place *p, bool direct) {
  enum { ZERO = 7 };
  kcl_csr *A = tridiagonal(p->ctx, -1, 4, 2);
  kcl_options o = quick_defaults();
  kcl_solver *s = NULL;
  kcl_setup_info info;
  kcl_report r;
  double b[N], x[N], gradient;
  for (int64_t k = 0; k < A->nnz; k++)
    if (A->col[k] == ZERO) ((double *)A->val)[k] = 0;
  for (int i = 0; i < N; i++) b[i] = random_number(), x[i] = i % 3;
  x[ZERO] = NAN;
  o.no_direct = !direct;
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s", kcl_error())) {
    kcl_solver_info(s, &info);
    CHECK(info.zero_cols == 1 && info.first_zero_col == ZERO && info.zero_rows == 0 &&
          info.first_zero_row == -1);
    CHECKF(r.least_squares && r.backward_error < 1 && x[ZERO] == 0, "%s: %s, %g, x %g", p->name,
           kcl_reason_text(r.reason), r.backward_error, x[ZERO]);
    const double normal = normal_residual(A, b, x, &gradient);
    CHECKF(normal <= 1e-8, "%s: normal residual %g", p->name, normal);
    CHECKF(r.not_unique && (!direct || !kcl_direct_available() || r.least_norm),
           "%s, unique %d, least %d", p->name, !r.not_unique, r.least_norm);
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Beside right-hand sides that converge, one does not: each has its own answer. */
static void test_many(const place *p) {
  enum { K = 3 };
  kcl_csr *A = tridiagonal(p->ctx, 0, 1, 2);
  kcl_options o = quick_defaults();
  kcl_solver *s = NULL;
  kcl_report r[K];
  double b[K * N] = {0}, x[K * N] = {0}, doubt;
  for (int i = 0; i < N; i++) b[N + i] = 1;
  b[0] = 1, b[2 * N + 3] = 5; /* e_1 = A e_1 */
  o.nrhs = K, o.solver = "idr", o.precond = "none";
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_many(s, K, b, x, r), "%s", kcl_error()))
    for (int j = 0; j < K; j++) {
      double res = residual(A, b + j * N, x + j * N, &doubt);
      CHECKF(r[j].converged == (j != 1) && res <= (j != 1 ? 1e-8 : 1), "%s: %d: %s, %g", p->name, j,
             kcl_reason_text(r[j].reason), res);
    }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* A solve that would go on for thousands of iterations continues with multigrid, and begins with it the next time; a short
 * one is left alone, and so is a preconditioner that was asked for. */
static void test_switch(const place *p) {
  static const struct {
    const char *kind, *precond;
    bool switches;
  } all[] = {{"jump2d:300", "auto", true},
             {"jump2d:64", "jacobi", false},
             {"poisson2d:60", "auto", false}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    kcl_csr *A = NULL;
    kcl_dense *b = NULL;
    kcl_solver *s = NULL;
    kcl_options o = quick_defaults();
    kcl_report r[2] = {{0}};
    o.precond = all[i].precond;
    if (!CHECK(!kcl_generate(p->ctx, all[i].kind, &A, &b) && !kcl_setup(p->ctx, A, &o, &s)))
      continue;
    double *x = calloc((size_t)A->rows, sizeof *x), doubt;
    for (int j = 0; j < 2; j++) {
      memset(x, 0, (size_t)A->rows * sizeof *x);
      CHECK(!kcl_solve_one(s, b->val, x, &r[j]));
      const bool changed = strstr(r[j].changes, "cg with amg") != NULL;
      CHECKF(r[j].converged && residual(A, b->val, x, &doubt) <= 1e-8, "%s: %s", all[i].kind,
             kcl_reason_text(r[j].reason));
      CHECKF(changed == (all[i].switches && !j), "%s, solve %d: '%s'", all[i].kind, j,
             r[j].changes);
    }
    CHECKF(!all[i].switches || (r[0].iterations < 2000 && r[1].iterations < 30),
           "%s: %lld, then %lld iterations", all[i].kind, (long long)r[0].iterations,
           (long long)r[1].iterations);
    free(x), kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
  }
}

int main(void) {
  setenv("KRYLOCL_CACHE", "", 1); /* nothing is remembered from test to test */
  open_places();
  for (const place *p = places; p < places + place_count; p++) {
    if (!can(p, KCL_D)) continue;
    test_precond(p), test_symmetry(p), test_scaled(p);
    test_direct(p), test_no_solution(p);
    test_best(p), test_many(p);
    test_zero_column(p, true), test_zero_column(p, false);
    if (!p->ctx->opencl) test_switch(p);
  }
  close_places();
  return check_report();
}
