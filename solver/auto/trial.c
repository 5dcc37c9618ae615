/* Trials: other formats and other forms of cg are timed, and the fastest engine is kept.
 *
 * Candidates are the first MOST formats whose predicted time is within NEAR of the least. Each is converted, uploaded
 * and compiled, and its loop is timed. A faster engine replaces the one in use at once. During a solve this happens
 * between two passes over LOOP: all vectors and scalars are copied, and no step of the method is lost. Trials take at
 * most a tenth of the seconds that the solve is expected to take, or has taken.
 */
#include "solver/auto/auto.h"
#include <stdio.h>

enum { MOST = 4, LEAST = 8 /* iterations to time one */ };
static const double NEAR = 1.6;     /* largest error of the model seen so far */
static const double SHARE = 0.1;    /* of the seconds of a solve, for trials */
static const double ENTRY = 20e-9;  /* seconds per entry to convert (two cores of 2026) */
static const double COMPILE = 0.5;  /* seconds to compile a program that is not cached */
static const double SAMPLE = 0.025; /* seconds that a candidate is run for, at most */

/* ---------------------------------------------------------------- candidates */

static bool same_program(const kcl_system *s, const kcl_format *a, const kcl_format *b) {
  return kcl_format_alike(s->ctx, &s->stats, s->options.precision, a, b);
}

/* Was this format timed with the method in use? */
static bool timed(const kcl_selection *c, const char *format) {
  const kcl_choice *known = &c->remembered;
  for (int i = 0; i < known->count; i++)
    if (!strcmp(known->timing[i].method, c->engine->method->name) &&
        !strcmp(known->timing[i].precond, c->engine->precond->name) &&
        !strcmp(known->timing[i].format, format))
      return true;
  return false;
}

/* Formats worth timing beside the one in use that have not been timed; during a solve only those whose program has the
 * same stages. */
static int list_candidates(const kcl_selection *c, bool in_a_solve, kcl_rank list[MOST],
                           int *found) {
  kcl_rank all[KCL_MOST_FORMATS];
  const kcl_system *s = c->system;
  const kcl_format *mine = c->engine->operators[0]->format;
  int count, distinct = 0, rc = KCL_OK;
  *found = 0;
  if (!s->undecided.format) return rc;
  if ((rc = kcl_engine_predict(s, c->engine->method, c->engine->precond, all, &count))) return rc;
  for (int i = 0; i < count && distinct < MOST && all[i].seconds <= NEAR * all[0].seconds; i++) {
    const kcl_format *f = all[i].format;
    bool again = false;
    for (int j = 0; j < i && !again; j++) again = same_program(s, f, all[j].format);
    if (again) continue;
    distinct++;
    if (same_program(s, f, mine) || timed(c, f->name)) continue;
    if (!in_a_solve || f->scatter == mine->scatter) list[(*found)++] = all[i];
  }
  return rc;
}

/* cg and its forms beside the one in use, but those that did not solve this system. */
static int forms(const kcl_selection *c, const char *list[1 + KCL_CG_FORMS]) {
  const kcl_system *s = c->system;
  const char *family[] = {"cg", kcl_cg_forms[0], kcl_cg_forms[1]}, *mine = c->engine->method->name;
  bool cg = !strcmp(mine, "cg") || kcl_auto_is_cg_form(mine);
  int count = 0;
  if (!s->undecided.method || !cg || !kcl_auto_cg_forms_fit(&s->options)) return 0;
  for (int i = 0; i < 1 + KCL_CG_FORMS; i++)
    if (strcmp(family[i], mine) && !kcl_choice_has_failed(&c->remembered, family[i]))
      list[count++] = family[i];
  return count;
}

/* Was another method timed, and does it solve the system? */
static bool timed_forms(const kcl_selection *c) {
  const kcl_choice *known = &c->remembered;
  for (int i = 0; i < known->count; i++)
    if (known->timing[i].iteration < INFINITY && strcmp(known->timing[i].format, "none") &&
        strcmp(known->timing[i].method, c->engine->method->name))
      return true;
  return false;
}

static kcl_timing *own_timing(kcl_selection *c) {
  return kcl_choice_timing(&c->remembered, c->engine->method->name, c->engine->precond->name,
                           kcl_engine_format(c->engine));
}

/* Seconds to set up another format. Where this program came from the cache folder, the seconds to compile a new one are
 * those remembered, or COMPILE. */
static double setup_cost(kcl_selection *c) {
  const kcl_executor *ex = &c->engine->executor;
  const kcl_timing *t = timed(c, kcl_engine_format(c->engine)) ? own_timing(c) : NULL;
  double convert = ENTRY * (double)c->system->stats.nnz * (c->engine->method->adjoint ? 2 : 1);
  double compile = ex->seconds_compile;
  if (ex->from_cache) compile = fmax(COMPILE, t ? t->setup : 0);
  return convert + ex->seconds_upload + compile;
}

double kcl_trial_budget(double seconds) { return SHARE * seconds; }

double kcl_trial_price(const kcl_selection *c, double each) { return c->cost + LEAST * each; }

/* ---------------------------------------------------------------- timing */

/* Seconds per iteration of one right-hand side: the least of three samples, in about `budget` seconds; one sample where a
 * single iteration takes that long. */
