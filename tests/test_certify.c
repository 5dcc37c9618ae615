/* Certificates by hand, and what they make of a solver's claim. */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <float.h>
#include <math.h>
#include <string.h>

static kcl_csr *diagonal(kcl_context *ctx, double a, double b) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, 2, 2, 2, KCL_D, &A)) exit(1);
  A->row_ptr[1] = 1, A->row_ptr[2] = 2, A->col[0] = 0, A->col[1] = 1;
  ((double *)A->val)[0] = a, ((double *)A->val)[1] = b;
  return A;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-14 * fabs(b); }

/* diag(1, 1e12), b = (1, 1e12), x = (0.9, 1): r = (0.1, 0). Norms hide the first row. */
static void test_rows(kcl_context *ctx) {
  kcl_csr *A = diagonal(ctx, 1, 1e12);
  const double b[] = {1, 1e12}, x[] = {0.9, 1}, bad[] = {NAN, 1};
  kcl_certificate c;
  CHECK(!kcl_certify(ctx, A, b, x, &c));
  CHECKF(near(c.backward_error, 0.1 / 2e12) && near(c.relative_residual, 0.1 / c.norm_b), "%g, %g",
         c.backward_error, c.relative_residual);
  CHECKF(near(c.rowwise_error, 0.1 / 2) && near(c.componentwise_error, 0.1 / 1.9), "%g, %g",
         c.rowwise_error, c.componentwise_error);
  CHECK(!kcl_certify(ctx, A, b, bad, &c) && isinf(c.backward_error) && isinf(c.rowwise_error));
  kcl_csr_free(&A);
}

/* A x does not see the element of x that is not finite: all residuals are infinite. */
static void test_unseen(kcl_context *ctx) {
  kcl_csr *A = diagonal(ctx, 2, 0);
  const double b[] = {1, 0}, other[] = {NAN, INFINITY, -INFINITY};
  kcl_certificate c;
  A->nnz = A->row_ptr[2] = 1; /* column 2 has no entry */
  for (int i = 0; i < 3; i++) {
    const double x[] = {0.5, other[i]};
    CHECK(!kcl_certify_least_squares(ctx, A, b, x, &c));
    CHECKF(isinf(c.relative_residual) && isinf(c.backward_error) && isinf(c.rowwise_error) &&
               isinf(c.componentwise_error) && isinf(c.normal_residual),
           "%g: %g, %g, %g, %g, %g", other[i], c.relative_residual, c.backward_error,
           c.rowwise_error, c.componentwise_error, c.normal_residual);
  }
  kcl_csr_free(&A);
}

static kcl_certificate of_one(kcl_context *ctx, double a, double b, double x) {
  kcl_csr *A = NULL;
  kcl_certificate c;
  if (kcl_csr_create(ctx, 1, 1, 1, KCL_D, &A)) exit(1);
  A->row_ptr[1] = 1, ((double *)A->val)[0] = a;
  CHECK(!kcl_certify_least_squares(ctx, A, &b, &x, &c));
  kcl_csr_free(&A);
  return c;
}

/* A = (a, a)^T, b = (1, 3) / 2^66, x nearly b's mean / a: A^H r is below the least number. */
static void test_tiny_gradient(kcl_context *ctx) {
  const double a = 1e-320, b[] = {0x1p-66, 3 * 0x1p-66}, x = 0x1p-65 / a * (1 - 1e-5);
  const long double r[] = {b[0] - (long double)a * x, b[1] - (long double)a * x};
  const long double want = fabsl(r[0] + r[1]) / sqrtl(2) / sqrtl(r[0] * r[0] + r[1] * r[1]);
  kcl_csr *A = NULL;
  kcl_certificate c;
  if (kcl_csr_create(ctx, 2, 1, 2, KCL_D, &A)) exit(1);
  A->row_ptr[1] = 1, A->row_ptr[2] = 2, ((double *)A->val)[0] = ((double *)A->val)[1] = a;
  CHECK(!kcl_certify_least_squares(ctx, A, b, &x, &c));
  CHECKF(fabsl(c.normal_residual - want) <= 1e-3L * want && want > 1e-6L, "%g, not %Lg",
         c.normal_residual, want);
  kcl_csr_free(&A);
}

/* A = diag(1e290, 1e-290), b = e_2, x = 0: A^H r = A^H b, however small it is beside |A|. */
static void test_hidden_gradient(kcl_context *ctx) {
  kcl_csr *A = diagonal(ctx, 1e290, 1e-290);
  const double b[] = {0, 1}, x[] = {0, 0};
  kcl_certificate c;
  CHECK(!kcl_certify_least_squares(ctx, A, b, x, &c));
  CHECKF(c.normal_residual == 1, "normal residual %g, not 1", c.normal_residual);
  kcl_csr_free(&A);
}

static bool within(double a, double b) { return fabs(a - b) <= 1e-3 * b; }

