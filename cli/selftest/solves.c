/* Solves of the self-test: their residuals are recomputed on the host, whatever the method says. */
#include "cli/selftest/selftest.h"
#include "cli/ui/terminal.h"
#include "krylocl/check.h"
#include <math.h>

typedef struct solve_test {
  const char *system, *method, *precond;
} solve_test;

static double tolerance(kcl_type t) { return t == KCL_S || t == KCL_C ? 1e-4 : 1e-8; }

static bool is_least_squares(const char *method) {
  return !strcmp(method, "cgls") || !strcmp(method, "lsqr");
}

static int check_claim(const cli_battery *t, const solve_test *s, const kcl_csr *A, const double *b,
                       const double *x, cli_selftest_result *r) {
  kcl_certificate c;
  const bool least = is_least_squares(s->method);
  const int rc =
      least ? kcl_certify_least_squares(t->ctx, A, b, x, &c) : kcl_certify(t->ctx, A, b, x, &c);
  const double residual =
      least ? fmin(c.normal_residual, c.relative_residual) : c.relative_residual;
  if (rc) return cli_lib(rc);
  if (!(residual <= 1.1 * tolerance(t->precision)))
    snprintf(r->reason, sizeof r->reason, "claimed convergence with a residual of %.3e, not %.0e",
             residual, tolerance(t->precision));
  return 0;
}

static int solve_system(const cli_battery *t, const solve_test *s, const kcl_csr *A,
                        const kcl_dense *b, kcl_dense *x, cli_selftest_result *r) {
  char options[200];
  snprintf(options, sizeof options, "solver=%s precond=%s precision=%c tol=%g no-direct", s->method,
           s->precond, kcl_type_letter(t->precision), tolerance(t->precision));
  CLI_CALL(cli_selftest_solve(t, options, A, b, x, r));
  r->refused = r->setup == KCL_REFUSED || r->setup == KCL_USAGE;
  if (*r->reason) return 0;
  if (r->solve.converged) return check_claim(t, s, A, b->val, x->val, r);
  snprintf(r->reason, sizeof r->reason, "%s after %lld iterations, residual %.3e",
           kcl_reason_text(r->solve.reason), (long long)r->solve.iterations,
           r->solve.true_relative_residual);
  return 0;
}

/* also: solved instead if this is refused; NULL: nothing is. */
static int test_solve(cli_battery *t, const solve_test *s, const solve_test *also) {
  char test[160];
  cli_selftest_result r = {.refused = false};
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL, *x = NULL;
  snprintf(test, sizeof test, "%s with %s on %s", s->method, s->precond, s->system);
  cli_busy(t->o, "%s", test);
  CLI_CALL(cli_selftest_system(t, s->system, &A, &b));
  CLI_CALL(cli_lib(kcl_dense_create(t->ctx, A->cols, 1, b->type, &x)));
  CLI_CALL(solve_system(t, s, A, b, x, &r));
  if (r.refused && also) return test_solve(t, also, NULL);
  cli_selftest_count(t, test, &r);
  return 0;
}

/* Methods of Hermitian matrices refuse the first system and have the second; cocg and cocr are for complex symmetric ones. */
int cli_selftest_methods(cli_battery *t) {
  const bool is_complex = kcl_type_complex(t->precision);
  int rc = 0;
  t->group = "methods";
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS) && !rc; i++) {
    const char *method = kcl_list(KCL_SOLVERS, i).name;
    const bool symmetric = !strncmp(method, "coc", 3);
    const solve_test first = {symmetric ? "helmholtz:12" : "convection:8", method, "jacobi"},
                     hermitian = {is_complex ? "magnetic:20" : "poisson2d:30", method, "jacobi"};
    if (is_complex || !symmetric) rc = test_solve(t, &first, &hermitian);
  }
  return rc;
}

int cli_selftest_preconds(cli_battery *t) {
  int rc = 0;
  t->group = "preconds";
  for (int i = 0; i < kcl_list_size(KCL_PRECONDS) && !rc; i++) {
    const char *precond = kcl_list(KCL_PRECONDS, i).name;
    const solve_test hermitian = {"jump2d:30", "cg", precond},
                     general = {"convection:30", "bicgstab", precond};
    rc = test_solve(t, &general, &hermitian);
  }
  return rc;
}
