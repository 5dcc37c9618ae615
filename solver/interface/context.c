/* kcl_context: its numbers and texts. What it is: core/base/context.h, core/device/device.c. */
#include "solver/interface/handles.h"

int kcl_context_number(kcl_context *ctx, const char *name, double *out) {
  static const char *const names[] = {"threads",         "memory",       "units",
                                      "double",          "max_restart",  "rank",
                                      "ranks",           "stream_rate",  "programs_compiled",
                                      "programs_cached", "program_bytes"};
  kcl_device d;
  if (out) *out = 0;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "name", name));
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(kcl_device_current(ctx, &d));
  if (!strcmp(name, "stream_rate")) return kcl_stream_rate(ctx, out);
  if (!strcmp(name, "threads")) return *out = kcl_threads(), KCL_OK;
  if (!strcmp(name, "memory")) return *out = (double)d.memory, KCL_OK;
  if (!strcmp(name, "units")) return *out = d.compute_units, KCL_OK;
  if (!strcmp(name, "max_restart"))
    return *out = ctx->opencl ? KCL_OPENCL_RESTART : KCL_MAX_RESTART, KCL_OK;
  if (!strcmp(name, "rank")) return *out = ctx->world ? ctx->world->rank : 0, KCL_OK;
  if (!strcmp(name, "ranks")) return *out = ctx->world ? ctx->world->ranks : 1, KCL_OK;
  const kcl_program_counts p = kcl_count_programs(ctx);
  if (!strcmp(name, "programs_compiled")) return *out = p.compiled, KCL_OK;
  if (!strcmp(name, "programs_cached")) return *out = p.cached, KCL_OK;
  if (!strcmp(name, "program_bytes")) return *out = p.bytes, KCL_OK;
  if (!strcmp(name, "double")) return *out = d.has_double, KCL_OK;
  return kcl_refuse_name(ctx, "number", name, names, sizeof names / sizeof *names);
}

const char *kcl_context_text(kcl_context *ctx, const char *name) {
  kcl_device d;
  if (!ctx || !name) return "";
  KCL_HOLD(ctx);
  if (kcl_device_current(ctx, &d)) return "";
  if (!strcmp(name, "device")) return ctx->device.name;
  if (!strcmp(name, "kind")) return ctx->device.kind;
  if (!strcmp(name, "platform")) return ctx->device.platform_name;
  if (!strcmp(name, "driver")) return ctx->device.driver;
  return !strcmp(name, "version") ? ctx->device.version : "";
}

int kcl_context_set_reproducible(kcl_context *ctx, int on) {
  KCL_ENTER(ctx);
  if (on && !KCL_HAS_FMA)
    return kcl_fail(ctx, KCL_DEVICE,
                    "reproducible sums: this build has no fused multiply-add; build it for the "
                    "processor (make ARCH=-march=native)");
  ctx->reproducible = on != 0;
  return KCL_OK;
}

int kcl_abi(void) { return 1; }
void kcl_free(void *text) { free(text); }

const char *kcl_status_text(int status) {
  switch (status) {
  case KCL_OK: return "success";
  case KCL_USAGE: return "invalid argument";
  case KCL_INPUT: return "invalid file or system";
  case KCL_DEVICE: return "device or driver error";
  case KCL_MEMORY: return "out of memory";
  case KCL_BUSY: return "the context is in use by the caller of this callback";
  case KCL_REFUSED: return "refused by the format or method";
  case KCL_CHANGED: return "an array changed in memory";
  default: return "unknown";
  }
}
