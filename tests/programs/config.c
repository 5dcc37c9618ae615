/* Options of a program from its defaults, from a file, from an environment variable and from its command line, each above the one
 * before. The library has the table of names, help and ranges. */
#define _POSIX_C_SOURCE 200809L
#include "poisson.h"

enum { M = 100, N = M * M };

static void write_file(const char *path) {
  FILE *file = fopen(path, "w");
  expect(file != NULL, "a file");
  fputs("# a solver\nsolver=cg precond=sa\ntol=1e-10   # of the residual\nmax-iter=500\n", file);
  fclose(file);
}

static void print_options(const kcl_options *o) {
  for (int i = 0; i < kcl_names("option"); i++) {
    const char *name = kcl_name("option", i);
    printf("%-12s %-10s %s", name, kcl_options_get(o, name),
           kcl_name_help("option", name, "summary"));
    printf(" (%s)\n", kcl_name_help("option", name, "values"));
  }
}

int main(int argc, char **argv) {
  static int32_t start[N + 1], col[5 * N];
  static double val[5 * N], b[N], x[N];
  const kcl_entries entries = poisson_entries(M, start, col, val);
  const char *path = argc > 1 ? argv[1] : "solver.cfg";
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1;
  write_file(path);
  setenv("HEAT_SOLVE", "precond=jacobi", 1);
  must(kcl_options_create(&o));
  must(kcl_options_set(o, "tol", "1e-6"));
  must(kcl_options_read(o, path));
  must(kcl_options_read_variable(o, "HEAT_SOLVE"));
  for (int i = 2; i < argc; i++) must(kcl_options_parse(o, argv[i]));
  print_options(o);

  must(kcl_context_create(NULL, 0, &c));
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, o, &s));
  must(kcl_solve_array(s, b, x, &r));
  printf("%s, %s: %s, %d iterations, residual %.1e\n", kcl_solver_text(s, "solver"),
         kcl_solver_text(s, "precond"), kcl_reason_text(r.reason), (int)r.iterations,
         r.true_relative_residual);
  expect(r.converged && r.true_relative_residual < 1.0001e-10, "the tolerance of the file");
  expect(!strcmp(kcl_solver_text(s, "precond"), argc > 2 ? "ic" : "jacobi"), "the last one counts");
  kcl_solver_free(&s), kcl_matrix_free(&A), kcl_options_free(&o), kcl_context_free(&c);
  return 0;
}
