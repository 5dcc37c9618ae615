/* OpenCL as core/device sees it: one table, without OpenCL types. */
#ifndef KCL_OPENCL_H
#define KCL_OPENCL_H

#include "core/base/context.h"
#include "core/program/executor.h"

typedef enum kcl_conversion {
  KCL_CONVERT_NARROW,
  KCL_CONVERT_COLLECT
} kcl_conversion; /* kcl_narrow, kcl_collect */

/* OpenCL objects of the caller's: cl_context, cl_device_id, cl_command_queue; NULL where the library makes its own. */
typedef struct kcl_opencl_objects {
  void *context, *device, *queue;
} kcl_opencl_objects;

typedef struct kcl_column_size {
  double norm;    /* infinite where a number is not finite */
  double largest; /* modulus of a number's part */
} kcl_column_size;

/* A cl_mem of the caller's. Sub-buffers have the root and the offset of their parent's memory. */
typedef struct kcl_buffer_place {
  void *root;
  size_t offset, bytes;
  bool is_buffer, of_context;
  bool readable, writable; /* by kernels */
} kcl_buffer_place;

/* Programs of a context so far: those that the driver compiled, those from the cache folder, bytes of binaries written to it. */
typedef struct kcl_program_counts {
  int compiled, cached;
  double bytes;
} kcl_program_counts;

/* Programs that a thread compiles beside other work. */
typedef struct kcl_ahead kcl_ahead;

typedef struct kcl_opencl_ops {
  const char *(*missing)(void); /* NULL, or why there is no OpenCL in this process */
  void (*list)(kcl_device *list, int capacity, int *count); /* appends every device there is */
  const char *(*icd_loader)(void); /* path of the library that answers calls */
  int (*extensions)(kcl_context *ctx, const kcl_device *which, char **out);
  int (*properties)(kcl_context *ctx, const kcl_device *which, char **out);
  /* Makes ctx->opencl, context and queue on the device, as far as they are not the caller's. */
  int (*attach)(kcl_context *ctx, const kcl_device *which, const kcl_opencl_objects *o);
  /* The device of the caller's objects. What they lack is taken from the queue; KCL_USAGE: they do not fit together. */
  int (*device_of)(kcl_context *ctx, kcl_opencl_objects *o, kcl_device *out);
  /* The other functions are for a context with ctx->opencl. */
  kcl_opencl_objects (*objects)(const kcl_context *ctx); /* in use */
  void (*detach)(kcl_context *ctx);
  /* An executor in two steps (core/device/device.h). */
  int (*plan)(kcl_program *k, kcl_executor *ex);
  double (*expected)(const kcl_executor *ex);
  /* Programs that the executor lacks (core/opencl/device/compile_ahead.c). */
  kcl_ahead *(*ahead)(const kcl_executor *ex);
  uint64_t (*ahead_sum)(const kcl_ahead *a);
  bool (*ahead_begin)(kcl_ahead *a);
  void (*ahead_free)(kcl_ahead *a);
  bool (*ahead_ended)(kcl_context *ctx);
  int (*open)(kcl_program *k, kcl_executor *ex);
  void (*watch)(kcl_context *ctx, bool on); /* waits have a limit */
  double (*estimate)(kcl_program *k); /* seconds per pass over LOOP, matrices being outlines */
  kcl_program_counts (*count_programs)(const kcl_context *ctx);
  void (*profile_take)(kcl_context *ctx, kcl_profile *out);
  int (*convert)(kcl_context *ctx, kcl_conversion which, void *y, void *x, int64_t n, double scale);
  /* As kcl_copy_column and those below it (core/device/device.h). */
  int (*copy_column)(kcl_context *ctx, const kcl_column *y, const kcl_column *x, int64_t n,
                     double scale);
  int (*measure_column)(kcl_context *ctx, const kcl_column *c, int64_t n, kcl_column_size *out);
  int (*read_column)(kcl_context *ctx, const kcl_column *from, int64_t n, void *values);
  int (*write_column)(kcl_context *ctx, const kcl_column *to, int64_t n, const void *values);
  void (*describe_buffer)(kcl_context *ctx, void *buffer, kcl_buffer_place *out);
  /* Bytes of a buffer to and from the host; they wait. */
  int (*read_bytes)(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, void *to);
  int (*write_bytes)(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, const void *from);
  /* Pinned host memory. Reads into it do not block the host; into pageable memory they do, at a third of the rate (NVIDIA). */
  int (*pin)(kcl_context *ctx, size_t bytes, const char *what, kcl_pinned *out);
  void (*unpin)(kcl_context *ctx, kcl_pinned *p); /* also of an empty one */
  /* Pins memory of the caller's; out->buffer is NULL where the driver does not take it. */
  void (*pin_given)(kcl_context *ctx, void *memory, size_t bytes, kcl_pinned *out);
} kcl_opencl_ops;

extern const kcl_opencl_ops *const kcl_opencl_backend; /* NULL: a build without OpenCL */

#endif
