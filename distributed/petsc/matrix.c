/* A Mat of PETSc as a kcl_matrix. MATSEQAIJ is CSR, as ours: columns and values are used in place where PetscInt has 32 bits, and row
 * starts, which have 64 bits here, are copied (8 bytes per row). On several ranks every rank has its rows of a MATMPIAIJ, with columns of
 * the whole matrix, which kcl_mpi_setup copies. Other types with entries are converted; of the rest there are products alone. */
#include "plugin.h"

int kcl_petsc_ranks(PetscObject o) {
  int count = 1;
  MPI_Comm_size(PetscObjectComm(o), &count);
  return count;
}

/* On several ranks with a message-passing library for one thread the executor has one, too: PETSc starts MPI so by default. */
static PetscErrorCode open_context(Mat mat, const kcl_petsc_settings *s, kcl_context **c) {
  const char *device = s->device[0] ? s->device : NULL;
  MPI_Comm comm = PetscObjectComm((PetscObject)mat);
  int provided, threads = (int)s->threads;
  PetscFunctionBegin;
  if (*c) PetscFunctionReturn(0);
  if (kcl_petsc_ranks((PetscObject)mat) == 1) {
    KCL_PETSC_CALL(kcl_context_create(device, threads, c));
    PetscFunctionReturn(0);
  }
  PetscCallMPI(MPI_Query_thread(&provided));
  if (!threads && provided < MPI_THREAD_SERIALIZED) threads = 1;
  KCL_PETSC_CALL(kcl_context_create(NULL, threads, c));
  KCL_PETSC_CALL(kcl_mpi_select(*c, comm, device));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_drop(kcl_petsc_matrix *m) {
  PetscFunctionBegin;
  kcl_matrix_free(&m->matrix);
  PetscCall(PetscFree(m->starts));
  PetscCall(MatDestroy(&m->rows));
  PetscCall(MatDestroy(&m->mat));
  PetscCall(VecDestroy(&m->x));
  PetscCall(VecDestroy(&m->y));
  PetscFunctionReturn(0);
}

/* ---------------------------------------------------------------- rows of this rank */

/* Types that are converted to AIJ at the cost of a copy. MATSHELL could be, too, by a product per column. */
static PetscErrorCode has_entries(Mat mat, PetscBool *aij, PetscBool *other) {
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)mat, aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)mat, other, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ,
                                      MATMPISBAIJ, MATSEQDENSE, MATMPIDENSE, MATNEST, MATIS, ""));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_has_entries(Mat mat, PetscBool *entries) {
  PetscBool aij, other;
  PetscFunctionBegin;
  PetscCall(has_entries(mat, &aij, &other));
  *entries = (PetscBool)(aij || other);
  PetscFunctionReturn(0);
}

/* *rows: the MATSEQAIJ of own rows; it has a reference. *whose: its arrays are those of mat. */
static PetscErrorCode own_rows(Mat mat, PetscBool aij, Mat *rows, PetscBool *whose) {
  PetscBool distributed;
  Mat made = NULL;
  PetscFunctionBegin;
  if (!aij) PetscCall(MatConvert(mat, MATAIJ, MAT_INITIAL_MATRIX, &made));
  if (made) mat = made;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)mat, MATMPIAIJ, &distributed));
  *rows = mat;
  if (distributed)
    PetscCall(MatMPIAIJGetLocalMat(mat, MAT_INITIAL_MATRIX, rows));
  else
    PetscCall(PetscObjectReference((PetscObject)mat));
  *whose = (PetscBool)(aij && kcl_petsc_ranks((PetscObject)mat) == 1);
  PetscCall(MatDestroy(&made));
  PetscFunctionReturn(0);
}

/* starts in 64 bits for arrays that are used in place. */
static PetscErrorCode widen_starts(const PetscInt *ia, PetscInt n, int64_t **starts) {
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)n + 1, starts));
  for (PetscInt i = 0; i <= n; i++) (*starts)[i] = ia[i];
  PetscFunctionReturn(0);
}

/* m->matrix from `entries`, or its values. A failure of one rank is the failure of all. */
static PetscErrorCode make_matrix(kcl_petsc_matrix *m, Mat mat, const kcl_entries *entries) {
  int rc;
  PetscFunctionBegin;
  if (m->matrix)
    rc = kcl_matrix_update(m->matrix, entries->borrow ? NULL : entries);
  else
    rc = kcl_matrix_create(m->context, entries, &m->matrix);
  if (kcl_petsc_ranks((PetscObject)mat) > 1)
    rc = kcl_mpi_agree(m->context, PetscObjectComm((PetscObject)mat), rc);
  KCL_PETSC_CALL(rc);
  PetscFunctionReturn(0);
}

