/* Set-up of a KSPKRYLOCL: which preconditioner, and what a changed matrix needs. */
#include "plugin.h"

/* PETSc gives every KSP a PC, ilu by default: it counts where it was asked for, and where krylocl has no entries for one of its own. */
static PetscErrorCode decide_pc(KSP ksp, Mat A, PetscBool *use) {
  const kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  const PetscBool alone = (PetscBool)(kcl_petsc_ranks((PetscObject)ksp) == 1);
  PetscBool none, asked, entries;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscOptionsHasName(((PetscObject)ksp->pc)->options, ((PetscObject)ksp->pc)->prefix,
                                "-pc_type", &asked));
  PetscCall(kcl_petsc_has_entries(A, &entries));
  *use =
      (PetscBool)(!none && (k->use_pc == PETSC_DECIDE ? asked || (!entries && alone) : k->use_pc));
  PetscCheck(!*use || alone, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "krylocl: on several ranks -ksp_type krylocl takes no PC of PETSc: -pc_type none, and "
             "-ksp_krylocl_precond");
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_ksp_reset(KSP ksp) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  PetscFunctionBegin;
  kcl_solver_free(&k->solver);
  PetscCall(kcl_petsc_precond_free(&k->state, &k->M));
  PetscCall(kcl_petsc_drop(&k->matrix));
  if (!k->partners) kcl_context_free(&k->matrix.context);
  k->matrix.context = NULL, k->partners = PETSC_FALSE;
  k->partner = (kcl_petsc_shared){0};
  PetscFunctionReturn(0);
}

/* The context and M of a PCKRYLOCL; *change: what its M became. */
static PetscErrorCode find_partner(KSP ksp, kcl_petsc_change *change) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  kcl_petsc_share share = NULL;
  kcl_petsc_shared s;
  PetscFunctionBegin;
  *change = KCL_PETSC_SAME;
  PetscCall(PCSetUp(ksp->pc));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, "PCKryloclShare_C", &share));
  if (!share) PetscFunctionReturn(0);
  PetscCall((*share)(ksp->pc, &s));
  PetscCheck(
      s.M, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
      "krylocl: a preconditioner that is an inner solve (-pc_krylocl_solve) needs a flexible "
      "method: -ksp_type fgmres");
  if (k->matrix.context != s.context) {
    PetscCall(kcl_petsc_ksp_reset(ksp));
    k->matrix.context = s.context, k->partners = PETSC_TRUE;
  }
  if (k->partner.M != s.M || k->partner.created != s.created)
    *change = KCL_PETSC_ANEW;
  else if (k->partner.updated != s.updated)
    *change = k->matrix.shell ? KCL_PETSC_ANEW : KCL_PETSC_VALUES;
  k->partner = s;
  PetscFunctionReturn(0);
}

static PetscErrorCode give_tolerances(KSP ksp) {
  kcl_options *o = ((kcl_petsc_ksp *)ksp->data)->settings.options;
  PetscFunctionBegin;
  if (ksp->rtol > 0) KCL_PETSC_CALL(kcl_options_set_number(o, "tol", (double)ksp->rtol));
  KCL_PETSC_CALL(kcl_options_set_number(o, "atol", (double)ksp->abstol));
  KCL_PETSC_CALL(kcl_options_set_number(o, "max-iter", (double)ksp->max_it));
  PetscFunctionReturn(0);
}

/* Naming a method that needs a Hermitian M asserts that M is, as with PETSc's methods. */
static PetscBool asserts_hermitian(const kcl_petsc_ksp *k) {
  static const char *const methods[] = {"cg", "cg-single", "cg-pipelined", "minres"};
  const char *name = kcl_options_get(k->settings.options, "solver");
  for (int i = 0; i < 4; i++)
    if (!strcmp(name, methods[i])) return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode remake_solver(KSP ksp, PetscBool use_pc) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  PetscFunctionBegin;
  kcl_solver_free(&k->solver);
  PetscCall(kcl_petsc_precond_free(&k->state, &k->M));
  if (use_pc && !k->partner.M)
    PetscCall(
        kcl_petsc_precond(k->matrix.context, ksp->pc, asserts_hermitian(k), &k->state, &k->M));
  PetscCall(give_tolerances(ksp));
  PetscCall(
      kcl_petsc_solver(&k->matrix, k->M ? k->M : k->partner.M, k->settings.options, &k->solver));
  PetscFunctionReturn(0);
}

/* A kept multigrid multiplies by the matrix that it was made for: where its values were written over, entries are copied from now on. */
static PetscErrorCode update_solver(KSP ksp, PetscBool use_pc) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  const int keep = ksp->pc->reusepreconditioner ? KCL_KEEP_PRECOND : (int)k->settings.keep;
  const int rc = kcl_solver_update(k->solver, k->matrix.matrix, keep);
  kcl_petsc_change change;
  PetscFunctionBegin;
  if (rc == KCL_CHANGED && !k->copy) {
    k->copy = PETSC_TRUE;
    PetscCall(
        kcl_petsc_take(&k->matrix, k->matrix.mat, &k->settings, PETSC_TRUE, PETSC_TRUE, &change));
    PetscCall(remake_solver(ksp, use_pc));
    PetscFunctionReturn(0);
  }
  KCL_PETSC_CALL(rc);
  PetscFunctionReturn(0);
}

/* The solver for what matrix and PC are; nothing where they are as they were. */
PetscErrorCode kcl_petsc_prepare(KSP ksp) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  kcl_petsc_change change, change_of_pc = KCL_PETSC_SAME;
  PetscBool use_pc;
  Mat A;
  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(decide_pc(ksp, A, &use_pc));
  if (use_pc)
    PetscCall(find_partner(ksp, &change_of_pc));
  else
    PetscCall(PCSetType(ksp->pc, PCNONE)); /* or KSPSetUp would set up the default, ilu */
  const PetscBool copy = (PetscBool)(k->copy || k->settings.copy);
  PetscCall(kcl_petsc_take(&k->matrix, A, &k->settings, copy, PETSC_TRUE, &change));
  if (change_of_pc > change) change = change_of_pc;
  if (!k->solver || change == KCL_PETSC_ANEW)
    PetscCall(remake_solver(ksp, use_pc));
  else if (change == KCL_PETSC_VALUES)
    PetscCall(update_solver(ksp, use_pc));
  PetscFunctionReturn(0);
}
