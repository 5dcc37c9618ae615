/* The preconditioners of a system: each is set up once and shared by the engines that apply it. */
#include "solver/engine/engine.h"

static kcl_preconditioner *find_made(const kcl_preconds *list, const kcl_precond_kind *p,
                                     const kcl_method *m) {
  for (int i = 0; list && i < list->count; i++)
    if (kcl_precond_serves(list->made[i], p, m)) return list->made[i];
  return NULL;
}

int kcl_system_precond_kind(const kcl_system *s, const char *name, const kcl_precond_kind **out) {
  const kcl_preconditioner *M = s->given;
  if (!M || strcmp(name, M->kind->name) != 0) return kcl_precond_find(s->ctx, name, out);
  *out = M->kind;
  return KCL_OK;
}

int kcl_system_update_preconditioner(const kcl_system *s, const kcl_preconds *before,
                                     const kcl_precond_kind *p, const kcl_method *m,
                                     kcl_preconditioner **out) {
  kcl_preconds *known = s->preconds;
  kcl_precond_request q = kcl_system_request(s);
  int rc = kcl_precond_check(&q, p, m);
  *out = NULL;
  if (!rc)
    *out = kcl_preconditioner_share(s->given && s->given->kind == p ? s->given
                                                                    : find_made(known, p, m));
  if (rc || *out) return rc;
  q.before = find_made(before, p, m);
  rc = kcl_precond_setup(&q, p, m, out);
  if (!rc && *out && known && known->count < KCL_MOST_PRECONDS)
    known->made[known->count++] = kcl_preconditioner_share(*out);
  return rc;
}

int kcl_system_preconditioner(const kcl_system *s, const kcl_precond_kind *p, const kcl_method *m,
                              kcl_preconditioner **out) {
  return kcl_system_update_preconditioner(s, NULL, p, m, out);
}

int kcl_engine_release_precond(kcl_engine *e, const void *values, bool changed) {
  kcl_preconditioner *M = e->M;
  kcl_stored *A = e->operators[0];
  if (!M || M->A || !M->kind->multiplies) return KCL_OK;
  if (changed && kcl_stored_borrows(A, values))
    return kcl_fail(e->ctx, KCL_CHANGED,
                    "preconditioner %s cannot be kept: it multiplies by the A that it was set up "
                    "for, whose values were written over: give the new ones in another array, or "
                    "use kcl_precond_create",
                    M->kind->name);
  int rc = kcl_stored_own(A);
  if (!rc) M->A = kcl_stored_share(A);
  return rc;
}

void kcl_system_forget_kept(kcl_system *s) {
  for (int i = 0; s->preconds && i < s->preconds->count; i++)
    kcl_preconditioner_free(&s->preconds->made[i]);
  free(s->preconds);
  s->preconds = NULL;
  kcl_preconditioner_free(&s->given);
  kcl_distinct_rows_free(&s->repeated);
  kcl_offset_runs_free(&s->runs);
}