/* The matrix of own rows, in place or copied. */
static PetscErrorCode take_mat_entries(kcl_petsc_matrix *m, Mat mat, Mat rows, PetscBool place) {
  const PetscInt *ia, *ja;
  const PetscScalar *val;
  PetscInt n, cols;
  PetscBool done;
  kcl_entries e = {.size = sizeof e, .layout = KCL_CSR, .type = KCL_PETSC_TYPE};
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(rows, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "krylocl: no rows of this matrix");
  PetscCall(MatSeqAIJGetArrayRead(rows, &val));
  PetscCall(MatGetSize(mat, NULL, &cols));
  if (place && !m->starts) PetscCall(widen_starts(ia, n, &m->starts));
  e.rows = n, e.cols = cols, e.nnz = ia[n];
  e.row = place ? (const void *)m->starts : ia, e.row_bits = place ? 64 : 8 * (int)sizeof *ia;
  e.col = ja, e.col_bits = 8 * (int)sizeof *ja;
  e.val = m->val = val, e.borrow = place;
  PetscCall(make_matrix(m, mat, &e));
  PetscCall(MatSeqAIJRestoreArrayRead(rows, &val));
  PetscCall(MatRestoreRowIJ(rows, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscFunctionReturn(0);
}

/* Vectors that M or A nearly annihilates, for the preconditioner sa: real ones, on one rank. */
static PetscErrorCode take_near_null(kcl_petsc_matrix *m, Mat mat) {
  MatNullSpace space;
  const Vec *vecs;
  const PetscScalar *from;
  PetscBool constant;
  PetscInt count, n;
  double *modes;
  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(mat, &space));
  if (!space || PetscDefined(USE_COMPLEX)) PetscFunctionReturn(0);
  PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vecs));
  PetscCall(MatGetLocalSize(mat, &n, NULL));
  const PetscInt cols = count + constant;
  if (!cols) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1((size_t)n * cols, &modes));
  for (PetscInt j = 0; j < count; j++) {
    PetscCall(VecGetArrayRead(vecs[j], &from));
    for (PetscInt i = 0; i < n; i++) modes[j * n + i] = PetscRealPart(from[i]);
    PetscCall(VecRestoreArrayRead(vecs[j], &from));
  }
  for (PetscInt i = 0; i < n && constant; i++) modes[count * n + i] = 1;
  const kcl_vectors v = {.size = sizeof v, .data = modes, .rows = n, .cols = cols, .type = 'd'};
  const int rc = kcl_matrix_set_near_null(m->matrix, &v);
  PetscCall(PetscFree(modes));
  KCL_PETSC_CALL(rc);
  PetscFunctionReturn(0);
}

/* ---------------------------------------------------------------- changes */

static PetscErrorCode find_change(kcl_petsc_matrix *m, Mat mat, PetscBool copy,
                                  kcl_petsc_change *change) {
  PetscObjectState values, pattern;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)mat, &values));
  PetscCall(MatGetNonzeroState(mat, &pattern));
  if (!m->matrix || m->mat != mat || pattern != m->pattern || (copy && m->rows))
    *change = KCL_PETSC_ANEW;
  else
    *change = values == m->values || m->shell ? KCL_PETSC_SAME : KCL_PETSC_VALUES;
  if (*change == KCL_PETSC_VALUES && kcl_petsc_ranks((PetscObject)mat) > 1)
    *change = KCL_PETSC_ANEW; /* a solver on ranks has no update */
  m->values = values, m->pattern = pattern;
  PetscFunctionReturn(0);
}

/* Entries that can be used in place are; PETSc may still move them. */
static PetscErrorCode take_rows(kcl_petsc_matrix *m, Mat mat, PetscBool aij, PetscBool copy,
                                kcl_petsc_change *change) {
  const PetscScalar *before = m->val;
  PetscBool place = PETSC_FALSE;
  Mat rows;
  PetscFunctionBegin;
  PetscCall(own_rows(mat, aij, &rows, &place));
  place = (PetscBool)(place && !copy && sizeof(PetscInt) == 4);
  if (place && m->rows) {
    PetscCall(MatSeqAIJGetArrayRead(rows, &m->val));
    PetscCall(MatSeqAIJRestoreArrayRead(rows, &m->val));
    if (m->val != before) *change = KCL_PETSC_ANEW;
  }
  if (*change == KCL_PETSC_ANEW) PetscCall(kcl_petsc_drop(m));
  PetscCall(take_mat_entries(m, mat, rows, place));
  PetscCall(MatDestroy(&m->rows));
  if (place) m->rows = rows, rows = NULL;
  PetscCall(MatDestroy(&rows));
  if (kcl_petsc_ranks((PetscObject)mat) == 1) PetscCall(take_near_null(m, mat));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_take(kcl_petsc_matrix *m, Mat mat, const kcl_petsc_settings *s,
                              PetscBool copy, PetscBool shell, kcl_petsc_change *change) {
  PetscBool aij, other;
  PetscFunctionBegin;
  PetscCall(open_context(mat, s, &m->context));
  PetscCall(has_entries(mat, &aij, &other));
  PetscCheck(aij || other || shell, PetscObjectComm((PetscObject)mat), PETSC_ERR_SUP,
             "krylocl: a preconditioner needs entries, and a matrix of type %s has none",
             ((PetscObject)mat)->type_name);
  PetscCall(find_change(m, mat, copy, change));
  if (*change == KCL_PETSC_SAME) PetscFunctionReturn(0);
  PetscCall(PetscObjectReference((PetscObject)mat));
  if (aij || other) {
    PetscCall(take_rows(m, mat, aij, copy, change));
    PetscCall(MatDestroy(&m->mat));
    m->mat = mat, m->shell = PETSC_FALSE;
  } else {
    PetscCall(kcl_petsc_drop(m));
    m->mat = mat, m->shell = PETSC_TRUE;
    PetscCall(kcl_petsc_products(m));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_solver(kcl_petsc_matrix *m, kcl_precond *M, const kcl_options *o,
                                kcl_solver **out) {
  MPI_Comm comm = PetscObjectComm((PetscObject)m->mat);
  PetscFunctionBegin;
  if (kcl_petsc_ranks((PetscObject)m->mat) == 1)
    KCL_PETSC_CALL(kcl_solver_create(m->matrix, M, o, out));
  else
    KCL_PETSC_CALL(
        kcl_mpi_setup(m->context, comm, kcl_matrix_csr(m->matrix), KCL_MPI_ROWS, o, out));
  PetscFunctionReturn(0);
}
