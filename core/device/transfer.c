/* Conversion between vectors in double and in float; columns in buffers; host memory for transfers. */
#include "core/device/device.h"

typedef struct conversion {
  void *to;
  const void *from;
  double scale;
} conversion;

static void narrow_values(void *arg, int64_t first, int64_t end) {
  const conversion *c = arg;
  float *to = c->to;
  const double *from = c->from;
  for (int64_t i = first; i < end; i++) to[i] = (float)(c->scale * from[i]);
}

static void widen_values(void *arg, int64_t first, int64_t end) {
  const conversion *c = arg;
  double *to = c->to;
  const float *from = c->from;
  for (int64_t i = first; i < end; i++) to[i] += c->scale * (double)from[i];
}

int kcl_narrow(kcl_context *ctx, void *y, void *x, int64_t n, double scale) {
  if (ctx->opencl) return kcl_opencl_backend->convert(ctx, KCL_CONVERT_NARROW, y, x, n, scale);
  kcl_for(n, KCL_FEW, narrow_values, &(conversion){y, x, scale});
  return KCL_OK;
}

int kcl_collect(kcl_context *ctx, void *y, void *x, int64_t n, double scale) {
  if (ctx->opencl) return kcl_opencl_backend->convert(ctx, KCL_CONVERT_COLLECT, y, x, n, scale);
  kcl_for(n, KCL_FEW, widen_values, &(conversion){y, x, scale});
  return KCL_OK;
}

int kcl_copy_column(kcl_context *ctx, const kcl_column *y, const kcl_column *x, int64_t n,
                    double scale) {
  return kcl_opencl_backend->copy_column(ctx, y, x, n, scale);
}

int kcl_measure_column(kcl_context *ctx, const kcl_column *c, int64_t n, kcl_column_size *out) {
  return kcl_opencl_backend->measure_column(ctx, c, n, out);
}

int kcl_read_column(kcl_context *ctx, const kcl_column *from, int64_t n, void *values) {
  return kcl_opencl_backend->read_column(ctx, from, n, values);
}

int kcl_write_column(kcl_context *ctx, const kcl_column *to, int64_t n, const void *values) {
  return kcl_opencl_backend->write_column(ctx, to, n, values);
}

int kcl_read_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, void *to) {
  return kcl_opencl_backend->read_bytes(ctx, buffer, offset, bytes, to);
}

int kcl_write_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, const void *from) {
  return kcl_opencl_backend->write_bytes(ctx, buffer, offset, bytes, from);
}

void kcl_describe_buffer(kcl_context *ctx, void *buffer, kcl_buffer_place *out) {
  kcl_opencl_backend->describe_buffer(ctx, buffer, out);
}

void kcl_watch_device(kcl_context *ctx, bool on) {
  if (ctx->opencl) kcl_opencl_backend->watch(ctx, on);
}

int kcl_pin(kcl_context *ctx, int64_t count, size_t size, const char *what, kcl_pinned *out) {
  *out = (kcl_pinned){NULL, NULL};
  if (ctx->opencl)
    return kcl_opencl_backend->pin(ctx, (size_t)(count ? count : 1) * size, what, out);
  return kcl_alloc(ctx, count, size, what, &out->data);
}

void kcl_unpin(kcl_context *ctx, kcl_pinned *p) {
  if (ctx->opencl) {
    kcl_opencl_backend->unpin(ctx, p);
    return;
  }
  free(p->data);
  *p = (kcl_pinned){NULL, NULL};
}

void kcl_register(kcl_context *ctx, void *memory, size_t bytes, kcl_pinned *out) {
  *out = (kcl_pinned){.data = memory};
  if (ctx->opencl && bytes) kcl_opencl_backend->pin_given(ctx, memory, bytes, out);
}

void kcl_unregister(kcl_context *ctx, kcl_pinned *p) {
  if (p->buffer) kcl_opencl_backend->unpin(ctx, p);
  *p = (kcl_pinned){NULL, NULL};
}
