/* The first choice of method and format, by what is known without running anything: what was timed before on this device
 * for such a structure, else symmetry (solver/auto/methods.c) and predicted seconds (solver/engine/predict.c).
 */
#include "core/tuning/rates.h"
#include "solver/auto/auto.h"
#include <stdio.h>

void kcl_selection_use(kcl_selection *c, kcl_engine **e) {
  kcl_engine_free(&c->engine);
  kcl_later_free(&c->later);
  c->hurried = false;
  c->engine = *e, c->way = (kcl_way){(*e)->method, (*e)->precond};
  *e = NULL;
}

const kcl_format *kcl_selection_format(const kcl_selection *c) {
  return c->hurried ? c->wanted : c->engine->operators[0]->format;
}

/* ---------------------------------------------------------------- what is remembered */

bool kcl_auto_remembers(const kcl_selection *c) {
  const kcl_system *s = c->system;
  return !s->shell && !s->given && /* whose speed says nothing of others */
         !s->undecided.model && !s->ctx->reproducible &&
         (s->undecided.format || s->undecided.method || s->undecided.precond);
}

/* "410 us per iteration, sell16 520 us": what was timed, `first` first. */
void kcl_auto_say_timings(const kcl_selection *c, const kcl_timing *first, char *text,
                          size_t capacity) {
  const kcl_choice *known = &c->remembered;
  kcl_append(text, capacity, "%s per iteration", kcl_seconds_text(first->iteration).s);
  for (int i = 0; i < known->count; i++) {
    const kcl_timing *t = &known->timing[i];
    if (t == first || !(t->iteration < INFINITY) || !strcmp(t->format, "none")) continue;
    bool other = strcmp(t->method, first->method) || strcmp(t->precond, first->precond),
         plain = !strcmp(t->precond, "none");
    kcl_append(text, capacity, ", ");
    if (other)
      kcl_append(text, capacity, "%s%s%s in ", t->method, plain ? "" : " + ",
                 plain ? "" : t->precond);
    kcl_append(text, capacity, "%s %s", t->format, kcl_seconds_text(t->iteration).s);
  }
}

/* ---------------------------------------------------------------- method and preconditioner */

/* Predicted seconds per iteration, in the best format or in the one asked for. */
static int predicted(const kcl_selection *c, const kcl_method *m, double *seconds) {
  const kcl_system *s = c->system;
  return kcl_engine_predicted(s, m, c->way.precond, s->undecided.format ? NULL : s->options.format,
                              seconds);
}

/* May forms of cg stand for it? On OpenCL devices launches and reductions may be what limits cg. */
static bool forms_fit(const kcl_selection *c) {
  const kcl_system *s = c->system;
  return s->ctx->opencl && !s->shell && !s->ctx->reproducible && s->undecided.method &&
         !strcmp(c->way.method->name, "cg") && kcl_auto_cg_forms_fit(&s->options);
}

/* The form of cg with the least predicted time. The model must promise a tenth, because recurrences of forms drift. */
static int choose_form(kcl_selection *c) {
  double cg, least, seconds;
  int rc;
  if (!forms_fit(c)) return KCL_OK;
  if ((rc = predicted(c, c->way.method, &cg))) return rc;
  least = 0.9 * cg;
  for (int i = 0; i < KCL_CG_FORMS; i++) {
    const kcl_method *m;
    if ((rc = kcl_method_find(c->system->ctx, kcl_cg_forms[i], &m))) return rc;
    if ((rc = predicted(c, m, &seconds))) return rc;
    if (seconds < least && !kcl_choice_has_failed(&c->remembered, m->name))
      c->way.method = m, least = seconds;
  }
  if (least < 0.9 * cg)
    kcl_append(c->why_method, sizeof c->why_method, "; %s per iteration predicted, cg %s",
               kcl_seconds_text(least).s, kcl_seconds_text(cg).s);
  return KCL_OK;
}

static void add_reason(char *why, size_t capacity, const char *reason) {
  kcl_append(why, capacity, "%s%s", why[0] ? "; " : "", reason);
}

