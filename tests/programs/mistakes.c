/* Mistakes that programs make. Each gets its status and a message that names the argument; none is undefined behaviour, none solves
 * another system. */
#include "poisson.h"
#include <math.h>

enum { M = 20, N = M * M };
static int32_t start[N + 1], col[5 * N];
static double val[5 * N], b[N], x[N];

static void refuse(int status, int expected, const char *what) {
  printf("%-44s status %2d: %s\n", what, status, status ? kcl_error() : "");
  expect(status == expected, what);
}

/* A callback that solves: its context is in use. */
static int solve_again(void *user, const kcl_progress *p) {
  (void)p;
  refuse(kcl_solve_array(user, b, x, NULL), KCL_BUSY, "a solve within the progress callback");
  return 1; /* stop */
}

static void refuse_matrices(kcl_context *c, kcl_entries e) {
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  e.symmetry = KCL_SKEW;
  must(kcl_matrix_create(c, &e, &A));
  refuse(kcl_solver_create(A, NULL, NULL, &s), KCL_USAGE, "a symmetry that A does not have");
  kcl_matrix_free(&A);
  e.symmetry = 99;
  refuse(kcl_matrix_create(c, &e, &A), KCL_USAGE, "a symmetry that there is not");
  e.symmetry = 0, val[7] = NAN;
  refuse(kcl_matrix_create(c, &e, &A), KCL_INPUT, "NaN in A");
  val[7] = -1, col[7] = N;
  refuse(kcl_matrix_create(c, &e, &A), KCL_USAGE, "a column outside");
  col[7] = -1, e.size = 0;
  refuse(kcl_matrix_create(c, &e, &A), KCL_USAGE, "a struct without its size");
}

static void refuse_solves(kcl_solver *s) {
  kcl_vectors rhs = {.size = sizeof rhs, .data = b, .cols = (int64_t)1 << 60}, solution = rhs;
  kcl_call call = {.size = sizeof call, .progress = solve_again, .user = s};
  kcl_result r = {.size = sizeof r};
  solution.data = x;
  refuse(kcl_solve(s, &rhs, &solution, NULL, &r), KCL_USAGE, "2^60 columns");
  rhs.cols = solution.cols = 1, rhs.place = 7;
  refuse(kcl_solve(s, &rhs, &solution, NULL, &r), KCL_USAGE, "a place that there is not");
  rhs.place = KCL_HOST;
  refuse(kcl_solve(NULL, &rhs, &solution, NULL, &r), KCL_USAGE, "no solver");
  must(kcl_solve(s, &rhs, &solution, &call, &r));
  expect(r.reason == KCL_INTERRUPTED, "the callback stopped the solve");
  b[3] = INFINITY;
  refuse(kcl_solve_array(s, b, x, &r), KCL_INPUT, "infinity in b");
}

int main(void) {
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_entries e = poisson_entries(M, start, col, val);
  for (int i = 0; i < N; i++) b[i] = 1;
  refuse(kcl_context_create("nosuch", 0, &c), KCL_DEVICE, "a device that there is not");
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_options_create(&o));
  refuse(kcl_options_parse(o, "sover=cg"), KCL_USAGE, "a misspelt option");
  refuse(kcl_options_set(o, "tol", "-1"), KCL_USAGE, "a tolerance out of range");
  must(kcl_options_parse(o, "solver=cg precond=none"));
  must(kcl_matrix_create(c, &e, &A));
  must(kcl_solver_create(A, NULL, o, &s));
  refuse_matrices(c, e);
  memset(val, 0, sizeof val), memset(&e, 0, sizeof e);             /* A is a copy */
  kcl_context_free(&c), kcl_matrix_free(&A), kcl_options_free(&o); /* s keeps what it needs */
  refuse_solves(s);
  kcl_solver_free(&s), kcl_solver_free(&s); /* NULL the second time */
  return 0;
}
