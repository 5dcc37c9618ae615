/* See readback.h: a solver on the native executor, in a context of its own, takes the place of one whose device was lost. It is set up
 * from the same A by the same options, and continues from the x that was read back last, as --resume does on another device: START
 * recomputes its residual, and the caller's guess counts where that is nearer. The other solvers of the context are not touched. */
#include "solver/precond_object.h"
#include "solver/readback.h"

/* The callback of the caller; and kcl_solver_stop is asked of the solver that the caller knows. */
static int forward_progress(void *user, const kcl_progress *p) {
  const kcl_solver *s = user;
  const kcl_options *o = &s->system.options;
  return s->system.ctx->stop || (o->progress && o->progress(o->user, p));
}

/* Names that were left open are chosen anew; a preconditioner object is one of its kind, for A. Mixed precision is for devices where
 * float pays. */
static kcl_options options_of_standby(const kcl_solver *s) {
  const kcl_system *t = &s->system;
  kcl_options o = t->options;
  if (t->undecided.method && !t->direct) o.solver = "auto";
  if (t->undecided.precond) o.precond = "auto";
  o.format = t->undecided.model ? "model" : "auto";
  if (t->object) {
    o.near_null = t->object->near_null.val ? &t->object->near_null : NULL;
    memcpy(o.parameters, t->object->system.options.parameters, sizeof o.parameters);
  }
  o.mixed = false, o.fallback = KCL_FALLBACK_NONE;
  o.progress = forward_progress, o.user = (void *)(uintptr_t)s;
  return o;
}

static int create_context(const kcl_context *from, kcl_context **out) {
  KCL_CALL(kcl_context_create("cpu", 0, out));
  (*out)->padding_allowed = from->padding_allowed, (*out)->zero_based = from->zero_based;
  (*out)->watch = from->watch, (*out)->watcher = from->watcher;
  return KCL_OK;
}

static int create_standby(kcl_solver *s) {
  kcl_system system = {
      .A = s->system.A, .shell = s->system.shell, .options = options_of_standby(s)};
  int rc = create_context(s->system.ctx, &system.ctx);
  if (!rc) rc = kcl_setup_system(&system, s->sums, NULL, KCL_KEEP_NOTHING, &s->standby);
  if (!rc && s->kept) s->standby->kept = kcl_csr_share(s->kept);
  kcl_context_free(&system.ctx);
  return rc;
}

static void tell_fallback(kcl_solver *s) {
  kcl_selection *from = &s->selection, *to = &s->standby->selection;
  int64_t at = 0;
  for (int i = 0; i < KCL_MAX_NRHS; i++)
    if (s->readback->rhs[i].known && s->readback->rhs[i].at.iteration > at)
      at = s->readback->rhs[i].at.iteration;
  snprintf(to->changes, sizeof to->changes, "%s", from->changes);
  kcl_append(to->changes, sizeof to->changes,
             "%sthe device was lost (%s); continued on the CPU from x of iteration %lld",
             to->changes[0] ? "\n" : "", s->lost_why, (long long)at);
}

/* Settings of this call; checkpoints are written by whoever solves. */
static void lend_settings(kcl_solver *s) {
  kcl_options *to = &s->standby->system.options;
  const kcl_options *from = &s->system.options;
  to->tol = from->tol, to->atol = from->atol, to->max_iter = from->max_iter;
  s->standby->call = s->call, s->standby->checkpoints = s->checkpoints;
}

static void report_fallback(const kcl_solver *s, int nrhs, const kcl_rhs *list, bool begun,
                            double lost) {
  for (int i = 0; i < nrhs; i++) {
    const kcl_read_x *k = &s->readback->rhs[i];
    kcl_report *r = list[i].report;
    r->lost_at = begun && k->known ? k->at.iteration : 0;
    r->seconds_solve += lost / nrhs;
  }
}

/* As many right-hand sides at a time as the native executor takes. begun: those that the device has iterated on. */
static int solve_on_standby(kcl_solver *s, int nrhs, const kcl_rhs *list, bool begun, double lost) {
  kcl_solver *to = s->standby;
  const int most = to->selection.engine->program->nrhs;
  int rc = KCL_OK;
  lend_settings(s);
  for (int i = 0; i < nrhs && !rc; i += most) {
    const int count = nrhs - i < most ? nrhs - i : most;
    to->continues = begun ? &s->readback->rhs[i] : NULL;
    rc = kcl_solve_some(to, count, list + i);
  }
  to->continues = NULL, to->checkpoints = NULL;
  s->seconds_solve += to->seconds_solve, to->seconds_solve = 0;
  if (!rc) report_fallback(s, nrhs, list, begun, lost);
  return rc;
}

int kcl_fall_back(kcl_solver *s, int nrhs, const kcl_rhs *list, int rc) {
  if (!rc) { /* in an earlier solve, or for the right-hand sides before */
    return solve_on_standby(s, nrhs, list, false, 0);
  }
  const double lost = kcl_now() - s->began;
  snprintf(s->lost_why, sizeof s->lost_why, "%s", kcl_error());
  kcl_activity_begin(s->system.ctx,
                     (kcl_activity){.what = "the device was lost: setting up on the CPU"});
  rc = create_standby(s);
  kcl_activity_end(s->system.ctx);
  if (rc)
    return kcl_fail(s->system.ctx, rc, "%s; and the CPU cannot go on: %.500s", s->lost_why,
                    kcl_error());
  memcpy(s->standby->lost_why, s->lost_why, sizeof s->lost_why);
  tell_fallback(s);
  rc = solve_on_standby(s, nrhs, list, true, lost);
  kcl_readback_forget(s);
  return rc;
}