/* The preconditioner that earlier solves of this structure switched to, the fastest, or NULL. */
static const char *switched_to(const kcl_selection *c) {
  const kcl_timing *t = kcl_outcome_best(c);
  return t && strcmp(t->method, "direct") ? t->precond : NULL;
}

/* Why this way, for reports: what speaks for the method, then for the preconditioner, or the record of earlier solves. */
static void explain_way(kcl_selection *c) {
  const kcl_system *s = c->system;
  const kcl_method *m = c->way.method;
  char *why = c->why_method, varies[80];
  const size_t capacity = sizeof c->why_method;
  why[0] = 0;
  if (s->undecided.method) add_reason(why, capacity, kcl_auto_structure(s));
  if (c->way_recalled) {
    add_reason(why, capacity,
               kcl_auto_is_cg_form(m->name)
                   ? "remembered as the fastest form of cg on this structure"
                   : "remembered, since it solved a system of this structure before");
    add_reason(why, capacity, "KRYLOCL_CACHE= leaves the record out");
    return;
  }
  if (s->undecided.precond && switched_to(c)) {
    kcl_append(why, capacity, "%sremembered: an earlier solve of this structure switched to %s",
               why[0] ? "; " : "", switched_to(c));
    add_reason(why, capacity, "KRYLOCL_CACHE= leaves the record out");
    return;
  }
  if (!s->undecided.precond || !c->way.precond->apply) return;
  snprintf(varies, sizeof varies, "the diagonal varies by a factor of %s",
           kcl_factor_text(s->stats.diagonal_ratio).s);
  if (isinf(s->stats.diagonal_ratio)) snprintf(varies, sizeof varies, "the diagonal has zeros");
  add_reason(why, capacity, m->least_squares ? "columns scaled to norm 1" : varies);
}

/* ---------------------------------------------------------------- as before */

static bool in_plan(const kcl_selection *c, const kcl_method *m) {
  for (int i = 0; i < c->plan.count; i++)
    if (c->plan.way[i].method == m) return true;
  return kcl_auto_is_cg_form(m->name) && !strcmp(c->plan.way[0].method->name, "cg");
}

/* Does the way of earlier values suit the new ones? */
static bool keeps_way(const kcl_selection *c, const kcl_selection *b) {
  const kcl_precond_request q = kcl_system_request(c->system);
  return b && in_plan(c, b->way.method) && !kcl_precond_check(&q, b->way.precond, b->way.method);
}

/* And the format, with this method? */
static bool keeps_format(const kcl_selection *c, const kcl_method *m, const kcl_selection *b) {
  const kcl_system *s = c->system;
  kcl_cost cost;
  return b && m == b->way.method &&
         !kcl_format_cost(s->ctx, &s->stats, s->options.precision, kcl_engine_format(b->engine),
                          &cost) &&
         !cost.refusal;
}

bool kcl_choice_stays(const kcl_selection *c, const kcl_selection *before) {
  const kcl_system *s = c->system;
  const bool any = s->undecided.method || s->undecided.precond;
  if (!before || (any && !keeps_way(c, before))) return false;
  return !s->undecided.format || keeps_format(c, any ? before->way.method : c->way.method, before);
}

static void keep_way(kcl_selection *c, const kcl_selection *b) {
  c->way = b->way, c->decided = b->decided, c->way_recalled = b->way_recalled;
  memcpy(c->why_method, b->why_method, sizeof c->why_method);
}

/* ---------------------------------------------------------------- the plan, and the first way */

int kcl_choose_plan(kcl_selection *c) {
  int rc = kcl_auto_plan(c->system, &c->plan);
  c->way = c->plan.way[0];
  return rc;
}

/* Is the key that of earlier values, whose pattern is the same? */
static bool same_facts(const kcl_system *a, const kcl_system *b) {
  const kcl_stats *s = &a->stats, *t = &b->stats;
  return s->row_patterns == t->row_patterns && s->pattern_entries == t->pattern_entries &&
         s->pattern_runs == t->pattern_runs && s->distinct_pairs == t->distinct_pairs &&
         s->distinct_values == t->distinct_values && s->values_fit_float == t->values_fit_float &&
         s->hermitian == t->hermitian && s->symmetric == t->symmetric &&
         s->shifted_skew == t->shifted_skew;
}

