/* References to a context, and entry: one thread at a time is inside, and may enter again; nobody enters from a callback of it. */
#include "core/base/context.h"
#include <unistd.h>

void kcl_context_retain(kcl_context *ctx) { ctx->references++; }

bool kcl_opencl_inherited(const kcl_context *ctx) {
  return ctx && ctx->opencl && ctx->opencl_process != getpid();
}

void kcl_context_release(kcl_context *ctx) {
  if (--ctx->references > 0 || kcl_opencl_inherited(ctx)) return;
  if (ctx->opencl) ctx->detach(ctx);
  if (ctx->world) ctx->world->free(ctx->world);
  pthread_mutex_destroy(&ctx->lock);
  free(ctx);
}

void kcl_context_begin(kcl_context *ctx) {
  pthread_mutexattr_t again;
  pthread_mutexattr_init(&again);
  pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&ctx->lock, &again);
  pthread_mutexattr_destroy(&again);
  ctx->process = getpid(), ctx->depth = 0;
}

kcl_context *kcl_hold(kcl_context *ctx) {
  if (!ctx) return NULL;
  if (ctx->process != getpid())
    kcl_context_begin(ctx); /* the thread that held the lock was not copied by fork() */
  pthread_mutex_lock(&ctx->lock);
  kcl_context_retain(ctx);
  ctx->depth++;
  return ctx;
}

void kcl_leave(kcl_context **held) {
  kcl_context *ctx = *held;
  if (!ctx) return;
  ctx->depth--;
  pthread_mutex_unlock(&ctx->lock);
  kcl_context_release(ctx);
}

int kcl_enter(kcl_context *ctx, kcl_context **held) {
  KCL_CALL(kcl_need(ctx, "ctx", ctx));
  if (kcl_opencl_inherited(ctx))
    return kcl_fail(ctx, KCL_DEVICE,
                    "the OpenCL objects of this context belong to the process that called fork(): "
                    "a child makes contexts of its own");
  *held = kcl_hold(ctx);
  if (!(ctx->solving || ctx->watching)) return KCL_OK;
  return kcl_fail(ctx, KCL_BUSY,
                  "a callback of this context is running: it may not use the context");
}
