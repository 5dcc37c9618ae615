/* See readback.h. x is read between two batches, with nothing enqueued, where its residual is the least so far: at the interval of
 * checkpoints (kcl_solver_checkpoint), by default once per second and so rarely that it takes at most a hundredth of the time. */
#include "solver/readback.h"
#include "solver/checkpoint.h"
#include "solver/engine/given.h"
#include "solver/precond_object.h"

static const double SECOND = 1, SHARE = 0.01;

/* A read that fails leaves the x before. */
static int keep_read_x(kcl_readback *r, kcl_loop *l, int i) {
  const kcl_csr *A = l->system->A;
  const kcl_rhs *v = &l->rhs[i];
  kcl_read_x *k = &r->rhs[i];
  int rc = KCL_OK;
  if (!v->b || v->b_norm.norm == 0 || !(l->rr[i] < INFINITY)) return KCL_OK;
  if (k->known && l->rr[i] > k->at.rr) return KCL_OK;
  if (!r->room)
    rc = kcl_alloc_unset(l->system->ctx, A->cols, kcl_type_size(A->type), "x, read back", &r->room);
  if (!rc) rc = kcl_take_x(l->system, l->engine, i, r->room, v->b_norm.shift);
  if (rc || !(kcl_norm_inf(A->type, r->room, A->cols) < INFINITY)) return rc;
  void *before = k->x;
  *k = (kcl_read_x){.known = true, .at = kcl_checkpoint_rhs(l, i, 0), .x = r->room};
  r->room = before;
  return KCL_OK;
}

static double readback_pause(const kcl_solver *s, double took) {
  const kcl_checkpoints *c = s->checkpoints;
  return c && c->interval > 0 ? c->interval : fmax(SECOND, took / SHARE);
}

static int read_x_back(kcl_solver *s, kcl_loop *l) {
  kcl_readback *k = s->readback;
  int rc = l->enqueued ? kcl_loop_poll(l) : KCL_OK; /* the batch ahead */
  l->enqueued = false;
  const double begin = kcl_now();
  for (int i = 0; i < l->nrhs && !rc; i++) rc = keep_read_x(k, l, i);
  const double end = kcl_now();
  k->next = end + readback_pause(s, end - begin);
  return rc;
}

static int after_batch(void *owner, kcl_loop *l) {
  kcl_solver *s = owner;
  int rc = kcl_now() >= s->readback->next ? read_x_back(s, l) : KCL_OK;
  if (rc || !s->checkpoints || !s->checkpoints->path) return rc;
  return kcl_checkpoint_when_due(owner, l);
}

int kcl_readback_begin(kcl_solver *s, kcl_loop *l) {
  const kcl_system *system = &s->system;
  if (!system->ctx->opencl || system->distribution) return KCL_OK;
  KCL_CALL(s->readback ? KCL_OK
                       : kcl_alloc(system->ctx, 1, sizeof *s->readback, "x, read back",
                                   (void **)&s->readback));
  kcl_readback_forget(s);
  s->readback->next = kcl_now() + readback_pause(s, 0);
  l->checkpoint = after_batch, l->owner = s;
  return KCL_OK;
}

void kcl_readback_forget(kcl_solver *s) {
  for (int i = 0; s->readback && i < KCL_MAX_NRHS; i++) {
    free(s->readback->rhs[i].x);
    s->readback->rhs[i] = (kcl_read_x){.known = false};
  }
  if (s->readback) free(s->readback->room), s->readback->room = NULL;
}

void kcl_readback_free(kcl_readback **k) {
  for (int i = 0; *k && i < KCL_MAX_NRHS; i++) free((*k)->rhs[i].x);
  if (*k) free((*k)->room);
  free(*k), *k = NULL;
}

bool kcl_device_lost(const kcl_solver *s, const kcl_rhs *v, int rc) {
  const kcl_context *ctx = s->system.ctx;
  return rc && ctx->opencl && ctx->device_failed && s->readback && v->b;
}

/* Functions are in the context that was lost, or on its device. */
bool kcl_may_fall_back(const kcl_solver *s) {
  const kcl_system *t = &s->system;
  return t->options.fallback == KCL_FALLBACK_CPU &&
         !(t->object && t->object->kind == &kcl_precond_shell) &&
         !(t->shell && t->shell->place == KCL_OPENCL);
}

static int end_rhs(kcl_solver *s, kcl_loop *l, int i) {
  const kcl_read_x *k = &s->readback->rhs[i];
  kcl_rhs *v = &l->rhs[i];
  if (v->b_norm.norm == 0 || v->answered) return KCL_OK;
  v->report->reason = KCL_DEVICE_LOST;
  v->report->relative_residual = sqrt(fmax(l->rr[i], 0)) * kcl_unit(v);
  v->report->seconds_solve = (kcl_now() - s->began) / l->nrhs;
  v->report->lost_at = k->known ? k->at.iteration : 0;
  return kcl_answer_without_device(l, i, k->known ? k->x : NULL, v->report->lost_at);
}

int kcl_end_without_device(kcl_solver *s, kcl_loop *l) {
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs; i++)
    snprintf(l->rhs[i].report->lost_why, sizeof l->rhs[i].report->lost_why, "%s", kcl_error());
  for (int i = 0; i < l->nrhs && !rc; i++) rc = end_rhs(s, l, i);
  kcl_checkpoints_report(s, l);
  return rc ? rc : kcl_loop_end(l);
}
