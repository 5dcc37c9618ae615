/* The residual histories of a solve. */
#include "solver/loop/history.h"

void kcl_histories_free(kcl_history **list, int64_t count) {
  for (int64_t i = 0; *list && i < count; i++) free((*list)[i].entry), free((*list)[i].residuals);
  free(*list);
  *list = NULL;
}

int kcl_history_fetch(kcl_history *h, kcl_engine *e, int rhs, int64_t to) {
  if (to > h->capacity) {
    int64_t capacity = 2 * to + 1024;
    double *more = realloc(h->entry, (size_t)capacity * KCL_HISTORY_FIELDS * sizeof *more);
    if (!more)
      return kcl_fail(e->ctx, KCL_MEMORY, "out of memory: the history of %lld iterations",
                      (long long)to);
    h->entry = more, h->capacity = capacity;
  }
  int rc =
      e->executor.history(&e->executor, rhs, h->size, to, h->entry + h->size * KCL_HISTORY_FIELDS);
  if (!rc) h->size = to;
  return rc;
}

int kcl_history_finish(kcl_history *h, kcl_context *ctx, double rr0, double unit) {
  KCL_CALL(
      kcl_alloc(ctx, h->size + 1, sizeof *h->residuals, "the history", (void **)&h->residuals));
  h->residuals[0] = sqrt(rr0) * unit;
  for (int64_t i = 0; i < h->size; i++) h->residuals[i + 1] = sqrt(kcl_history_rr(h, i)) * unit;
  return KCL_OK;
}
