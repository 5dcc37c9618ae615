/* Columns in OpenCL buffers: copied and converted, measured, to and from the host; and the buffers of callers described. */
#include "core/opencl/device/device.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 256, ITEMS = 64 }; /* of a measurement: 4 kB come to the host */

static bool in_double(const kcl_column *c) { return c->type == KCL_D || c->type == KCL_Z; }

static int parts_of_number(const kcl_column *c) { return kcl_type_complex(c->type) ? 2 : 1; }

/* ---------------------------------------------------------------- kernels */

/* "copy" from one type to another, or "measure"; *k: the kernel, made where it is NULL. */
static int obtain_kernel(kcl_context *ctx, const char *name, const kcl_column *to,
                         const kcl_column *from, cl_kernel *k) {
  char options[64];
  kcl_build build = {.source = kcl_kernel_text("columns.cl"), .options = options};
  const bool wide = ctx->device.has_double;
  cl_int code;
  if (*k) return KCL_OK;
  if (!wide && (in_double(to) || in_double(from)))
    return kcl_fail(ctx, KCL_DEVICE, "%s has no double precision", ctx->device.name);
  snprintf(options, sizeof options, "-DTO=%s -DFROM=%s%s", in_double(to) ? "double" : "float",
           in_double(from) ? "double" : "float", wide ? " -DDOUBLE" : "");
  KCL_CALL(kcl_opencl_build(ctx, &build, 1));
  *k = clCreateKernel(build.program, name, &code);
  clReleaseProgram(build.program);
  return kcl_cl_check(ctx, code, "clCreateKernel", name);
}

/* Arguments from number i on: buffer, first, step. */
static cl_int set_column(cl_kernel k, cl_uint i, const kcl_column *c) {
  cl_mem buffer = c->buffer;
  cl_long first = c->first, step = c->step;
  cl_int code = clSetKernelArg(k, i, sizeof buffer, &buffer);
  code |= clSetKernelArg(k, i + 1, sizeof first, &first);
  return code | clSetKernelArg(k, i + 2, sizeof step, &step);
}

/* Arguments from number i on: parts, scale, n in reals. */
static cl_int set_size(const kcl_context *ctx, cl_kernel k, cl_uint i, const kcl_column *c,
                       int64_t n, double scale) {
  const cl_int parts = parts_of_number(c);
  const cl_long reals = n * parts;
  const cl_float narrow = (cl_float)scale;
  cl_int code = clSetKernelArg(k, i, sizeof parts, &parts);
  code |= ctx->device.has_double ? clSetKernelArg(k, i + 1, sizeof scale, &scale)
                                 : clSetKernelArg(k, i + 1, sizeof narrow, &narrow);
  return code | clSetKernelArg(k, i + 2, sizeof reals, &reals);
}

int kcl_opencl_copy_column(kcl_context *ctx, const kcl_column *to, const kcl_column *from,
                           int64_t n, double scale) {
  cl_kernel *k = &ctx->opencl->copy[in_double(to)][in_double(from)];
  const size_t items = ((size_t)n * (size_t)parts_of_number(to) + 255) / 256 * 256;
  KCL_CALL(obtain_kernel(ctx, "copy", to, from, k));
  cl_int code =
      set_column(*k, 0, to) | set_column(*k, 3, from) | set_size(ctx, *k, 6, to, n, scale);
  if (!code)
    code = clEnqueueNDRangeKernel(ctx->opencl->queue, *k, 1, NULL, &items, NULL, 0, NULL,
                                  kcl_profile_launch(ctx->opencl, *k, 0));
  return kcl_cl_check(ctx, code, "clEnqueueNDRangeKernel", "copying a vector on the device");
}

/* ---------------------------------------------------------------- norms */

typedef struct sums {
  double largest, squares; /* NaN, infinite: squares is */
} sums;

static void add_sums(const kcl_context *ctx, const void *partial, sums *out) {
  const double *d = partial;
  const float *f = partial;
  *out = (sums){0};
  for (int g = 0; g < GROUPS; g++) {
    const bool wide = ctx->device.has_double;
    out->largest = fmax(out->largest, wide ? d[2 * g] : (double)f[2 * g]);
    out->squares += wide ? d[2 * g + 1] : (double)f[2 * g + 1];
  }
}

