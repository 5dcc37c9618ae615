/* Certificates by hand, and what they make of a solver's claim. */
#include "solver/solver.h"
#include "tests/check.h"
#include <float.h>
#include <math.h>
#include <string.h>

static kcl_csr *diagonal(kcl *ctx, double a, double b) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, 2, 2, 2, KCL_D, &A)) exit(1);
  A->row_ptr[1] = 1, A->row_ptr[2] = 2, A->col[0] = 0, A->col[1] = 1;
  ((double *)A->val)[0] = a, ((double *)A->val)[1] = b;
  return A;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-14 * fabs(b); }

/* diag(1, 1e12), b = (1, 1e12), x = (0.9, 1): r = (0.1, 0). Norms hide the first row. */
static void test_rows(kcl *ctx) {
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
static void test_unseen(kcl *ctx) {
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

static kcl_certificate of_one(kcl *ctx, double a, double b, double x) {
  kcl_csr *A = NULL;
  kcl_certificate c;
  if (kcl_csr_create(ctx, 1, 1, 1, KCL_D, &A)) exit(1);
  A->row_ptr[1] = 1, ((double *)A->val)[0] = a;
  CHECK(!kcl_certify_least_squares(ctx, A, &b, &x, &c));
  kcl_csr_free(&A);
  return c;
}

/* A = (a, a)^T, b = (1, 3) / 2^66, x nearly b's mean / a: A^H r is below the least number. */
static void test_tiny_gradient(kcl *ctx) {
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
static void test_hidden_gradient(kcl *ctx) {
  kcl_csr *A = diagonal(ctx, 1e290, 1e-290);
  const double b[] = {0, 1}, x[] = {0, 0};
  kcl_certificate c;
  CHECK(!kcl_certify_least_squares(ctx, A, b, x, &c));
  CHECKF(c.normal_residual == 1, "normal residual %g, not 1", c.normal_residual);
  kcl_csr_free(&A);
}

static bool within(double a, double b) { return fabs(a - b) <= 1e-3 * b; }

/* Products and their rounding errors that are below the least number, or above the largest. */
static void test_range(kcl *ctx) {
  kcl_certificate c = of_one(ctx, 0.3, 2 * 0x1p-1074, 7 * 0x1p-1074); /* 2 - 2.1 */
  CHECKF(within(c.relative_residual, 0.05), "tiny b: %g", c.relative_residual);
  CHECK(c.norm_b == 2 * 0x1p-1074 && c.norm_x == 7 * 0x1p-1074);
  c = of_one(ctx, 2, 1.7e308, 1.7e308); /* 1.7e308 - 3.4e308 */
  CHECKF(within(c.relative_residual, 1) && c.norm_x == 1.7e308, "huge b: %g", c.relative_residual);
  c = of_one(ctx, INFINITY, 0, 0);
  CHECKF(isinf(c.relative_residual), "infinite A, b = x = 0: %g", c.relative_residual);
}

/* A claim with this x for b = (1, 1), tolerance 1e-8: the reason becomes what the certificate says. */
static kcl_reason judged(kcl *ctx, const kcl_csr *A, double x0, double x1, bool least,
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

static void test_claims(kcl *ctx) {
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
static kcl_solution_error compared(kcl *ctx, const kcl_csr *A, const double *b, double x0,
                                   double x1, double error) {
  const double x[] = {x0, x1};
  double y[2];
  kcl_solution_error out;
  CHECKF(!kcl_solution_check(ctx, A, b, x, &(kcl_check_plan){.tol = 1e-8, .error = error}, y, &out),
         "%s", kcl_error(ctx));
  return out;
}

/* diag(1, 1e-10): residuals of 1e-8 say nothing of the second component, but a direct solution knows it to the last digit. */
static void test_direct(kcl *ctx) {
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
static void test_uncertain(kcl *ctx) {
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

int main(void) {
  kcl *ctx = NULL;
  if (kcl_create(&ctx)) return 1;
  test_rows(ctx), test_unseen(ctx), test_range(ctx), test_claims(ctx);
  test_tiny_gradient(ctx), test_hidden_gradient(ctx);
  if (kcl_direct_available())
    test_direct(ctx), test_uncertain(ctx);
  else
    skip("kcl_solution_check: not in this build");
  kcl_destroy(&ctx);
  return check_report();
}
