/* From a plain method to a preconditioner under way: where the iterations still to come are predicted to take 1.5 times as long
 * as the best candidate with its set-up (solver/auto/candidates.c), x so far is kept and the method goes on with it.
 *
 * Predictions of iterations by the slope of a residual alone are poor. They count once the seconds that the solve has taken, times those
 * that they say are left, reach the square of the candidate's: after half of its seconds they must say that it takes twice as long,
 * after all of them as long (ski rental; Karlin et al. 1988).
 */
#include "solver/auto/auto.h"
#include <stdio.h>

static const double SMOOTH = 1.25; /* natively, on smooth grids: both are known within a fifth */
static const double WORTH = 1.5;   /* times as long: both predictions err */
static const double SOON = 0.1;    /* by the slope alone: times the candidate's seconds */
static const double SURE = 2;      /* times as long: a direct solution is sure */
static const double TRUST = 2;     /* times the seconds remembered */
static const double SEARCH = 0.5;  /* of the seconds of a search */
static const double BROKEN = 3;    /* times the iterations promised */
/* Iterations before it is asked, and where A is elliptic; then whenever half as many have been added. */
enum { FIRST = 100, EARLY = 10 };

static bool has_levels(const kcl_way *w) {
  return !strcmp(w->precond->name, "amg") || !strcmp(w->precond->name, "sa");
}

bool kcl_may_switch(const kcl_selection *c) {
  const kcl_system *s = c->system;
  const char *method = c->way.method->name, *first = c->plan.way[0].method->name;
  const bool same = !strcmp(method, first) || (!strcmp(first, "cg") && kcl_auto_is_cg_form(method));
  return s->undecided.precond && !s->options.mixed && !s->given && !s->shell && same &&
         (!has_levels(&c->way) || c->promised > 0);
}

/* The first iteration of the method in use. */
static int64_t first_iteration(const kcl_loop *l) {
  int64_t least = kcl_loop_iterations(l);
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i) && l->rhs[i].began < least) least = l->rhs[i].began;
  return least;
}

/* Has multigrid that the solve switched to taken far more iterations than predicted, and needs as many again? */
static bool breaks_promise(const kcl_selection *c, const kcl_loop *l) {
  return c->promised > 0 &&
         (double)(kcl_loop_iterations(l) - first_iteration(l)) > BROKEN * c->promised &&
         kcl_remaining(l) > c->promised;
}

static double search_seconds(const kcl_selection *c) {
  return c->diffusion.searched ? 0 : kcl_elliptic_search_seconds(kcl_system_matrix(c->system));
}

/* Which preconditioners suit convection depends on the diameter. */
static bool needs_search(const kcl_selection *c) {
  return !c->diffusion.searched && c->diffusion.asymmetry > 0;
}

bool kcl_switch_promises(kcl_selection *c, kcl_loop *l) {
  kcl_candidate list[KCL_MOST_CANDIDATES];
  if (has_levels(&c->way)) return kcl_elliptic_during(c, l) && !breaks_promise(c, l);
  if (c->switched || !kcl_may_switch(c) || !kcl_elliptic_during(c, l)) return false;
  for (int i = kcl_candidates(c, 0, 0, list); i-- > 0;)
    if (list[i].levels) return true;
  return false;
}

/* Seconds of all that. Programs are looked for only where the rest is worth it. */
static double price(kcl_selection *c, const kcl_candidate *p, double plain) {
  if (plain < WORTH * p->seconds) return p->seconds;
  c->rest = p->seconds;
  return p->seconds + kcl_candidate_compilation(c, p);
}

/* The candidate of least seconds that did not fail before; NULL: there is none. */
static const kcl_candidate *best_candidate(const kcl_selection *c, const kcl_candidate *list,
                                           int count) {
  const kcl_candidate *best = NULL;
  for (int i = 0; i < count; i++) {
    const kcl_way *w = &list[i].way;
    if (kcl_outcome_is_failed(c, w->method->name, w->precond->name)) continue;
    if (!best || list[i].seconds < best->seconds) best = &list[i];
  }
  return best;
}

/* In this solve, or longer where its choices are remembered. */
static void pass_over(kcl_selection *c, const kcl_way *way) {
  kcl_choice_failed(&c->remembered, way->method->name, way->precond->name, "none");
  c->dirty = true;
}

static void promise(kcl_selection *c, const kcl_candidate *p) {
  c->promised = p->levels ? p->iterations : 0;
  c->switched = p->last;
}

/* Sets it up beside the iterations; where that fails they go on. */
static bool set_up_switch(kcl_selection *c, const kcl_way *way) {
  kcl_preconditioner *M = NULL;
  const double start = kcl_now();
  int rc = kcl_system_preconditioner(c->system, way->precond, way->method, &M);
  kcl_preconditioner_free(&M);
  if (!rc) c->next = *way;
  c->setup = kcl_now() - start;
  return !rc;
}

