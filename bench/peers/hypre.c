/* hypre's PCG on a ParCSR matrix, no preconditioner, rows spread over the ranks, tolerance 0.
 * usage: mpirun -n 2 hypre A.mtx [amg]
 * amg: PCG with BoomerAMG's defaults, once, to 1e-8, b = A 1.
 * The convergence test uses <Cr, r> with C the identity, which CG computes anyway: two dots per iteration.
 */
#include "peer.h"
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>

#define OK(call) need(call, #call)

typedef struct problem {
  HYPRE_Solver solver;
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector b, x;
} problem;

static void need(HYPRE_Int status, const char *call) {
  if (status == 0) return;
  fprintf(stderr, "hypre: code %d from %s\n", (int)status, call);
  MPI_Abort(MPI_COMM_WORLD, 4);
}

static void solve(void *state, int iterations) {
  problem *p = state;
  OK(HYPRE_ParVectorSetConstantValues(p->x, 0));
  OK(HYPRE_PCGSetMaxIter(p->solver, iterations));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(HYPRE_ParCSRPCGSolve(p->solver, p->A, p->b, p->x));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The rows first to last - 1 of A; every rank has read the whole file. */
static HYPRE_IJMatrix distribute(const mtx *A, int first, int last) {
  const size_t own = (size_t)(last - first), most = (size_t)(A->ptr[last] - A->ptr[first]);
  HYPRE_Int *lengths = mtx_alloc(own, sizeof *lengths);
  HYPRE_BigInt *rows = mtx_alloc(own, sizeof *rows), *cols = mtx_alloc(most, sizeof *cols);
  HYPRE_IJMatrix M;
  for (int i = first; i < last; i++) {
    rows[i - first] = i;
    lengths[i - first] = A->ptr[i + 1] - A->ptr[i];
  }
  for (size_t k = 0; k < most; k++) cols[k] = A->col[A->ptr[first] + (int)k];
  OK(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last - 1, first, last - 1, &M));
  OK(HYPRE_IJMatrixSetObjectType(M, HYPRE_PARCSR));
  OK(HYPRE_IJMatrixSetRowSizes(M, lengths));
  OK(HYPRE_IJMatrixInitialize(M));
  OK(HYPRE_IJMatrixSetValues(M, last - first, lengths, rows, cols, A->val + A->ptr[first]));
  OK(HYPRE_IJMatrixAssemble(M));
  free(lengths);
  free(rows);
  free(cols);
  return M;
}

static HYPRE_IJVector vector(int first, int last, HYPRE_ParVector *object) {
  HYPRE_IJVector v;
  OK(HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last - 1, &v));
  OK(HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR));
  OK(HYPRE_IJVectorInitialize(v));
  OK(HYPRE_IJVectorAssemble(v));
  OK(HYPRE_IJVectorGetObject(v, (void **)object));
  return v;
}

static void set_up(problem *p) {
  OK(HYPRE_ParVectorSetConstantValues(p->b, 1));
  OK(HYPRE_ParVectorSetConstantValues(p->x, 0));
  OK(HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &p->solver));
  OK(HYPRE_PCGSetTol(p->solver, 0));
  OK(HYPRE_PCGSetTwoNorm(p->solver, 0));
  OK(HYPRE_ParCSRPCGSetup(p->solver, p->A, p->b, p->x));
}

