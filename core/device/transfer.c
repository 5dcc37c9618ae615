/* Conversion between vectors in double and in float. */
#include "core/device/device.h"
#include "core/base/context.h"
#include "core/opencl/opencl.h"

int kcl_narrow(kcl *ctx, void *y, void *x, int64_t n, double scale) {
  float *to = y;
  const double *from = x;
  if (ctx->opencl) return kcl_opencl_transfer(ctx, "narrow", y, x, n, scale);
#pragma omp parallel for simd schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < n; i++) to[i] = (float)(scale * from[i]);
  return KCL_OK;
}

int kcl_collect(kcl *ctx, void *y, void *x, int64_t n, double scale) {
  double *to = y;
  const float *from = x;
  if (ctx->opencl) return kcl_opencl_transfer(ctx, "collect", y, x, n, scale);
#pragma omp parallel for simd schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < n; i++) to[i] += scale * (double)from[i];
  return KCL_OK;
}
