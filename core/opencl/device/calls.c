/* OpenCL errors by name, and buffers of zeros. */
#include "core/opencl/device/device.h"

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

int kcl_cl_check(kcl_context *ctx, cl_int code, const char *call, const char *what) {
  if (code == CL_SUCCESS) return KCL_OK;
  ctx->device_failed = true;
  if (code == KCL_CL_LOST)
    return kcl_fail(ctx, KCL_DEVICE, "%s: %s: no answer from %s within %.3g s", what, call,
                    ctx->device.name, kcl_watch_limit(ctx->opencl));
  bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE ||
                code == CL_OUT_OF_HOST_MEMORY;
  return kcl_fail(ctx, memory ? KCL_MEMORY : KCL_DEVICE, "%s: %s failed with %d (%s) on %s", what,
                  call, code, code_name(code), ctx->device.name);
}

size_t kcl_opencl_padded(size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

cl_int kcl_opencl_clear(kcl_context *ctx, cl_mem buffer, size_t bytes) {
  const cl_uint zero = 0;
  return clEnqueueFillBuffer(ctx->opencl->queue, buffer, &zero, sizeof zero, 0, bytes, 0, NULL,
                             kcl_profile_event(ctx->opencl, "fill", bytes));
}

int kcl_opencl_buffer(kcl_context *ctx, size_t bytes, const char *what, cl_mem *out) {
  cl_int code;
  bytes = kcl_opencl_padded(bytes);
  *out = clCreateBuffer(ctx->opencl->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  if (code == CL_SUCCESS) code = kcl_opencl_clear(ctx, *out, bytes);
  if (code == CL_SUCCESS) return KCL_OK;
  char text[160];
  snprintf(text, sizeof text, "%s of %.3g GB", what, (double)bytes * 1e-9);
  return kcl_cl_check(ctx, code, "clCreateBuffer", text);
}