int kcl_choose_way(kcl_selection *c, const kcl_selection *before) {
  const kcl_system *s = c->system;
  const bool any = s->undecided.method || s->undecided.precond;
  int rc = KCL_OK;
  kcl_rates_recall(s->ctx);
  if (kcl_auto_remembers(c)) {
    if (before && same_facts(s, before->system))
      memcpy(c->key, before->key, sizeof c->key);
    else
      kcl_choice_key(s->ctx, s->A, &s->stats, &s->options, c->key);
    c->recalled = kcl_choice_recall(c->key, &c->remembered);
    c->expected = c->remembered.iterations;
  }
  if (!any) return KCL_OK;
  if (keeps_way(c, before)) {
    keep_way(c, before);
    return KCL_OK;
  }
  const kcl_timing *known = kcl_auto_best(c);
  c->way_recalled = known && (strcmp(known->method, c->way.method->name) ||
                              strcmp(known->precond, c->way.precond->name));
  if (known) rc = kcl_method_find(s->ctx, known->method, &c->way.method);
  if (known && !rc) rc = kcl_precond_find(s->ctx, known->precond, &c->way.precond);
  explain_way(c);
  return rc || known ? rc : choose_form(c);
}

/* ---------------------------------------------------------------- format */

/* The one asked for. */
static int take_named_format(kcl_selection *c, const kcl_format **f) {
  const kcl_system *s = c->system;
  snprintf(c->why_format, sizeof c->why_format, "%s",
           s->ctx->reproducible ? "reproducible sums" : "asked for");
  return kcl_format_named(s->ctx, &s->stats, s->options.precision, s->options.format, f);
}

/* The first by predicted seconds. */
static int predicted_format(kcl_selection *c, const kcl_format **f) {
  const kcl_system *s = c->system;
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc = kcl_engine_predict(s, c->way.method, c->way.precond, list, &count);
  if (rc) return rc;
  *f = list[0].format;
  snprintf(c->why_format, sizeof c->why_format, "%s per iteration predicted",
           kcl_seconds_text(list[0].seconds).s);
  if (count > 1)
    kcl_append(c->why_format, sizeof c->why_format, ", next %s with %s", list[1].format->name,
               kcl_seconds_text(list[1].seconds).s);
  return KCL_OK;
}

int kcl_choose_format(kcl_selection *c, const kcl_selection *before, const kcl_format **f) {
  const kcl_system *s = c->system;
  kcl_type type = s->options.precision;
  char *why = c->why_format;
  const size_t capacity = sizeof c->why_format;
  if (!s->undecided.format) return take_named_format(c, f);
  if (keeps_format(c, c->way.method, before)) {
    memcpy(why, before->why_format, capacity);
    return kcl_format_find(s->ctx, kcl_engine_format(before->engine), type, f);
  }
  const kcl_timing *known = s->undecided.measure ? NULL : kcl_auto_best(c);
  if (!known || strcmp(known->method, c->way.method->name) ||
      strcmp(known->precond, c->way.precond->name))
    return predicted_format(c, f);
  snprintf(why, capacity, "remembered: ");
  kcl_auto_say_timings(c, known, why, capacity);
  if (c->remembered.iterations)
    kcl_append(why, capacity, ", %lld iterations expected", (long long)c->remembered.iterations);
  return kcl_format_find(s->ctx, known->format, type, f);
}

void kcl_choose_explain_adjoint(kcl_selection *c) {
  const kcl_engine *e = c->engine;
  if (e->operator_count < 2) return;
  const kcl_stored *A = e->operators[0], *AH = e->operators[1];
  if (A->format != AH->format || A->rows != A->cols)
    kcl_append(c->why_format, sizeof c->why_format, "; its adjoint in %s", AH->format->name);
}
