/* A program of PETSc that knows nothing of krylocl: time steps of (A + step I) x = b, A the Laplacian of a grid of n by n points. It prints per
 * step "step K reason R iterations N residual |b - A x| / |b|", computed by PETSc. Options:
 *   -n N -steps K      size, number of steps
 *   -new_values        values change from step to step      -new_pattern   and a pair of entries is added in the last step
 *   -in_place          KSPSetOperators once, before the first step
 *   -shell             products alone: a MATSHELL over A; P is A unless -shell_alone; -unknown: not declared positive definite
 *   -mat KIND          aij, baij, sbaij, nest (of one block)
 *   -guess             x of the last step is the guess      -reuse         the first preconditioner is kept
 *   -singular          the grid without boundary, with its null space
 *   -transpose -not_finite    solves with A^T; b has a NaN
 * Its exit status is 0: what PETSc's is. */
#include <petscksp.h>

typedef struct grid {
  PetscInt n;
  PetscBool singular;
} grid;

static PetscBool has(const char *name) {
  PetscBool set = PETSC_FALSE;
  PetscOptionsHasName(NULL, NULL, name, &set);
  return set;
}

static PetscErrorCode fill(Mat A, const grid *g, PetscScalar shift) {
  PetscInt begin, end;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt i = row / g->n, j = row % g->n;
    const PetscInt near[4] = {i > 0 ? row - g->n : -1, i < g->n - 1 ? row + g->n : -1,
                              j > 0 ? row - 1 : -1, j < g->n - 1 ? row + 1 : -1};
    PetscInt count = 0;
    for (int k = 0; k < 4; k++) {
      count += near[k] >= 0;
      PetscCall(MatSetValue(A, row, near[k], -1, INSERT_VALUES)); /* -1: ignored */
    }
    PetscCall(
        MatSetValue(A, row, row, (g->singular ? (PetscScalar)count : 4) + shift, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode new_matrix(const grid *g, Mat *A) {
  const PetscInt n = g->n * g->n;
  MatNullSpace space;
  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 6, NULL, 5, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(fill(*A, g, 0));
  if (!g->singular) PetscFunctionReturn(0);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  PetscCall(MatSetNullSpace(*A, space));
  PetscCall(MatSetTransposeNullSpace(*A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply_shell(Mat S, Vec x, Vec y) {
  Mat A;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(0);
}

/* The matrix of the KSP: A itself, a shell over it, or a copy of another type. */
static PetscErrorCode operator_of(Mat A, PetscBool shell, const char *kind, Mat *out) {
  PetscInt rows, cols;
  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &rows, &cols));
  if (shell) {
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, cols, PETSC_DECIDE, PETSC_DECIDE, A, out));
    PetscCall(MatShellSetOperation(*out, MATOP_MULT, (void (*)(void))multiply_shell));
    PetscCall(MatSetOption(*out, MAT_SPD, (PetscBool)(!has("-unknown"))));
  } else if (!strcmp(kind, "nest")) {
    PetscCall(MatCreateNest(PETSC_COMM_WORLD, 1, NULL, 1, NULL, &A, out));
  } else if (strcmp(kind, "aij")) {
    PetscCall(MatConvert(A, kind, MAT_INITIAL_MATRIX, out));
  } else {
    *out = A;
    PetscCall(PetscObjectReference((PetscObject)A));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode print_step(KSP ksp, PetscInt step, Mat A, Vec b, Vec x) {
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscReal norm, bnorm;
  Vec r;
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "step %" PetscInt_FMT " reason %d iterations %" PetscInt_FMT
                        " residual %.3e\n",
                        step, (int)reason, iterations, (double)(norm / bnorm)));
  PetscFunctionReturn(0);
}

static PetscErrorCode change_matrix(Mat A, const grid *g, PetscInt step, PetscBool last) {
  PetscFunctionBeginUser;
  if (step && (has("-new_values") || has("-new_pattern")))
    PetscCall(fill(A, g, (PetscReal)step / 64));
  if (!last || !has("-new_pattern")) PetscFunctionReturn(0);
  PetscCall(MatSetValue(A, 0, 2 * g->n, -0.25, INSERT_VALUES));
  PetscCall(MatSetValue(A, 2 * g->n, 0, -0.25, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_steps(const grid *g, PetscInt steps, const char *kind) {
  Mat A, given = NULL;
  Vec b, x;
  KSP ksp;
  PetscFunctionBeginUser;
  PetscCall(new_matrix(g, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(VecSetRandom(b, NULL));
  if (g->singular) {
    PetscCall(VecCopy(b, x));
    PetscCall(MatMult(A, x, b));
    PetscCall(VecSet(x, 0));
  }
  if (has("-not_finite")) PetscCall(VecSet(b, (PetscScalar)(0.0 / 0.0)));
  for (PetscInt step = 0; step < steps; step++) {
    PetscCall(change_matrix(A, g, step, (PetscBool)(step == steps - 1)));
    if (!step || !has("-in_place")) {
      PetscBool same = (PetscBool)(given && (given == A || has("-shell")));
      if (!same) {
        PetscCall(MatDestroy(&given));
        PetscCall(operator_of(A, has("-shell"), kind, &given));
      }
      PetscCall(KSPSetOperators(ksp, given,
                                has("-shell_alone") ? given
                                : has("-shell")     ? A
                                                    : given));
    }
    if (!step) PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)(step && has("-guess"))));
    PetscCall(KSPSetReusePreconditioner(ksp, (PetscBool)(step && has("-reuse"))));
    if (has("-transpose"))
      PetscCall(KSPSolveTranspose(ksp, b, x));
    else
      PetscCall(KSPSolve(ksp, b, x));
    PetscCall(print_step(ksp, step, A, b, x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&given));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  grid g = {.n = 30};
  PetscInt steps = 1;
  char kind[16] = "aij";
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &g.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat", kind, sizeof kind, NULL));
  g.singular = has("-singular");
  PetscCall(run_steps(&g, steps, kind));
  PetscCall(PetscFinalize());
  return 0;
}
