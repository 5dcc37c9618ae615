/* The preconditioners of a system: each is set up once and shared by the engines that apply it. */
#include "solver/engine/engine.h"
#include <stdlib.h>

static kcl_preconditioner *find_made(const kcl_preconds *list, const kcl_precond_kind *p,
                                     const kcl_method *m) {
  for (int i = 0; list && i < list->count; i++)
    if (kcl_precond_serves(list->made[i], p, m)) return list->made[i];
  return NULL;
}

int kcl_system_refresh_preconditioner(const kcl_system *s, const kcl_preconds *before,
                                      const kcl_precond_kind *p, const kcl_method *m,
                                      kcl_preconditioner **out) {
  kcl_preconds *known = s->preconds;
  kcl_precond_request q = kcl_system_request(s);
  int rc = kcl_precond_check(&q, p, m);
  *out = NULL;
  if (!rc) *out = kcl_preconditioner_share(find_made(known, p, m));
  if (rc || *out) return rc;
  q.before = find_made(before, p, m);
  rc = kcl_precond_setup(&q, p, m, out);
  if (!rc && *out && known && known->count < KCL_MOST_PRECONDS)
    known->made[known->count++] = kcl_preconditioner_share(*out);
  return rc;
}

int kcl_system_preconditioner(const kcl_system *s, const kcl_precond_kind *p, const kcl_method *m,
                              kcl_preconditioner **out) {
  return kcl_system_refresh_preconditioner(s, NULL, p, m, out);
}

void kcl_system_forget_kept(kcl_system *s) {
  for (int i = 0; s->preconds && i < s->preconds->count; i++)
    kcl_preconditioner_free(&s->preconds->made[i]);
  free(s->preconds);
  s->preconds = NULL;
  kcl_distinct_rows_free(&s->repeated);
}
