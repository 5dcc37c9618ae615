/* A compilation that the caller of a solve can stop. The driver is left to finish the program, of which it has a reference
 * of its own. */
#include "core/opencl/device/device.h"

typedef struct background_compilation {
  cl_program program;
  cl_device_id device;
  cl_int code;
  char options[];
} background_compilation;

static void compile_in_background(void *self) {
  background_compilation *c = self;
  c->code = clBuildProgram(c->program, 1, &c->device, c->options, NULL, NULL);
}

static void release_compilation(void *self) {
  background_compilation *c = self;
  clReleaseProgram(c->program);
  free(c);
}

/* Where commands are profiled, NVIDIA's driver is asked for the resources of kernels. */
char *kcl_opencl_all_options(const kcl_opencl *o, const char *first, const char *options) {
  const char *verbose = o->is_nvidia && o->log ? "-cl-nv-verbose " : "";
  const size_t capacity = strlen(first) + strlen(verbose) + strlen(options) + 1;
  char *all = malloc(capacity);
  if (all) snprintf(all, capacity, "%s%s%s", first, verbose, options);
  return all;
}

cl_int kcl_opencl_compile(kcl_context *ctx, cl_program p, const char *options, bool *stopped) {
  static const char no_warnings[] = "-w "; /* PoCL would tell how many there were */
  char *all = kcl_opencl_all_options(ctx->opencl, no_warnings, options);
  background_compilation *c = all ? malloc(sizeof *c + strlen(all) + 1) : NULL;
  *stopped = false;
  if (c) {
    c->program = p, c->device = ctx->opencl->device;
    strcpy(c->options, all);
  }
  free(all);
  if (!c) return CL_OUT_OF_HOST_MEMORY;
  cl_int code = clRetainProgram(p);
  if (code) {
    free(c);
    return code;
  }
  *stopped = !kcl_run_stoppable(ctx, compile_in_background, release_compilation, c);
  if (*stopped) return CL_SUCCESS;
  code = c->code;
  release_compilation(c);
  return code;
}
