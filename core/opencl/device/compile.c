/* A compilation that the caller of a solve can stop. The driver is left to finish the program, of which it has a reference
 * of its own. */
#include "core/opencl/device/device.h"
#include <stdlib.h>
#include <string.h>

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

cl_int kcl_opencl_compile(kcl *ctx, cl_program p, const char *options, bool *stopped) {
  static const char no_warnings[] = "-w "; /* PoCL would tell how many there were */
  const size_t capacity = sizeof no_warnings + strlen(options);
  background_compilation *c = malloc(sizeof *c + capacity);
  *stopped = false;
  if (!c) return CL_OUT_OF_HOST_MEMORY;
  c->program = p, c->device = ctx->opencl->device;
  strcat(strcpy(c->options, no_warnings), options);
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
