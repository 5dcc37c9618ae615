/* Opening the executor of the selected device. */
#include "core/executor.h"
#include "core/context.h"
#ifdef _OPENMP
#include <omp.h>
int kcl_thread(void) { return omp_get_thread_num(); }
int kcl_threads(void) { return omp_get_num_threads(); }
int kcl_max_threads(void) { return omp_get_max_threads(); }
#else
int kcl_thread(void) { return 0; }
int kcl_threads(void) { return 1; }
int kcl_max_threads(void) { return 1; }
#endif

int kcl_executor_open(kcl_program *k, kcl_executor *ex) {
  static int (*const open_cpu[])(kcl_program *, kcl_executor *) = {kcl_cpu_open_s, kcl_cpu_open_d,
                                                                   kcl_cpu_open_c, kcl_cpu_open_z};
  if (k->slots > KCL_MOST_SLOTS)
    return kcl_fail(k->ctx, KCL_USAGE, "the method uses %d scalars, at most %d are possible",
                    k->slots, KCL_MOST_SLOTS);
  return k->ctx->opencl ? kcl_opencl_open(k, ex) : open_cpu[k->type](k, ex);
}
