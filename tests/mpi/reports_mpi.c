/* What reports and descriptions of several ranks say is what those of one process say. */
#include "distributed/distributed.h"
#include "tests/mpi/systems.h"

enum { ROWS = 40 };

/* The last row of A is 0 and b is not: A x = b has no solution, and no x comes nearer than 1 with a last element of 0. */
static kcl_csr *no_solution(kcl *ctx, double *b, double *guess) {
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

/* Of a solve that failed, where the guess is the answer. */
static void guess_wins(kcl *ctx) {
  double b[ROWS], x[ROWS], guess[ROWS];
  kcl_csr *A = no_solution(ctx, b, guess);
  kcl_mpi_solver *s = NULL;
  kcl_report r = {0};
  kcl_options o = kcl_defaults;
  o.solver = "gmres", o.precond = "none", o.format = "csr-scalar", o.scale = KCL_SCALE_NONE;
  o.restart = 4;
  memcpy(x, guess, sizeof x);
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &s);
  if (!rc) rc = kcl_mpi_solve(s, rank ? NULL : b, rank ? NULL : x, &r);
  CHECKF(!rc && !r.converged && r.iterations > 0 && r.x_iteration == 0,
         "the guess wins: %d, %lld iterations, x is that of %lld", rc, (long long)r.iterations,
         (long long)r.x_iteration);
  CHECK(rank || !memcmp(x, guess, sizeof x));
  kcl_mpi_solver_free(&s), kcl_csr_free(&A);
}

/* Stages per iteration, rounded up where a pass of several iterations has stages that they share. */
static void stages(const host *h, const problem *p, const char *solver) {
  kcl_options o = options_for(p, solver, "csr-scalar", 0);
  kcl_mpi_solver *s = NULL;
  kcl_setup_info info;
  o.restart = 4;
  if (kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, rank ? NULL : h->A, KCL_MPI_ROOT, &o, &s)) return;
  kcl_mpi_solver_info(s, &info);
  if (!s->alone) {
    const kcl_program *k = s->selection.engine->program;
    const int all = k->stages[KCL_LOOP];
    CHECKF(info.stages * k->steps >= all && (info.stages - 1) * k->steps < all,
           "%s: %d stages per iteration, %d in %d iterations", words(&o, p->kind), info.stages, all,
           k->steps);
  }
  kcl_mpi_solver_free(&s);
}

static void all_stages(const host *h, const problem *p) {
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS) && p == problems; i++) {
    const char *solver = kcl_list(KCL_SOLVERS, i).name;
    if (wanted_solver(solver)) stages(h, p, solver);
  }
}

int main(int argc, char **argv) { return conform(argc, argv, guess_wins, all_stages); }
