/* The first choice of method and format, by what is known without running anything: what was timed before on this device
 * for such a structure, else symmetry (solver/auto/methods.c) and bytes (spmv/rank.c).
 */
#include "solver/auto/auto.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_ITERATIONS = 1000 };

void kcl_auto_say(char *text, size_t room, const char *format, ...) {
  size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, room - used, format, args);
  va_end(args);
}

void kcl_selection_use(kcl_selection *c, kcl_engine **e) {
  kcl_engine_free(&c->engine);
  c->engine = *e, c->method = (*e)->method;
  *e = NULL;
}

/* ---------------------------------------------------------------- what is remembered */

bool kcl_auto_remembers(const kcl_selection *c) {
  const kcl_system *s = c->system;
  return !s->undecided.model && (s->undecided.format || s->undecided.method);
}

/* Does a remembered timing answer what these options ask? */
static bool usable(const kcl_system *s, const kcl_timing *t) {
  kcl_cost cost;
  if (s->undecided.method && !kcl_auto_has_method(s, t->method)) return false;
  if (!s->undecided.method && strcmp(t->method, s->options.solver)) return false;
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
    if (cost < least && usable(c->system, t)) best = t, least = cost;
  }
  return best;
}

/* "410 us per iteration, sell16 520": what was timed, `first` first. */
void kcl_auto_say_timings(const kcl_selection *c, const kcl_timing *first, char *text,
                          size_t room) {
  const kcl_choice *known = &c->remembered;
  kcl_auto_say(text, room, "%.3g us per iteration", 1e6 * first->iteration);
  for (int i = 0; i < known->count; i++) {
    const kcl_timing *t = &known->timing[i];
    if (t == first) continue;
    bool other = strcmp(t->method, first->method);
    kcl_auto_say(text, room, ", %s%s%s %.3g", other ? t->method : "", other ? " in " : "",
                 t->format, 1e6 * t->iteration);
  }
}

/* ---------------------------------------------------------------- method */

int kcl_choose_method(kcl_selection *c) {
  const kcl_system *s = c->system;
  const char *name = s->options.solver, *usual = kcl_auto_methods(s)[0];
  if (kcl_auto_remembers(c)) {
    kcl_choice_key(s->ctx, s->A, &s->stats, &s->options, c->key);
    c->recalled = kcl_choice_recall(c->key, &c->remembered);
    c->expected = c->remembered.iterations;
  }
  if (!s->undecided.method) return kcl_method_find(s->ctx, name, &c->method);
  const kcl_timing *known = kcl_auto_best(c);
  name = known ? known->method : usual;
  snprintf(c->why_method, sizeof c->why_method, "%s", kcl_auto_structure(&s->stats));
  if (known && strcmp(name, usual))
    kcl_auto_say(c->why_method, sizeof c->why_method, "; %s",
                 kcl_auto_is_cg_form(name) ? "measured as the fastest form of cg"
                                           : "converged the last time");
  return kcl_method_find(s->ctx, name, &c->method);
}

/* ---------------------------------------------------------------- format */

/* The one asked for. */
static int named_format(kcl_selection *c, const kcl_format **f) {
  const kcl_system *s = c->system;
  kcl_type type = s->options.precision;
  kcl_cost cost;
  int rc = kcl_format_find(s->ctx, s->options.format, type, f);
  if (!rc) rc = kcl_format_cost(s->ctx, &s->stats, type, s->options.format, &cost);
  if (!rc && cost.refusal)
    rc = kcl_fail(s->ctx, KCL_MEMORY, "format %s refused: %s", s->options.format, cost.refusal);
  snprintf(c->why_format, sizeof c->why_format, "asked for");
  return rc;
}

int kcl_choose_format(kcl_selection *c, const kcl_format **f) {
  const kcl_system *s = c->system;
  kcl_type type = s->options.precision;
  char *why = c->why_format;
  const size_t room = sizeof c->why_format;
  if (!s->undecided.format) return named_format(c, f);
  const kcl_timing *known = s->undecided.measure ? NULL : kcl_auto_best(c);
  if (!known || strcmp(known->method, c->method->name))
    return kcl_format_choose(s->ctx, &s->stats, type, f, why, room);
  snprintf(why, room, "remembered: ");
  kcl_auto_say_timings(c, known, why, room);
  if (c->remembered.iterations)
    kcl_auto_say(why, room, ", %lld iterations expected", (long long)c->remembered.iterations);
  return kcl_format_find(s->ctx, known->format, type, f);
}

void kcl_choose_explain_adjoint(kcl_selection *c) {
  const kcl_engine *e = c->engine;
  if (e->operator_count < 2) return;
  const kcl_matrix *A = e->operators[0], *AH = e->operators[1];
  if (A->format != AH->format || A->rows != A->cols)
    kcl_auto_say(c->why_format, sizeof c->why_format, "; its adjoint in %s", AH->format->name);
}
