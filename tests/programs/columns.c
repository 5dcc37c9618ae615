/* Twelve right-hand sides, eight of them at once: in columns one after another, with gaps between columns, and in rows as C and
 * numpy keep [n, k]. Nothing is copied by the program, and all three give the same bits. */
#include "poisson.h"
#include <math.h>

enum { M = 60, N = M * M, K = 12, LD = N + 7 };
static double B[K * LD], X[K * LD], first[K][N];

/* The places of number i of column j in B and X: i inc + j ld. */
static void solve_columns(kcl_solver *s, int inc, int ld, const char *what, int compare) {
  const kcl_vectors b = {.size = sizeof b, .data = B, .cols = K, .inc = inc, .ld = ld};
  kcl_vectors x = {.size = sizeof x, .data = X, .cols = K, .inc = inc, .ld = ld};
  kcl_result r[K] = {{.size = sizeof *r}}; /* the size of the first is enough */
  for (int k = 0; k < K * LD; k++) X[k] = -7;
  for (int j = 0; j < K; j++)
    for (int i = 0; i < N; i++)
      B[i * inc + j * ld] = sin(i * (j + 1) * 0.001), X[i * inc + j * ld] = 0;
  must(kcl_solve(s, &b, &x, NULL, r));
  int same = 1, touched = 0;
  for (int j = 0; j < K; j++) {
    expect(r[j].converged, what);
    for (int i = 0; i < N; i++) {
      const double value = X[i * inc + j * ld];
      if (!compare) first[j][i] = value;
      same &= value == first[j][i];
    }
  }
  for (int j = 0; j < K - 1; j++)
    for (int i = N; inc == 1 && i < ld; i++) touched |= X[i + j * ld] != -7;
  printf("%-24s %d to %d iterations\n", what, (int)r[0].iterations, (int)r[K - 1].iterations);
  expect(same, "the same bits");
  expect(!touched, "numbers between columns are left alone");
}

int main(void) {
  static int32_t start[N + 1], col[5 * N];
  static double val[5 * N];
  const kcl_entries entries = poisson_entries(M, start, col, val);
  kcl_context *c = NULL;
  kcl_options *o = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  must(kcl_context_create(NULL, 0, &c));
  must(kcl_options_create(&o));
  must(kcl_options_parse(o, "solver=cg precond=none nrhs=8"));
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, o, &s));
  solve_columns(s, 1, N, "columns", 0);
  solve_columns(s, 1, LD, "columns with gaps", 1);
  solve_columns(s, K, 1, "rows", 1);
  kcl_solver_free(&s), kcl_matrix_free(&A), kcl_options_free(&o), kcl_context_free(&c);
  return 0;
}
