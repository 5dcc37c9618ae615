/* OpenCL as core/device sees it: one table, without OpenCL types. */
#ifndef KCL_OPENCL_H
#define KCL_OPENCL_H

#include "core/base/context.h"
#include "core/program/executor.h"

typedef enum kcl_conversion {
  KCL_CONVERT_NARROW,
  KCL_CONVERT_COLLECT
} kcl_conversion; /* kcl_narrow, kcl_collect */

typedef struct kcl_opencl_ops {
  void (*list)(kcl_device *list, int capacity, int *count); /* appends every device there is */
  const char *(*icd_loader)(void); /* path of the library that answers calls */
  int (*extensions)(kcl *ctx, const kcl_device *which, char **out);
  int (*properties)(kcl *ctx, const kcl_device *which, char **out);
  /* Makes ctx->opencl, context and queue on the device. queue: the caller's cl_command_queue, or NULL: a new one. */
  int (*attach)(kcl *ctx, const kcl_device *which, void *queue);
  int (*device_of)(kcl *ctx, void *queue, kcl_device *out); /* of the caller's queue */
  /* The other functions are for a context with ctx->opencl. */
  void (*handles)(const kcl *ctx, void **context, void **queue); /* in use */
  void (*detach)(kcl *ctx);
  int (*open)(kcl_program *k, kcl_executor *ex);
  double (*estimate)(kcl_program *k); /* seconds per pass over LOOP, matrices being outlines */
  void (*profile_take)(kcl *ctx, kcl_profile *out);
  int (*convert)(kcl *ctx, kcl_conversion which, void *y, void *x, int64_t n, double scale);
  /* Pinned host memory. Reads into it do not block the host; into pageable memory they do, at a third of the rate (NVIDIA). */
  int (*pin)(kcl *ctx, size_t bytes, const char *what, kcl_pinned *out);
  void (*unpin)(kcl *ctx, kcl_pinned *p); /* also of an empty one */
  /* Pins memory of the caller's; out->buffer is NULL where the driver does not take it. */
  void (*pin_given)(kcl *ctx, void *memory, size_t bytes, kcl_pinned *out);
} kcl_opencl_ops;

extern const kcl_opencl_ops *const kcl_opencl_backend; /* NULL: a build without OpenCL */

#endif
