/* Heat in an insulated plate whose conductivity changes: (I + dt L_t) u_t = u_(t-1). The pattern stays, so each step gives A new
 * values and updates the solver. What an update keeps is chosen by KCL_KEEP_...; no heat is lost.
 * usage: heat [POINTS [STEPS [OPTIONS [KEEP]]]]    KEEP: 0 to 3, a KCL_KEEP_...; -1: a new solver in each step */
#define _POSIX_C_SOURCE 200809L
#include "poisson.h"
#include <math.h>
#include <time.h>

enum { MOST = 300 };
static int32_t start[MOST * MOST + 1], col[5 * MOST * MOST];
static double val[5 * MOST * MOST], u[MOST * MOST], b[MOST * MOST];

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double conductivity(int m, int row, double time) {
  const int i = row / m, j = row % m;
  return 1 + 0.5 * sin(6. * i / m + time) * cos(5. * j / m - time);
}

/* Values of I + dt L: the flux between two points is by the harmonic mean of their conductivities. */
static void fill_values(int m, double time) {
  for (int i = 0; i < m * m; i++) {
    const double dt = 50, own = conductivity(m, i, time);
    int diagonal = 0;
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++) {
      const double other = conductivity(m, col[k], time);
      if (col[k] == i)
        diagonal = k;
      else
        sum -= val[k] = -2 * dt * (own * other) / (own + other);
    }
    val[diagonal] = 1 + sum;
  }
}

int main(int argc, char **argv) {
  const int m = argc > 1 ? atoi(argv[1]) : 60, steps = argc > 2 ? atoi(argv[2]) : 10, n = m * m;
  const char *options = argc > 3 ? argv[3] : "solver=cg precond=sa";
  const int keep = argc > 4 ? atoi(argv[4]) : KCL_KEEP_HIERARCHY;
  double update = 0, solve = 0, before = 0, after = 0;
  int64_t iterations = 0;
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  expect(m > 0 && m <= MOST, "1 to 300 points");
  const kcl_entries entries = poisson_entries(m, start, col, val);
  fill_values(m, 0);
  for (int i = 0; i < n; i++) before += u[i] = i / m > m / 3 && i % m > m / 3;
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_options_create(&o)), must(kcl_options_parse(o, options));
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, o, &s));
  for (int step = 1; step <= steps; step++) {
    fill_values(m, 0.05 * step);
    must(kcl_matrix_update(A, &entries)); /* s goes on with the earlier values ... */
    const double begin = seconds();
    if (keep < 0)
      kcl_solver_free(&s), must(kcl_solver_create(A, NULL, o, &s));
    else
      must(kcl_solver_update(s, A, keep)); /* ... up to here */
    const double updated = seconds();
    memcpy(b, u, sizeof b);
    must(kcl_solve_array(s, b, u, &r)); /* from the temperatures of the last step */
    expect(r.converged, "converged");
    update += updated - begin, solve += seconds() - updated, iterations += r.iterations;
  }
  for (int i = 0; i < n; i++) after += u[i];
  printf("update %.3f ms, solve %.2f ms, iterations %.1f\n", update / steps * 1e3,
         solve / steps * 1e3, (double)iterations / steps);
  expect(fabs(after - before) <= 1e-5 * before, "no heat is lost");
  kcl_solver_free(&s), kcl_matrix_free(&A), kcl_options_free(&o), kcl_context_free(&c);
  return 0;
}
