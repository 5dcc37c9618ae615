/* Seconds per iteration of an engine: fixed iterations with the stop tests off (Dongarra & Heroux 2013, HPCG). */
#include "solver/engine/engine.h"

/* No zeros and no symmetry, in [1/2, 3/2): values that float holds exactly. */
void kcl_timing_vector(double *v, int64_t n, int number) {
  uint64_t state = 88172645463325252u + (uint64_t)number * 7046029254386353131u;
  for (int64_t i = 0; i < n; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* Marsaglia 2003 */
    v[i] = 0.5 + (double)(state >> 44) / (double)(1 << 20);
  }
}

int kcl_timing_state(kcl_executor *ex, int active) {
  kcl_control control[KCL_MAX_NRHS];
  const double target[KCL_MAX_NRHS] = {0};
  for (int c = 0; c < KCL_MAX_NRHS; c++)
    control[c] = (kcl_control){.stop = c >= active, .limit = INT32_MAX, .tests_off = 1};
  return ex->set_state(ex, control, target);
}

/* Over at least so many iterations: a pass over LOOP may stand for several. */
static int time_batch_iterations(kcl_engine *e, int iterations, double *seconds) {
  int steps = e->program->iterations, passes = (iterations + steps - 1) / steps;
  int64_t since = 0, most = KCL_HISTORY / 4 / steps;
  int rc = KCL_OK;
  KCL_CALL(e->executor.finish(&e->executor));
  double t = kcl_now();
  for (int64_t left = passes; left > 0 && !rc; left -= most)
    rc = kcl_engine_advance(e, left < most ? left : most, &since);
  if (!rc) rc = e->executor.finish(&e->executor);
  *seconds = (kcl_now() - t) / passes / steps;
  return rc;
}

/* Every repetition starts the method afresh, so that no residual runs into underflow. */
int kcl_engine_time(kcl_engine *e, int iterations, int repeats, double *seconds) {
  kcl_executor *ex = &e->executor;
  const kcl_program *k = e->program;
  kcl_type wide = kcl_wide_type(k->type);
  int64_t w = wide == KCL_Z ? 2 : 1, rows = k->vector[k->b].n, cols = k->vector[k->x].n;
  KCL_OWNED double *b = NULL, *x = NULL;
  double warm;
  KCL_CALL(kcl_alloc(e->ctx, w * rows, sizeof *b, "a vector", (void **)&b));
  KCL_CALL(kcl_alloc(e->ctx, w * cols, sizeof *x, "a vector", (void **)&x));
  for (int c = 0; c < k->nrhs; c++) {
    kcl_timing_vector(b, w * rows, c);
    KCL_CALL(ex->put(ex, k->b, c, wide, b, 1.0));
  }
  for (int i = -1; i < repeats; i++) {
    for (int c = 0; c < k->nrhs; c++) KCL_CALL(ex->put(ex, k->x, c, wide, x, 1.0));
    KCL_CALL(kcl_timing_state(ex, KCL_MAX_NRHS));
    KCL_CALL(ex->run(ex, KCL_START, 1));
    KCL_CALL(time_batch_iterations(e, iterations, i < 0 ? &warm : &seconds[i]));
  }
  return KCL_OK;
}
