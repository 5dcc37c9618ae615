/* Around the correction loop: between two batches other formats are timed where that pays; after a method that gave up
 * the next one continues; after the solve its iterations and timings are remembered.
 */
#include "solver/auto/auto.h"
#include <stdio.h>

static const double WORTH =
    0.01; /* seconds that a solve must take for its iterations to be remembered */
static const double SURE = 2; /* times as long: a direct solution is sure, another method is not */
static const double LONG = 0.1; /* seconds of a solve whose time per iteration counts */

/* ---------------------------------------------------------------- a faster format */

/* each: seconds per iteration. */
static bool change_pays(const kcl_selection *c, double seconds, double each) {
  return !c->decided && c->system->undecided.format && c->candidates &&
         kcl_trial_budget(seconds) > kcl_trial_price(c, each);
}

/* After an exchange of engines of one method between two batches. */
static void say_format(kcl_selection *c, kcl_loop *l, const char *before, const char *why) {
  kcl_loop_exchange(l, c->engine);
  kcl_append(c->changes, sizeof c->changes, "%sformat %s for %lld iterations, then %s; %s",
             c->changes[0] ? "\n" : "", before, (long long)kcl_loop_iterations(l),
             kcl_engine_format(c->engine), why);
}

/* From the engine that was there first to the fastest, compiled by now. One that cannot be built is no error. */
static int change_over(kcl_selection *c, kcl_loop *l) {
  const char *before = kcl_engine_format(c->engine);
  const double begin = kcl_now();
  const int64_t done = kcl_loop_iterations(l);
  double each = fmax(begin - l->start, 1e-6) / (done ? (double)done : 1);
  kcl_engine *e = NULL;
  int rc = kcl_loop_measure(l, &each);
  if (rc || !kcl_loop_running(l)) return rc;
  const kcl_method *m = c->wants;
  c->wants = NULL; /* once */
  if (!kcl_engine_build_tested(c->system, m, c->way.precond, c->wanted, &e) &&
      kcl_engine_same_program(c->engine, e) && !(rc = kcl_engine_carry(e, c->engine))) {
    kcl_selection_use(c, &e);
    l->engine = c->engine;
    say_format(c, l, before, "compiled meanwhile");
  }
  kcl_engine_free(&e);
  l->start += kcl_now() - begin;
  return rc;
}

static int try_formats(kcl_selection *c, kcl_loop *l, double seconds, double each) {
  const kcl_trial t = {.budget = kcl_trial_budget(seconds), .in_a_solve = true};
  const char *before = kcl_engine_format(c->engine);
  each /= c->engine->program->nrhs;
  kcl_trial_note(c, each);
  int rc = kcl_trial_run(c, &t, each);
  l->engine = c->engine;
  kcl_trial_explain(c);
  if (!strcmp(before, kcl_engine_format(c->engine))) return rc;
  say_format(c, l, before, c->why_format);
  return rc;
}

/* Times other formats where that pays. */
static int consider_others(kcl_selection *c, kcl_loop *l) {
  kcl_remaining_note(c, l);
  if (kcl_direct_pays(c, l) || kcl_switch_pays(c, l)) return KCL_OK;
  kcl_draft_watch(c, l);
  if (l->every) return KCL_OK;
  if (kcl_draft_pays(c, l)) return change_over(c, l);
  int64_t done = kcl_loop_iterations(l);
  double seconds = kcl_now() - l->start, each = seconds / (double)done;
  if (!done || !change_pays(c, seconds, each)) return KCL_OK;
  int rc = kcl_loop_measure(l, &each);
  if (rc || !kcl_loop_running(l)) return rc;
  double t = kcl_now();
  rc = try_formats(c, l, seconds, each);
  t = kcl_now() - t;
  c->seconds += t, l->start += t;
  return rc;
}

/* ---------------------------------------------------------------- the next way */

/* A limit of the caller's ends the solve, one of ours only the method. */
static bool gave_up(const kcl_loop *l, kcl_reason reason) {
  if (reason == KCL_ITERATION_LIMIT) return !l->system->options.max_iter;
  return reason != KCL_CONVERGED && reason != KCL_INTERRUPTED;
}

/* Activates the right-hand sides whose method gave up; the reason of the first, or KCL_CONVERGED. */
static kcl_reason activate_failed(kcl_loop *l) {
  kcl_reason reason = KCL_CONVERGED;
  for (int i = l->nrhs - 1; i >= 0; i--) {
    kcl_rhs *v = &l->rhs[i];
    v->active = v->b_norm.norm > 0 && !v->answered && gave_up(l, v->report->reason);
    if (v->active) reason = v->report->reason;
  }
  return reason;
}

