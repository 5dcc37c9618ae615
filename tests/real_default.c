/* Real matrices (real.h), each as a user who names nothing solves it: kcl_defaults, b from its file or A*1. What becomes
 * of each is printed. Every claim is checked by a residual in long double; no x may be worse than 0. An answer is a
 * solution to 1e-8, by a method or directly, or a least-squares solution. Of all matrices all but UNANSWERED are answered
 * in SECONDS of wall time each.
 */
#include "tests/calls.h"
#include "tests/real.h"

enum { SECONDS = 30, UNANSWERED = 2 };
static int answered, asked;

static int too_long(void *end, const kcl_progress *p) {
  return (void)p, kcl_now() > *(double *)end;
}

/* The claim of the report holds. */
static void check(const entry *e, const kcl_csr *A, const double *b, const double *x,
                  const kcl_report *r) {
  double doubt, gradient, res = residual(A, b, x, &doubt);
  double normal = r->least_squares ? normal_residual(A, b, x, &gradient) : 0;
  CHECKF(!r->converged || res <= tol_claim(1e-8, doubt), "%s: claims 1e-8, has %g", e->name, res);
  CHECKF(!r->least_squares || normal <= tol_claim(1e-8, doubt), "%s: normal residual %g", e->name,
         normal);
  CHECKF(!(fabs(res - r->true_relative_residual) > tol_certificate(res, doubt)),
         "%s: the certificate says %g, it is %g", e->name, r->true_relative_residual, res);
  CHECKF(r->reason == KCL_INTERRUPTED || res <= 1 + 1e-12 + doubt, "%s: x is worse than 0: %g",
         e->name, res);
}

static void say(const entry *e, const kcl_solver *s, const kcl_report *r, double seconds) {
  kcl_setup_info info;
  kcl_solver_info(s, &info);
  printf("%-18s %8lld %-14s %-6s %8lld %9.1e %6.2f s  %s\n", e->name, (long long)e->rows,
         info.solver, info.precond, (long long)r->iterations, r->true_relative_residual, seconds,
         kcl_reason_text(r->reason));
  for (const char *line = r->changes; *line; line += strcspn(line, "\n"), line += *line != 0)
    printf("    %.*s\n", (int)strcspn(line, "\n"), line);
  fflush(stdout);
}

static void solve_entry(const entry *e, const kcl_csr *A, const double *b, double begin) {
  const place *p = &places[0];
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  double *x = calloc((size_t)A->cols + 1, kcl_type_size(A->type)), end = begin + SECONDS;
  o.precision = A->type, o.progress = too_long, o.user = &end;
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s: %s", e->name,
             kcl_error())) {
    double seconds = kcl_now() - begin;
    check(e, A, b, x, &r), say(e, s, &r, seconds);
    answered += (r.converged || r.least_squares) && seconds <= SECONDS;
  }
  free(x), kcl_solver_free(&s);
}

static void test_matrix(const entry *e) {
  kcl_csr *A = NULL;
  double begin = kcl_now();
  if (!CHECKF(!kcl_csr_read(places[0].ctx, path_of(e->name, ".mtx.gz"), &A), "%s", kcl_error()))
    return;
  int w = kcl_type_complex(A->type) ? 2 : 1;
  double *b = calloc((size_t)(w * A->rows) + 1, sizeof *b),
         *ones = calloc((size_t)(w * A->cols) + 1, sizeof *ones);
  for (int64_t j = 0; j < A->cols; j++) ones[w * j] = 1;
  kcl_csr_product(A, ones, NULL, b); /* b = A 1 */
  asked++;
  if (!e->rhs[0] || given_side(places[0].ctx, e, A, b)) solve_entry(e, A, b, begin);
  free(b), free(ones), kcl_csr_free(&A);
}

int main(int argc, char **argv) {
  int rc = for_each_matrix(argc, argv, test_matrix);
  printf("answered %d of %d in %d s each\n", answered, asked, SECONDS);
  if (everything && answered + UNANSWERED < asked) printf("FAIL: too few\n"), rc = 1;
  return rc;
}
