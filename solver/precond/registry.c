/* The preconditioners: the table made from list.def, and look-up by name. */
#include "solver/precond/setup.h"

#define KCL_PRECOND(name) extern const kcl_precond_kind kcl_precond_##name;
#include "solver/precond/list.def"
#undef KCL_PRECOND

static const kcl_precond_kind *const preconds[] = {
#define KCL_PRECOND(name) &kcl_precond_##name,
#include "solver/precond/list.def"
};
const int kcl_precond_count = (int)(sizeof preconds / sizeof *preconds);

const kcl_precond_kind *kcl_precond_at(int i) { return preconds[i]; }

/* A list that neighbours share counts once. */
const kcl_option *kcl_parameter_at(int i) {
  for (int p = 0; p < kcl_precond_count; p++) {
    const kcl_option *list = preconds[p]->parameters;
    if (p && list == preconds[p - 1]->parameters) continue;
    for (; list && list->name; list++)
      if (i-- == 0) return list;
  }
  return NULL;
}

static const char *name_of_precond(int i) { return preconds[i]->name; }

int kcl_precond_find(kcl_context *ctx, const char *name, const kcl_precond_kind **out) {
  int i, rc = kcl_find_name(ctx, "preconditioner", name, kcl_precond_count, name_of_precond, &i);
  if (!rc) *out = preconds[i];
  return rc;
}
