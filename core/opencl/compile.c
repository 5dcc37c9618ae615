/* A compilation that the caller of a solve can stop. The driver is left to finish the program, of which it has a reference
 * of its own. */
#include "core/opencl/opencl.h"
#include <stdlib.h>
#include <string.h>

typedef struct compilation {
  cl_program program;
  cl_device_id device;
  char *options;
  cl_int code;
} compilation;

static void run(void *self) {
  compilation *c = self;
  c->code = clBuildProgram(c->program, 1, &c->device, c->options, NULL, NULL);
}

static void release(void *self) {
  compilation *c = self;
  clReleaseProgram(c->program);
  free(c->options), free(c);
}

cl_int kcl_opencl_compile(kcl *ctx, cl_program p, const char *options, bool *stopped) {
  compilation *c = calloc(1, sizeof *c);
  char *copy = strdup(options);
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  *stopped = false;
  if (!c || !copy || (code = clRetainProgram(p))) {
    free(c), free(copy);
    return code;
  }
  *c = (compilation){p, ctx->opencl->device, copy, CL_SUCCESS};
  if (!kcl_run_stoppable(ctx, run, release, c)) return *stopped = true, CL_SUCCESS;
  code = c->code;
  release(c);
  return code;
}