static int measure_scaled(kcl_context *ctx, const kcl_column *c, int64_t n, double scale,
                          sums *out) {
  const size_t size = ctx->device.has_double ? sizeof(double) : sizeof(float),
               bytes = 2 * GROUPS * size, items = (size_t)GROUPS * ITEMS, group = ITEMS;
  kcl_opencl *o = ctx->opencl;
  cl_kernel *k = &o->measure[in_double(c)];
  double partial[2 * GROUPS];
  KCL_CALL(obtain_kernel(ctx, "measure", c, c, k));
  if (!o->measured) KCL_CALL(kcl_opencl_buffer(ctx, bytes, "partial sums", &o->measured));
  cl_int code = clSetKernelArg(*k, 0, sizeof o->measured, &o->measured);
  code |= set_column(*k, 1, c) | set_size(ctx, *k, 4, c, n, scale);
  code |= clSetKernelArg(*k, 7, ITEMS * size, NULL) | clSetKernelArg(*k, 8, ITEMS * size, NULL);
  if (!code)
    code = clEnqueueNDRangeKernel(o->queue, *k, 1, NULL, &items, &group, 0, NULL,
                                  kcl_profile_launch(o, *k, group));
  if (!code)
    code = clEnqueueReadBuffer(o->queue, o->measured, CL_TRUE, 0, bytes, partial, 0, NULL,
                               kcl_profile_event(o, "read", bytes));
  if (!code) add_sums(ctx, partial, out);
  return kcl_cl_check(ctx, code, "clEnqueueNDRangeKernel", "measuring a vector");
}

/* Squares of numbers far from 1 are taken of numbers near 1. */
int kcl_opencl_measure_column(kcl_context *ctx, const kcl_column *c, int64_t n,
                              kcl_column_size *out) {
  const int most = ctx->device.has_double ? 460 : 40, limit = ctx->device.has_double ? 997 : 120;
  sums s;
  int power = 0, rc = measure_scaled(ctx, c, n, 1, &s);
  if (rc) return rc;
  *out = (kcl_column_size){.largest = s.largest, .norm = INFINITY};
  if (isnan(s.squares) || !(s.largest < INFINITY)) return KCL_OK;
  if (s.largest > 0 && abs(ilogb(s.largest)) > most) {
    power = ilogb(s.largest) < -limit ? limit : -ilogb(s.largest);
    rc = measure_scaled(ctx, c, n, ldexp(1, power), &s);
  }
  out->norm = ldexp(sqrt(s.squares), -power);
  return rc;
}

/* ---------------------------------------------------------------- to and from the host */

/* A column with gaps moves by way of another without: through. */
static int move_column(kcl_context *ctx, const kcl_column *c, int64_t n, void *values, bool read) {
  const size_t size = kcl_type_size(c->type), bytes = (size_t)n * size;
  kcl_column through = *c;
  int rc = KCL_OK;
  if (c->step != 1) {
    through = (kcl_column){.step = 1, .type = c->type};
    rc = kcl_pool_take(ctx, bytes, true, &through.buffer);
  }
  if (!rc && read && c->step != 1) rc = kcl_opencl_copy_column(ctx, &through, c, n, 1);
  if (rc) goto done;
  const size_t at = (size_t)through.first * size;
  rc = read ? kcl_opencl_read(ctx, through.buffer, at, bytes, values, "downloading a vector")
            : kcl_opencl_write_bytes(ctx, through.buffer, at, bytes, values);
  if (!rc && !read && c->step != 1) rc = kcl_opencl_copy_column(ctx, c, &through, n, 1);
done:
  if (c->step != 1) kcl_pool_give(ctx, through.buffer);
  return rc;
}

int kcl_opencl_read_column(kcl_context *ctx, const kcl_column *from, int64_t n, void *values) {
  return move_column(ctx, from, n, values, true);
}

int kcl_opencl_write_column(kcl_context *ctx, const kcl_column *to, int64_t n, const void *values) {
  return move_column(ctx, to, n, (void *)(uintptr_t)values, false); /* it is only read */
}

/* ---------------------------------------------------------------- the caller's buffers */

void kcl_opencl_describe_buffer(kcl_context *ctx, void *buffer, kcl_buffer_place *out) {
  cl_mem_object_type type = 0;
  cl_context context = NULL;
  cl_mem parent = NULL;
  cl_mem_flags flags = 0;
  cl_int code = clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
  *out = (kcl_buffer_place){.root = buffer};
  if (!code) code = clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL);
  if (!code) code = clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
  if (!code) code = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof out->bytes, &out->bytes, NULL);
  if (!code)
    code = clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
  if (!code && parent)
    code = clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof out->offset, &out->offset, NULL);
  if (parent) out->root = parent;
  out->is_buffer = !code && type == CL_MEM_OBJECT_BUFFER;
  out->of_context = context == ctx->opencl->context;
  out->readable = !(flags & CL_MEM_WRITE_ONLY), out->writable = !(flags & CL_MEM_READ_ONLY);
}

void kcl_opencl_end_columns(kcl_opencl *o) {
  const cl_kernel made[] = {o->copy[0][0], o->copy[0][1], o->copy[1][0],
                            o->copy[1][1], o->measure[0], o->measure[1]};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    if (made[i]) clReleaseKernel(made[i]);
  if (o->measured) clReleaseMemObject(o->measured);
}
