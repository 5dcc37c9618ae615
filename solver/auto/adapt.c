/* Around the correction loop: between two batches other formats are timed where that pays; after a method that gave up
 * the next one continues; after the solve its iterations and timings are remembered.
 */
#include "solver/auto/auto.h"
#include <math.h>
#include <string.h>

static const double WORTH =
    0.01; /* seconds that a solve must take for its iterations to be remembered */

/* ---------------------------------------------------------------- a faster format */

/* each: seconds per iteration. */
static bool pays(const kcl_selection *c, double seconds, double each) {
  return !c->decided && c->system->undecided.format && c->candidates &&
         kcl_trial_budget(seconds) > kcl_trial_price(c, each);
}

static int try_formats(kcl_selection *c, kcl_loop *l, double seconds, double each) {
  const kcl_trial t = {.budget = kcl_trial_budget(seconds), .in_a_solve = true};
  const char *before = kcl_engine_format(c->engine);
  const size_t room = sizeof c->changes;
  each /= c->engine->program->nrhs;
  kcl_trial_note(c, each);
  int rc = kcl_trial_run(c, &t, each);
  l->engine = c->engine;
  kcl_trial_explain(c);
  if (!strcmp(before, kcl_engine_format(c->engine))) return rc;
  kcl_auto_say(c->changes, room, "%sformat %s for %lld iterations, then %s; %s",
               c->changes[0] ? "\n" : "", before, (long long)kcl_loop_iterations(l),
               kcl_engine_format(c->engine), c->why_format);
  return rc;
}

/* Times other formats where that pays. */
static int consider(kcl_selection *c, kcl_loop *l) {
  int64_t done = kcl_loop_iterations(l);
  double seconds = kcl_now() - l->start, each = seconds / (double)done;
  if (!done || !pays(c, seconds, each)) return KCL_OK;
  int rc = kcl_loop_measure(l, &each);
  if (rc || !kcl_loop_running(l)) return rc;
  double t = kcl_now();
  rc = try_formats(c, l, seconds, each);
  t = kcl_now() - t;
  c->seconds += t, l->start += t;
  return rc;
}

/* ---------------------------------------------------------------- the next method */

static bool gave_up(kcl_reason reason) {
  return reason != KCL_CONVERGED && reason != KCL_ITERATION_LIMIT && reason != KCL_INTERRUPTED;
}

/* Activates the right-hand sides whose method gave up; the reason of the first, or KCL_CONVERGED. */
static kcl_reason activate_failed(kcl_loop *l) {
  kcl_reason reason = KCL_CONVERGED;
  for (int i = l->nrhs - 1; i >= 0; i--) {
    kcl_rhs *v = &l->rhs[i];
    v->active = v->norm_b > 0 && gave_up(v->report->reason);
    if (v->active) reason = v->report->reason;
  }
  return reason;
}

/* The engine of the next method that fits, with b and x of all right-hand sides; NULL: there is none, it cannot be built
 * (such as A^H that does not fit), or it has more scalars than a device has room for. */
static int next_engine(kcl_selection *c, kcl_reason reason, kcl_engine **out) {
  const kcl_system *s = c->system;
  const kcl_engine *old = c->engine;
  const kcl_method *m;
  const char *name = kcl_auto_next_method(s, old->method->name, reason);
  *out = NULL;
  if (!s->undecided.method || !name) return KCL_OK;
  int rc = kcl_method_find(s->ctx, name, &m);
  if (rc || (s->options.mixed && m->least_squares)) return rc;
  if (kcl_engine_build(s, m, old->operators[0]->format, out)) return KCL_OK;
  bool fits = (*out)->program->nrhs == old->program->nrhs;
  if (fits) rc = kcl_engine_copy_system(*out, c->engine);
  if (rc || !fits) kcl_engine_free(out);
  return rc;
}

/* Right-hand sides whose method gave up continue with the next; the others keep their answers. */
static int next_method(kcl_selection *c, kcl_loop *l) {
  kcl_engine *e;
  if (l->interrupted) return KCL_OK;
  kcl_reason reason = activate_failed(l);
  if (reason == KCL_CONVERGED) return KCL_OK;
  int rc = next_engine(c, reason, &e);
  if (rc || !e) return rc;
  kcl_auto_say(c->changes, sizeof c->changes,
               "%s%s gave up after %lld iterations: %s; continued with %s",
               c->changes[0] ? "\n" : "", c->engine->method->name,
               (long long)kcl_loop_iterations(l), kcl_reason_text(reason), e->method->name);
  kcl_selection_use(c, &e);
  l->engine = c->engine;
  c->remembered.count = 0, c->dirty = c->decided = true;
  return kcl_loop_restart(l);
}

int kcl_adapt_run(kcl_selection *c, kcl_loop *l) {
  int rc = kcl_loop_begin(l);
  while (!rc && l->state != KCL_LOOP_ENDED) {
    rc = kcl_loop_step(l);
    if (!rc && l->state == KCL_LOOP_ITERATING) rc = consider(c, l);
    if (!rc && l->state == KCL_LOOP_ENDED) rc = next_method(c, l);
  }
  return rc ? rc : kcl_loop_end(l);
}

/* ---------------------------------------------------------------- afterwards */

void kcl_adapt_remember(kcl_selection *c, int64_t iterations, double seconds) {
  kcl_choice *known = &c->remembered;
  if (!kcl_auto_remembers(c) || !iterations) return;
  double change = (double)iterations / (double)(known->iterations ? known->iterations : 1);
  if (!c->dirty && (seconds < WORTH || (!c->candidates && known->count < 2))) return;
  if (!c->dirty && c->recalled && change > 0.75 && change < 1.33) return;
  kcl_timing *t = kcl_choice_timing(known, c->engine->method->name, kcl_engine_format(c->engine));
  if (t && !(t->iteration > 0))
    t->setup = kcl_engine_setup_seconds(c->engine), t->iteration = seconds / (double)iterations;
  known->iterations = iterations;
  kcl_choice_remember(c->key, known);
  c->dirty = false, c->recalled = true;
}
