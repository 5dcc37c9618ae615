/* Ranks that fail, and methods that give up: what happens to one is what happens to all. */
#include "tests/calls.h"
#include "tests/mpi/systems.h"

/* A failure on one rank is that of all, with its number in the message. */
static void failures(kcl_context *ctx) {
  const int who = ranks - 1;
  kcl_solver *s = NULL;
  kcl_csr *A = NULL;
  int rc = kcl_mpi_agree(ctx, MPI_COMM_WORLD, rank == who ? KCL_INPUT : KCL_OK);
  CHECKF(rc == KCL_INPUT, "agreement: %d", rc);
  CHECKF(ranks == 1 || strstr(kcl_error(), "rank "), "agreement: %s", kcl_error());
  CHECK(!kcl_csr_create(ctx, 2, 2 * ranks, 2, KCL_D, &A));
  A->row_ptr[1] = 1, A->row_ptr[2] = 2;
  A->col[0] = 2 * rank,
  A->col[1] = rank == who ? 99 : 2 * rank + 1; /* a column that is not there */
  rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROWS, NULL, &s);
  CHECKF(rc == KCL_USAGE && !s, "a column that is not there: %d, %s", rc, kcl_error());
  CHECKF(ranks == 1 || strstr(kcl_error(), "rank "), "names the rank: %s", kcl_error());
  kcl_csr_free(&A);
}

/* The last rank's rows have no columns of their own, so there is no M of its block, though A is regular. */
static void fails_on_one(kcl_context *ctx, const char *precond) {
  kcl_solver *s = NULL;
  kcl_options o = kcl_defaults;
  kcl_csr *A = NULL;
  const int to = (rank + ranks - 1) % ranks;
  o.solver = "gmres", o.precond = precond;
  CHECK(!kcl_csr_create(ctx, 2, 2 * ranks, 4, KCL_D, &A));
  for (int i = 0; i < 2; i++) {
    const bool own = rank != ranks - 1;
    A->row_ptr[i + 1] = 2 * (i + 1);
    for (int j = 0; j < 2; j++) {
      A->col[2 * i + j] = 2 * (own ? rank : to) + j;
      ((double *)A->val)[2 * i + j] = i == j ? 2 : 1;
    }
  }
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROWS, &o, &s);
  CHECKF(rc == KCL_USAGE && !s && strstr(kcl_error(), precond) && strstr(kcl_error(), "rank "),
         "%s of a singular block: %d, %s", precond, rc, kcl_error());
  kcl_csr_free(&A);
}

/* Nearly A = -A^H, but not so that lsqr would be taken at once: the methods that come first break down or come no nearer, lsqr
 * solves it. So the last way of the plan is reached on all ranks, and with it A^H. */
static void next_ways(kcl_context *ctx) {
  enum { ROWS = 60 };
  const int all = ROWS * ranks;
  kcl_solver *s = NULL;
  kcl_csr *A = NULL;
  kcl_report r = {0};
  kcl_options o = kcl_defaults;
  double b[ROWS], x[ROWS] = {0};
  int64_t at = 0;
  CHECK(!kcl_csr_create(ctx, ROWS, all, 2 * ROWS, KCL_D, &A));
  for (int i = 0; i < ROWS; i++) {
    const int row = rank * ROWS + i;
    if (row) A->col[at] = row - 1, ((double *)A->val)[at++] = row == 1 ? -1 - 1e-12 : -1;
    if (row + 1 < all) A->col[at] = row + 1, ((double *)A->val)[at++] = 1;
    A->row_ptr[i + 1] = at, b[i] = row + 1;
  }
  A->nnz = at;
  o.format = "csr-scalar", o.precond = "none";
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROWS, &o, &s);
  if (!rc) rc = kcl_solve_one(s, b, x, &r);
  CHECKF(!rc && r.converged && strstr(r.changes, "continued with lsqr"), "next ways: %s; %s",
         rc ? kcl_error() : kcl_reason_text(r.reason), rc ? "" : r.changes);
  CHECK(rc || rank || fabs(x[1] - 1) < 1e-6); /* the first row */
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- ranks that differ */

