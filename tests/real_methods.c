/* Real matrices (real.h): every method that fits, without a preconditioner and with Jacobi, on the CPU in double, to
 * 1e-8. Every claim of convergence is checked by a residual in long double, and no definite matrix may be called
 * indefinite. Not converging is no failure. Lines that begin with | are the table of docs/methods.md:
 * iterations plain / with Jacobi, or the reason of stopping.
 *
 * Limits: 2,000 iterations as a part of make check, 20,000 and SECONDS of one thread otherwise (make methods).
 */
#include "solver/methods/method.h"
#include "tests/calls.h"
#include "tests/real.h"
#include "tests/options.h"
#include <time.h>

enum { SECONDS = 20, MOST_METHODS = 32 };

/* Processor seconds: independent of other load on the machine. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int too_long(void *end, const kcl_progress *p) { return (void)p, now() > *(double *)end; }

static const char *abbreviation(kcl_reason r) {
  static const char *const text[] = {
      [KCL_CONVERGED] = "",      [KCL_ITERATION_LIMIT] = "l", [KCL_INDEFINITE] = "i",
      [KCL_BREAKDOWN_RHO] = "b", [KCL_BREAKDOWN_SIGMA] = "b", [KCL_BREAKDOWN_OMEGA] = "b",
      [KCL_NOT_FINITE] = "n",    [KCL_STAGNATED] = "s",       [KCL_INTERRUPTED] = "t",
      [KCL_DIVERGED] = "d",      [KCL_LEAST_SQUARES] = "q"};
  return text[r];
}

/* The report is true. */
static void check(const entry *e, const kcl_csr *A, const kcl_options *o, const double *b,
                  const double *x, const kcl_report *r) {
  double doubt, gradient, res = residual(A, b, x, &doubt);
  double normal = r->least_squares ? normal_residual(A, b, x, &gradient) : 0;
  printf("%-18s %-12s %-6s %7lld %8.2f %9.1e %9.1e %s%s\n", e->name, o->solver, o->precond,
         (long long)r->iterations, r->seconds_solve, res, r->least_squares ? normal : -1.0,
         r->least_squares ? "least squares, " : "", kcl_reason_text(r->reason));
  fflush(stdout);
  CHECKF(r->converged == (r->reason == KCL_CONVERGED), "%s, %s: converged and its reason differ",
         e->name, o->solver);
  CHECKF(!(r->converged || r->least_squares) ||
             (r->least_squares ? normal : res) <= tol_claim(o->tol, doubt),
         "%s, %s %s: claims %g, has %g, normal %g", e->name, o->solver, o->precond, o->tol, res,
         normal);
  CHECKF(!(fabs(res - r->true_relative_residual) > tol_certificate(res, doubt)),
         "%s, %s %s: the certificate says %g, it is %g", e->name, o->solver, o->precond,
         r->true_relative_residual, res);
  CHECKF(r->reason != KCL_STAGNATED || res >= o->tol * (1 - 1e-12) - doubt,
         "%s, %s %s: stagnated, and yet it has %g", e->name, o->solver, o->precond, res);
  CHECKF(!e->definite || r->reason != KCL_INDEFINITE, "%s, %s %s: %s", e->name, o->solver,
         o->precond, kcl_reason_text(r->reason));
}

static void solve_entry(const entry *e, const kcl_csr *A, const double *b, kcl_options o,
                        char *cell) {
  const place *p = &places[0];
  kcl_solver *k = NULL;
  kcl_report r;
  double *x = calloc((size_t)A->cols + 1, kcl_type_size(A->type)), end;
  if (everything) o.progress = too_long, o.user = &end;
  int rc = kcl_setup(p->ctx, A, &o, &k);
  snprintf(cell, 16, "-"), end = now() + SECONDS;
  if (rc == KCL_USAGE ||
      rc == KCL_INPUT) /* does not fit: the message names the method or the preconditioner */
    CHECKF(strstr(kcl_error(), o.solver) || strstr(kcl_error(), o.precond), "%s: %s", e->name,
           kcl_error());
  else if (CHECKF(!rc && !kcl_solve_one(k, b, x, &r), "%s, %s %s: %s", e->name, o.solver, o.precond,
                  kcl_error())) {
    check(e, A, &o, b, x, &r);
    if (r.converged || r.least_squares)
      snprintf(cell, 16, "%lld", (long long)r.iterations);
    else
      snprintf(cell, 16, "%s", abbreviation(r.reason));
  }
  free(x), kcl_solver_free(&k);
}

static void by_all(const entry *e, const kcl_csr *A, const double *b) {
  char table[16 * 2 * MOST_METHODS + 200], cell[2][16];
  size_t used = (size_t)snprintf(table, sizeof table, "| %s |", e->name);
  kcl_options o = cg_options();
  o.precision = A->type, o.format = "model", o.tol = 1e-8, o.max_iter = everything ? 20000 : 2000;
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS) && i < MOST_METHODS; i++) {
    o.solver = kcl_list(KCL_SOLVERS, i).name;
    o.precond = "none", solve_entry(e, A, b, o, cell[0]);
    o.precond = "jacobi", solve_entry(e, A, b, o, cell[1]);
    bool same = !strcmp(cell[0], cell[1]);
    used += (size_t)snprintf(table + used, sizeof table - used, same ? " %s |" : " %s / %s |",
                             cell[0], cell[1]);
  }
  printf("%s\n", table), fflush(stdout);
}

static void test_matrix(const entry *e) {
  kcl_csr *A = NULL;
  if (!CHECKF(!kcl_csr_read(places[0].ctx, path_of(e->name, ".mtx.gz"), &A), "%s", kcl_error()))
    return;
  if (!strncmp(e->name, "conf5", 5)) fermion(&A);
  int w = kcl_type_complex(A->type) ? 2 : 1;
  double *b = calloc((size_t)(w * A->rows) + 1, sizeof *b),
         *ones = calloc((size_t)(w * A->cols) + 1, sizeof *ones);
  for (int64_t j = 0; j < A->cols; j++) ones[w * j] = 1;
  kcl_csr_product(A, ones, NULL, b); /* b = A 1 */
  if (!e->rhs[0] || given_side(places[0].ctx, e, A, b)) by_all(e, A, b);
  free(b), free(ones), kcl_csr_free(&A);
}

int main(int argc, char **argv) {
  printf("| matrix |");
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++)
    printf(" %s |", kcl_list(KCL_SOLVERS, i).name);
  printf("\n| --- |");
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) printf(" --- |");
  printf("\n");
  return for_each_matrix(argc, argv, test_matrix);
}