/* Products and their rounding errors that are below the least number, or above the largest. */
static void test_range(kcl_context *ctx) {
  kcl_certificate c = of_one(ctx, 0.3, 2 * 0x1p-1074, 7 * 0x1p-1074); /* 2 - 2.1 */
  CHECKF(within(c.relative_residual, 0.05), "tiny b: %g", c.relative_residual);
  CHECK(c.norm_b == 2 * 0x1p-1074 && c.norm_x == 7 * 0x1p-1074);
  c = of_one(ctx, 2, 1.7e308, 1.7e308); /* 1.7e308 - 3.4e308 */
  CHECKF(within(c.relative_residual, 1) && c.norm_x == 1.7e308, "huge b: %g", c.relative_residual);
  c = of_one(ctx, 3e-308, 1e-300, 1e289); /* 2^500 x would overflow */
  CHECKF(within(c.relative_residual, 3e281), "tiny b, huge x: %g", c.relative_residual);
  c = of_one(ctx, INFINITY, 0, 0);
  CHECKF(isinf(c.relative_residual), "infinite A, b = x = 0: %g", c.relative_residual);
}

/* A claim with this x for b = (1, 1), tolerance 1e-8: the reason becomes what the certificate says. */
static kcl_reason judged(kcl_context *ctx, const kcl_csr *A, double x0, double x1, bool least,
                         kcl_reason claim) {
  double b[] = {1, 1}, x[] = {x0, x1};
  kcl_report report = {.reason = claim};
  const kcl_system s = {.ctx = ctx, .A = A};
  const kcl_rhs v = {.b = b, .x = x, .report = &report, .allowed = 1e-8};
  CHECK(!kcl_certify_rhs(&s, least, &v));
  CHECK(report.converged == (report.reason == KCL_CONVERGED) &&
        report.least_squares == (report.reason == KCL_LEAST_SQUARES));
  return report.reason;
}

static void test_claims(kcl_context *ctx) {
  kcl_csr *A = diagonal(ctx, 2, 4), *S = diagonal(ctx, 2, 0), *E = diagonal(ctx, 2, 0);
  E->nnz = E->row_ptr[2] = 1; /* column 2 has no entry */
  CHECK(judged(ctx, A, 0.5, 0.25, false, KCL_CONVERGED) == KCL_CONVERGED);
  CHECK(judged(ctx, A, 0.5, 0.2500001, false, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, A, NAN, 0.25, false, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, A, 0.5, 0.25, false, KCL_STAGNATED) == KCL_CONVERGED);
  CHECK(judged(ctx, E, 0.5, NAN, true, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, E, 0.5, INFINITY, true, KCL_STAGNATED) == KCL_STAGNATED);
  CHECK(judged(ctx, A, 0.5, 0.25, false, KCL_INTERRUPTED) == KCL_INTERRUPTED);
  CHECK(judged(ctx, A, 0, 0, false, KCL_BREAKDOWN_RHO) == KCL_BREAKDOWN_RHO);
  CHECK(judged(ctx, S, 0.5, 0, true, KCL_CONVERGED) == KCL_LEAST_SQUARES);
  CHECK(judged(ctx, S, 0.5, 0, false, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, S, 0.4, 0, true, KCL_CONVERGED) == KCL_STAGNATED);
  kcl_csr_free(&A), kcl_csr_free(&S), kcl_csr_free(&E);
}

/* The check of (x0, x1) with tol 1e-8; error: the largest that passes, or 0. */
static kcl_solution_error compared(kcl_context *ctx, const kcl_csr *A, const double *b, double x0,
                                   double x1, double error) {
  const double x[] = {x0, x1};
  double y[2];
  kcl_solution_error out;
  CHECKF(!kcl_solution_check(ctx, A, b, x, &(kcl_check_plan){.tol = 1e-8, .error = error}, y, &out),
         "%s", kcl_error());
  return out;
}

/* diag(1, 1e-10): residuals of 1e-8 say nothing of the second component, but a direct solution knows it to the last digit. */
static void test_direct(kcl_context *ctx) {
  kcl_csr *A = diagonal(ctx, 1, 1e-10);
  const double b[] = {1, 1e-10};
  kcl_solution_error c = compared(ctx, A, b, 1, 0.99, 0);
  CHECKF(c.verdict == KCL_PASSED && near(c.difference, 1 - 0.99) && c.bound < 1e-15, "%g within %g",
         c.difference, c.bound);
  CHECK(compared(ctx, A, b, 1, 0.99, 0.02).verdict == KCL_PASSED);
  CHECK(compared(ctx, A, b, 1, 0.99, 0.005).verdict == KCL_FAILED);
  c = compared(ctx, A, b, 1, 0, 0);
  CHECKF(c.verdict == KCL_FAILED && strstr(c.reason, "no correct digit"), "%s", c.reason);
  CHECK(compared(ctx, A, b, 1, 0, 2).verdict == KCL_PASSED);
  CHECK(compared(ctx, A, b, 1 + 1e-6, 1, 0.1).verdict == KCL_FAILED); /* not solved to tol */
  CHECK(compared(ctx, A, b, NAN, 1, 0).verdict == KCL_FAILED);
  kcl_csr_free(&A);
}

