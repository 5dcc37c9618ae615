/* The memory of auto for a structure: the best of the timings of formats, and seconds that whole solves took, by a direct solution and by
 * the ways that solves switched to. In the file of choices the format of these is "none"; setup: seconds of the solve by that way, its
 * set-up included; iteration: seconds predicted without it, INFINITY where it did not solve the system.
 */
#include "solver/auto/auto.h"

static const char NONE[] = "none", DIRECT[] = "direct";
/* Times the seconds predicted without it, which are mostly too few, that the way may take. */
static const double KEEP = 2;
static const double FOREVER = 1e6; /* seconds that stand for iterations that do not converge */

enum { USUAL_ITERATIONS = 1000 };

/* Does a remembered timing answer what these options ask? */
static bool timing_usable(const kcl_selection *c, const kcl_timing *t) {
  const kcl_system *s = c->system;
  kcl_cost cost;
  if (!strcmp(t->format, "none") || kcl_plan_find(&c->plan, t->method, t->precond) < 0)
    return false;
  if (!s->undecided.method && strcmp(t->method, s->options.solver)) return false;
  if (kcl_auto_is_cg_form(t->method) && s->undecided.method && !kcl_auto_cg_forms_fit(&s->options))
    return false;
  if (!s->undecided.format) return !strcmp(t->format, s->options.format);
  return !kcl_format_cost(s->ctx, &s->stats, s->options.precision, t->format, &cost) &&
         !cost.refusal;
}

/* The least of setup + iterations x each. */
const kcl_timing *kcl_auto_best(const kcl_selection *c) {
  const kcl_choice *known = &c->remembered;
  const kcl_timing *best = NULL;
  double n = known->iterations ? (double)known->iterations : USUAL_ITERATIONS, least = INFINITY;
  for (int i = 0; i < known->count; i++) {
    const kcl_timing *t = &known->timing[i];
    double cost = t->setup + n * t->iteration;
    if (cost < least && timing_usable(c, t)) best = t, least = cost;
  }
  return best;
}

const kcl_timing *kcl_outcome_of(const kcl_choice *known, const char *method, const char *precond) {
  for (int i = 0; i < known->count; i++) {
    const kcl_timing *t = &known->timing[i];
    if (!strcmp(t->format, NONE) && !strcmp(t->method, method) && !strcmp(t->precond, precond))
      return t;
  }
  return NULL;
}

/* Seconds of iterations in the way that the plan begins with, as remembered; INFINITY: not known. */
static double plain_seconds(const kcl_selection *c) {
  const kcl_timing *t = c->expected ? kcl_auto_best(c) : NULL;
  return t ? t->setup + (double)c->expected * t->iteration : INFINITY;
}

static bool usable(const kcl_selection *c, const kcl_timing *t) {
  if (strcmp(t->format, NONE) || !(t->iteration < INFINITY)) return false;
  return strcmp(t->method, DIRECT) ||
         (c->rescue_price && !c->system->options.no_direct && !c->system->options.max_iter);
}

const kcl_timing *kcl_outcome_best(const kcl_selection *c) {
  const kcl_timing *best = NULL;
  const double plain = plain_seconds(c);
  for (int i = 0; i < c->remembered.count; i++) {
    const kcl_timing *t = &c->remembered.timing[i];
    const double without = plain < INFINITY ? plain : KEEP * t->iteration;
    if (usable(c, t) && t->setup < without && (!best || t->setup < best->setup)) best = t;
  }
  return best;
}

int kcl_outcome_count(const kcl_choice *known) {
  int count = 0;
  for (int i = 0; i < known->count; i++) count += !strcmp(known->timing[i].format, NONE);
  return count;
}

double kcl_outcome_untried(const kcl_selection *c, double *each) {
  const kcl_timing *t = kcl_outcome_best(c), *plain = c->expected ? kcl_auto_best(c) : NULL;
  *each = plain ? plain->iteration : c->predicted;
  if ((c->expected > 0) + kcl_outcome_count(&c->remembered) != 1) return INFINITY;
  return t ? t->setup : plain_seconds(c);
}

/* The least seconds count: other programs only make a solve longer. */
void kcl_outcome_remember(kcl_selection *c, const char *method, const char *precond, double seconds,
                          double without) {
  kcl_timing *t = kcl_choice_timing(&c->remembered, method, precond, NONE);
  if (!t || (t->setup > 0 && seconds >= t->setup)) return;
  t->setup = seconds;
  if (!(t->iteration > 0)) t->iteration = fmin(without, FOREVER);
  kcl_choice_remember(c->key, &c->remembered);
  c->recalled = true;
}

void kcl_outcome_failed(kcl_selection *c, const char *method, const char *precond) {
  kcl_choice_failed(&c->remembered, method, precond, NONE);
  kcl_choice_remember(c->key, &c->remembered);
}

bool kcl_outcome_is_failed(const kcl_selection *c, const char *method, const char *precond) {
  return kcl_choice_way_failed(&c->remembered, method, precond);
}

void kcl_outcome_recall(kcl_selection *c, const kcl_options *o) {
  const kcl_system *s = c->system;
  kcl_choice_key(s->ctx, s->A, &s->stats, o, c->key);
  c->recalled = kcl_choice_recall(c->key, &c->remembered);
}