/* Seconds to compile what iterations with c->next lack. It depends on the levels, so that it is known after the set-up alone. */
static double missing_compilation(const kcl_selection *c) {
  const kcl_engine *now = c->engine;
  const kcl_way *w = &c->next;
  const kcl_format *format = kcl_selection_format(c);
  kcl_system s = *c->system;
  kcl_engine *e = NULL;
  double seconds = 0;
  for (int i = 0; i < now->operator_count && now->operators[0]->format == format; i++)
    s.shared[i] = now->operators[i];
  if (s.ctx->opencl && !kcl_engine_draft(&s, w->method, w->precond, format, &e))
    seconds = kcl_engine_compilation(e);
  kcl_engine_free(&e);
  return fmax(seconds - c->remembered.missed, 0);
}

/* Does c->next, now set up, still pay in place of `plain` seconds? Otherwise what it would have saved is added up. */
static bool pays_compiled(kcl_selection *c, const kcl_candidate *p, double plain) {
  if (plain >= WORTH * (p->seconds + missing_compilation(c))) return true;
  c->rest = p->seconds, c->next.method = NULL;
  return false;
}

/* Gives up what iterates, for c->next. */
static void give_up(kcl_loop *l) {
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i)) l->rhs[i].given_up = 1 + KCL_STAGNATED;
}

static void say_switch(kcl_selection *c, int64_t done, double plain, double with) {
  const char *newline = c->changes[0] ? "\n" : "", *method = c->way.method->name,
             *next = c->next.method->name, *precond = c->next.precond->name;
  char more[64] = "no convergence was predicted";
  if (plain < INFINITY)
    snprintf(more, sizeof more, "%s more were predicted", kcl_seconds_text(plain).s);
  if (done)
    kcl_append(c->changes, sizeof c->changes,
               "%s%s for %lld iterations, then %s with %s: %s, %s with its set-up", newline, method,
               (long long)done, next, precond, more, kcl_seconds_text(with).s);
  else
    kcl_append(c->changes, sizeof c->changes, "%s%s with %s, %s: %s, %s predicted without", newline,
               next, precond,
               kcl_outcome_of(&c->remembered, next, precond) ? "as remembered" : "tried",
               kcl_seconds_text(with).s, kcl_seconds_text(plain).s);
}

/* Is more known of the iterations to come than the slope of the residual? */
static bool is_foreseen(const kcl_selection *c, const kcl_candidate *p) {
  return c->engine->program->has_ritz || (c->diffusion.holds && p->levels);
}

static double times_worth(const kcl_selection *c) {
  return !c->system->ctx->opencl && c->diffusion.holds && c->diffusion.smooth ? SMOOTH : WORTH;
}

/* Does the candidate pay, when `left` seconds are predicted without it, and `late` by the slope of the residual alone? */
static bool has_paid(kcl_selection *c, const kcl_candidate *p, double spent, double left,
                     double late) {
  const double with = price(c, p, fmax(left, late));
  if (is_foreseen(c, p) && left >= times_worth(c) * with) return true;
  return spent >= SOON * with && late >= with && spent * late >= with * with;
}

/* Where A is not elliptic predictions are poor, for multigrid above all, and a direct solution is sure. A long set-up is worth an ordering. */
static bool is_surer_directly(kcl_selection *c, kcl_loop *l, const kcl_candidate *p, double spent) {
  const double most = (p->levels ? SURE : 1) * p->seconds;
  if (c->diffusion.holds || most < kcl_direct_least(c)) return false;
  const double begin = kcl_now(), price = kcl_direct_price(c, l, fmax(spent, p->setup / SURE));
  kcl_count_apart(l, begin);
  return price < most;
}

/* Does the slope of the residual say anything? Early in cg it does not fall, and says that it never will. */
static bool has_settled(const kcl_selection *c, const kcl_loop *l) {
  return !c->engine->program->has_ritz || kcl_loop_iterations(l) >= FIRST;
}

/* The candidate that pays, with what is known of A's graph; and seconds that are predicted without it. */
static bool find_paying(kcl_selection *c, kcl_loop *l, double each, kcl_candidate *p,
                        double *plain) {
  kcl_candidate list[KCL_MOST_CANDIDATES];
  const double left = kcl_remaining_here(c, l), spent = kcl_now() - l->start;
  const int count = kcl_candidates(c, left, each, list);
  const kcl_candidate *best = best_candidate(c, list, count);
  const double late = has_settled(c, l) ? kcl_remaining_lately(c, l) * each : 0;
  *plain = left * each;
  if (!best || !has_paid(c, best, spent, *plain, late) || is_surer_directly(c, l, best, spent))
    return false;
  *plain = fmax(*plain, late);
  *p = *best;
  return true;
}

/* The graph is searched where the answer may depend on it, once the solve has taken a share of what that takes. */
static bool decide_switch(kcl_selection *c, kcl_loop *l, double each, kcl_candidate *p,
                          double *plain) {
  const bool pays = find_paying(c, l, each, p, plain);
  if (c->diffusion.searched || (pays && !needs_search(c))) return pays;
  if (kcl_now() - l->start < SEARCH * search_seconds(c)) return false;
  kcl_elliptic_search_during(c, l);
  return find_paying(c, l, each, p, plain);
}

