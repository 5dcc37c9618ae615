/* kernels/transfer.cl on the context's queue. The program is compiled once a context. */
#include "core/opencl/opencl.h"
#include "core/opencl/source.h"

int kcl_opencl_transfer(kcl *ctx, const char *kernel, void *y, void *x, int64_t n, double scale) {
  kcl_build build = {kcl_kernel_text("transfer.cl"), "", NULL};
  cl_kernel k = NULL;
  cl_mem to = y, from = x;
  cl_double factor = scale;
  cl_long count = n;
  size_t global = ((size_t)n + 255) / 256 * 256;
  cl_int code;
  int rc;
  KCL_TRY(kcl_opencl_build(ctx, &build, 1));
  k = clCreateKernel(build.program, kernel, &code);
  KCL_TRY(kcl_cl_check(ctx, code, "clCreateKernel", kernel));
  code = clSetKernelArg(k, 0, sizeof to, &to);
  code |= clSetKernelArg(k, 1, sizeof from, &from);
  code |= clSetKernelArg(k, 2, sizeof factor, &factor);
  code |= clSetKernelArg(k, 3, sizeof count, &count);
  if (!code)
    code = clEnqueueNDRangeKernel(ctx->opencl->queue, k, 1, NULL, &global, NULL, 0, NULL,
                                  kcl_profile_launch(ctx->opencl, k, 0));
  rc = kcl_cl_check(ctx, code, "clEnqueueNDRangeKernel", kernel);
done:
  if (k) clReleaseKernel(k);
  if (build.program) clReleaseProgram(build.program);
  return rc;
}

int kcl_opencl_pin_host(kcl *ctx, size_t bytes, const char *what, kcl_pinned *out) {
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

void kcl_opencl_register_host(kcl *ctx, void *memory, size_t bytes, kcl_pinned *out) {
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

void kcl_opencl_unpin_host(kcl *ctx, kcl_pinned *p) {
  if (p->data)
    clEnqueueUnmapMemObject(ctx->opencl->queue, p->buffer, p->data, 0, NULL, NULL),
        clFinish(ctx->opencl->queue);
  if (p->buffer) clReleaseMemObject(p->buffer);
  *p = (kcl_pinned){NULL, NULL};
}
