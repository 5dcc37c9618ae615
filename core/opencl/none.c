/* A build without OpenCL: there are no devices but the native executor. */
#include "core/opencl/opencl.h"

void kcl_opencl_list(kcl_device *list, int room, int *count) {
  (void)list;
  (void)room;
  (void)count;
}
const char *kcl_icd_loader(void) { return "none: this build is without OpenCL"; }
void kcl_opencl_detach(kcl *ctx) { (void)ctx; }
int kcl_opencl_extensions(kcl *ctx, const kcl_device *which, char **out) {
  return (void)out, kcl_fail(ctx, KCL_DEVICE, "%s: this build is without OpenCL", which->name);
}
int kcl_opencl_device_of(kcl *ctx, void *queue, kcl_device *out) {
  return (void)queue, (void)out, kcl_fail(ctx, KCL_DEVICE, "this build is without OpenCL");
}
void kcl_opencl_get(const kcl *ctx, void **context, void **queue) {
  (void)ctx, *context = *queue = NULL;
}
int kcl_opencl_attach(kcl *ctx, const kcl_device *which, void *queue) {
  return (void)queue, kcl_fail(ctx, KCL_DEVICE, "%s: this build is without OpenCL", which->name);
}
int kcl_opencl_profile_begin(kcl *ctx) { return (void)ctx, KCL_OK; }
void kcl_opencl_profile_take(kcl *ctx, kcl_profile *out) { (void)ctx, (void)out; }
int kcl_opencl_open(kcl_program *k, kcl_executor *ex) {
  return (void)ex, kcl_fail(k->ctx, KCL_DEVICE, "this build is without OpenCL");
}
double kcl_opencl_estimate(kcl_program *k) { return (void)k, 0; }
int kcl_opencl_transfer(kcl *ctx, const char *kernel, void *y, void *x, int64_t n, double scale) {
  return (void)kernel, (void)y, (void)x, (void)n, (void)scale,
         kcl_fail(ctx, KCL_DEVICE, "this build is without OpenCL");
}
int kcl_opencl_pin_host(kcl *ctx, size_t bytes, const char *what, kcl_pinned *out) {
  return (void)bytes, (void)what, (void)out,
         kcl_fail(ctx, KCL_DEVICE, "this build is without OpenCL");
}
void kcl_opencl_unpin_host(kcl *ctx, kcl_pinned *p) { (void)ctx, (void)p; }
void kcl_opencl_register_host(kcl *ctx, void *memory, size_t bytes, kcl_pinned *out) {
  (void)ctx;
  (void)memory;
  (void)bytes;
  (void)out;
}
