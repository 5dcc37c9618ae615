/* Registers, spills and instructions of kernels, where the driver tells them: NVIDIA's, in the log of a build with
 * -cl-nv-verbose (compile.c), and in the binary, which is PTX. */
#include "core/base/ptx.h"
#include "core/opencl/device/device.h"

char *kcl_opencl_log(const kcl_opencl *o, cl_program p) {
  size_t size = 0;
  clGetProgramBuildInfo(p, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = size ? calloc(1, size + 1) : NULL;
  if (log) clGetProgramBuildInfo(p, o->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  return log;
}

char *kcl_opencl_binary(cl_program p, size_t *size) {
  *size = 0;
  if (clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) || !*size) return NULL;
  char *binary = calloc(1, *size + 1);
  if (binary && !clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL))
    return binary;
  free(binary);
  return NULL;
}

void kcl_opencl_kernel_usage(const kcl_opencl *o, cl_program p, const char *kernel,
                             kcl_profile_entry *out) {
  kcl_kernel_usage usage;
  size_t size;
  if (!o->is_nvidia || !o->log) return;
  char *log = kcl_opencl_log(o, p), *ptx = kcl_opencl_binary(p, &size);
  if (log && kcl_ptxas_usage(log, kernel, &usage))
    out->registers = usage.registers, out->spill_bytes = usage.spill_stores + usage.spill_loads;
  if (ptx) out->instructions = kcl_ptx_instructions(ptx, kernel);
  free(log), free(ptx);
}

/* The names of the program's kernels, separated by semicolons; free() it. NULL: there are none, or memory is short. */
static char *list_kernel_names(cl_program p) {
  size_t size = 0;
  clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size);
  char *names = size ? calloc(1, size + 1) : NULL;
  if (names) clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, size, names, NULL);
  return names;
}

void kcl_opencl_put_usage(FILE *f, const kcl_opencl *o, cl_program p) {
  if (!o->is_nvidia || !o->log) return;
  char *names = list_kernel_names(p), *rest = NULL;
  for (char *name = names ? strtok_r(names, ";", &rest) : NULL; name;
       name = strtok_r(NULL, ";", &rest)) {
    kcl_profile_entry e = {0};
    kcl_opencl_kernel_usage(o, p, name, &e);
    if (e.registers)
      fprintf(f, "// %s: %d registers, spills %lld B, %d PTX instructions\n", name, e.registers,
              (long long)e.spill_bytes, e.instructions);
  }
  free(names);
}
