/* Ten solvers in two threads: five of a matrix in a context of the thread's own, and one context and solver that both use, one at a
 * time. Answers do not depend on who computes beside them. */
#include "poisson.h"
#include <pthread.h>

enum { M = 60, N = M * M, METHODS = 5, ROUNDS = 3 };
static int32_t start[N + 1], col[5 * N];
static double val[5 * N];
static kcl_entries entries;
static kcl_solver *shared; /* made by main, used by both */

typedef struct work {
  double x[METHODS][N], y[N];
} work;

static void *solve_all(void *argument) {
  static const char *const options[METHODS] = {
      "solver=cg precond=none", "solver=minres precond=jacobi", "solver=bicgstab precond=none",
      "solver=gmres precond=jacobi", "solver=idr precond=none"};
  work *w = argument;
  double *b = malloc(N * sizeof *b);
  kcl_context *c = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s[METHODS] = {NULL};
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1 + i % 3;
  must(kcl_context_create(NULL, 1, &c));
  must(kcl_matrix_create(c, &entries, &A));
  for (int k = 0; k < METHODS; k++) {
    kcl_options *o = NULL;
    must(kcl_options_create(&o));
    must(kcl_options_parse(o, options[k]));
    must(kcl_solver_create(A, NULL, o, &s[k]));
    kcl_options_free(&o);
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < METHODS; k++) {
      memset(w->x[k], 0, sizeof w->x[k]), memset(w->y, 0, sizeof w->y);
      must(kcl_solve_array(s[k], b, w->x[k], &r));
      expect(r.converged, options[k]);
      must(kcl_solve_array(shared, b, w->y, &r)); /* the other thread waits, or this one */
      expect(r.converged, "the shared solver");
    }
  kcl_context_free(&c), kcl_matrix_free(&A); /* the context lives as long as its solvers */
  for (int k = 0; k < METHODS; k++) kcl_solver_free(&s[k]);
  free(b);
  return NULL;
}

int main(void) {
  static work w[2];
  pthread_t thread[2];
  kcl_context *c = NULL;
  kcl_matrix *A = NULL;
  entries = poisson_entries(M, start, col, val);
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, NULL, &shared));
  for (int i = 0; i < 2; i++)
    expect(!pthread_create(&thread[i], NULL, solve_all, &w[i]), "a thread");
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  expect(!memcmp(&w[0], &w[1], sizeof *w), "both threads have the same bits");
  puts("60 solves in two threads: all converged, to the same bits");
  kcl_solver_free(&shared), kcl_matrix_free(&A), kcl_context_free(&c);
  return 0;
}
