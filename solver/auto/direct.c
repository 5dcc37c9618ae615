/* From iterations to a direct solution during the solve: where the iterations to come are predicted to take longer than a
 * factorisation does by the operations that an ordering of the structure counts (solver/direct). An iteration that does not
 * converge is left once it has taken as long as the factorisation will. So both together take about twice the faster one at
 * most, whatever the predictions of iterations are worth (ski rental; Karlin et al. 1988).
 */
#include "solver/auto/auto.h"
#include <stdio.h>

static const char NAME[] = "direct";
static const double WORTH = 2; /* times as long, as remembered */
static const double SOON =
    0.1; /* of the seconds of a direct solution that a solve takes at least */
static const double FOREVER = 1e6; /* seconds that stand for iterations that do not converge */

static void say_instead(kcl_selection *c, int64_t done, double price, const char *how) {
  char before[80];
  snprintf(before, sizeof before, "%s for %lld iterations, then ", c->way.method->name,
           (long long)done);
  kcl_append(c->changes, sizeof c->changes,
             "%s%sa direct solution: %s predicted, %s%s by iterations%s", c->changes[0] ? "\n" : "",
             done ? before : "", kcl_seconds_text(price).s,
             c->instead < FOREVER ? kcl_seconds_text(c->instead).s : "no convergence",
             done ? " more" : "", how);
}

bool kcl_direct_begins(kcl_selection *c, kcl_loop *l) {
  const kcl_timing *known = kcl_outcome_of(&c->remembered, NAME, "none"), *best = kcl_auto_best(c);
  if (c->system->direct) return true;
  if (!kcl_may_solve_directly(c)) return false;
  if (kcl_outcome_best(c)) {
    if (kcl_outcome_best(c) != known) return false;
    c->instead = known->iteration;
    return say_instead(c, 0, known->setup, ", as remembered"), true;
  }
  if (known || kcl_switch_promises(c, l)) return false;
  c->instead = best ? best->setup + (double)c->expected * best->iteration : 0;
  if (c->instead < WORTH * kcl_direct_least(c)) return false;
  const double price = c->rescue_price(c->owner, l, c->instead);
  if (!(price < c->instead / WORTH)) return false;
  return say_instead(c, 0, price, ""), true;
}

/* After `spent` seconds, when `left` are predicted (ski rental, as in solver/auto/switch.c). */
static bool repays_itself(double spent, double left, double price) {
  return spent >= SOON * price && left >= price && spent * left >= price * price;
}

bool kcl_direct_pays(kcl_selection *c, kcl_loop *l) {
  const int64_t done = kcl_loop_iterations(l);
  if (!done || done < c->expected || !kcl_may_solve_directly(c) || kcl_switch_promises(c, l))
    return false;
  const double spent = kcl_now() - l->start,
               left = kcl_remaining_lately(c, l) * spent / (double)done;
  if (spent < c->trusted || !repays_itself(spent, left, kcl_direct_least(c))) return false;
  const double begin = kcl_now(), price = kcl_direct_price(c, l, spent);
  kcl_count_apart(l, begin);
  if (!repays_itself(spent, left, price)) return false;
  c->instead = fmin(left, FOREVER);
  say_instead(c, done, price, "");
  c->instead = fmin(c->instead + spent, FOREVER);
  for (int i = 0; i < l->nrhs; i++)
    if (kcl_loop_runs(l, i)) l->rhs[i].given_up = 1 + KCL_STAGNATED;
  return c->direct = true;
}

void kcl_direct_failed(kcl_selection *c) {
  kcl_choice_failed(&c->remembered, NAME, "none", "none");
  c->direct = false, c->dirty = true;
}

void kcl_direct_remember(kcl_selection *c, double seconds) {
  if (!kcl_auto_remembers(c) || !kcl_may_solve_directly(c)) return;
  if (c->plain > 0) kcl_outcome_failed(c, c->way.method->name, c->way.precond->name);
  kcl_outcome_remember(c, NAME, "none", seconds, c->direct ? c->instead : FOREVER);
}