static void refused_options(kcl_context *ctx, const kcl_csr *A, const char *name,
                            kcl_options other) {
  kcl_solver *s = NULL;
  char start[80];
  const kcl_options *o = rank == ranks - 1 ? &other : &kcl_defaults;
  const int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, o, &s);
  snprintf(start, sizeof start, "rank %d: %s is ", ranks - 1, name);
  CHECKF(rc == KCL_USAGE && !s && !strncmp(kcl_error(), start, strlen(start)) &&
             strstr(kcl_error(), "on rank 0"),
         "another %s: %d, %s", name, rc, kcl_error());
  kcl_solver_free(&s);
}

/* Options of the last rank that are not those of rank 0. */
static void other_options(kcl_context *ctx) {
  kcl_csr *A = NULL;
  const kcl_options o = kcl_defaults;
  kcl_options other;
  CHECK(!kcl_generate(ctx, "poisson2d:9", &A, NULL));
  other = o, other.solver = "minres", refused_options(ctx, A, "solver", other);
  other = o, other.precond = "jacobi", refused_options(ctx, A, "precond", other);
  other = o, other.format = "ell", refused_options(ctx, A, "format", other);
  other = o, other.precision = KCL_S, refused_options(ctx, A, "precision", other);
  other = o, other.tol = 1e-3, refused_options(ctx, A, "tol", other);
  other = o, other.atol = 1e-3, refused_options(ctx, A, "atol", other);
  other = o, other.max_iter = 5, refused_options(ctx, A, "max_iter", other);
  other = o, other.restart = 7, refused_options(ctx, A, "restart", other);
  other = o, other.symmetry = KCL_SYMMETRY_EXACT, refused_options(ctx, A, "symmetry", other);
  other = o, other.scale = KCL_SCALE_NONE, refused_options(ctx, A, "scale", other);
  kcl_context_set_reproducible(ctx, rank == ranks - 1);
  refused_options(ctx, A, "reproducible", o);
  kcl_context_set_reproducible(ctx, 0);
  kcl_csr_free(&A);
}

static void other_layout(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  CHECK(!kcl_generate(ctx, "poisson2d:9", &A, NULL));
  const int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A,
                               rank == ranks - 1 ? KCL_MPI_ROWS : KCL_MPI_ROOT, NULL, &s);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), "layout is KCL_MPI_ROWS"), "%d, %s", rc,
         kcl_error());
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Vectors of rank 0 that are not arrays without gaps: every rank learns of it, and the solver is as it was. */
static void other_vectors(kcl_context *ctx) {
  double b[81], x[81] = {0};
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  for (int i = 0; i < 81; i++) b[i] = 1;
  CHECK(!kcl_generate(ctx, "poisson2d:9", &A, NULL) &&
        !kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, NULL, &s));
  const kcl_vectors of_b = {.size = sizeof of_b, .data = b},
                    bad[] = {{.size = sizeof of_b, .data = x, .place = KCL_OPENCL},
                             {.size = sizeof of_b, .data = x, .offset = 1},
                             {.size = sizeof of_b, .data = x, .inc = 2}};
  const char *const words[] = {"x.place is 1: not on", "x.offset is 1: not on",
                               "x.inc is 2: not on"};
  for (int i = 0; i < 4; i++) {
    kcl_vectors of_x = i < 3 ? bad[i] : (kcl_vectors){.size = sizeof of_b, .data = x};
    const int rc = kcl_solve_vectors(s, NULL, rank ? NULL : &of_b, rank ? NULL : &of_x, &r);
    CHECKF(i < 3 ? rc == KCL_USAGE && (rank || strstr(kcl_error(), words[i])) : !rc && r.converged,
           "vectors %d: %d, %s", i, rc, kcl_error());
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

static void other_system(kcl_context *ctx) {
  kcl_mpi_part part;
  const char *name = rank == ranks - 1 ? "poisson2d:8" : "poisson2d:9";
  const int rc = kcl_mpi_generate(ctx, MPI_COMM_WORLD, name, &part);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), "poisson2d:8, and on rank 0 poisson2d:9"), "%d, %s",
         rc, kcl_error());
  kcl_mpi_part_free(&part);
}

static void apart(kcl_context *ctx) {
  failures(ctx);
  if (ranks > 1) other_options(ctx), other_layout(ctx), other_vectors(ctx), other_system(ctx);
  if (ranks > 1 && !few_combinations)
    fails_on_one(ctx, "jacobi"), fails_on_one(ctx, "block-jacobi"), fails_on_one(ctx, "ilu");
  if (ranks == 2 && !few_combinations) next_ways(ctx); /* some thousand iterations */
}

int main(int argc, char **argv) { return conform(argc, argv, apart, NULL); }