/* Rank 0 gets all of x and its true residual; the others get 0. b: NULL for ones. */
static double residual(const mtx *A, const double *b, HYPRE_IJVector x, int first, int last,
                       int rank, int ranks) {
  const int count = last - first;
  double *mine = mtx_alloc((size_t)count, sizeof *mine), out = 0;
  double *whole = mtx_alloc((size_t)A->rows, sizeof *whole);
  int *counts = mtx_alloc((size_t)ranks, sizeof *counts);
  int *starts = mtx_alloc((size_t)ranks, sizeof *starts);
  OK(HYPRE_IJVectorGetValues(x, count, NULL, mine)); /* no indices: all of this rank's, in order */
  MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(&first, 1, MPI_INT, starts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gatherv(mine, count, MPI_DOUBLE, whole, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) out = peer_residual(A, b, whole);
  free(mine);
  free(whole);
  free(counts);
  free(starts);
  return out;
}

static peer_run multigrid(problem *p) {
  peer_run r;
  HYPRE_Solver amg;
  HYPRE_Int iterations;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = peer_now();
  OK(HYPRE_BoomerAMGCreate(&amg));
  OK(HYPRE_BoomerAMGSetTol(amg, 0));
  OK(HYPRE_BoomerAMGSetMaxIter(amg, 1));
  OK(HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &p->solver));
  OK(HYPRE_PCGSetTol(p->solver, 1e-8));
  OK(HYPRE_PCGSetTwoNorm(p->solver, 1));
  OK(HYPRE_PCGSetMaxIter(p->solver, 1000));
  OK(HYPRE_ParCSRPCGSetPrecond(p->solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg));
  OK(HYPRE_ParVectorSetConstantValues(p->x, 0));
  OK(HYPRE_ParCSRPCGSetup(p->solver, p->A, p->b, p->x));
  MPI_Barrier(MPI_COMM_WORLD);
  const double ready = peer_now();
  OK(HYPRE_ParCSRPCGSolve(p->solver, p->A, p->b, p->x));
  MPI_Barrier(MPI_COMM_WORLD);
  r.setup = ready - start, r.solve = peer_now() - ready;
  OK(HYPRE_PCGGetNumIterations(p->solver, &iterations));
  r.iterations = (int)iterations;
  OK(HYPRE_BoomerAMGDestroy(amg));
  return r;
}

/* b = A 1, once to 1e-8. */
static void run_multigrid(const char *path, const mtx *A, problem *p, HYPRE_IJVector b,
                          HYPRE_IJVector x, int first, int last, int rank, int ranks) {
  double *sums = peer_row_sums(A);
  HYPRE_BigInt *rows = mtx_alloc((size_t)(last - first), sizeof *rows);
  for (int i = first; i < last; i++) rows[i - first] = i;
  OK(HYPRE_IJVectorSetValues(b, last - first, rows, sums + first));
  OK(HYPRE_IJVectorAssemble(b));
  const peer_run run = multigrid(p);
  const double r = residual(A, sums, x, first, last, rank, ranks);
  if (rank == 0) peer_print_run("hypre BoomerAMG", path, &run, r);
  free(rows);
  free(sums);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  const int amg = argc == 3 && !strcmp(argv[2], "amg");
  peer_usage(argc == 2 || amg, "hypre A.mtx [amg]");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  OK(HYPRE_Init());
  mtx A = mtx_read(argv[1]);
  const int first = (int)((long long)A.rows * rank / ranks);
  const int last = (int)((long long)A.rows * (rank + 1) / ranks);
  problem p;
  HYPRE_IJMatrix M = distribute(&A, first, last);
  HYPRE_IJVector b = vector(first, last, &p.b), x = vector(first, last, &p.x);
  OK(HYPRE_IJMatrixGetObject(M, (void **)&p.A));
  if (amg) {
    run_multigrid(argv[1], &A, &p, b, x, first, last, rank, ranks);
  } else {
    set_up(&p);
    peer_samples s = peer_measure(solve, &p);
    double r = residual(&A, NULL, x, first, last, rank, ranks);
    if (rank == 0) peer_print("hypre", argv[1], &A, PEER_ITERATIONS, &s, r);
  }
  OK(HYPRE_ParCSRPCGDestroy(p.solver));
  OK(HYPRE_IJVectorDestroy(b));
  OK(HYPRE_IJVectorDestroy(x));
  OK(HYPRE_IJMatrixDestroy(M));
  OK(HYPRE_Finalize());
  mtx_free(&A);
  return MPI_Finalize();
}
