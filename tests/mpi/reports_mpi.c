/* Reports and descriptions of several ranks say the same as those of one process. */
#include "distributed/distributed.h"
#include "tests/calls.h"
#include "tests/mpi/systems.h"

enum { ROWS = 40 };

/* The last row of A is 0 and b is not: A x = b has no solution, and no x comes nearer than 1 with a last element of 0. */
static kcl_csr *no_solution(kcl_context *ctx, double *b, double *guess) {
  kcl_csr *A = NULL;
  int64_t at = 0;
  CHECK(!kcl_csr_create(ctx, ROWS, ROWS, 2 * (ROWS - 1), KCL_D, &A));
  for (int i = 0; i < ROWS - 1; i++) {
    A->col[at] = i, ((double *)A->val)[at++] = i + 1;
    A->col[at] = ROWS - 1, ((double *)A->val)[at++] = 1;
    A->row_ptr[i + 1] = at, b[i] = i + 1, guess[i] = 1;
  }
  A->row_ptr[ROWS] = at, b[ROWS - 1] = 5, guess[ROWS - 1] = 0;
  return A;
}

/* A solve fails after thousands of iterations, and the guess is the answer: x is that of iteration 0. */
static void guess_wins(kcl_context *ctx) {
  double b[ROWS], x[ROWS], guess[ROWS];
  kcl_csr *A = no_solution(ctx, b, guess);
  kcl_solver *s = NULL;
  kcl_report r = {0};
  kcl_options o = kcl_defaults;
  o.solver = "gmres", o.precond = "none", o.format = "csr-scalar", o.scale = KCL_SCALE_NONE;
  o.restart = 4;
  memcpy(x, guess, sizeof x);
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &s);
  if (!rc) rc = kcl_solve_one(s, rank ? NULL : b, rank ? NULL : x, &r);
  CHECKF(!rc && !r.converged && r.iterations > 0 && r.x_iteration == 0,
         "the guess wins: %d, %lld iterations, x is that of %lld", rc, (long long)r.iterations,
         (long long)r.x_iteration);
  CHECK(rank || !memcmp(x, guess, sizeof x));
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* A number from [-1, 1). */
static double next_random(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17; /* Marsaglia 2003 */
  return ldexp((double)(*state >> 11), -52) - 1;
}

/* Diagonally dominant, but for a column of zeros: x is not unique, and A x = b has no solution. */
enum { SIZE = 60, ZERO = 23 };
static kcl_csr *with_zero_column(kcl_context *ctx, double *b) {
  kcl_csr *A = NULL;
  uint64_t state = 88172645463325252u;
  int64_t at = 0;
  CHECK(!kcl_csr_create(ctx, SIZE, SIZE, SIZE * SIZE, KCL_D, &A));
  for (int i = 0; i < SIZE; i++) {
    for (int j = 0; j < SIZE; j++) {
      const double v = next_random(&state) / SIZE + (i == j);
      if (j == ZERO || (i + 7 * j) % 5) continue;
      A->col[at] = j, ((double *)A->val)[at++] = v;
    }
    A->row_ptr[i + 1] = at, b[i] = next_random(&state);
  }
  A->nnz = at;
  return A;
}

static void finite_answer(kcl_context *ctx) {
  double b[SIZE], x[SIZE] = {0};
  kcl_csr *A = with_zero_column(ctx, b);
  kcl_solver *s = NULL;
  kcl_report r = {0};
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, NULL, &s);
  if (!rc) rc = kcl_solve_one(s, rank ? NULL : b, rank ? NULL : x, &r);
  CHECKF(!rc && isfinite(r.true_relative_residual) && isfinite(r.backward_error),
         "a column of zeros: %d, %s, residual %g, backward error %g", rc, kcl_reason_text(r.reason),
         r.true_relative_residual, r.backward_error);
  for (int i = 0; i < SIZE && !rank; i++)
    CHECKF(isfinite(x[i]) && (i != ZERO || x[i] == 0), "a column of zeros: x[%d] = %g", i, x[i]);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* A callback, which one rank alone may call, can use the context no more than in one process: it is refused, and waits for nobody. */
static kcl_solver *in_callback;
static int refused;

static int call_back(void *user, const kcl_progress *p) {
  kcl_context *ctx = user;
  kcl_solver *another = NULL;
  double x[ROWS * ROWS] = {0};
  kcl_report r = {.iterations = 7};
  (void)p;
  refused += kcl_solve_one(in_callback, x, x, &r) == KCL_BUSY && strstr(kcl_error(), "callback") &&
             !r.iterations &&
             kcl_mpi_setup(ctx, MPI_COMM_WORLD, NULL, KCL_MPI_ROOT, NULL, &another) == KCL_BUSY;
  return 0;
}

static void use_in_callback(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  double x[ROWS * ROWS] = {0};
  kcl_report r;
  kcl_options o = kcl_defaults;
  o.progress = call_back, o.user = ctx, o.solver = "cg", o.precond = "none";
  CHECK(!kcl_generate(ctx, "poisson2d:40", &A, &b));
  CHECK(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &in_callback));
  int rc = kcl_solve_one(in_callback, rank ? NULL : b->val, rank ? NULL : x, &r);
  CHECKF(!rc && r.converged && (rank || refused), "%d, %s, refused %d times", rc,
         kcl_reason_text(r.reason), refused);
  CHECKF(!kcl_solve_one(in_callback, rank ? NULL : b->val, rank ? NULL : x, &r), "once more: %s",
         kcl_error());
  kcl_solver_free(&in_callback), kcl_csr_free(&A), kcl_dense_free(&b);
}

static void answers(kcl_context *ctx) {
  guess_wins(ctx);
  finite_answer(ctx);
  use_in_callback(ctx);
}

/* Stages per iteration, rounded up where a pass of several iterations has stages that they share. */
static void stages(const host *h, const problem *p, const char *solver) {
  kcl_options o = options_for(p, solver, "csr-scalar", 0);
  kcl_solver *s = NULL;
  kcl_setup_info info;
  o.restart = 4;
  if (kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, rank ? NULL : h->A, KCL_MPI_ROOT, &o, &s)) return;
  kcl_solver_info(s, &info);
  if (s->system.distribution) {
    const kcl_program *k = s->selection.engine->program;
    const int all = k->stages[KCL_LOOP];
    CHECKF(info.stages * k->iterations >= all && (info.stages - 1) * k->iterations < all,
           "%s: %d stages per iteration, %d in %d iterations", words(&o, p->kind), info.stages, all,
           k->iterations);
  }
  kcl_solver_free(&s);
}

static void all_stages(const host *h, const problem *p) {
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS) && p == problems; i++) {
    const char *solver = kcl_list(KCL_SOLVERS, i).name;
    if (wanted_solver(solver)) stages(h, p, solver);
  }
}

int main(int argc, char **argv) { return conform(argc, argv, answers, all_stages); }
