/* A context of several ranks: matrices, solvers and products by the functions of krylocl.h, each rank with its own rows, against one
 * process. usage: mpirun -n N context_mpi [DEVICE] */
#include "krylocl_mpi.h"
#include "tests/mpi/totals.h"
#include <math.h>
#include <string.h>

enum { SIDE = 24, N = SIDE * SIDE, MOST = 5 * N };

typedef struct block {
  int64_t first, rows, nnz;
  int64_t row[N + 1];
  int64_t col[MOST];
  double val[MOST];
} block;

static int rank, ranks;
static kcl_context *c, *alone;

/* Rows [first, end) of the five-point stencil, with indices of 64 bits that count from 1. */
static void fill_block(block *B, int64_t first, int64_t end, double centre) {
  int64_t k = 0;
  B->first = first, B->rows = end - first, B->row[0] = 1;
  for (int64_t i = first; i < end; i++) {
    const int64_t near[] = {i - SIDE, i - 1, i, i + 1, i + SIDE};
    for (int j = 0; j < 5; j++) {
      const bool inside =
          near[j] >= 0 && near[j] < N && (j != 1 || i % SIDE) && (j != 3 || (i + 1) % SIDE);
      if (inside) B->col[k] = near[j] + 1, B->val[k++] = j == 2 ? centre : -1;
    }
    B->row[i - first + 1] = k + 1;
  }
  B->nnz = k;
}

static kcl_entries entries_of(const block *B) {
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = B->rows,
                       .cols = N,
                       .nnz = B->nnz,
                       .row = B->row,
                       .col = B->col,
                       .val = B->val,
                       .layout = KCL_CSR,
                       .row_bits = 64,
                       .col_bits = 64,
                       .base = 1,
                       .type = 'd'};
}

/* x of the whole system, computed by one process. */
static void solve_alone(double centre, const char *options, const double *b, double *x,
                        int64_t *iterations) {
  static block whole;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_options *o = NULL;
  kcl_result r = {.size = sizeof r};
  fill_block(&whole, 0, N, centre);
  const kcl_entries e = entries_of(&whole);
  memset(x, 0, N * sizeof *x);
  CHECKF(!kcl_options_create(&o) && !kcl_options_parse(o, options) &&
             !kcl_matrix_create(alone, &e, &A) && !kcl_solver_create(A, NULL, o, &s) &&
             !kcl_solve_array(s, b, x, &r) && r.converged,
         "%s", kcl_error());
  *iterations = r.iterations;
  kcl_options_free(&o), kcl_matrix_free(&A), kcl_solver_free(&s);
}

static void compare_with_one(kcl_solver *s, const block *own, double centre, const char *options) {
  static double b[N], x[N], expected[N];
  int64_t iterations;
  kcl_result r = {.size = sizeof r};
  double worst = 0, norm = 0, reported;
  for (int i = 0; i < N; i++) b[i] = 1 + i % 5;
  memset(x, 0, sizeof x);
  CHECKF(!kcl_solve_array(s, b + own->first, x + own->first, &r) && r.converged, "%s", kcl_error());
  solve_alone(centre, options, b, expected, &iterations);
  for (int64_t i = own->first; i < own->first + own->rows; i++)
    worst = fmax(worst, fabs(x[i] - expected[i])), norm = fmax(norm, fabs(expected[i]));
  CHECKF(worst <= 1e-5 * norm, "rank %d of %d, %s: x differs by %g", rank, ranks, options,
         worst / norm);
  CHECKF(llabs(r.iterations - iterations) <= 2, "%s: %lld iterations, alone %lld", options,
         (long long)r.iterations, (long long)iterations);
  CHECK(!kcl_solver_number(s, "true_relative_residual", &reported) && reported <= 1.01e-8);
}

static void test_solver(const char *options) {
  static block own, next;
  const int64_t first = (int64_t)N * rank / ranks, end = (int64_t)N * (rank + 1) / ranks;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_options *o = NULL;
  fill_block(&own, first, end, 4.1), fill_block(&next, first, end, 5);
  const kcl_entries e = entries_of(&own), f = entries_of(&next);
  CHECK(!kcl_options_create(&o) && !kcl_options_parse(o, options));
  CHECKF(!kcl_matrix_create(c, &e, &A) && !kcl_solver_create(A, NULL, o, &s), "%s", kcl_error());
  compare_with_one(s, &own, 4.1, options);
  CHECK(!kcl_matrix_update(A, &f));
  compare_with_one(s, &own, 4.1, options);
  CHECKF(!kcl_solver_update(s, A, KCL_KEEP_CHOICES), "%s", kcl_error());
  compare_with_one(s, &next, 5, options);
  kcl_matrix_free(&A), kcl_options_free(&o), kcl_solver_free(&s);
}

static void test_product(void) {
  static block own;
  static double x[N], y[N];
  const int64_t first = (int64_t)N * rank / ranks, end = (int64_t)N * (rank + 1) / ranks;
  kcl_matrix *A = NULL;
  const kcl_vectors in = {.size = sizeof in, .data = x + first};
  kcl_vectors out = {.size = sizeof out, .data = y};
  double worst = 0;
  fill_block(&own, first, end, 4);
  const kcl_entries e = entries_of(&own);
  for (int i = 0; i < N; i++) x[i] = sin(i);
  CHECK(!kcl_matrix_create(c, &e, &A));
  CHECKF(!kcl_matrix_apply(A, 0, NULL, &in, NULL, &out), "%s", kcl_error());
  for (int64_t i = 0; i < own.rows; i++) {
    double sum = 0;
    for (int64_t k = own.row[i] - 1; k < own.row[i + 1] - 1; k++)
      sum += own.val[k] * x[own.col[k] - 1];
    worst = fmax(worst, fabs(sum - y[i]));
  }
  CHECKF(worst < 1e-13, "the product differs by %g", worst);
  kcl_matrix_free(&A);
}

static void test_context(void) {
  double v;
  CHECK(!kcl_context_number(c, "ranks", &v) && v == ranks && !kcl_context_number(c, "rank", &v) &&
        v == rank);
  CHECK(!kcl_context_number(alone, "ranks", &v) && v == 1);
  const int rc = kcl_context_agree(c, rank == ranks - 1 ? KCL_REFUSED : KCL_OK);
  CHECK(rc == KCL_REFUSED && kcl_context_agree(alone, KCL_INPUT) == KCL_INPUT);
  CHECK(kcl_context_create_mpi(MPI_COMM_WORLD, "no such device", 0, &(kcl_context *){NULL}) ==
        KCL_DEVICE);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *device = argc > 1 ? argv[1] : "cpu";
  CHECK(!kcl_context_create("cpu", 1, &alone));
  if (CHECKF(!kcl_context_create_mpi(MPI_COMM_WORLD, device, 0, &c), "%s", kcl_error())) {
    test_solver("solver=cg precond=jacobi"), test_solver("solver=bicgstab precond=none");
    test_product(), test_context();
  }
  kcl_context_free(&c), kcl_context_free(&alone);
  return report_of_ranks();
}
