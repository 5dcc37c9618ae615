/* Compiled programs, kept in two places: a context remembers its latest by their text, and the cache folder
 * (core/base/cache.h) those of all processes as the driver's binaries. The key is all that a binary depends on:
 *
 *   platform and its version | device | driver | options | source
 *
 * A binary that the driver does not take is compiled again and replaced. */
#include "core/base/cache.h"
#include "core/opencl/opencl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = "programs";
static const long long most_kept = 256 << 20; /* bytes */

static int build_failed(kcl *ctx, cl_program p) {
  size_t size = 0;
  clGetProgramBuildInfo(p, ctx->opencl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = calloc(1, size + 1);
  if (log) clGetProgramBuildInfo(p, ctx->opencl->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  int rc = kcl_fail(ctx, KCL_DEVICE, "the driver of %s cannot compile the kernels:\n%.3000s",
                    ctx->device.name, log ? log : "");
  free(log);
  return rc;
}

static int compile(kcl *ctx, const char *source, const char *options, cl_program *out) {
  cl_int code;
  *out = clCreateProgramWithSource(ctx->opencl->context, 1, &source, NULL, &code);
  int rc = kcl_cl_check(ctx, code, "clCreateProgramWithSource", "composing kernels");
  if (rc) return rc;
  ctx->opencl->compiled++;
  kcl_step_begin(ctx, (kcl_activity){.what = "compiling kernels",
                                     .part = ctx->opencl->part,
                                     .parts = ctx->opencl->parts});
  code = clBuildProgram(*out, 1, &ctx->opencl->device, options, NULL, NULL);
  kcl_step_end(ctx);
  if (code == CL_BUILD_PROGRAM_FAILURE) return build_failed(ctx, *out);
  return kcl_cl_check(ctx, code, "clBuildProgram", "compiling kernels");
}

/* ---------------------------------------------------------------- on disk */

static cl_program load(kcl_opencl *o, const char *key, const char *options) {
  size_t size;
  unsigned char *binary = kcl_cache_get(folder, key, &size);
  const unsigned char *bytes = binary;
  cl_int code, status;
  if (!binary) return NULL;
  cl_program p =
      clCreateProgramWithBinary(o->context, 1, &o->device, &size, &bytes, &status, &code);
  free(binary);
  if (!code) code = clBuildProgram(p, 1, &o->device, options, NULL, NULL);
  if (!code) return o->from_cache++, p;
  if (p) clReleaseProgram(p);
  return NULL;
}

/* Some drivers compile further for this: not where there is no folder. */
static void keep(const char *key, cl_program p) {
  char path[4096];
  size_t size = 0;
  if (kcl_cache_path(folder, "", path, sizeof path)) return;
  if (clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size) return;
  unsigned char *binary = malloc(size);
  if (binary && !clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL))
    kcl_cache_put(folder, key, binary, size);
  free(binary);
}

/* ---------------------------------------------------------------- in memory */

static int make_key(kcl *ctx, const char *source, const char *options, char **key) {
  const kcl_device *d = &ctx->device;
  char version[128] = "";
  clGetPlatformInfo(ctx->opencl->platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
  size_t room = strlen(options) + strlen(source) + sizeof *d + sizeof version;
  int rc = kcl_alloc(ctx, (int64_t)room, 1, "kernels", (void **)key);
  if (!rc)
    snprintf(*key, room, "%s\n%s\n%s\n%s\n%s\n%s\n%s", d->platform_name, version, d->name,
             d->version, d->driver, options, source);
  return rc;
}

static void forget(kcl_opencl *o, int i) {
  if (o->built[i].program) clReleaseProgram(o->built[i].program);
  free(o->built[i].key);
  o->built[i].program = NULL, o->built[i].key = NULL;
}

void kcl_opencl_forget_programs(kcl_opencl *o) {
  for (int i = 0; i < KCL_BUILT; i++) forget(o, i);
  if (o->compiled) kcl_cache_trim(folder, most_kept);
}

int kcl_opencl_build(kcl *ctx, const char *source, const char *options, cl_program *out) {
  kcl_opencl *o = ctx->opencl;
  const char *dump =
      getenv("KRYLOCL_DUMP"); /* for kernel authors: where to write the composed texts */
  FILE *f = dump ? fopen(dump, o->builds ? "a" : "w") : NULL;
  if (f) fputs(source, f), fclose(f);
  char *key;
  if (o->part < o->parts) o->part++;
  int rc = make_key(ctx, source, options, &key);
  if (rc) return rc;
  for (int i = 0; i < KCL_BUILT; i++)
    if (o->built[i].key && !strcmp(o->built[i].key, key)) {
      free(key);
      *out = o->built[i].program;
      return kcl_cl_check(ctx, clRetainProgram(*out), "clRetainProgram", "compiling kernels");
    }
  *out = load(o, key, options);
  if (!*out) {
    if ((rc = compile(ctx, source, options, out))) {
      free(key);
      return rc;
    }
    keep(key, *out);
  }
  int i = o->builds++ % KCL_BUILT;
  forget(o, i);
  o->built[i].key = key, o->built[i].program = *out;
  return kcl_cl_check(ctx, clRetainProgram(*out), "clRetainProgram", "compiling kernels");
}
