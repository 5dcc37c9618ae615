/* The preconditioners: the table made from list.def, and look-up by name. */
#include "solver/precond/setup.h"

#define KCL_PRECOND(name) extern const kcl_precond kcl_precond_##name;
#include "solver/precond/list.def"
#undef KCL_PRECOND

static const kcl_precond *const preconds[] = {
#define KCL_PRECOND(name) &kcl_precond_##name,
#include "solver/precond/list.def"
};
const int kcl_precond_count = (int)(sizeof preconds / sizeof *preconds);

const kcl_precond *kcl_precond_at(int i) { return preconds[i]; }

static const char *name_of_precond(int i) { return preconds[i]->name; }

int kcl_precond_find(kcl *ctx, const char *name, const kcl_precond **out) {
  int i, rc = kcl_find_name(ctx, "preconditioner", name, kcl_precond_count, name_of_precond, &i);
  if (!rc) *out = preconds[i];
  return rc;
}
