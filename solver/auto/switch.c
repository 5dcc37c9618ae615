/* From plain cg to multigrid under way: where the iterations still to come are predicted to take 1.5 times as long as setting up
 * multigrid and solving with it, x so far is kept and cg goes on with it.
 *
 * Iterations to come: the lesser of what the Ritz values of cg so far promise, which grows as cg finds the small eigenvalues, and
 * of what the mean slope of the residual does. Both need cg to have begun, so that a short solve is over before.
 */
#include "core/base/context.h"
#include "core/base/text.h"
#include "solver/auto/auto.h"
#include "multigrid/levels.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const NAME = "amg";
static const double ENTRY =
    2.5e-7; /* seconds of set-up per entry of A and thread, of at most MOST */
/* Seconds per entry on a device, and of its launches (NVIDIA H200: 10 to 67 ms for 3.5 to 56 million entries). */
static const double DEVICE_ENTRY = 1e-9, DEVICE = 0.008;
/* Compilation of its kernels: times the seconds of those of plain cg; seconds at least, on a GPU and on a CPU; where those of the set-up are
 * there (NVIDIA H200: 0.01 to 2.7, the others 1.6; PoCL on two cores: 12). */
static const double COMPILE = 4, COLD_GPU = 4, COLD_CPU = 10, OWN = 2;
static const double CYCLES = 20;  /* iterations with it */
static const double PASSES = 8;   /* over the entries of A, by a cycle over all levels */
static const double VECTORS = 60; /* of A's rows that a cycle moves */
static const double FACTOR =
    0.18; /* of the root of the condition number: a third of the bound for cg, as observed on
                                      Laplacians (0.15 in 2D, 0.19 in 3D) */
static const double WORTH = 1.5; /* times as long: both predictions err */
/* Iterations before it is asked, and where A is elliptic; then whenever they have doubled. From LOOKED on Ritz values know more
 * than the graph. */
enum { MOST = 8, FIRST = 100, EARLY = 10, LOOKED = 400 };

static bool suits(const kcl_selection *c) {
  const kcl_system *s = c->system;
  const kcl_precond_request q = kcl_system_request(s);
  const char *now = c->way.method->name;
  const kcl_precond_kind *p;
  const kcl_method *m;
  return s->undecided.precond && !s->options.mixed && c->engine->program->has_ritz &&
         (!strcmp(now, "cg") || kcl_auto_is_cg_form(now)) && !kcl_precond_find(s->ctx, NAME, &p) &&
         !kcl_method_find(s->ctx, "cg", &m) && !kcl_precond_check(&q, p, m) &&
         strcmp(c->way.precond->name, NAME) != 0;
}

/* By the mean slope of the residual since the method began. */
static double by_slope(const kcl_loop *l, int i) {
  const kcl_rhs *v = &l->rhs[i];
  const double done = (double)(l->control[i].iteration - v->began),
               left = 0.5 * log(l->rr[i] / (v->target * v->target)),
               fallen = 0.5 * log(v->rr_began / v->best);
  if (!(left > 0)) return 0;
  return fallen > 0 ? done * left / fallen : INFINITY;
}

/* By the Ritz values of cg. 0: not known. */
static double by_spectrum(const kcl_loop *l, int i) {
  const kcl_rhs *v = &l->rhs[i];
  const double left = 0.5 * log(l->rr[i] / (v->target * v->target));
  double least, most;
  if (v->began || l->control[i].iteration < FIRST || !(left > 0)) return 0;
  kcl_ritz(v->history->entry, v->history->size, &least, &most);
  return least > 0 ? FACTOR * sqrt(most / least) * (left + log(2)) : 0;
}

/* Iterations that one right-hand side still needs. */
static double to_come(const kcl_loop *l, int i) { return fmin(by_spectrum(l, i), by_slope(l, i)); }

/* Before it has Ritz values: at least as many, where A is elliptic, as its graph says. */
static double by_graph(const kcl_selection *c, const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i))
      most = fmax(most, 0.5 * log(l->rr[i] / (l->rhs[i].target * l->rhs[i].target)) + log(2));
  return FACTOR * c->diffusion.condition_root * most;
}

double kcl_switch_left(const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++) {
    if (!kcl_loop_runs(l, i)) continue;
    const double spectrum = l->engine->program->has_ritz ? by_spectrum(l, i) : 0,
                 slope = by_slope(l, i);
    most = fmax(most, spectrum > 0 ? fmin(spectrum, slope) : slope);
  }
  return most;
}

/* As many as an earlier solve has taken, where that is known. */
static double most_to_come(const kcl_selection *c, const kcl_loop *l) {
  const double before = (double)(c->expected - kcl_loop_iterations(l));
  double most = 0;
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i)) most = fmax(most, to_come(l, i));
  if (kcl_loop_iterations(l) < LOOKED) most = fmax(most, by_graph(c, l));
  return c->expected ? fmax(before, 0) : most;
}

static bool set_up_on_device(const kcl_selection *c) {
  return kcl_levels_on_device(c->system->ctx, kcl_system_matrix(c->system));
}

/* Seconds to compile its kernels, less those that solves of the structure have missed without them: as many are likely to come, so
 * that all solves together take at most twice as long as if that had been known. */
