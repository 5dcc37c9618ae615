/* Engines of one product: b = A x, recorded, for kcl_operator and to be timed alone. */
#include "core/device/device.h"
#include "solver/engine/engine.h"

static int record_one_product(kcl_engine *e, int nrhs) {
  kcl_stored *A = e->operators[0];
  const bool several = !e->ctx->opencl || A->format->multi_rhs;
  KCL_CALL(kcl_program_create(e->ctx, A->type, A->rows, A->cols, &e->program));
  kcl_program *k = e->program;
  k->A = A, k->nrhs = several ? nrhs : 1, k->product = true;
  kcl_begin(k, KCL_START);
  kcl_apply(k, kcl_b(k), A, kcl_x(k)); /* b = A x */
  return kcl_program_end(k);
}

int kcl_engine_product(kcl_stored *A, int nrhs, kcl_engine **out) {
  KCL_OWNED_BY(kcl_engine_free) kcl_engine *e = *out = NULL;
  KCL_CALL(kcl_engine_create(A->ctx, NULL, NULL, &e));
  KCL_CALL(kcl_engine_share(e, A));
  KCL_CALL(record_one_product(e, nrhs));
  KCL_CALL(kcl_executor_open(e->program, &e->executor));
  KCL_CALL(kcl_timing_state(&e->executor, KCL_MAX_NRHS));
  kcl_engine_describe(e, nrhs);
  *out = e, e = NULL;
  return KCL_OK;
}

int kcl_engine_multiply(kcl_engine *e, kcl_type type, const void *x, double scale, void *y) {
  kcl_executor *ex = &e->executor;
  const kcl_program *k = e->program;
  int rc = ex->put(ex, k->x, 0, type, x, scale);
  if (!rc) rc = ex->run(ex, KCL_START, 1);
  if (!rc) rc = ex->finish(ex);
  return rc ? rc : ex->get(ex, k->b, 0, type, y, 1);
}

/* In batches that the history holds. */
int kcl_engine_time_product(kcl_engine *e, int times, double *seconds) {
  enum { BATCH = KCL_HISTORY / 4 };
  kcl_executor *ex = &e->executor;
  int rc = ex->finish(ex);
  double t = kcl_now();
  for (int left = times; left > 0 && !rc; left -= BATCH)
    rc = ex->run(ex, KCL_START, left < BATCH ? left : BATCH);
  if (!rc) rc = ex->finish(ex);
  *seconds = (kcl_now() - t) / times;
  return rc;
}
