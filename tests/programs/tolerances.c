/* Settings of one call: five tolerances in one set-up, each from the solution before it; a limit; a guess that is not a number. */
#include "poisson.h"
#include <math.h>

enum { M = 100, N = M * M };

static kcl_result solve_with(kcl_solver *s, const double *b, double *x, kcl_call call) {
  const kcl_vectors from = {.size = sizeof from, .data = (void *)b};
  kcl_vectors to = {.size = sizeof to, .data = x};
  kcl_result r = {.size = sizeof r};
  must(kcl_solve(s, &from, &to, &call, &r));
  printf("tolerance %.0e: %s, %d iterations, residual %.1e\n", call.tol, kcl_reason_text(r.reason),
         (int)r.iterations, r.true_relative_residual);
  return r;
}

int main(void) {
  static int32_t start[N + 1], col[5 * N];
  static double val[5 * N], b[N], x[N];
  const kcl_entries entries = poisson_entries(M, start, col, val);
  char method[] = "cg";
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  for (int i = 0; i < N; i++) b[i] = 1;
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_options_create(&o));
  must(kcl_options_set(o, "solver", method));
  must(kcl_options_set(o, "precond", "none"));
  method[0] = 'x'; /* options copy their texts, a solver its options */
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, o, &s));
  kcl_options_free(&o), kcl_matrix_free(&A);

  int64_t all = 0;
  for (double tol = 1e-2; tol > 1e-11; tol /= 100) {
    const kcl_result r = solve_with(s, b, x, (kcl_call){.size = sizeof(kcl_call), .tol = tol});
    expect(r.converged && r.true_relative_residual <= 1.0001 * tol,
           "converged to the tolerance of the call");
    all += r.iterations;
  }
  kcl_result r = solve_with(s, b, x, (kcl_call){.size = sizeof(kcl_call), .tol = 1e-9});
  expect(r.converged && r.iterations == 0, "0 iterations from the solution");
  r = solve_with(s, b, x, (kcl_call){.size = sizeof(kcl_call), .max_iter = 10, .zero_guess = 1});
  expect(r.reason == KCL_ITERATION_LIMIT && r.iterations == 10, "the limit of the call");
  r = solve_with(s, b, x, (kcl_call){.size = sizeof(kcl_call), .zero_guess = 1});
  expect(r.converged && r.iterations <= all, "defaults again");
  x[N / 2] = NAN;
  r = solve_with(s, b, x, (kcl_call){.size = sizeof(kcl_call)});
  expect(r.reason == KCL_NOT_FINITE && isfinite(x[N / 2]),
         "a guess that is not a number ends the solve, and x is finite");
  kcl_solver_free(&s), kcl_context_free(&c);
  return 0;
}
