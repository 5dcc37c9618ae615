/* A matrix in the arrays of other programs: indices of 64 bits that count from 1, in any order, one entry in two parts; and one
 * half of a symmetric matrix. All are the same A, so the solutions agree in every bit. A half that claims to be the whole of a
 * symmetric matrix is refused by whatever computes with it. */
#include "poisson.h"

enum { M = 60, N = M * M };

static int64_t row[5 * N + 1], col[5 * N + 1];
static double val[5 * N + 1];

/* Coordinates from 1, the last entry first, and a value of -1 as -0.5 and -0.5. */
static kcl_entries list_coordinates(const kcl_entries *A) {
  const int32_t *start = A->row, *columns = A->col;
  const double *values = A->val;
  int64_t k = 0;
  for (int i = N - 1; i >= 0; i--)
    for (int e = start[i + 1] - 1; e >= start[i]; e--)
      row[k] = i + 1, col[k] = columns[e] + 1, val[k++] = values[e];
  row[k] = row[0], col[k] = col[1], val[k] = val[1] /= 2, row[k] = row[1], k++;
  kcl_entries all = *A;
  all.layout = KCL_COO, all.base = 1, all.row_bits = all.col_bits = 64;
  all.nnz = k, all.row = row, all.col = col, all.val = val;
  return all;
}

/* Entries on and below the diagonal, in place. */
static void keep_lower(kcl_entries *A, int32_t *start, int32_t *columns, double *values) {
  int k = 0;
  for (int i = 0; i < N; i++) {
    const int first = start[i], end = start[i + 1];
    start[i] = k;
    for (int e = first; e < end && columns[e] <= i; e++)
      columns[k] = columns[e], values[k++] = values[e];
  }
  A->nnz = start[N] = k;
  A->symmetry = KCL_SYMMETRIC, A->half = KCL_LOWER;
}

static void solve_entries(kcl_context *c, const kcl_entries *entries, const char *what, double *x) {
  static double b[N];
  kcl_matrix *A = NULL;
  kcl_options *o = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1, x[i] = 0;
  must(kcl_options_create(&o));
  must(
      kcl_options_parse(o, "solver=cg precond=jacobi")); /* auto may choose by what took how long */
  must(kcl_matrix_create(c, entries, &A));               /* copies, sorts, sums, expands */
  must(kcl_solver_create(A, NULL, o, &s));
  must(kcl_solve_array(s, b, x, &r));
  printf("%-12s %s, %d iterations\n", what, kcl_reason_text(r.reason), (int)r.iterations);
  expect(r.converged, "converged");
  kcl_solver_free(&s), kcl_options_free(&o), kcl_matrix_free(&A);
}

int main(void) {
  static int32_t start[N + 1], columns[5 * N];
  static double values[5 * N], x[3][N];
  kcl_context *c = NULL;
  kcl_matrix *half = NULL;
  kcl_solver *none = NULL;
  must(kcl_context_create(NULL, 0, &c));
  kcl_entries A = poisson_entries(M, start, columns, values);
  const kcl_entries coordinates = list_coordinates(&A);
  solve_entries(c, &A, "rows", x[0]);
  solve_entries(c, &coordinates, "coordinates", x[1]);
  keep_lower(&A, start, columns, values);
  solve_entries(c, &A, "lower half", x[2]);
  expect(!memcmp(x[0], x[1], sizeof *x) && !memcmp(x[0], x[2], sizeof *x), "the same bits");
  A.half = 0;
  must(kcl_matrix_create(c, &A, &half));
  expect(kcl_solver_create(half, NULL, NULL, &none) == KCL_USAGE,
         "half of a matrix is not symmetric");
  puts(kcl_error());
  kcl_matrix_free(&half);
  kcl_context_free(&c);
  return 0;
}
