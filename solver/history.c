/* The residual histories of a solve: what the device notes each iteration, fetched now and then. */
#include "solver/solver.h"
#include <math.h>
#include <stdlib.h>

void kcl_histories_free(kcl_solver *s) {
  for (int64_t i = 0; i < s->histories; i++) free(s->history[i].log), free(s->history[i].residuals);
  free(s->history);
  s->history = NULL, s->histories = 0;
}

int kcl_histories_create(kcl_solver *s, int64_t count) {
  kcl_histories_free(s);
  int rc = kcl_alloc(s->ctx, count, sizeof *s->history, "the histories", (void **)&s->history);
  if (!rc) s->histories = count;
  return rc;
}

int kcl_history_fetch(kcl_solver *s, kcl_history *h, int column, int64_t to) {
  if (to > h->capacity) {
    int64_t room = 2 * to + 1024;
    double *more = realloc(h->log, (size_t)room * KCL_LOG * sizeof *more);
    if (!more)
      return kcl_fail(s->ctx, KCL_MEMORY, "out of memory: the history of %lld iterations",
                      (long long)to);
    h->log = more, h->capacity = room;
  }
  int rc = s->executor.history(&s->executor, column, h->size, to, h->log + h->size * KCL_LOG);
  if (!rc) h->size = to;
  return rc;
}

int kcl_history_finish(kcl_solver *s, kcl_history *h, double rr0, double unit) {
  int rc =
      kcl_alloc(s->ctx, h->size + 1, sizeof *h->residuals, "the history", (void **)&h->residuals);
  if (rc) return rc;
  h->residuals[0] = sqrt(rr0) * unit;
  for (int64_t i = 0; i < h->size; i++) h->residuals[i + 1] = sqrt(h->log[i * KCL_LOG]) * unit;
  return KCL_OK;
}
