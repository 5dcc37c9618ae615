/* Engines of one application: z = M^-1 r or M^-H r, recorded, for preconditioners that callers apply by themselves. */
#include "core/device/device.h"
#include "solver/engine/engine.h"

static int record_application(kcl_engine *e, kcl_type type, int64_t n, bool adjoint) {
  KCL_CALL(kcl_program_create(e->ctx, type, n, n, &e->program));
  kcl_program *k = e->program;
  kcl_preconditioner_bind(e->M, k);
  kcl_begin(k, KCL_START);
  if (e->M)
    kcl_precondition(k, kcl_b(k), kcl_x(k), adjoint); /* b = M^-1 x */
  else
    kcl_copy_vector(k, kcl_b(k), kcl_x(k));
  return kcl_program_end(k);
}

int kcl_engine_application(kcl_context *ctx, kcl_preconditioner *M, kcl_type type, int64_t n,
                           bool adjoint, kcl_engine **out) {
  KCL_OWNED_BY(kcl_engine_free) kcl_engine *e = *out = NULL;
  KCL_CALL(kcl_engine_create(ctx, NULL, M ? M->kind : NULL, &e));
  e->M = kcl_preconditioner_share(M);
  KCL_CALL(record_application(e, type, n, adjoint));
  KCL_CALL(kcl_executor_open(e->program, &e->executor));
  KCL_CALL(kcl_timing_state(&e->executor, KCL_MAX_NRHS));
  *out = e, e = NULL;
  return KCL_OK;
}