/* Rows (1, 1) and (1, 1 + 2 u): rounding b = (2, 2) moves x along (1, -1). */
static void test_uncertain(kcl_context *ctx) {
  kcl_csr *A = NULL;
  const double val[] = {1, 1, 1, 1 + DBL_EPSILON}, b[] = {2, 2};
  if (kcl_csr_create(ctx, 2, 2, 4, KCL_D, &A)) exit(1);
  memcpy(A->row_ptr, (int64_t[]){0, 2, 4}, 3 * sizeof(int64_t));
  memcpy(A->col, (int32_t[]){0, 1, 0, 1}, 4 * sizeof(int32_t));
  memcpy(A->val, val, sizeof val);
  const kcl_solution_error c = compared(ctx, A, b, 2, 0, 0);
  CHECKF(c.verdict == KCL_UNDECIDED && c.bound > 0.1, "%g within %g", c.difference, c.bound);
  kcl_csr_free(&A);
}

static kcl_csr *full(kcl_context *ctx, int n, const double *val) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, n, n, n * n, KCL_D, &A)) exit(1);
  A->row_ptr[0] = 0;
  for (int i = 0; i < n * n; i++) A->row_ptr[i / n + 1] = i + 1, A->col[i] = i % n;
  for (int i = 0; i < n * n; i++) ((double *)A->val)[i] = val ? val[i] : 1;
  return A;
}

/* Rows of ones, and an x of 10^209 whose sum is 0: b of 10^177 is lost in the rounding errors of A x. */
static void test_lost_right_hand_side(kcl_context *ctx) {
  kcl_csr *A = full(ctx, 7, NULL);
  const double b[] = {-6.4817156714813332e+176, -1.9653635665610501e+177, 2.112250585836551e+176,
                      4.3035852774836874e+176,  3.9564664693529437e+176,  -6.425003808836666e+176,
                      6.3171559988808308e+175},
               x[] = {-2.1290792275148875e+209, -1.03719045699048e+210,  3.2489190361427236e+209,
                      4.6202293035918062e+209,  4.4030066276451287e+209, -2.0935896421826088e+209,
                      2.3224184722226377e+209},
               exact[] = {b[0], 0, 0, 0, 0, 0, 0},
               equal[] = {b[0], b[0], b[0], b[0], b[0], b[0], b[0]};
  kcl_certificate c;
  CHECK(!kcl_certify(ctx, A, b, x, &c));
  CHECKF(c.relative_residual >= 1 && c.componentwise_error < 1e-29, "%g, by components %g",
         c.relative_residual, c.componentwise_error);
  CHECK(!kcl_certify(ctx, A, equal, exact, &c) && c.relative_residual == 0);
  kcl_csr_free(&A);
}

/* The third column's direct solution, of elements of 10^130, has a residual of 10^34 |b|: 0 is nearer. */
static void test_direct_answer(kcl_context *ctx) {
  static const double val[] = {0.010104232787281044,    22586358.744657755,
                               3.6967044578051207e-264, -5.4244652646895884e-104,
                               1.3037807680365718e+224, 1.2314467502964458e-80,
                               1.2615899141087539e+48,  2.2365807716860196e-233,
                               3.4255841206875013e-81},
                      b[] = {0.33415146454654315,  0.67039623616364274,     0.51626593513970964,
                             22586358.754761986,   1.3037807680365718e+224, 1.2615899141087539e+48,
                             -0.74910708132595127, -1.4169221716825191,     -0.75583345478608965};
  double x[9] = {0};
  kcl_csr *A = full(ctx, 3, val);
  kcl_solver *s = NULL;
  kcl_report r[3];
  kcl_options o = kcl_defaults;
  o.precision = KCL_S, o.format = "model", o.restart = 1, o.symmetry = (kcl_symmetry_rule)2;
  CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_many(s, 3, b, x, r), "%s", kcl_error());
  for (int i = 0; i < 3; i++)
    CHECKF(r[i].converged || r[i].least_squares || r[i].true_relative_residual <= 1,
           "column %d, %s: |r| / |b| %g; %s", i, kcl_reason_text(r[i].reason),
           r[i].true_relative_residual, r[i].changes);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  kcl_context *ctx = NULL;
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  test_rows(ctx), test_unseen(ctx), test_range(ctx), test_claims(ctx);
  test_tiny_gradient(ctx), test_hidden_gradient(ctx), test_lost_right_hand_side(ctx);
  if (kcl_direct_available())
    test_direct(ctx), test_uncertain(ctx), test_direct_answer(ctx);
  else
    skip("kcl_solution_check: not in this build");
  kcl_context_free(&ctx);
  return check_report();
}