/* Best squared residual relative to the target's, of the active right-hand side that is furthest from it. */
static double best_distance(const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++) {
    const kcl_rhs *v = &l->rhs[i];
    if (v->active) most = fmax(most, v->best / (v->target * v->target));
  }
  return most;
}

static int way_in_use(const kcl_selection *c) {
  return kcl_plan_find(&c->plan, c->way.method->name, c->way.precond->name);
}

/* The number of the first that was not tried; -1: there is none. */
static int next_way(const kcl_selection *c) {
  for (int i = 0; i < c->plan.count; i++)
    if (!(c->tried >> i & 1)) return i;
  return -1;
}

/* Was the method of an active right-hand side left for want of patience? */
static bool cut_short(const kcl_loop *l) {
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active && l->impatient && l->rhs[i].given_up == 1 + KCL_STAGNATED) return true;
  return false;
}

/* The way that came nearest to the solution among those that were cut short. */
static int nearest_way(const kcl_selection *c) {
  int nearest = -1;
  for (int i = 0; i < c->plan.count; i++)
    if ((c->tried >> i & 1) && c->reached[i] > 0 &&
        (nearest < 0 || c->reached[i] < c->reached[nearest]))
      nearest = i;
  return nearest;
}

static void mark_tried(kcl_selection *c) {
  int now = way_in_use(c);
  if (now >= 0) c->tried |= 1u << now;
}

/* Is there another method, and is this one not the best there is for such a matrix? Not where x is to have the same bits everywhere:
 * residuals are looked at after other iterations on other devices. */
static bool impatient(const kcl_selection *c) {
  const kcl_system *s = c->system;
  if (s->ctx->reproducible) return false;
  if (s->hermitian && s->stats.positive_diagonal && c->way.method->hermitian &&
      strcmp(c->way.method->name, "minres"))
    return false;
  return s->undecided.method && (next_way(c) >= 0 || !s->options.no_direct);
}

/* x of each active right-hand side becomes the best known. */
static int load_best(kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++)
    if (l->rhs[i].active && kcl_snapshot_better(l, i)) rc = ex->load(ex, l->snapshots.best, i);
  return rc;
}

static int build_next_engine(kcl_selection *c, const kcl_way *way, kcl_engine **out) {
  if (c->build) return c->build(c->owner, way, out);
  return kcl_engine_build_tested(c->system, way->method, way->precond, kcl_selection_format(c),
                                 out);
}

/* An engine of this way with b and the best x of all right-hand sides. NULL: it cannot be built (such as A^H that does
 * not fit), or it has more scalars than a device has room for. */
static int engine_of_next(kcl_selection *c, kcl_loop *l, const kcl_way *way, kcl_engine **out) {
  const kcl_system *s = c->system;
  const kcl_engine *old = c->engine;
  *out = NULL;
  if (s->options.mixed && way->method->least_squares) return KCL_OK;
  if (build_next_engine(c, way, out)) return KCL_OK;
  bool fits = (*out)->program->nrhs == old->program->nrhs;
  int rc = fits ? load_best(l) : KCL_OK;
  if (!rc && fits) rc = kcl_engine_copy_system(*out, c->engine);
  if (rc || !fits) kcl_engine_free(out);
  return rc;
}

static const char *with_precond(const kcl_way *w, char text[64]) {
  bool plain = !w->precond->apply;
  snprintf(text, 64, "%s%s%s", w->method->name, plain ? "" : " with ",
           plain ? "" : w->precond->name);
  return text;
}

static int go_on_with(kcl_selection *c, kcl_loop *l, kcl_engine **e, kcl_reason reason) {
  char before[64], after[64];
  const kcl_way way = {(*e)->method, (*e)->precond};
  kcl_append(c->changes, sizeof c->changes, "%s%s gave up at iteration %lld: %s; continued with %s",
             c->changes[0] ? "\n" : "", with_precond(&c->way, before),
             (long long)kcl_loop_iterations(l), kcl_reason_text(reason), with_precond(&way, after));
  kcl_choice_failed(&c->remembered, c->way.method->name, c->way.precond->name,
                    kcl_engine_format(c->engine));
  kcl_selection_use(c, e);
  l->engine = c->engine;
  c->dirty = c->decided = true;
  c->descent.count = 0;
  mark_tried(c);
  l->impatient = impatient(c);
  return kcl_loop_restart(l);
}

