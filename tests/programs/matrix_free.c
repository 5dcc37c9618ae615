/* A matrix without entries: y = A x is a function of this program. The solution is that of the same A with entries. The function
 * may need data of its own, here the number of points, and counts its calls. */
#include "poisson.h"
#include <math.h>

enum { M = 80, N = M * M };
typedef struct grid {
  int m, products;
} grid;

static int multiply_stencil(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y,
                            void *queue) {
  grid *g = user;
  const int m = g->m, n = m * m;
  const double *u = x->data;
  double *v = y->data;
  (void)adjoint, (void)queue; /* A = A^H; no queue on the host */
  for (int i = 0; i < n; i++)
    v[i] = 4 * u[i] - (i >= m ? u[i - m] : 0) - (i % m ? u[i - 1] : 0) -
           (i % m < m - 1 ? u[i + 1] : 0) - (i < n - m ? u[i + m] : 0);
  g->products++;
  return 0; /* another value would end the solve with this status */
}

static void solve_ones(kcl_matrix *A, double *x) {
  static double b[N];
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1;
  must(kcl_solver_create(A, NULL, NULL, &s));
  must(kcl_solve_array(s, b, x, &r));
  printf("%s, format %s: %d iterations, residual %.1e\n", kcl_solver_text(s, "solver"),
         kcl_solver_text(s, "format"), (int)r.iterations, r.true_relative_residual);
  expect(r.converged, "converged");
  kcl_solver_free(&s);
}

int main(void) {
  static int32_t start[N + 1], col[5 * N];
  static double val[5 * N], x[N], y[N];
  grid g = {.m = M};
  kcl_context *c = NULL;
  kcl_matrix *A = NULL, *stencil = NULL;
  const kcl_entries entries = poisson_entries(M, start, col, val);
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_matrix_create_shell(c, N, N, 'd', multiply_stencil, &g, KCL_HOST,
                               KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE, &stencil));
  solve_ones(stencil, x);
  solve_ones(A, y);
  double difference = 0, largest = 0;
  for (int i = 0; i < N; i++)
    difference = fmax(difference, fabs(x[i] - y[i])), largest = fmax(largest, fabs(y[i]));
  expect(g.products > 0 && difference <= 1e-5 * largest, "the solutions agree");
  kcl_matrix_free(&A), kcl_matrix_free(&stencil), kcl_context_free(&c);
  return 0;
}
