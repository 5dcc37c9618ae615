/* The activity of a context, for programs that show it. */
#include "core/base/context.h"

void kcl_watch(kcl *ctx, void (*callback)(void *user, const kcl_activity *a), void *user) {
  KCL_HOLD(ctx);
  if (ctx) ctx->watch = callback, ctx->watcher = user;
}

void kcl_activity_begin(kcl *ctx, kcl_activity a) {
  if (!ctx->watch) return;
  ctx->watching = true;
  ctx->watch(ctx->watcher, &a);
  ctx->watching = false;
}

void kcl_activity_end(kcl *ctx) { kcl_activity_begin(ctx, (kcl_activity){.what = NULL}); }