/* The engine of the next way that can be built; NULL: there is none. */
static int next_engine(kcl_selection *c, kcl_loop *l, kcl_reason reason, kcl_engine **e) {
  int rc = KCL_OK, now = way_in_use(c), next;
  bool form = now >= 0 && c->way.method != c->plan.way[now].method;
  if (form && reason != KCL_INDEFINITE)
    rc = engine_of_next(c, l, &c->plan.way[now], e); /* it drifted */
  while (!rc && !*e && (next = next_way(c)) >= 0) {
    c->tried |= 1u << next;
    rc = engine_of_next(c, l, &c->plan.way[next], e);
  }
  return rc;
}

/* Was the solve stopped, on any rank, while kernels were compiled or a factorisation ran? Then it ends here. */
static bool solve_stopped(const kcl_selection *c, kcl_loop *l) {
  kcl_ranks *ranks = kcl_system_ranks(c->system);
  double stop = c->system->ctx->stopped;
  if (ranks) ranks->sum(ranks, KCL_OK, 1, &stop);
  if (stop == 0) return false;
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active) l->rhs[i].report->reason = KCL_INTERRUPTED;
  return l->interrupted = l->stopped_between = true;
}

static int try_rescue(kcl_selection *c, kcl_loop *l, double seconds) {
  return c->rescue && !l->interrupted ? c->rescue(c->owner, l, seconds) : KCL_OK;
}

/* Nothing is left: other means at any price that is affordable, then the way that came nearest, without a limit to its
 * patience. */
static int last_resorts(kcl_selection *c, kcl_loop *l, kcl_engine **e) {
  int rc = try_rescue(c, l, INFINITY), way = nearest_way(c);
  if (rc || way < 0 || activate_failed(l) == KCL_CONVERGED) return rc;
  memset(c->reached, 0, sizeof c->reached);
  return engine_of_next(c, l, &c->plan.way[way], e);
}

/* To the way that pays better; where it cannot be built, once more with this one. */
static int switch_over(kcl_selection *c, kcl_loop *l) {
  const kcl_way way = c->next;
  kcl_engine *e = NULL;
  c->next.method = NULL;
  if (activate_failed(l) == KCL_CONVERGED || l->interrupted) return KCL_OK;
  int rc = engine_of_next(c, l, &way, &e);
  if (rc || solve_stopped(c, l)) return kcl_engine_free(&e), rc;
  if (e) kcl_selection_use(c, &e);
  l->engine = c->engine;
  c->decided = true;
  c->descent.count = 0;
  return kcl_loop_restart(l);
}

/* A direct solution of the right-hand sides that iterated; where it fails they go on, unless it was asked for. */
static int finish_directly(kcl_selection *c, kcl_loop *l) {
  if (activate_failed(l) == KCL_CONVERGED || l->interrupted) return KCL_OK;
  int rc = try_rescue(c, l, INFINITY);
  if (rc || solve_stopped(c, l) || activate_failed(l) == KCL_CONVERGED || c->system->direct)
    return rc;
  kcl_direct_failed(c);
  return kcl_loop_restart(l);
}

/* Before the first iteration: directly, or in the way that is remembered as the fastest. */
static int begin_otherwise(kcl_selection *c, kcl_loop *l) {
  const bool switches = !c->system->direct && kcl_switch_begins(c, l);
  c->direct = !switches && kcl_direct_begins(c, l);
  if (!switches && !c->direct) return KCL_OK;
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active) l->rhs[i].report->reason = KCL_STAGNATED;
  l->state = KCL_LOOP_ENDED;
  return c->direct ? finish_directly(c, l) : switch_over(c, l);
}

/* Seconds that a direct solution may take in place of the next way: as long as the solve has taken, or as that will. */
static double rescue_budget(const kcl_selection *c, const kcl_loop *l) {
  const double spent = kcl_now() - l->start;
  const double each = spent / fmax((double)kcl_loop_iterations(l), 1);
  const int next = next_way(c);
  return next < 0 ? spent : fmax(spent, SURE * kcl_candidate_seconds(c, &c->plan.way[next], each));
}

/* Right-hand sides whose method gave up are solved by other means, where those take no longer than the solve has taken;
 * otherwise they continue with the next method. The others keep their answers. */
static int next_method(kcl_selection *c, kcl_loop *l) {
  kcl_engine *e = NULL;
  if (c->direct) return finish_directly(c, l);
  if (c->next.method) return switch_over(c, l);
  int rc = KCL_OK, now = way_in_use(c);
  kcl_reason reason = activate_failed(l);
  if (l->interrupted) return KCL_OK;
  if (reason == KCL_CONVERGED) return try_rescue(c, l, INFINITY);
  if (now >= 0 && cut_short(l)) c->reached[now] = best_distance(l);
  if ((rc = try_rescue(c, l, rescue_budget(c, l))) || solve_stopped(c, l)) return rc;
  if (activate_failed(l) == KCL_CONVERGED) return KCL_OK;
  if ((rc = next_engine(c, l, reason, &e)) || solve_stopped(c, l)) return rc;
  bool more = e != NULL;
  if (!more && (rc = last_resorts(c, l, &e))) return rc;
  if (solve_stopped(c, l) || !e) return KCL_OK;
  rc = go_on_with(c, l, &e, reason);
  if (!more) l->impatient = false;
  return rc;
}

