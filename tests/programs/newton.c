/* Newton's method for -lap u = 6 exp(u) (Bratu), in one set-up. Inexact: each step is solved to the tolerance that it is worth
 * (Eisenstat & Walker 1996, choice 2), which is a setting of the call. */
#include "poisson.h"
#include <math.h>

enum { M = 100, N = M * M };
static int32_t start[N + 1], col[5 * N];
static double val[5 * N], u[N], F[N], d[N];

/* F = -residual of u, and the diagonal of the Jacobian. Returns |F|. */
static double evaluate(void) {
  const double h2 = 1. / ((M + 1.) * (M + 1));
  double sum = 0;
  for (int i = 0; i < N; i++) {
    double lap = 0;
    for (int k = start[i]; k < start[i + 1]; k++) {
      lap += (col[k] == i ? 4 : -1) * u[col[k]];
      if (col[k] == i) val[k] = 4 - h2 * 6 * exp(u[i]);
    }
    F[i] = h2 * 6 * exp(u[i]) - lap;
    sum += F[i] * F[i];
  }
  return sqrt(sum);
}

/* Returns the iterations of all steps. */
static int64_t solve_bratu(kcl_context *c, const kcl_options *o, int inexact) {
  const kcl_entries entries = poisson_entries(M, start, col, val);
  const kcl_vectors rhs = {.size = sizeof rhs, .data = F};
  kcl_vectors x = {.size = sizeof x, .data = d};
  kcl_call call = {.size = sizeof call, .tol = inexact ? 0.1 : 1e-8, .zero_guess = 1};
  kcl_result r = {.size = sizeof r};
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  int64_t iterations = 0;
  int step = 0;
  memset(u, 0, sizeof u);
  const double first = evaluate();
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, o, &s));
  for (double norm = first, last; norm > 1e-10 * first; norm = last, step++) {
    expect(step < 20, "20 steps");
    must(kcl_solve(s, &rhs, &x, &call, &r));
    iterations += r.iterations;
    for (int i = 0; i < N; i++) u[i] += d[i];
    last = evaluate();
    if (inexact) call.tol = fmin(0.1, fmax(1e-8, 0.9 * (last / norm) * (last / norm)));
    must(kcl_matrix_update(A, &entries));
    must(kcl_solver_update(s, A, KCL_KEEP_PRECOND)); /* a new Jacobian, the first ic */
  }
  printf("%s: %d steps, %d iterations\n", inexact ? "inexact" : "exact", step, (int)iterations);
  kcl_solver_free(&s), kcl_matrix_free(&A);
  return iterations;
}

int main(void) {
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_options_create(&o));
  must(kcl_options_parse(o, "solver=cg precond=ic"));
  const int64_t exact = solve_bratu(c, o, 0), inexact = solve_bratu(c, o, 1);
  expect(inexact < exact, "fewer iterations with inexact steps");
  kcl_options_free(&o), kcl_context_free(&c);
  return 0;
}