bool kcl_switch_pays(kcl_selection *c, kcl_loop *l) {
  kcl_candidate p;
  const int64_t done = kcl_loop_iterations(l), here = done - first_iteration(l);
  const double spent = kcl_now() - l->start, each = (spent - c->before) / (double)(here ? here : 1);
  double plain;
  if (c->switched || here < EARLY || 2 * done < 3 * c->asked || spent < c->trusted) return false;
  if (!kcl_may_switch(c)) return c->switched = true, false;
  if (has_levels(&c->way) && !breaks_promise(c, l)) return false;
  if (done < c->expected) return false; /* what is remembered has decided */
  if (!kcl_elliptic_during(c, l) && c->engine->program->has_ritz && done < FIRST) return false;
  c->asked = done;
  if (!decide_switch(c, l, each, &p, &plain)) return false;
  c->rest = 0;
  if (!set_up_switch(c, &p.way)) return pass_over(c, &p.way), false;
  l->start += c->setup;
  if (!pays_compiled(c, &p, plain)) return false;
  if (has_levels(&c->way)) pass_over(c, &c->way);
  promise(c, &p);
  c->before = spent, c->plain = spent + plain, c->trusted = spent + p.seconds;
  say_switch(c, done, plain, p.seconds);
  give_up(l);
  return true;
}

/* Do the predictions prefer a way that is known, or find it nearly as good? What it took may be long because other programs ran, or
 * because predictions are too low, for the other way, too. */
static bool prefers_known(const kcl_selection *c, const kcl_candidate *list, int count,
                          const kcl_candidate *q) {
  for (int i = 0; i < count; i++)
    if (kcl_outcome_of(&c->remembered, list[i].way.method->name, list[i].way.precond->name) &&
        list[i].predicted <= WORTH * q->predicted)
      return true;
  return false;
}

/* Is there a candidate that looks better than all that is known of such a system? One is tried, in the solve after the first, so that
 * from the third solve on the choice follows from what both took. */
static bool tries_another(kcl_selection *c, kcl_loop *l, kcl_candidate *p) {
  kcl_candidate list[KCL_MOST_CANDIDATES];
  double each;
  const double best = kcl_outcome_untried(c, &each);
  if (!(best < INFINITY)) return false;
  const bool sure = kcl_elliptic_during(c, l);
  if (needs_search(c) && WORTH * search_seconds(c) < best) kcl_elliptic_search_during(c, l);
  const int count = kcl_candidates(c, c->expected ? (double)c->expected : INFINITY, each, list);
  const kcl_candidate *q = best_candidate(c, list, count);
  if (!q || !(WORTH * q->seconds < best) || (q->levels && (!sure || needs_search(c)))) return false;
  if (prefers_known(c, list, count, q)) return false;
  *p = *q;
  const bool pays = WORTH * (q->seconds + kcl_candidate_compilation(c, q)) < best;
  c->rest = pays ? 0 : q->seconds; /* what it would have saved is added up */
  return pays;
}

/* The way remembered as the fastest, unless that is the one in use, or a direct solution. */
static bool remembered_way(const kcl_selection *c, kcl_candidate *p) {
  const kcl_timing *t = kcl_outcome_best(c);
  if (!t || kcl_method_find(c->system->ctx, t->method, &p->way.method) ||
      kcl_precond_find(c->system->ctx, t->precond, &p->way.precond))
    return false;
  p->levels = false, p->seconds = TRUST * t->setup;
  return p->way.precond != c->way.precond || p->way.method != c->way.method;
}

bool kcl_switch_begins(kcl_selection *c, kcl_loop *l) {
  kcl_candidate p = {.seconds = 0};
  if (c->switched || !c->recalled || !kcl_may_switch(c)) return false;
  if (!tries_another(c, l, &p) && !remembered_way(c, &p)) return false;
  c->switched = true;
  if (!set_up_switch(c, &p.way)) return false;
  promise(c, &p);
  c->switched = !p.levels;
  const kcl_timing *known = kcl_outcome_of(&c->remembered, p.way.method->name, p.way.precond->name);
  double each;
  const double without = known ? known->iteration : kcl_outcome_untried(c, &each);
  l->start += c->setup;
  if (!known && !pays_compiled(c, &p, without)) return c->switched = false;
  c->before = 0, c->plain = without, c->trusted = p.seconds;
  say_switch(c, 0, without, known ? known->setup : p.seconds);
  return true;
}

void kcl_switch_remember(kcl_selection *c, double seconds) {
  const double compile = c->engine->executor.seconds_compile;
  if (c->plain > 0)
    kcl_outcome_remember(c, c->way.method->name, c->way.precond->name,
                         c->setup + fmax(seconds - c->before - compile, 0), c->plain);
}

bool kcl_switch_missed(kcl_selection *c, double seconds) {
  const double missed = c->rest > 0 ? seconds - c->rest : 0;
  if (missed > 0) c->remembered.missed += missed;
  return missed > 0;
}