int kcl_adapt_run(kcl_selection *c, kcl_loop *l) {
  c->tried = 0, c->asked = 0;
  c->switched = kcl_system_ranks(c->system) || c->system->ctx->reproducible || /* clocks differ */
                (c->way.precond->apply && !c->system->undecided.precond);
  c->rest = c->plain = c->before = c->trusted = c->setup = c->instead = c->promised = 0;
  c->direct = false;
  c->began = kcl_now(), c->began_busy = kcl_thread_seconds();
  c->descent.count = 0;
  c->next.method = NULL;
  memset(c->reached, 0, sizeof c->reached);
  mark_tried(c);
  l->impatient = impatient(c);
  kcl_loop_ask(l);
  int rc = kcl_loop_begin(l);
  if (!rc && c->resume) rc = c->resume(c->solver, l);
  const bool at_first = !rc && l->state != KCL_LOOP_ENDED && !kcl_loop_iterations(l);
  if (at_first) rc = begin_otherwise(c, l);
  while (!rc && l->state != KCL_LOOP_ENDED) {
    rc = kcl_loop_advance(l);
    if (!rc && l->state == KCL_LOOP_ITERATING) rc = consider_others(c, l);
    if (!rc && l->state == KCL_LOOP_ENDED) rc = next_method(c, l);
  }
  if (!rc) kcl_draft_account(c, l);
  kcl_loop_quiet(l);
  return rc ? rc : kcl_loop_end(l);
}

/* ---------------------------------------------------------------- afterwards */

void kcl_adapt_forget(kcl_selection *c) {
  if (!kcl_auto_remembers(c) || (!c->recalled && !c->remembered.count)) return;
  c->remembered = (kcl_choice){.count = 0};
  kcl_choice_remember(c->key, &c->remembered);
  c->dirty = false, c->expected = 0;
}

/* Did the choice remembered take more than twice its remembered time? */
static bool disappoints(kcl_selection *c, double seconds, double each) {
  const kcl_engine *e = c->engine;
  if (!c->recalled || c->dirty || c->hurried || seconds < LONG || e->program->nrhs > 1)
    return false;
  const kcl_timing *t =
      kcl_choice_timing(&c->remembered, e->method->name, e->precond->name, kcl_engine_format(e));
  return t && each > 2 * t->iteration && t->iteration > 0;
}

void kcl_adapt_remember(kcl_selection *c, int64_t iterations, double seconds) {
  kcl_choice *known = &c->remembered;
  const bool plain = strcmp(c->way.precond->name, "none") == 0 ||
                     kcl_plan_find(&c->plan, c->way.method->name, c->way.precond->name) >= 0;
  if (!kcl_auto_remembers(c) || !iterations) return;
  if (!plain || c->plain > 0) { /* switched under way */
    kcl_switch_remember(c, seconds);
    return;
  }
  if (disappoints(c, seconds, seconds / (double)iterations)) { /* the next set-up chooses anew */
    kcl_choice_keep_failed(known);
    kcl_choice_remember(c->key, known);
    return;
  }
  if (kcl_switch_missed(c, seconds)) c->dirty = true;
  if (c->hurried) { /* another engine will be in use: what this one took decides nothing */
    if (c->dirty) kcl_choice_remember(c->key, known);
    c->dirty = false;
    return;
  }
  double change = (double)iterations / (double)(known->iterations ? known->iterations : 1);
  const bool short_or_plain = seconds < WORTH || (!c->candidates && known->count < 2);
  if (!c->dirty && !kcl_outcome_count(known) && short_or_plain) return;
  if (!c->dirty && c->recalled && change > 0.75 && change < 1.33) return;
  kcl_timing *t = kcl_choice_timing(known, c->engine->method->name, c->engine->precond->name,
                                    kcl_engine_format(c->engine));
  if (t && !(t->iteration > 0))
    t->setup = kcl_engine_setup_seconds(c->engine), t->iteration = seconds / (double)iterations;
  known->iterations = iterations;
  kcl_choice_remember(c->key, known);
  c->dirty = false, c->recalled = true;
}
