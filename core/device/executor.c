/* Opening the executor of the selected device. */
#include "core/cpu/cpu.h"
#include "core/device/device.h"

int kcl_executor_plan(kcl_program *k, kcl_executor *ex) {
  if (!k->ctx->opencl) return KCL_OK;
  if (k->slots > KCL_MOST_SLOTS)
    return kcl_fail(k->ctx, KCL_USAGE,
                    "the method uses %d scalars, at most %d are possible on an OpenCL device",
                    k->slots, KCL_MOST_SLOTS);
  return kcl_opencl_backend->plan(k, ex);
}

int kcl_executor_complete(kcl_program *k, kcl_executor *ex) {
  static int (*const open_cpu[])(kcl_program *, kcl_executor *) = {kcl_cpu_open_s, kcl_cpu_open_d,
                                                                   kcl_cpu_open_c, kcl_cpu_open_z};
  return k->ctx->opencl ? kcl_opencl_backend->open(k, ex) : open_cpu[k->type](k, ex);
}

int kcl_executor_open(kcl_program *k, kcl_executor *ex) {
  KCL_CALL(kcl_executor_plan(k, ex));
  return kcl_executor_complete(k, ex);
}

double kcl_executor_expected(const kcl_program *k, const kcl_executor *ex) {
  return k->ctx->opencl ? kcl_opencl_backend->expected(ex) : 0;
}

/* Seconds per pass on the native executor, with a barrier after each stage. The rates are of a core of 2026. */
static double native_estimate(const kcl_program *k) {
  const kcl_context *ctx = k->ctx;
  double rate = kcl_program_rate(k, 1e10 * ctx->threads), seconds = 0;
  for (int i = 0; i < k->stages[KCL_LOOP]; i++)
    seconds +=
        (ctx->threads > 1 ? 1e-6 : 0.3e-6) + kcl_stage_streamed(k, &k->stage[KCL_LOOP][i]) / rate;
  return seconds;
}

double kcl_executor_estimate(kcl_program *k) {
  return k->ctx->opencl ? kcl_opencl_backend->estimate(k) : native_estimate(k);
}

kcl_program_counts kcl_count_programs(const kcl_context *ctx) {
  return ctx->opencl ? kcl_opencl_backend->count_programs(ctx)
                     : (kcl_program_counts){.compiled = 0};
}
