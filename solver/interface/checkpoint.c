/* Checkpoints of a solver by handle. */
#include "solver/checkpoint.h"

/* Rank 0 has the file; the others say that there is one. */
static int check_checkpoint_place(const kcl_system *s, const char *path, double seconds) {
  if (kcl_ranks_largest(kcl_system_ranks(s), path != NULL) > (path != NULL))
    return kcl_fail(s->ctx, KCL_USAGE, "path is NULL, and not on all ranks");
  if (!(seconds >= 0) || !(seconds < INFINITY))
    return kcl_fail(s->ctx, KCL_USAGE, "seconds %g between checkpoints: 0 or more, and finite",
                    seconds);
  return path && kcl_checkpoint_here(s) ? kcl_checkpoint_try(s->ctx, path) : KCL_OK;
}

int kcl_solver_checkpoint(kcl_solver *s, const char *path, double seconds) {
  kcl_checkpoints *c;
  int rc;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  kcl_distribution *d = s->system.distribution;
  KCL_ENTER(ctx);
  rc = check_checkpoint_place(&s->system, path, seconds);
  if (!rc) rc = kcl_checkpoints_of(s, &c);
  char *copy = path ? strdup(path) : NULL;
  if (!rc && path && !copy) rc = kcl_fail(ctx, KCL_MEMORY, "out of memory: checkpoints");
  if (d) rc = d->agree(d, rc, 0);
  if (rc) return free(copy), rc;
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
  kcl_distribution *d = s->system.distribution;
  KCL_ENTER(ctx);
  rc = kcl_need(ctx, "path", path);
  if (!rc) rc = kcl_checkpoints_of(s, &c);
  if (d) rc = d->agree(d, rc, 0);
  if (rc || (rc = kcl_checkpoint_begin_reading(&s->system, path, &r))) return rc;
  if ((rc = kcl_resume_check(s, r))) return kcl_checkpoint_free(&r), rc;
  kcl_checkpoint_free(&c->resume);
  c->resume = r;
  return KCL_OK;
}
