/* Functions of PETSc that the library calls: products with a Mat without entries, and z = M^-1 r of any PC. On a device each call costs two
 * transfers. Vectors of PETSc lend their place to arrays of the library for a call. */
#include "plugin.h"

/* VecPlaceArray for both; the vector of input is not written. */
static PetscErrorCode place_arrays(Vec x, const kcl_vectors *from, Vec y, kcl_vectors *to) {
  PetscFunctionBegin;
  PetscCall(VecPlaceArray(x, (const PetscScalar *)from->data + from->offset));
  PetscCall(VecPlaceArray(y, (const PetscScalar *)to->data + to->offset));
  PetscFunctionReturn(0);
}

static PetscErrorCode reset_arrays(Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(VecResetArray(x));
  PetscCall(VecResetArray(y));
  PetscFunctionReturn(0);
}

/* Vectors on one rank: of rows and of columns, without arrays. */
static PetscErrorCode hollow_vectors(PetscInt rows, PetscInt cols, Vec *x, Vec *y) {
  PetscFunctionBegin;
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, cols, NULL, x));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, rows, NULL, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply_mat(kcl_petsc_matrix *m, int adjoint, const kcl_vectors *x,
                                   kcl_vectors *y) {
  Vec from = adjoint ? m->y : m->x, to = adjoint ? m->x : m->y;
  PetscFunctionBegin;
  PetscCall(place_arrays(from, x, to, y));
  if (adjoint)
    PetscCall(MatMultHermitianTranspose(m->mat, from, to));
  else
    PetscCall(MatMult(m->mat, from, to));
  PetscCall(reset_arrays(from, to));
  PetscFunctionReturn(0);
}

static int call_mat(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y, void *queue) {
  (void)queue;
  return multiply_mat((kcl_petsc_matrix *)user, adjoint, x, y) ? KCL_INPUT : KCL_OK;
}

/* Properties of the matrix that PETSc knows; nothing is computed for them. */
static PetscErrorCode find_properties(Mat mat, unsigned *out) {
  PetscBool known, holds, positive, adjoint;
  PetscFunctionBegin;
  PetscCall(MatIsHermitianKnown(mat, &known, &holds));
  if (!PetscDefined(USE_COMPLEX) && !(known && holds))
    PetscCall(MatIsSymmetricKnown(mat, &known, &holds));
  const PetscBool hermitian = (PetscBool)(known && holds);
  PetscCall(MatIsSPDKnown(mat, &known, &holds));
  positive = (PetscBool)(known && holds);
  PetscCall(MatHasOperation(mat, MATOP_MULT_TRANSPOSE, &adjoint));
  *out = (hermitian || positive ? KCL_SHELL_HERMITIAN : 0u) | (positive ? KCL_SHELL_POSITIVE : 0u) |
         (adjoint ? KCL_SHELL_ADJOINT : 0u);
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_products(kcl_petsc_matrix *m) {
  unsigned properties = 0;
  PetscInt rows, cols;
  PetscFunctionBegin;
  PetscCheck(kcl_petsc_ranks((PetscObject)m->mat) == 1, PetscObjectComm((PetscObject)m->mat),
             PETSC_ERR_SUP, "krylocl: on several ranks a matrix has entries; type %s has none",
             ((PetscObject)m->mat)->type_name);
  PetscCall(find_properties(m->mat, &properties));
  PetscCall(MatGetSize(m->mat, &rows, &cols));
  PetscCall(hollow_vectors(rows, cols, &m->x, &m->y));
  KCL_PETSC_CALL(kcl_matrix_create_shell(m->context, rows, cols, KCL_PETSC_TYPE, call_mat, m,
                                         KCL_HOST, properties, &m->matrix));
  PetscFunctionReturn(0);
}

static PetscErrorCode apply_pc(kcl_petsc_pc *p, const kcl_vectors *r, kcl_vectors *z) {
  PetscFunctionBegin;
  PetscCall(place_arrays(p->x, r, p->y, z));
  PetscCall(PCApply(p->pc, p->x, p->y));
  PetscCall(reset_arrays(p->x, p->y));
  PetscFunctionReturn(0);
}

static int call_pc(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z, void *queue) {
  (void)queue;
  if (adjoint) return KCL_REFUSED; /* not declared */
  return apply_pc((kcl_petsc_pc *)user, r, z) ? KCL_INPUT : KCL_OK;
}

PetscErrorCode kcl_petsc_precond(kcl_context *c, PC pc, PetscBool hermitian, kcl_petsc_pc *state,
                                 kcl_precond **out) {
  Mat pmat;
  PetscInt n;
  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, NULL, &pmat));
  PetscCall(MatGetSize(pmat, &n, NULL));
  PetscCall(hollow_vectors(n, n, &state->x, &state->y));
  state->pc = pc;
  KCL_PETSC_CALL(kcl_precond_create_shell(c, n, KCL_PETSC_TYPE, call_pc, state, KCL_HOST,
                                          hermitian ? KCL_PRECOND_HERMITIAN : 0u, out));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_precond_free(kcl_petsc_pc *state, kcl_precond **M) {
  PetscFunctionBegin;
  kcl_precond_free(M);
  PetscCall(VecDestroy(&state->x));
  PetscCall(VecDestroy(&state->y));
  PetscFunctionReturn(0);
}
