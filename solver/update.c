/* kcl_solver_update: a set-up for new values that continues with what an earlier one has chosen, compiled and kept. The earlier one
 * is kept until the new one is there, so that a failure loses nothing; values that are written over are written last.
 */
#include "solver/precond_object.h"

static void settle_owner(kcl_solver *s) {
  kcl_distribution *d = s->system.distribution;
  s->selection.system = &s->system, s->selection.solver = s;
  if (d)
    d->move(d, s);
  else
    s->selection.owner = s;
}

void kcl_solver_replace(kcl_solver *s, kcl_solver **fresh) {
  const kcl_solver old = *s;
  *s = **fresh, **fresh = old;
  s->checkpoints = old.checkpoints, (*fresh)->checkpoints = NULL;
  settle_owner(s), settle_owner(*fresh);
  kcl_solver_free(fresh);
}

int kcl_check_keep(kcl_context *ctx, int keep) {
  if (keep >= KCL_KEEP_NOTHING && keep <= KCL_KEEP_PRECOND) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "keep %d: no such value, see KCL_KEEP_NOTHING", keep);
}

static int check_update(const kcl_solver *s, int keep) {
  kcl_context *ctx = s->system.ctx;
  KCL_CALL(kcl_check_keep(ctx, keep));
  if (s->system.distribution)
    return kcl_fail(ctx, KCL_USAGE, "an update: not on several ranks: set up anew");
  if (s->system.shell)
    return kcl_fail(ctx, KCL_USAGE,
                    "an update: A is a function of the caller's and has no values to replace");
  if (s->system.shared[0] && keep != KCL_KEEP_NOTHING)
    return kcl_fail(
        ctx, KCL_USAGE,
        "a solver of an operator shares its matrix: create an operator of the new values");
  return KCL_OK;
}

/* Preconditioners of s that the system goes on with: from now on they may serve other matrices. */
static int keep_preconditioner(const kcl_solver *s, kcl_system *system) {
  const kcl_system *then = &s->system;
  kcl_engine *e = s->selection.engine, *narrow = s->mixed ? s->mixed->selection.engine : NULL;
  const bool multiplies = e->M && e->M->kind->multiplies,
             changed = multiplies && kcl_sums_of(then->A).val != s->sums.val;
  int rc = kcl_engine_release_precond(e, then->A->val, changed);
  if (!rc && narrow) rc = kcl_engine_release_precond(narrow, then->A->val, changed);
  system->given = e->M ? e->M : then->given;
  if (system->given) system->scale_as = &then->scaling;
  return rc;
}

static int update_values(const kcl_solver *s, const kcl_csr *A, int keep, kcl_solver **out) {
  const double start = kcl_now();
  const kcl_system *then = &s->system;
  const bool counted = s->selection.engine->operators[0]->format->counts_repeats;
  kcl_system system = {.ctx = then->ctx,
                       .A = A,
                       .options = then->options,
                       .stats = then->stats,
                       .structure_known = true,
                       .repeats_known = !counted};
  kcl_sums sums;
  int rc = kcl_check_pattern(then->ctx, then->A, &s->sums, A, &sums);
  if (!rc && then->object) rc = kcl_precond_give(then->object, &system);
  if (!rc && keep == KCL_KEEP_PRECOND) rc = keep_preconditioner(s, &system);
  system.seconds_check = kcl_now() - start;
  return rc ? rc : kcl_setup_system(&system, sums, s, keep, out);
}

static int update_from_scratch(const kcl_solver *s, const kcl_csr *A, kcl_solver **out) {
  kcl_system system = {.ctx = s->system.ctx, .A = A, .options = s->system.options};
  int rc = kcl_csr_need(system.ctx, A);
  if (!rc && s->system.object) rc = kcl_precond_give(s->system.object, &system);
  return rc ? rc : kcl_setup_values(&system, out);
}

/* A solver whose device was lost keeps the shape of A; all else is the standby's. */
static int update_standby(kcl_solver *s, const kcl_csr *A, int keep) {
  KCL_CALL(kcl_update(s->standby, A, keep));
  s->given->A = *A, s->sums = s->standby->sums;
  memcpy(s->standby->lost_why, s->lost_why, sizeof s->lost_why);
  return KCL_OK;
}

int kcl_update(kcl_solver *s, const kcl_csr *A, int keep) {
  kcl_solver *fresh;
  if (!s) return kcl_need(NULL, "s", s);
  KCL_ENTER(s->system.ctx);
  if (s->standby) return update_standby(s, A, keep);
  KCL_CALL(check_update(s, keep));
  int rc = keep == KCL_KEEP_NOTHING ? update_from_scratch(s, A, &fresh)
                                    : update_values(s, A, keep, &fresh);
  if (!rc) kcl_solver_replace(s, &fresh);
  return rc;
}
