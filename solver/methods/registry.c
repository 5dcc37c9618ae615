/* The Krylov methods: the table made from list.def, and look-up by name. */
#include "solver/methods/method.h"

#define KCL_METHOD(name) extern const kcl_method kcl_method_##name;
#include "solver/methods/list.def"
#undef KCL_METHOD

static const kcl_method *const methods[] = {
#define KCL_METHOD(name) &kcl_method_##name,
#include "solver/methods/list.def"
};
const int kcl_method_count = (int)(sizeof methods / sizeof *methods);

const kcl_method *kcl_method_at(int i) { return methods[i]; }

static const char *name_of_method(int i) { return methods[i]->name; }

int kcl_method_find(kcl_context *ctx, const char *name, const kcl_method **out) {
  int i, rc = kcl_find_name(ctx, "solver", name, kcl_method_count, name_of_method, &i);
  if (!rc) *out = methods[i];
  return rc;
}
