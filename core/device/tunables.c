/* The public functions for tunables: a context whose device was never selected selects it first. */
#include "core/base/context.h"

static int selected(kcl *ctx) { return ctx->selected ? KCL_OK : kcl_select(ctx, NULL, 0); }

int kcl_tune_path(kcl *ctx, char *path, size_t room) {
  return selected(ctx) ? -1 : kcl_tune_own_path(ctx, path, room);
}

int kcl_tunable_get(kcl *ctx, int i, kcl_tunable *out) {
  int rc = selected(ctx);
  return rc ? *out = (kcl_tunable){0}, rc : kcl_tune_get(ctx, i, out);
}

int kcl_tunable_set(kcl *ctx, const char *name, int value) {
  int rc = selected(ctx);
  return rc ? rc : kcl_tune_set(ctx, name, value);
}
