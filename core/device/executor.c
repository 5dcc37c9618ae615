/* Opening the executor of the selected device. */
#include "core/base/context.h"
#include "core/cpu/cpu.h"
#include "core/device/device.h"
#include "core/opencl/opencl.h"

int kcl_executor_open(kcl_program *k, kcl_executor *ex) {
  static int (*const open_cpu[])(kcl_program *, kcl_executor *) = {kcl_cpu_open_s, kcl_cpu_open_d,
                                                                   kcl_cpu_open_c, kcl_cpu_open_z};
  if (k->slots > KCL_MOST_SLOTS)
    return kcl_fail(k->ctx, KCL_USAGE, "the method uses %d scalars, at most %d are possible",
                    k->slots, KCL_MOST_SLOTS);
  return k->ctx->opencl ? kcl_opencl_open(k, ex) : open_cpu[k->type](k, ex);
}
