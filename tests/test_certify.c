/* Certificates by hand, and what they make of a solver's claim. */
#include "solver/solver.h"
#include "tests/check.h"
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
  CHECK(!kcl_certify(ctx, A, b, bad, &c) && isnan(c.backward_error) && isnan(c.rowwise_error));
  kcl_csr_free(&A);
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
  kcl_csr *A = diagonal(ctx, 2, 4), *S = diagonal(ctx, 2, 0);
  CHECK(judged(ctx, A, 0.5, 0.25, false, KCL_CONVERGED) == KCL_CONVERGED);
  CHECK(judged(ctx, A, 0.5, 0.2500001, false, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, A, NAN, 0.25, false, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, A, 0.5, 0.25, false, KCL_STAGNATED) == KCL_CONVERGED);
  CHECK(judged(ctx, A, 0.5, 0.25, false, KCL_INTERRUPTED) == KCL_INTERRUPTED);
  CHECK(judged(ctx, A, 0, 0, false, KCL_BREAKDOWN_RHO) == KCL_BREAKDOWN_RHO);
  CHECK(judged(ctx, S, 0.5, 0, true, KCL_CONVERGED) == KCL_LEAST_SQUARES);
  CHECK(judged(ctx, S, 0.5, 0, false, KCL_CONVERGED) == KCL_STAGNATED);
  CHECK(judged(ctx, S, 0.4, 0, true, KCL_CONVERGED) == KCL_STAGNATED);
  kcl_csr_free(&A), kcl_csr_free(&S);
}

int main(void) {
  kcl *ctx = NULL;
  if (kcl_create(&ctx)) return 1;
  test_rows(ctx), test_claims(ctx);
  kcl_destroy(&ctx);
  return check_report();
}
