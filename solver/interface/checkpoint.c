/* Checkpoints of a solver by handle. */
#include "core/base/context.h"
#include "solver/checkpoint.h"
#include <stdlib.h>
#include <string.h>

int kcl_solver_checkpoint(kcl_solver *s, const char *path, double seconds) {
  kcl_checkpoints *c;
  int rc;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  if (!(seconds >= 0) || !(seconds < INFINITY))
    return kcl_fail(ctx, KCL_USAGE, "seconds %g between checkpoints: 0 or more, and finite",
                    seconds);
  if (path && (rc = kcl_checkpoint_try(ctx, path))) return rc;
  if ((rc = kcl_checkpoints_of(s, &c))) return rc;
  char *copy = path ? strdup(path) : NULL;
  if (path && !copy) return kcl_fail(ctx, KCL_MEMORY, "out of memory: checkpoints");
  free(c->path);
  c->path = copy, c->interval = seconds;
  return KCL_OK;
}

void kcl_solver_save(kcl_solver *s) {
  if (s && s->checkpoints) s->checkpoints->asked = true;
}

int kcl_solver_resume(kcl_solver *s, const char *path) {
  kcl_checkpoints *c;
  kcl_checkpoint_reader *r = NULL;
  int rc;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  if ((rc = kcl_need(ctx, "path", path)) || (rc = kcl_checkpoints_of(s, &c))) return rc;
  if ((rc = kcl_checkpoint_read(ctx, path, &r))) return rc;
  if ((rc = kcl_resume_check(s, r))) return kcl_checkpoint_free(&r), rc;
  kcl_checkpoint_free(&c->resume);
  c->resume = r;
  return KCL_OK;
}
