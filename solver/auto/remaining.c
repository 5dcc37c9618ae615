/* Iterations to come: the lesser of what the Ritz values of cg so far promise, which grows as cg finds the small eigenvalues, and
 * of what the mean slope of the residual does; where A is elliptic at least as many, at first, as its graph says. All need
 * the method to have begun, so that a short solve is over before.
 */
#include "solver/auto/auto.h"

static const double FACTOR =
    0.18; /* of the root of the condition number: a third of the bound for cg, as observed on
                                      Laplacians (0.15 in 2D, 0.19 in 3D) */
static const double LATE =
    4; /* times as many as by the mean slope, at most: a residual may rest for a while */
static const double GRID =
    0.24; /* the same of what the graph of a smooth grid says, for random right-hand sides: 0.24 on N x N
             cells, 0.18 to 0.3 on N x N x N */
static const double AS_GIVEN =
    7; /* natural logarithms that a scaled residual falls below its target: 2 to 9 for six systems */
static const double NETWORK =
    4; /* times as many where the graph is that of a circuit, and no grid: memplus 12 times */
enum {
  HALF = 2,    /* iterations over those from which the recent slope counts */
  FIRST = 100, /* iterations before Ritz values say anything */
  LOOKED = 400 /* from here on they know more than the graph */
};

/* Logarithm of the factor by which a squared residual must still fall. A scaled system is tested as given, too, once it has met its
 * target, and then goes on to a lower one. */
static double logarithms_left(const kcl_loop *l, int i, double squared) {
  const kcl_rhs *v = &l->rhs[i];
  const double left = 0.5 * log(squared / (v->target * v->target));
  return left + (l->system->scaling.row && !v->first_round ? AS_GIVEN : 0);
}

static double decades(const kcl_loop *l, int i) { return logarithms_left(l, i, l->rr[i]); }

/* By the mean slope of the residual since the method began. */
static double by_slope(const kcl_loop *l, int i) {
  const kcl_rhs *v = &l->rhs[i];
  const double done = (double)(l->control[i].iteration - v->began), left = decades(l, i),
               fallen = 0.5 * log(v->rr_began / v->best);
  if (!(left > 0)) return 0;
  return fallen > 0 ? done * left / fallen : INFINITY;
}

/* Natural logarithms left to the right-hand side that is furthest from its target, by its least residual so far. */
static double furthest(const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i)) most = fmax(most, logarithms_left(l, i, l->rhs[i].best));
  return most;
}

void kcl_remaining_note(kcl_selection *c, const kcl_loop *l) {
  kcl_descent *p = &c->descent;
  const int64_t done = kcl_loop_iterations(l);
  if (!done || (p->count && 2 * done < 3 * p->done[0])) return;
  for (int i = KCL_DESCENT - 1; i > 0; i--)
    p->done[i] = p->done[i - 1], p->left[i] = p->left[i - 1];
  p->done[0] = done, p->left[0] = furthest(l);
  p->count += p->count < KCL_DESCENT;
}

/* By the slope since at most half of the iterations; 0: not known. */
static double by_late_slope(const kcl_selection *c, const kcl_loop *l) {
  const kcl_descent *p = &c->descent;
  const int64_t done = kcl_loop_iterations(l);
  const double left = furthest(l);
  for (int i = 0; i < p->count; i++)
    if (HALF * p->done[i] <= done)
      return left < p->left[i] ? left * (double)(done - p->done[i]) / (p->left[i] - left)
                               : INFINITY;
  return 0;
}

/* By the Ritz values of cg. 0: not known. */
static double by_spectrum(const kcl_loop *l, int i) {
  const kcl_rhs *v = &l->rhs[i];
  const double left = decades(l, i);
  double least, most;
  if (!l->engine->program->has_ritz || v->began || l->control[i].iteration < FIRST || !(left > 0))
    return 0;
  kcl_ritz(v->history->entry, v->history->size, &least, &most);
  return least > 0 ? FACTOR * sqrt(most / least) * (left + log(2)) : 0;
}

/* Iterations that the graph of an elliptic A says, for a residual to fall by so many natural logarithms. */
static double count_by_graph(const kcl_selection *c, double logarithms) {
  const kcl_elliptic *g = &c->diffusion;
  return (g->smooth ? GRID : FACTOR) * g->condition_root * (g->network ? NETWORK : 1) * logarithms;
}

/* By the condition number that the graph of an elliptic A has at least. */
static double by_graph(const kcl_selection *c, const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i)) most = fmax(most, decades(l, i) + log(2));
  return count_by_graph(c, most);
}

double kcl_remaining_first(const kcl_selection *c) {
  const double tol = kcl_system_tol(c->system);
  if (c->remembered.iterations) return (double)c->remembered.iterations;
  return c->diffusion.holds ? count_by_graph(c, log(2 / tol)) : 0;
}

double kcl_remaining(const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++) {
    if (!kcl_loop_runs(l, i)) continue;
    const double spectrum = by_spectrum(l, i), slope = by_slope(l, i);
    most = fmax(most, spectrum > 0 ? fmin(spectrum, slope) : slope);
  }
  return most;
}

/* Ritz values of a scaled system say too little of the system as given: 469 iterations left of bcsstk18 where 1,844 were. */
double kcl_remaining_lately(const kcl_selection *c, const kcl_loop *l) {
  const double late = by_late_slope(c, l);
  double slope = 0, spectrum = INFINITY;
  for (int i = 0; i < l->nrhs; i++) {
    if (!kcl_loop_runs(l, i)) continue;
    const double known = l->system->scaling.row ? 0 : by_spectrum(l, i);
    slope = fmax(slope, by_slope(l, i)), spectrum = known > 0 ? known : spectrum;
  }
  if (kcl_loop_iterations(l) < LOOKED) spectrum = fmax(spectrum, by_graph(c, l));
  return fmin(spectrum, late > 0 ? fmin(late, LATE * slope) : slope);
}

/* Before Ritz values are known they count as none, so that a short solve of cg is not left for a slow start. */
static double at_least(const kcl_selection *c, const kcl_loop *l) {
  if (!l->engine->program->has_ritz) return kcl_remaining_lately(c, l);
  return kcl_loop_iterations(l) < FIRST ? 0 : kcl_remaining(l);
}

double kcl_remaining_here(const kcl_selection *c, const kcl_loop *l) {
  const double most = at_least(c, l);
  if (c->expected > kcl_loop_iterations(l)) return (double)(c->expected - kcl_loop_iterations(l));
  return kcl_loop_iterations(l) < LOOKED ? fmax(most, by_graph(c, l)) : most;
}
