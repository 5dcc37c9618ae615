/* The public functions for tunables: a context whose device was never selected selects it first. */
#include "core/base/context.h"

static int selected(kcl_context *ctx) {
  return ctx && ctx->selected ? KCL_OK : kcl_select(ctx, NULL, 0);
}

int kcl_tune_path(kcl_context *ctx, char *path, size_t capacity) {
  KCL_HOLD(ctx);
  return !path || selected(ctx) ? -1 : kcl_tune_own_path(ctx, path, capacity);
}

int kcl_tunable_get(kcl_context *ctx, int i, kcl_tunable *out) {
  KCL_HOLD(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  int rc = selected(ctx);
  if (rc) *out = (kcl_tunable){0};
  return rc ? rc : kcl_tune_get(ctx, i, out);
}

int kcl_tunable_set(kcl_context *ctx, const char *name, int value) {
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "name", name));
  KCL_CALL(selected(ctx));
  return kcl_tune_set(ctx, name, value);
}
