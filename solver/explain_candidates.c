/* The ways of "auto" for a system with predicted seconds, and what solves of such a system took: kcl_solver_candidates. */
#include "solver/solver.h"

/* The choices of the solver, with what is known of its structure, whatever options the solver itself was made with. */
static kcl_selection informed(const kcl_solver *s) {
  kcl_selection c = s->selection;
  const kcl_system *system = &s->system;
  kcl_options o = system->options;
  if (system->undecided.method) o.solver = "auto";
  if (system->undecided.precond) o.precond = "auto";
  if (!c.recalled) kcl_outcome_recall(&c, &o);
  if (kcl_elliptic_holds(&c)) kcl_elliptic_search(kcl_system_matrix(system), &c.diffusion);
  return c;
}

/* Adds what is remembered of a whole solve. */
static void add_outcome(const kcl_selection *c, kcl_candidate_info *out) {
  const kcl_timing *t = kcl_outcome_of(&c->remembered, out->solver, out->precond);
  out->failed = kcl_outcome_is_failed(c, out->solver, out->precond);
  if (t && !out->failed) out->seconds_taken = t->setup;
  out->begins = t && t == kcl_outcome_best(c);
}

/* The way that the plan begins with. */
static kcl_candidate_info plain_candidate(const kcl_selection *c, double left, double each) {
  const kcl_timing *known = kcl_auto_best(c);
  const bool measured = known && c->remembered.iterations;
  return (kcl_candidate_info){
      .solver = c->plan.way[0].method->name,
      .precond = c->plan.way[0].precond->name,
      .iterations = left > 0 ? left : -1,
      .seconds_compile = c->compilation,
      .seconds = left > 0 ? c->compilation + left * each : -1,
      .seconds_taken = measured ? known->setup + (double)c->remembered.iterations * each : -1,
      .failed = kcl_outcome_is_failed(c, c->plan.way[0].method->name, c->plan.way[0].precond->name),
      .begins = !kcl_outcome_best(c),
      .why = measured             ? "iterations of an earlier solve"
             : c->diffusion.holds ? "iterations by the graph of A, which is elliptic"
                                  : "its iterations are not known before the solve"};
}

static kcl_candidate_info other_candidate(const kcl_selection *c, const kcl_candidate *p) {
  const double compile = kcl_candidate_compilation(c, p);
  kcl_candidate_info out = {.solver = p->way.method->name,
                            .precond = p->way.precond->name,
                            .seconds_setup = p->setup,
                            .seconds_compile = compile,
                            .iterations = p->iterations,
                            .seconds = p->predicted + compile,
                            .seconds_taken = -1,
                            .why = kcl_candidate_reason(c, p)};
  add_outcome(c, &out);
  return out;
}

static kcl_candidate_info direct_candidate(kcl_solver *s, const kcl_selection *c) {
  const double seconds = kcl_rescue_predict(s);
  kcl_candidate_info out = {.solver = "direct",
                            .precond = "none",
                            .seconds = seconds < INFINITY ? seconds : -1,
                            .seconds_taken = -1,
                            .why = seconds < INFINITY ? "by the operations that an ordering counts"
                                                      : "not allowed, or too many operations"};
  add_outcome(c, &out);
  return out;
}

int kcl_solver_candidates(kcl_solver *s, int most, kcl_candidate_info *list, int *count) {
  kcl_candidate ways[KCL_MOST_CANDIDATES];
  if (!s || !list || !count) return KCL_USAGE;
  *count = 0;
  KCL_ENTER(s->system.ctx);
  if (!s->selection.engine || s->system.shell || s->system.distribution) return KCL_OK;
  const kcl_selection c = informed(s);
  const kcl_timing *known = c.remembered.iterations ? kcl_auto_best(&c) : NULL;
  const double each = known ? known->iteration : c.predicted, left = kcl_remaining_first(&c);
  const int others =
      kcl_may_switch(&c) ? kcl_candidates(&c, left > 0 ? left : INFINITY, each, ways) : 0;
  if (*count < most) list[(*count)++] = plain_candidate(&c, left, each);
  for (int i = 0; i < others && *count < most; i++)
    list[(*count)++] = other_candidate(&c, &ways[i]);
  if (*count < most && s->system.undecided.method && s->system.undecided.precond)
    list[(*count)++] = direct_candidate(s, &c);
  return KCL_OK;
}
