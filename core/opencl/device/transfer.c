/* Conversions of kernels/transfer.cl on the context's queue, whose kernels a context makes once; pinned host memory. */
#include "core/opencl/device/device.h"
#include "kernels/kernels.h"

static const char *const conversions[] = {
    [KCL_CONVERT_NARROW] = "narrow", [KCL_CONVERT_COLLECT] = "collect"};

static int make_conversion(kcl_context *ctx, kcl_conversion which, cl_kernel *out) {
  kcl_build build = {.source = kcl_kernel_text("transfer.cl"), .options = ""};
  cl_int code;
  KCL_CALL(kcl_opencl_build(ctx, &build, 1));
  *out = clCreateKernel(build.program, conversions[which], &code);
  clReleaseProgram(build.program);
  return kcl_cl_check(ctx, code, "clCreateKernel", conversions[which]);
}

int kcl_opencl_convert(kcl_context *ctx, kcl_conversion which, void *y, void *x, int64_t n,
                       double scale) {
  cl_kernel *k = &ctx->opencl->conversion[which];
  cl_mem to = y, from = x;
  cl_double factor = scale;
  cl_long count = n;
  size_t global = ((size_t)n + 255) / 256 * 256;
  if (!*k) KCL_CALL(make_conversion(ctx, which, k));
  cl_int code = clSetKernelArg(*k, 0, sizeof to, &to);
  code |= clSetKernelArg(*k, 1, sizeof from, &from);
  code |= clSetKernelArg(*k, 2, sizeof factor, &factor);
  code |= clSetKernelArg(*k, 3, sizeof count, &count);
  if (!code)
    code = clEnqueueNDRangeKernel(ctx->opencl->queue, *k, 1, NULL, &global, NULL, 0, NULL,
                                  kcl_profile_launch(ctx->opencl, *k, 0));
  return kcl_cl_check(ctx, code, "clEnqueueNDRangeKernel", conversions[which]);
}

void kcl_opencl_end_conversions(kcl_opencl *o) {
  for (int i = 0; i <= KCL_CONVERT_COLLECT; i++)
    if (o->conversion[i]) clReleaseKernel(o->conversion[i]);
}

int kcl_opencl_write_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes,
                           const void *from) {
  cl_int code = clEnqueueWriteBuffer(ctx->opencl->queue, buffer, CL_TRUE, offset, bytes, from, 0,
                                     NULL, kcl_profile_event(ctx->opencl, "write", bytes));
  return kcl_cl_check(ctx, code, "clEnqueueWriteBuffer", "writing a buffer");
}

int kcl_opencl_pin_host(kcl_context *ctx, size_t bytes, const char *what, kcl_pinned *out) {
  kcl_opencl *o = ctx->opencl;
  cl_int code;
  *out = (kcl_pinned){NULL, NULL};
  out->buffer =
      clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
  if (!code)
    out->data = clEnqueueMapBuffer(o->queue, out->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                   bytes, 0, NULL, NULL, &code);
  return kcl_cl_check(ctx, code, "clEnqueueMapBuffer", what);
}

void kcl_opencl_register_host(kcl_context *ctx, void *memory, size_t bytes, kcl_pinned *out) {
  kcl_opencl *o = ctx->opencl;
  cl_int code;
  cl_mem buffer =
      clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &code);
  if (code) return;
  void *mapped = clEnqueueMapBuffer(o->queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                    0, NULL, NULL, &code);
  if (!code && mapped == memory)
    out->buffer = buffer;
  else
    clReleaseMemObject(buffer);
}

/* Memory that a transfer may still reach, since the driver fails, stays. */
void kcl_opencl_unpin_host(kcl_context *ctx, kcl_pinned *p) {
  cl_int code = CL_SUCCESS;
  if (p->data)
    code = clEnqueueUnmapMemObject(ctx->opencl->queue, p->buffer, p->data, 0, NULL, NULL);
  if (p->data && !code) code = clFinish(ctx->opencl->queue);
  if (p->buffer && !code) clReleaseMemObject(p->buffer);
  *p = (kcl_pinned){NULL, NULL};
}

cl_int kcl_opencl_read_pinned(const kcl_context *ctx, cl_mem from, size_t offset, size_t bytes,
                              void *to) {
  cl_event read;
  cl_int code =
      clEnqueueReadBuffer(ctx->opencl->queue, from, CL_FALSE, offset, bytes, to, 0, NULL, &read);
  if (code) return code;
  kcl_profile_keep(ctx->opencl, read, "read", bytes);
  code = clWaitForEvents(1, &read);
  clReleaseEvent(read);
  return code;
}
