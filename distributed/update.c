/* kcl_solver_update on several ranks. Rows, halo and statistics are always set up anew; what is kept is of each rank's own rows:
 * way and format; interpolations; or the preconditioner as it was. */
#include "distributed/distributed.h"
#include "solver/precond_object.h"

static const kcl_selection *selection_before(const kcl_distributed *m) {
  return m->before && m->keep != KCL_KEEP_NOTHING ? &m->before->selection : NULL;
}

/* All ranks get one result, as plans and ways are alike. A way that is not in the plan does not suit the new values. */
void kcl_keep_way(kcl_distributed *m) {
  const kcl_selection *before = selection_before(m);
  kcl_plan *p = &m->selection->plan;
  for (int i = 0; before && i < p->count; i++) {
    const kcl_way w = p->way[i];
    if (w.method != before->way.method || w.precond != before->way.precond) continue;
    memmove(p->way + 1, p->way, (size_t)i * sizeof w);
    p->way[0] = w;
    return;
  }
}

/* Formats of values that repeat depend on the new ones. */
bool kcl_keep_format(const kcl_distributed *m, const kcl_format **f) {
  const kcl_selection *before = selection_before(m);
  if (!before || before->engine->operators[0]->format->counts_repeats) return false;
  *f = before->engine->operators[0]->format;
  return true;
}

/* A matrix of M's own, without a halo, which that of the engine before has: its products are of own columns alone. */
static int give_own_matrix(const kcl_system *then, const kcl_engine *e) {
  kcl_preconditioner *M = e->M;
  if (!M || !M->kind->multiplies || M->A) return KCL_OK;
  int rc =
      kcl_stored_build(then->ctx, e->operators[0]->format, &e->operators[0]->origin.source, &M->A);
  return rc ? rc : kcl_stored_own(M->A);
}

/* Not where M is of scaled rows, whose exponents belong to the halo, nor of a kind that multiplies by rows of all ranks. */
static bool can_keep_precond(const kcl_distributed *m) {
  const kcl_engine *e = m->before ? m->before->selection.engine : NULL;
  if (!e || m->keep != KCL_KEEP_PRECOND || m->before->system.object || !e->M) return false;
  return !m->before->system.scaling.row && !(e->M->kind->whole && e->M->kind->multiplies);
}

int kcl_keep_precond(kcl_distributed *m) {
  kcl_system *s = m->system;
  if (!can_keep_precond(m)) return KCL_OK;
  const kcl_system *then = &m->before->system;
  const kcl_engine *e = m->before->selection.engine;
  KCL_CALL(kcl_comm_agree(m->comm, give_own_matrix(then, e)));
  s->given = kcl_preconditioner_share(e->M), s->scale_as = &then->scaling;
  s->preconds->made[s->preconds->count++] =
      kcl_preconditioner_share(e->M); /* for the update after */
  return KCL_OK;
}

/* One that cannot be updated is left to the engine, which sets it up. */
int kcl_keep_hierarchy(kcl_distributed *m) {
  const kcl_way *w = &m->selection->way;
  const kcl_system *then = m->before ? &m->before->system : NULL;
  kcl_preconditioner *M = NULL;
  if (!then || m->keep != KCL_KEEP_HIERARCHY || !w->precond->hierarchy) return KCL_OK;
  if (then->scaling.row || m->system->scaling.row) return KCL_OK;
  int rc = kcl_system_update_preconditioner(m->system, then->preconds, w->precond, w->method, &M);
  kcl_preconditioner_free(&M);
  rc = kcl_comm_agree(m->comm, rc);
  return rc == KCL_USAGE && m->system->undecided.precond ? KCL_OK : rc;
}
