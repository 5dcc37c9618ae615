/* KSPKRYLOCL: the whole solve by krylocl, in its tolerances as in PETSc's of the unpreconditioned norm: |b - A x| <= max(rtol |b|,
 * abstol). The preconditioner is one of krylocl, chosen by its options, or the PC of the KSP. */
#include "plugin.h"
#include <float.h>

/* ---------------------------------------------------------------- solve */

/* Requests that PETSc may make of a KSP and that this one refuses. */
static PetscErrorCode check_request(KSP ksp) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  const KSPConvergedDefaultCtx *c = (KSPConvergedDefaultCtx *)ksp->cnvP;
  const PetscBool by_default = (PetscBool)(ksp->converged == KSPConvergedDefault);
  PetscFunctionBegin;
  PetscCheck(!ksp->transpose_solve, comm, PETSC_ERR_SUP, "krylocl: no solve with the transpose");
  PetscCheck(by_default || ksp->converged == KSPConvergedSkip, comm, PETSC_ERR_SUP,
             "krylocl: no convergence test but KSPConvergedDefault");
  PetscCheck(!by_default || ksp->guess_zero || !c || !(c->initialrtol || c->mininitialrtol), comm,
             PETSC_ERR_SUP, "krylocl: rtol is relative to |b|, not to the initial residual");
  PetscFunctionReturn(0);
}

static KSPConvergedReason reason_of(KSP ksp, const kcl_result *r) {
  const KSPConvergedDefaultCtx *c = (KSPConvergedDefaultCtx *)ksp->cnvP;
  const PetscBool may_end = (PetscBool)(ksp->converged == KSPConvergedSkip || (c && c->convmaxits));
  switch (r->reason) {
  case KCL_CONVERGED: return ksp->rnorm <= ksp->abstol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
  case KCL_ITERATION_LIMIT: return may_end ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
  case KCL_INDEFINITE: return KSP_DIVERGED_INDEFINITE_MAT;
  case KCL_BREAKDOWN_RHO: return KSP_DIVERGED_BREAKDOWN_BICG;
  case KCL_NOT_FINITE: return KSP_DIVERGED_NANORINF;
  case KCL_DIVERGED: return KSP_DIVERGED_DTOL;
  case KCL_LEAST_SQUARES: return KSP_CONVERGED_RTOL_NORMAL;
  default: return KSP_DIVERGED_BREAKDOWN; /* other breakdowns, stagnation, an end asked for */
  }
}

/* Residual norms of all iterations, to PETSc's history and monitors. x is the solution for all of them. */
static PetscErrorCode replay_history(KSP ksp, double bnorm) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  const double *relative;
  int64_t count;
  PetscFunctionBegin;
  KCL_PETSC_CALL(kcl_solver_history(k->solver, 0, &relative, &count));
  k->replaying = PETSC_TRUE;
  for (int64_t i = 0; i < count; i++) {
    const PetscReal norm = (PetscReal)(relative[i] * bnorm);
    PetscCall(KSPLogResidualHistory(ksp, norm));
    PetscCall(KSPMonitor(ksp, (PetscInt)i, norm));
  }
  k->replaying = PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode report_solve(KSP ksp, const kcl_result *r, double bnorm) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  const double relative =
      r->true_relative_residual >= 0 ? r->true_relative_residual : r->relative_residual;
  PetscFunctionBegin;
  PetscCall(replay_history(ksp, bnorm));
  ksp->its = (PetscInt)r->iterations;
  ksp->rnorm = (PetscReal)(relative * bnorm);
  ksp->reason = reason_of(ksp, r);
  PetscCall(PetscInfo(ksp,
                      "krylocl: %s: %s, %d iterations, true residual %.2e, backward error %.1e\n",
                      kcl_solver_text(k->solver, "solver"), kcl_reason_text(r->reason),
                      (int)r->iterations, r->true_relative_residual, r->backward_error));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve_arrays(KSP ksp, kcl_result *result) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  const PetscBool ignored = (PetscBool)(ksp->normtype == KSP_NORM_NONE || !(ksp->rtol > 0));
  const kcl_call call = {.size = sizeof call,
                         .tol = ignored ? DBL_MIN : (double)ksp->rtol,
                         .atol = ksp->normtype == KSP_NORM_NONE ? 0 : (double)ksp->abstol,
                         .max_iter = ksp->max_it,
                         .zero_guess = ksp->guess_zero,
                         .certify = (int32_t)k->certify};
  kcl_vectors b = {.size = sizeof b}, x = {.size = sizeof x};
  const PetscScalar *from;
  PetscScalar *to;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(ksp->vec_rhs, &from));
  PetscCall(VecGetArray(ksp->vec_sol, &to));
  b.data = (void *)(uintptr_t)from, x.data = to;
  const int rc = kcl_solve(k->solver, &b, &x, &call, result);
  PetscCall(VecRestoreArray(ksp->vec_sol, &to));
  PetscCall(VecRestoreArrayRead(ksp->vec_rhs, &from));
  KCL_PETSC_CALL(rc);
  PetscFunctionReturn(0);
}