static double compilation(const kcl_selection *c) {
  const kcl_system *s = c->system;
  if (!s->ctx->opencl) return 0;
  const bool most =
      set_up_on_device(c) && kcl_levels_compiled(s->ctx, kcl_system_matrix(s)->type, false);
  const double cold = s->ctx->layout == KCL_LAYOUT_GPU ? COLD_GPU : COLD_CPU,
               all = most ? OWN : fmax(cold, COMPILE * c->engine->executor.seconds_compile);
  return fmax(all - c->remembered.missed, 0);
}

static double setup_seconds(const kcl_selection *c) {
  const double entries = (double)c->system->stats.nnz;
  const int threads = kcl_threads() < MOST ? kcl_threads() : MOST;
  return set_up_on_device(c) ? DEVICE + DEVICE_ENTRY * entries : ENTRY / threads * entries;
}

/* Seconds to solve with it, when a plain iteration takes `each`: by bytes, for levels as CSR. */
static double solve_seconds(const kcl_selection *c, double each) {
  const kcl_stats *t = &c->system->stats;
  const kcl_engine *e = c->engine;
  const double scalar = (double)kcl_type_size(e->program->type),
               bytes = PASSES * (double)t->nnz * (4 + scalar) + VECTORS * (double)t->rows * scalar;
  return CYCLES * each * bytes / kcl_engine_bytes(e, 1);
}

/* Seconds of all that. Programs are looked for only where the rest is worth it. */
static double price(kcl_selection *c, double each, double plain) {
  const double rest = setup_seconds(c) + solve_seconds(c, each);
  if (plain < WORTH * rest) return rest;
  c->rest = rest;
  return rest + compilation(c);
}

/* Sets it up beside the iterations; where that fails they go on. */
static bool set_up_switch(kcl_selection *c) {
  const kcl_precond_kind *p;
  const kcl_method *m;
  kcl_preconditioner *M = NULL;
  int rc = kcl_precond_find(c->system->ctx, NAME, &p);
  if (!rc) rc = kcl_method_find(c->system->ctx, "cg", &m);
  if (!rc) rc = kcl_system_preconditioner(c->system, p, m, &M);
  kcl_preconditioner_free(&M);
  if (!rc) c->next = (kcl_way){m, p};
  return !rc;
}

/* The switch of an earlier solve: setup: seconds that it took, with its set-up; iteration: seconds predicted without. */
static const kcl_timing *earlier(const kcl_selection *c) {
  for (int i = 0; i < c->remembered.count; i++)
    if (!strcmp(c->remembered.timing[i].precond, NAME)) return &c->remembered.timing[i];
  return NULL;
}

void kcl_switch_remember(kcl_selection *c, double seconds) {
  kcl_timing *t = c->plain > 0 ? kcl_choice_timing(&c->remembered, c->way.method->name, NAME,
                                                   kcl_engine_format(c->engine))
                               : NULL;
  if (!t) return;
  /* Compilation is over; the set-up's own is what exceeds its price by far. */
  t->setup = fmin(c->setup, 2 * setup_seconds(c)) + seconds - c->engine->executor.seconds_compile;
  t->iteration = c->plain;
  kcl_choice_remember(c->key, &c->remembered);
  c->recalled = true;
}

bool kcl_switch_missed(kcl_selection *c, double seconds) {
  const double missed = c->rest > 0 ? seconds - c->rest : 0;
  if (missed > 0) c->remembered.missed += missed;
  return missed > 0;
}

bool kcl_switch_promises(kcl_selection *c) {
  const bool runs = !strcmp(c->way.precond->name, NAME);
  if (!runs && (c->switched || !suits(c))) return false;
  if (!c->diffusion.known) c->diffusion = kcl_elliptic_of(kcl_system_matrix(c->system));
  return c->diffusion.holds;
}

bool kcl_switch_pays(kcl_selection *c, kcl_loop *l) {
  const int64_t done = kcl_loop_iterations(l);
  const double start = kcl_now(), so_far = start - l->start,
               each = so_far / (double)(done ? done : 1);
  const kcl_timing *known = earlier(c);
  if (c->switched || done < (known ? 1 : EARLY) || done < 2 * c->asked) return false;
  if (!known && done < FIRST && !kcl_switch_promises(c)) return false;
  c->asked = done;
  if (!suits(c)) return c->switched = true, false;
  const double before = c->expected ? (double)c->expected * each : INFINITY,
               plain = known ? fmin(known->iteration, before) : most_to_come(c, l) * each,
               cost = known ? known->setup : price(c, each, plain),
               least = known ? cost : WORTH * cost;
  c->switched = known || plain >= least;
  if (plain < least) return false;
  c->rest = 0;
  const bool there = set_up_switch(c);
  c->setup = kcl_now() - start, c->plain = known ? plain : so_far + plain;
  l->start += c->setup;
  if (!there) return false;
  char more[64] = "no convergence was predicted";
  if (plain < INFINITY)
    snprintf(more, sizeof more, "%s more were predicted", kcl_seconds_text(plain).s);
  kcl_auto_say(c->changes, sizeof c->changes,
               "%s%s for %lld iterations, then cg with %s: %s, %s with its set-up%s",
               c->changes[0] ? "\n" : "", c->way.method->name, (long long)done, NAME, more,
               kcl_seconds_text(cost).s, known ? ", as remembered" : "");
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i)) l->rhs[i].given_up = 1 + KCL_STAGNATED;
  return true;
}
