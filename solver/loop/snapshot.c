/* The best x so far: copies of x kept aside on the device, so that a solve that fails need not end with its last iterate,
 * which may be far worse than its best. Saved between two batches, and so rarely that the copies take at most a hundredth
 * of the bytes of the iterations between them.
 *
 *   best     the copy whose residuals are the least known
 *   newest   the copy whose residuals come with the next poll; becomes best if they are less
 *
 * Several right-hand sides are saved together and judged by the one that is furthest from its target.
 */
#include "solver/loop/loop.h"

static const double SHARE = 0.01; /* of the bytes moved, for copies */

/* Iterations between two copies, at least. */
static int64_t interval_of(const kcl_loop *l) {
  const kcl_engine *e = l->engine;
  const kcl_program *k = e->program;
  const double copy = 2 * (double)k->vector[k->x].n * (double)kcl_type_size(k->type) * k->nrhs;
  const double each = SHARE * kcl_engine_bytes(e, k->nrhs);
  double least = e->executor.least_iterations > 16 ? (double)e->executor.least_iterations : 16;
  return (int64_t)fmin(1e8, fmax(least, copy / each));
}

void kcl_snapshots_forget(kcl_loop *l) {
  l->snapshots =
      (kcl_snapshots){.best = -1,
                      .newest = -1,
                      .at = kcl_loop_iterations(l),
                      .interval = kcl_ranks_decide(kcl_system_ranks(l->system), interval_of(l))};
}

/* The first copy to each place also allocates it: new pages take some five times as long. */
static int64_t snapshot_interval(const kcl_loop *l) {
  return (l->snapshots.saves < KCL_SNAPSHOTS ? 5 : 1) * l->snapshots.interval;
}

/* The furthest from its target of the active right-hand sides: squared norms. */
static double distance_to_target(const kcl_loop *l) {
  double most = 0;
  for (int i = 0; i < l->nrhs; i++) {
    const kcl_rhs *v = &l->rhs[i];
    double rr = l->rr[i] >= 0 ? l->rr[i] : INFINITY; /* NaN is no residual */
    if (v->active) most = fmax(most, rr / (v->target * v->target));
  }
  return most;
}

/* No room for a copy is no failure of the solve. */
void kcl_snapshot_save(kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  kcl_snapshots *s = &l->snapshots;
  if (s->full || kcl_loop_iterations(l) - s->at < snapshot_interval(l)) return;
  s->newest = s->best == 0 ? 1 : 0, s->at = kcl_loop_iterations(l), s->saves++;
  if (ex->save(ex, s->newest)) s->newest = -1, s->full = true;
}

void kcl_snapshot_judge(kcl_loop *l) {
  kcl_snapshots *s = &l->snapshots;
  double now = distance_to_target(l);
  if (s->newest < 0) return;
  if (s->best < 0 ? now < INFINITY : now < s->distance) {
    s->best = s->newest, s->distance = now;
    for (int i = 0; i < l->nrhs; i++)
      s->rr[i] = l->rr[i], s->iteration[i] = l->control[i].iteration;
  }
  s->newest = -1;
}

void kcl_snapshot_begin(kcl_loop *l) {
  kcl_snapshots_forget(l);
  l->snapshots.at -= snapshot_interval(l);
  kcl_snapshot_save(l), kcl_snapshot_judge(l);
}

bool kcl_snapshot_better(const kcl_loop *l, int rhs) {
  return l->snapshots.best >= 0 && !(l->rr[rhs] <= l->snapshots.rr[rhs]);
}
