/* The activity of a context, for programs that show it. */
#include "core/base/context.h"

int kcl_context_watch(kcl_context *ctx, void (*callback)(void *user, const kcl_activity *a),
                      void *user) {
  if (!ctx) return kcl_need(NULL, "c", ctx);
  KCL_HOLD(ctx);
  ctx->watch = callback, ctx->watcher = user;
  return KCL_OK;
}

void kcl_activity_begin(kcl_context *ctx, kcl_activity a) {
  if (!ctx->watch) return;
  ctx->watching = true;
  ctx->watch(ctx->watcher, &a);
  ctx->watching = false;
}

void kcl_activity_end(kcl_context *ctx) { kcl_activity_begin(ctx, (kcl_activity){.what = NULL}); }
