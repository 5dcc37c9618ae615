/* PCKRYLOCL: z = M^-1 r by a preconditioner of krylocl, or by an inner solve (-pc_krylocl_solve), which differs between applications
 * and is for fgmres. On several ranks there is the inner solve alone: blocks are those of PCBJACOBI. */
#include "plugin.h"

typedef struct inner_pc {
  kcl_petsc_settings settings;
  kcl_petsc_matrix matrix;
  kcl_petsc_shared shared;
  kcl_solver *solver; /* the inner solve */
  PetscBool solves;
  PetscInt iterations; /* of all inner solves */
} inner_pc;

/* ---------------------------------------------------------------- set-up */

static PetscErrorCode set_up_inner(PC pc, kcl_petsc_change change) {
  inner_pc *k = (inner_pc *)pc->data;
  PetscFunctionBegin;
  if (k->solver && change == KCL_PETSC_VALUES) {
    KCL_PETSC_CALL(kcl_solver_update(k->solver, k->matrix.matrix, (int)k->settings.keep));
    PetscFunctionReturn(0);
  }
  kcl_solver_free(&k->solver);
  PetscCall(kcl_petsc_solver(&k->matrix, NULL, k->settings.options, &k->solver));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_up_precond(PC pc, kcl_petsc_change change) {
  inner_pc *k = (inner_pc *)pc->data;
  kcl_petsc_shared *s = &k->shared;
  PetscFunctionBegin;
  s->context = k->matrix.context;
  if (s->M && change == KCL_PETSC_VALUES) {
    KCL_PETSC_CALL(kcl_precond_update(s->M, k->matrix.matrix));
    s->updated++;
    PetscFunctionReturn(0);
  }
  kcl_precond_free(&s->M);
  KCL_PETSC_CALL(kcl_precond_create(k->matrix.matrix, k->settings.options, &s->M));
  s->created++;
  PetscFunctionReturn(0);
}

static PetscErrorCode set_up_pc(PC pc) {
  inner_pc *k = (inner_pc *)pc->data;
  kcl_petsc_change change;
  PetscFunctionBegin;
  PetscCheck(
      k->solves || kcl_petsc_ranks((PetscObject)pc) == 1, PetscObjectComm((PetscObject)pc),
      PETSC_ERR_SUP,
      "krylocl: a preconditioner is of one rank: -pc_type bjacobi -sub_pc_type krylocl, or an "
      "inner solve by all ranks, -pc_krylocl_solve \"solver=cg tol=1e-2\"");
  PetscCall(
      kcl_petsc_take(&k->matrix, pc->pmat, &k->settings, k->settings.copy, PETSC_FALSE, &change));
  if (change == KCL_PETSC_SAME && (k->solver || k->shared.M)) PetscFunctionReturn(0);
  if (k->solves)
    PetscCall(set_up_inner(pc, change));
  else
    PetscCall(set_up_precond(pc, change));
  PetscFunctionReturn(0);
}

/* ---------------------------------------------------------------- application */

/* An x that is not accurate enough is one all the same. */
static int solve_inner(PC pc, const kcl_vectors *r, kcl_vectors *z) {
  inner_pc *k = (inner_pc *)pc->data;
  const kcl_call call = {.size = sizeof call, .zero_guess = 1, .certify = KCL_CERTIFY_NOTHING};
  kcl_result result = {.size = sizeof result};
  const int rc = kcl_solve(k->solver, r, z, &call, &result);
  k->iterations += (PetscInt)result.iterations;
  if (!rc && !result.converged && result.reason != KCL_ITERATION_LIMIT &&
      result.reason != KCL_STAGNATED)
    pc->failedreason = PC_SUBPC_ERROR;
  return rc;
}

/* Entries used in place may have moved where PCSetUp is left out (PCSetReusePreconditioner). */
static PetscErrorCode check_pattern(PC pc) {
  inner_pc *k = (inner_pc *)pc->data;
  PetscObjectState pattern;
  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(k->matrix.mat, &pattern));
  if (k->matrix.rows && pattern != k->matrix.pattern) PetscCall(set_up_pc(pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode apply_either(PC pc, int adjoint, Vec r, Vec z) {
  inner_pc *k = (inner_pc *)pc->data;
  kcl_vectors R = {.size = sizeof R}, Z = {.size = sizeof Z};
  const PetscScalar *from;
  PetscScalar *to;
  int rc;
  PetscFunctionBegin;
  PetscCall(check_pattern(pc));
  PetscCall(VecGetArrayRead(r, &from));
  PetscCall(VecGetArrayWrite(z, &to));
  R.data = (void *)(uintptr_t)from, Z.data = to;
  rc = k->solver ? solve_inner(pc, &R, &Z) : kcl_precond_apply(k->shared.M, adjoint, &R, &Z);
  PetscCall(VecRestoreArrayWrite(z, &to));
  PetscCall(VecRestoreArrayRead(r, &from));
  KCL_PETSC_CALL(rc);
  PetscFunctionReturn(0);
}

static PetscErrorCode apply_krylocl(PC pc, Vec r, Vec z) { return apply_either(pc, 0, r, z); }

/* z = M^-T r = conj(M^-H conj(r)). */
static PetscErrorCode apply_transpose(PC pc, Vec r, Vec z) {
  inner_pc *k = (inner_pc *)pc->data;
  Vec conjugate;
  PetscFunctionBegin;
  PetscCheck(!k->solver, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "krylocl: an inner solve has no transpose");
  PetscCall(VecDuplicate(r, &conjugate));
  PetscCall(VecCopy(r, conjugate));
  PetscCall(VecConjugate(conjugate));
  PetscCall(apply_either(pc, 1, conjugate, z));
  PetscCall(VecConjugate(z));
  PetscCall(VecDestroy(&conjugate));
  PetscFunctionReturn(0);
}

static PetscErrorCode share_precond(PC pc, kcl_petsc_shared *out) {
  *out = ((inner_pc *)pc->data)->shared;
  return 0;
}

/* ---------------------------------------------------------------- options, view, life */

static PetscErrorCode read_pc_options(PC pc, PetscOptionItems *PetscOptionsObject) {
  inner_pc *k = (inner_pc *)pc->data;
  char text[1024] = "";
  PetscBool set;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "krylocl");
  PetscCall(kcl_petsc_read_settings(PetscOptionsObject, "-pc_krylocl_", "", &k->settings));
  PetscCall(PetscOptionsString("-pc_krylocl_solve", "an inner solve: \"solver=cg tol=1e-2\"",
                               "docs/petsc.md", text, text, sizeof text, &set));
  if (set) KCL_PETSC_CALL(kcl_options_parse(k->settings.options, text));
  if (set) k->solves = PETSC_TRUE;
  PetscOptionsHeadEnd();
  PetscFunctionReturn(0);
}

static PetscErrorCode view_pc(PC pc, PetscViewer v) {
  inner_pc *k = (inner_pc *)pc->data;
  PetscBool ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)v, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(0);
  if (k->solver) {
    PetscCall(PetscViewerASCIIPrintf(v, "  inner solve, %" PetscInt_FMT " iterations so far\n",
                                     k->iterations));
    PetscCall(kcl_petsc_view_solver(k->solver, k->matrix.context, v));
  } else if (k->shared.M) {
    PetscCall(PetscViewerASCIIPrintf(v, "  preconditioner %s on %s\n",
                                     kcl_options_get(k->settings.options, "precond"),
                                     kcl_context_text(k->matrix.context, "device")));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode reset_pc(PC pc) {
  inner_pc *k = (inner_pc *)pc->data;
  PetscFunctionBegin;
  kcl_solver_free(&k->solver);
  kcl_precond_free(&k->shared.M);
  PetscCall(kcl_petsc_drop(&k->matrix));
  kcl_context_free(&k->matrix.context);
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_pc(PC pc) {
  inner_pc *k = (inner_pc *)pc->data;
  PetscFunctionBegin;
  PetscCall(reset_pc(pc));
  kcl_options_free(&k->settings.options);
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCKryloclShare_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_pc_create(PC pc) {
  inner_pc *k;
  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  pc->data = k;
  PetscCall(kcl_petsc_new_settings(&k->settings));
  pc->ops->setup = set_up_pc;
  pc->ops->apply = apply_krylocl;
  pc->ops->applytranspose = apply_transpose;
  pc->ops->setfromoptions = read_pc_options;
  pc->ops->view = view_pc;
  pc->ops->reset = reset_pc;
  pc->ops->destroy = destroy_pc;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCKryloclShare_C", share_precond));
  PetscFunctionReturn(0);
}