static int sample_engine(kcl_engine *e, double budget, double *each) {
  double t[3];
  int rc = kcl_engine_time(e, 1, 1, each), n = 0;
  if (!rc) n = (int)fmin(1000, budget / (4 * *each));
  if (!rc && n) rc = kcl_engine_time(e, n, 3, t);
  if (!rc && n) *each = fmin(t[0], fmin(t[1], t[2]));
  *each /= e->program->nrhs;
  return rc;
}

static void note_timing(kcl_selection *c, const kcl_engine *e, double each) {
  kcl_timing *t =
      kcl_choice_timing(&c->remembered, e->method->name, e->precond->name, kcl_engine_format(e));
  if (t && t->iteration < INFINITY) t->setup = kcl_engine_setup_seconds(e), t->iteration = each;
}

void kcl_trial_note(kcl_selection *c, double each) {
  c->hurried = false; /* it is compared with others from now on */
  note_timing(c, c->engine, each);
}

/* The engine in use once more: other programs may have disturbed the first timing. */
static int sample_again(kcl_selection *c, double budget, double *least) {
  kcl_timing *t = own_timing(c);
  double each;
  int rc = sample_engine(c->engine, budget, &each);
  if (!rc && each < *least) *least = each;
  if (!rc && t && each < t->iteration) t->iteration = each;
  return rc;
}

/* Times one candidate; where it takes less than `least`, it becomes the engine in use. One that cannot be built is no
 * error. */
static int try_one(kcl_selection *c, const kcl_method *m, const kcl_format *f, const kcl_trial *t,
                   double *least) {
  KCL_OWNED_BY(kcl_engine_free) kcl_engine *e = NULL;
  double each;
  if (kcl_engine_build_tested(c->system, m, c->engine->precond, f, &e)) return KCL_OK;
  if (sample_engine(e, t->budget / 2, &each)) return KCL_OK;
  note_timing(c, e, each);
  if (!t->in_a_solve) KCL_CALL(sample_again(c, t->budget / 2, least));
  if (each >= *least || (t->in_a_solve && !kcl_engine_same_program(c->engine, e))) return KCL_OK;
  if (t->in_a_solve) KCL_CALL(kcl_engine_carry(e, c->engine));
  kcl_selection_use(c, &e);
  *least = each;
  return KCL_OK;
}

int kcl_trial_run(kcl_selection *c, const kcl_trial *t, double each) {
  kcl_rank list[MOST];
  double start = kcl_now();
  const char *other[1 + KCL_CG_FORMS];
  int count, others = t->in_a_solve ? 0 : forms(c, other),
             rc = list_candidates(c, t->in_a_solve, list, &count);
  const kcl_trial one = {fmin(SAMPLE, t->budget / (2.0 * (count + others) + 1)), t->in_a_solve};
  for (int i = 0; i < count + others && !rc; i++) {
    const kcl_format *f = i < count ? list[i].format : c->engine->operators[0]->format;
    const kcl_method *m = c->engine->method;
    if (kcl_now() - start + c->cost > t->budget) break;
    if (i >= count) rc = kcl_method_find(c->system->ctx, other[i - count], &m);
    if (!rc) rc = try_one(c, m, f, &one, &each);
  }
  c->decided = c->dirty = true;
  return rc;
}

void kcl_trial_explain(kcl_selection *c) {
  const kcl_timing *mine = own_timing(c);
  snprintf(c->why_format, sizeof c->why_format, "measured: ");
  if (mine) kcl_auto_say_timings(c, mine, c->why_format, sizeof c->why_format);
  if (kcl_auto_is_cg_form(c->engine->method->name))
    snprintf(c->why_method, sizeof c->why_method, "%s; measured as the fastest form of cg",
             kcl_auto_structure(c->system));
}

/* ---------------------------------------------------------------- at set-up */

/* c->decided: there is nothing to time, now or later. */
static int decide_what_to_time(kcl_selection *c) {
  const char *other[1 + KCL_CG_FORMS];
  kcl_rank list[MOST];
  c->decided = !kcl_auto_remembers(c);
  if (c->decided) return KCL_OK;
  if (c->system->undecided.measure) kcl_choice_keep_failed(&c->remembered);
  int rc = list_candidates(c, false, list, &c->candidates);
  c->cost = setup_cost(c);
  c->decided = !c->candidates && !(forms(c, other) && !timed_forms(c));
  return rc;
}

int kcl_choose_by_time(kcl_selection *c) {
  const kcl_choice *known = &c->remembered;
  kcl_trial t = {.budget = INFINITY};
  double start = kcl_now(), each;
  int rc;
  if ((rc = decide_what_to_time(c)) || c->decided) return rc;
  if (!c->system->undecided.measure) {
    const kcl_timing *mine = kcl_auto_best(c);
    if (!mine || !known->iterations) return KCL_OK;
    t.budget = kcl_trial_budget((double)known->iterations * mine->iteration);
    if (kcl_trial_price(c, mine->iteration) > t.budget) return KCL_OK;
  }
  KCL_TRY(sample_engine(c->engine, fmin(SAMPLE, t.budget / 4), &each));
  kcl_trial_note(c, each);
  KCL_TRY(kcl_trial_run(c, &t, each));
  kcl_trial_explain(c);
  kcl_choice_remember(c->key, known);
done:
  c->seconds += kcl_now() - start;
  return rc;
}
