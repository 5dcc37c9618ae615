/* PETSc's KSPCG without preconditioner, rows spread over the ranks, tolerance off.
 * usage: mpirun -n 2 petsc A.mtx [aij|sbaij|amg] [PETSc options]; sbaij stores half of a symmetric A.
 * usage: mpirun -n 2 petsc A.mtx amg: CG with GAMG's defaults, once, to 1e-8, b = A 1.
 * The norm is CG's natural norm, which is |r| without preconditioner; -ksp_norm_type unpreconditioned costs
 * one more reduction.
 */
#include "peer.h"
#include <petscksp.h>

#define OK(call) PetscCallAbort(PETSC_COMM_WORLD, call)

typedef struct problem {
  KSP ksp;
  Vec b, x;
} problem;

static void solve(void *state, int iterations) {
  problem *p = state;
  OK(KSPSetTolerances(p->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, iterations));
  MPI_Barrier(PETSC_COMM_WORLD);
  OK(KSPSolve(p->ksp, p->b, p->x));
  MPI_Barrier(PETSC_COMM_WORLD);
}

/* This rank's rows of A; every rank has read the whole file. half: the upper triangle alone. */
static Mat distribute(const mtx *A, int half) {
  Mat M;
  PetscInt own = PETSC_DECIDE, all = A->rows, last, count = 0;
  OK(PetscSplitOwnership(PETSC_COMM_WORLD, &own, &all));
  MPI_Scan(&own, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
  const PetscInt first = last - own, most = A->ptr[last] - A->ptr[first];
  PetscInt *ptr = mtx_alloc((size_t)own + 1, sizeof *ptr);
  PetscInt *col = mtx_alloc((size_t)most, sizeof *col);
  PetscScalar *val = mtx_alloc((size_t)most, sizeof *val);
  for (PetscInt i = first; i < last; i++) {
    for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
      if (half && A->col[k] < i) continue;
      col[count] = A->col[k];
      val[count++] = A->val[k];
    }
    ptr[i - first + 1] = count;
  }
  OK(MatCreate(PETSC_COMM_WORLD, &M));
  OK(MatSetSizes(M, own, own, all, all));
  OK(MatSetType(M, half
                       ? MATSBAIJ
                       : MATAIJ)); /* only the matching one of the four calls below has an effect */
  OK(MatSeqAIJSetPreallocationCSR(M, ptr, col, val));
  OK(MatMPIAIJSetPreallocationCSR(M, ptr, col, val));
  OK(MatSeqSBAIJSetPreallocationCSR(M, 1, ptr, col, val));
  OK(MatMPISBAIJSetPreallocationCSR(M, 1, ptr, col, val));
  free(ptr);
  free(col);
  free(val);
  return M;
}

static problem set_up(Mat M) {
  problem p;
  PC pc;
  OK(MatCreateVecs(M, &p.x, &p.b));
  OK(VecSet(p.b, 1));
  OK(KSPCreate(PETSC_COMM_WORLD, &p.ksp));
  OK(KSPSetOperators(p.ksp, M, M));
  OK(KSPSetType(p.ksp, KSPCG));
  OK(KSPGetPC(p.ksp, &pc));
  OK(PCSetType(pc, PCNONE));
  OK(KSPSetNormType(p.ksp, KSP_NORM_NATURAL));
  OK(KSPSetConvergenceTest(p.ksp, KSPConvergedSkip, NULL, NULL));
  OK(KSPSetFromOptions(p.ksp));
  return p;
}

/* Rank 0 gets all of x and its true residual; the others get 0. b: NULL for ones. */
static double residual(const mtx *A, const double *b, Vec x) {
  VecScatter scatter;
  Vec whole;
  const double *values;
  double out = 0;
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(VecScatterCreateToZero(x, &scatter, &whole));
  OK(VecScatterBegin(scatter, x, whole, INSERT_VALUES, SCATTER_FORWARD));
  OK(VecScatterEnd(scatter, x, whole, INSERT_VALUES, SCATTER_FORWARD));
  OK(VecGetArrayRead(whole, &values));
  if (rank == 0) out = peer_residual(A, b, values);
  OK(VecRestoreArrayRead(whole, &values));
  OK(VecScatterDestroy(&scatter));
  OK(VecDestroy(&whole));
  return out;
}

static void run_multigrid(const char *path, const mtx *A, Mat M) {
  double *sums = peer_row_sums(A);
  PetscInt first, last;
  peer_run r;
  KSP ksp;
  PC pc;
  Vec b, x;
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(MatCreateVecs(M, &x, &b));
  OK(VecGetOwnershipRange(b, &first, &last));
  for (PetscInt i = first; i < last; i++) OK(VecSetValue(b, i, sums[i], INSERT_VALUES));
  OK(VecAssemblyBegin(b));
  OK(VecAssemblyEnd(b));
  MPI_Barrier(PETSC_COMM_WORLD);
  const double start = peer_now();
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, M, M));
  OK(KSPSetType(ksp, KSPCG));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCGAMG));
  OK(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  OK(KSPSetTolerances(ksp, 1e-8, 0, PETSC_DEFAULT, 1000));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSetUp(ksp));
  MPI_Barrier(PETSC_COMM_WORLD);
  const double ready = peer_now();
  OK(KSPSolve(ksp, b, x));
  MPI_Barrier(PETSC_COMM_WORLD);
  r.setup = ready - start, r.solve = peer_now() - ready;
  PetscInt iterations;
  OK(KSPGetIterationNumber(ksp, &iterations));
  r.iterations = (int)iterations;
  const double left = residual(A, sums, x);
  if (rank == 0) peer_print_run("PETSc GAMG", path, &r, left);
  OK(KSPDestroy(&ksp));
  OK(VecDestroy(&b));
  OK(VecDestroy(&x));
  free(sums);
}

static void time_iterations(const char *path, const mtx *A, Mat M, const char *type) {
  problem p = set_up(M);
  peer_samples s = peer_measure(solve, &p);
  double r = residual(A, NULL, p.x);
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0)
    peer_print(*type == 's' ? "petsc sbaij" : "petsc aij", path, A, PEER_ITERATIONS, &s, r);
  OK(KSPDestroy(&p.ksp));
  OK(VecDestroy(&p.b));
  OK(VecDestroy(&p.x));
}

int main(int argc, char **argv) {
  OK(PetscInitialize(&argc, &argv, NULL, NULL));
  const int amg = argc > 2 && !strcmp(argv[2], "amg");
  const char *type = argc > 2 && !amg && argv[2][0] != '-' ? argv[2] : "aij";
  peer_usage(argc > 1 && (!strcmp(type, "aij") || !strcmp(type, "sbaij")),
             "petsc A.mtx [aij|sbaij|amg] [PETSc options]");
  mtx A = mtx_read(argv[1]);
  if (!strcmp(type, "sbaij") && !A.symmetric) mtx_fail(argv[1], "sbaij needs a symmetric file");
  Mat M = distribute(&A, *type == 's');
  if (amg)
    run_multigrid(argv[1], &A, M);
  else
    time_iterations(argv[1], &A, M, type);
  OK(MatDestroy(&M));
  mtx_free(&A);
  return PetscFinalize();
}