static PetscErrorCode solve_whole(KSP ksp) {
  kcl_result result = {.size = sizeof result};
  PetscReal bnorm;
  PetscFunctionBegin;
  PetscCall(check_request(ksp));
  PetscCall(kcl_petsc_prepare(ksp));
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &bnorm));
  if (PetscIsInfOrNanReal(bnorm)) {
    ksp->its = 0, ksp->rnorm = bnorm, ksp->reason = KSP_DIVERGED_NANORINF;
    PetscFunctionReturn(0);
  }
  PetscCall(solve_arrays(ksp, &result));
  PetscCall(KSP_RemoveNullSpace(ksp, ksp->vec_sol));
  PetscCall(report_solve(ksp, &result, (double)bnorm));
  PetscFunctionReturn(0);
}

/* While monitors are called the x of an iteration is no longer known. */
static PetscErrorCode build_residual(KSP ksp, Vec t, Vec v, Vec *V) {
  PetscFunctionBegin;
  PetscCheck(
      !((kcl_petsc_ksp *)ksp->data)->replaying, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
      "krylocl: monitors see the residual norms of all iterations, but x of the last one alone");
  PetscCall(KSPBuildResidualDefault(ksp, t, v, V));
  PetscFunctionReturn(0);
}

/* ---------------------------------------------------------------- options, view, life */

static PetscErrorCode read_ksp_options(KSP ksp, PetscOptionItems *PetscOptionsObject) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  static const char *const certificates[] = {"default", "full", "residuals", "nothing"};
  PetscBool use = (PetscBool)(k->use_pc > 0), set;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "krylocl");
  PetscCall(kcl_petsc_read_settings(PetscOptionsObject, "-ksp_krylocl_", " tol atol max-iter nrhs ",
                                    &k->settings));
  PetscCall(PetscOptionsBool("-ksp_krylocl_use_pc", "precondition by the PC of PETSc",
                             "docs/petsc.md", use, &use, &set));
  if (set) k->use_pc = use;
  PetscCall(PetscOptionsEList("-ksp_krylocl_certify", "certificate of a solve", "kcl_solve",
                              certificates, 4, certificates[k->certify], &k->certify, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(0);
}

static PetscErrorCode view_ksp(KSP ksp, PetscViewer v) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  PetscBool ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)v, PETSCVIEWERASCII, &ascii));
  if (ascii && k->solver) PetscCall(kcl_petsc_view_solver(k->solver, k->matrix.context, v));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_ksp(KSP ksp) {
  kcl_petsc_ksp *k = (kcl_petsc_ksp *)ksp->data;
  PetscFunctionBegin;
  PetscCall(kcl_petsc_ksp_reset(ksp));
  kcl_options_free(&k->settings.options);
  PetscCall(PetscFree(ksp->data));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_ksp_create(KSP ksp) {
  kcl_petsc_ksp *k;
  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  ksp->data = k, k->use_pc = PETSC_DECIDE;
  PetscCall(kcl_petsc_new_settings(&k->settings));
  for (int side = PC_LEFT; side <= PC_RIGHT; side++) {
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, (PCSide)side, 3 - side));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, (PCSide)side, 1));
  }
  ksp->setupnewmatrix = PETSC_TRUE;
  ksp->ops->setup = kcl_petsc_prepare;
  ksp->ops->solve = solve_whole;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = build_residual;
  ksp->ops->setfromoptions = read_ksp_options;
  ksp->ops->view = view_ksp;
  ksp->ops->reset = kcl_petsc_ksp_reset;
  ksp->ops->destroy = destroy_ksp;
  PetscFunctionReturn(0);
}
