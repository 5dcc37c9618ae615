/* OpenCL housekeeping: errors by name, devices, a context and queue on one of them,
 * buffers. */
#include "core/opencl.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *code_name(cl_int code) {
  static const struct {
    cl_int code;
    const char *name;
  } names[] = {{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
               {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
               {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
               {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
               {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
               {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
               {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
               {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
               {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
               {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
               {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
               {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
               {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
               {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
               {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return names[i].name;
  return "see CL/cl.h";
}

int kcl_cl_check(kcl *ctx, cl_int code, const char *call, const char *what) {
  if (code == CL_SUCCESS) return KCL_OK;
  bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE ||
                code == CL_OUT_OF_HOST_MEMORY;
  return kcl_fail(ctx, memory ? KCL_MEMORY : KCL_DEVICE, "%s: %s failed with %d (%s) on %s", what,
                  call, code, code_name(code), ctx->device.name);
}

/* ---------------------------------------------------------------- devices */

static void info(cl_device_id d, cl_device_info what, size_t room, void *out) {
  memset(out, 0, room);
  clGetDeviceInfo(d, what, room, out, NULL);
}

static void describe(cl_platform_id p, cl_device_id d, kcl_device *out) {
  cl_device_type type;
  cl_uint units;
  cl_ulong memory, most;
  cl_device_fp_config fp64;
  info(d, CL_DEVICE_NAME, sizeof out->name - 1, out->name);
  info(d, CL_DEVICE_VERSION, sizeof out->version - 1, out->version);
  info(d, CL_DRIVER_VERSION, sizeof out->driver - 1, out->driver);
  info(d, CL_DEVICE_TYPE, sizeof type, &type);
  info(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units);
  info(d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory);
  info(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most);
  info(d, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64);
  clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof out->platform_name - 1, out->platform_name, NULL);
  out->kind = type & CL_DEVICE_TYPE_GPU ? "gpu" : type & CL_DEVICE_TYPE_CPU ? "cpu" : "accelerator";
  out->compute_units = (int)units, out->memory = memory, out->max_alloc = most,
  out->has_double = fp64 != 0;
}

enum { MOST = 64 };

/* One thread at a time: a driver's first steps need not be ready for several (PoCL 3.1 crashes). */
void kcl_opencl_list(kcl_device *list, int room, int *count) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  cl_platform_id platforms[MOST];
  cl_device_id devices[MOST];
  cl_uint n = 0;
  if (clGetPlatformIDs(MOST, platforms, &n) != CL_SUCCESS) n = 0;
  for (cl_uint p = 0; p < n && p < MOST; p++) {
    cl_uint m = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &m) != CL_SUCCESS) m = 0;
    for (cl_uint d = 0; d < m && d < MOST && *count < room; d++) {
      kcl_device *out = &list[(*count)++];
      describe(platforms[p], devices[d], out);
      out->platform = (int)p, out->device = (int)d;
    }
  }
  pthread_mutex_unlock(&one);
}

const char *kcl_icd_loader(void) {
  Dl_info where;
  return dladdr((void *)(intptr_t)clGetPlatformIDs, &where) && where.dli_fname ? where.dli_fname
                                                                               : "unknown";
}

bool kcl_opencl_neighbours(const kcl *ctx) { return ctx->opencl && !ctx->opencl->is_cpu; }

/* ---------------------------------------------------------------- context and queue */

static cl_device_id find_device(int platform_number, int device_number, cl_platform_id *platform) {
  cl_platform_id platforms[MOST];
  cl_device_id devices[MOST];
  cl_uint count = 0;
  if (clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS || platform_number >= (int)count)
    return NULL;
  *platform = platforms[platform_number];
  if (clGetDeviceIDs(*platform, CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS)
    return NULL;
  return device_number < (int)count ? devices[device_number] : NULL;
}

int kcl_opencl_attach(kcl *ctx, const kcl_device *which) {
  cl_int code;
  int rc = kcl_alloc(ctx, 1, sizeof *ctx->opencl, "the device", (void **)&ctx->opencl);
  if (rc) return rc;
  kcl_opencl *o = ctx->opencl;
  o->device = find_device(which->platform, which->device, &o->platform);
  const char *shape =
      getenv("KRYLOCL_SHAPE"); /* to test the text for "cpu" or "gpu" devices on any */
  o->is_cpu = !strcmp(shape && *shape ? shape : which->kind, "cpu");
  o->small_groups = shape && *shape;
  o->is_nvidia = strstr(which->platform_name, "NVIDIA") != NULL;
  o->units = which->compute_units;
  o->context = clCreateContext(NULL, 1, &o->device, NULL, NULL, &code);
  if ((rc = kcl_cl_check(ctx, code, "clCreateContext", "opening the device"))) return rc;
  o->queue = clCreateCommandQueue(o->context, o->device, 0, &code);
  return kcl_cl_check(ctx, code, "clCreateCommandQueue", "opening the device");
}

void kcl_opencl_detach(kcl *ctx) {
  if (!ctx->opencl) return;
  kcl_opencl_forget_programs(ctx->opencl);
  kcl_opencl_unpin(ctx->opencl);
  if (ctx->opencl->queue) clReleaseCommandQueue(ctx->opencl->queue);
  if (ctx->opencl->context) clReleaseContext(ctx->opencl->context);
  free(ctx->opencl);
  ctx->opencl = NULL;
}

/* ---------------------------------------------------------------- buffers */

int kcl_opencl_buffer(kcl *ctx, size_t bytes, const char *what, cl_mem *out) {
  cl_int code;
  const cl_uint zero = 0;
  bytes = (bytes + 63) / 64 * 64 + 64;
  *out = clCreateBuffer(ctx->opencl->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  if (code == CL_SUCCESS)
    code =
        clEnqueueFillBuffer(ctx->opencl->queue, *out, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
  if (code == CL_SUCCESS) return KCL_OK;
  char text[160];
  snprintf(text, sizeof text, "%s of %.3g GB", what, (double)bytes * 1e-9);
  return kcl_cl_check(ctx, code, "clCreateBuffer", text);
}
