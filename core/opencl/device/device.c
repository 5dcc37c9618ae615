/* OpenCL devices, and a context with a queue on one of them. */
#include "core/opencl/device/device.h"

/* ---------------------------------------------------------------- devices */

static void info(cl_device_id d, cl_device_info what, size_t capacity, void *out) {
  memset(out, 0, capacity);
  clGetDeviceInfo(d, what, capacity, out, NULL);
}

static void describe_limits(cl_device_id d, kcl_device *out) {
  cl_uint clock;
  cl_bool images;
  size_t group;
  cl_ulong local, cache;
  info(d, CL_DEVICE_VENDOR, sizeof out->vendor - 1, out->vendor);
  info(d, CL_DEVICE_OPENCL_C_VERSION, sizeof out->c_version - 1, out->c_version);
  info(d, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof clock, &clock);
  info(d, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images);
  info(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group);
  info(d, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local);
  info(d, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache);
  out->clock_mhz = (int)clock;
  out->has_images = images == CL_TRUE;
  out->max_group = (int)group;
  out->local_memory = local, out->cache = cache;
}

static void describe_device(cl_platform_id p, cl_device_id d, kcl_device *out) {
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
  describe_limits(d, out);
  out->kind = type & CL_DEVICE_TYPE_GPU ? "gpu" : type & CL_DEVICE_TYPE_CPU ? "cpu" : "accelerator";
  out->compute_units = (int)units;
  out->memory = memory;
  out->max_alloc = most;
  out->has_double = fp64 != 0;
}

enum { MOST_LISTED_DEVICES = 64 };

/* One thread at a time: drivers may not be thread-safe while they start (PoCL 3.1 crashes). */
void kcl_opencl_list(kcl_device *list, int capacity, int *count) {
  if (kcl_cl_load()) return;
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  cl_platform_id platforms[MOST_LISTED_DEVICES];
  cl_device_id devices[MOST_LISTED_DEVICES];
  cl_uint n = 0;
  if (clGetPlatformIDs(MOST_LISTED_DEVICES, platforms, &n) != CL_SUCCESS) n = 0;
  for (cl_uint p = 0; p < n && p < MOST_LISTED_DEVICES; p++) {
    cl_uint m = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_LISTED_DEVICES, devices, &m) !=
        CL_SUCCESS)
      m = 0;
    for (cl_uint d = 0; d < m && d < MOST_LISTED_DEVICES && *count < capacity; d++) {
      kcl_device *out = &list[(*count)++];
      describe_device(platforms[p], devices[d], out);
      out->platform = (int)p, out->device = (int)d;
    }
  }
  pthread_mutex_unlock(&one);
}

/* ---------------------------------------------------------------- context and queue */

cl_device_id kcl_opencl_find_device(int platform_number, int device_number,
                                    cl_platform_id *platform) {
  cl_platform_id platforms[MOST_LISTED_DEVICES];
  cl_device_id devices[MOST_LISTED_DEVICES];
  cl_uint count = 0;
  if (clGetPlatformIDs(MOST_LISTED_DEVICES, platforms, &count) != CL_SUCCESS ||
      platform_number >= (int)count)
    return NULL;
  *platform = platforms[platform_number];
  if (clGetDeviceIDs(*platform, CL_DEVICE_TYPE_ALL, MOST_LISTED_DEVICES, devices, &count) !=
      CL_SUCCESS)
    return NULL;
  return device_number < (int)count ? devices[device_number] : NULL;
}

int kcl_opencl_extensions(kcl_context *ctx, const kcl_device *which, char **out) {
  cl_platform_id platform;
  cl_device_id d = kcl_opencl_find_device(which->platform, which->device, &platform);
  size_t size = 0;
  if (!d || clGetDeviceInfo(d, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS)
    return kcl_fail(ctx, KCL_DEVICE, "%d:%d is no device of this machine", which->platform,
                    which->device);
  int rc = kcl_alloc(ctx, (int64_t)size + 1, 1, "the list of extensions", (void **)out);
  if (!rc) clGetDeviceInfo(d, CL_DEVICE_EXTENSIONS, size, *out, NULL);
  return rc;
}

/* Numbers of platform and device, as kcl_opencl_list gives them; -1 for a device that is not listed (a sub-device). */
static void find_numbers(cl_platform_id platform, cl_device_id device, kcl_device *out) {
  cl_platform_id platforms[MOST_LISTED_DEVICES], at;
  cl_uint count = 0;
  out->platform = 0, out->device = -1;
  if (clGetPlatformIDs(MOST_LISTED_DEVICES, platforms, &count) != CL_SUCCESS) return;
  for (int p = 0; p < (int)count && p < MOST_LISTED_DEVICES; p++)
    if (platforms[p] == platform) out->platform = p;
  for (int d = 0; d < MOST_LISTED_DEVICES && out->device < 0; d++)
    if (kcl_opencl_find_device(out->platform, d, &at) == device) out->device = d;
}

/* The context and the device of a queue, where they are not given; those that are must be the queue's. */
static int read_queue(kcl_context *ctx, kcl_opencl_objects *o) {
  void *context = NULL, *device = NULL;
  cl_command_queue_properties how = 0;
  cl_int code = clGetCommandQueueInfo(o->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
  if (!code)
    code = clGetCommandQueueInfo(o->queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  if (!code) code = clGetCommandQueueInfo(o->queue, CL_QUEUE_PROPERTIES, sizeof how, &how, NULL);
  KCL_CALL(kcl_cl_check(ctx, code, "clGetCommandQueueInfo", "selecting a queue"));
  if (how & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    return kcl_fail(ctx, KCL_USAGE, "the queue is out of order: an in-order queue is needed");
  if (o->context && o->context != context)
    return kcl_fail(ctx, KCL_USAGE, "the queue is of another context than the one given");
  if (o->device && o->device != device)
    return kcl_fail(ctx, KCL_USAGE, "the queue is of another device than the one given");
  o->context = context, o->device = device;
  return KCL_OK;
}

static int check_device_of_context(kcl_context *ctx, const kcl_opencl_objects *o) {
  cl_device_id list[MOST_LISTED_DEVICES];
  size_t bytes = 0;
  cl_int code = clGetContextInfo(o->context, CL_CONTEXT_DEVICES, 0, NULL, &bytes);
  if (!code && bytes > sizeof list) bytes = sizeof list;
  if (!code) code = clGetContextInfo(o->context, CL_CONTEXT_DEVICES, bytes, list, NULL);
  KCL_CALL(kcl_cl_check(ctx, code, "clGetContextInfo", "selecting a context"));
  for (size_t i = 0; i < bytes / sizeof *list; i++)
    if (list[i] == o->device) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "the device is not one of the context's");
}

int kcl_opencl_device_of(kcl_context *ctx, kcl_opencl_objects *o, kcl_device *out) {
  cl_platform_id platform = NULL;
  int rc = o->queue ? read_queue(ctx, o) : KCL_OK;
  if (!rc) rc = check_device_of_context(ctx, o);
  if (!rc)
    rc = kcl_cl_check(
        ctx, clGetDeviceInfo(o->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL),
        "clGetDeviceInfo", "selecting a device");
  if (rc) return rc;
  *out = (kcl_device){0};
  describe_device(platform, o->device, out);
  find_numbers(platform, o->device, out);
  return KCL_OK;
}

kcl_opencl_objects kcl_opencl_objects_of(const kcl_context *ctx) {
  const kcl_opencl *o = ctx->opencl;
  return (kcl_opencl_objects){o->context, o->device, o->queue};
}

/* Retains the caller's context and queue. */
static cl_int retain_objects(kcl_opencl *o, const kcl_opencl_objects *theirs) {
  o->device = theirs->device;
  cl_int code =
      clGetDeviceInfo(o->device, CL_DEVICE_PLATFORM, sizeof o->platform, &o->platform, NULL);
  if (!code) code = clRetainContext(theirs->context);
  if (!code) o->context = theirs->context;
  if (!code && theirs->queue) code = clRetainCommandQueue(theirs->queue);
  if (!code) o->queue = theirs->queue;
  return code;
}

/* Makes a context and a queue, as far as they are not there. */
static cl_int make_queue(kcl_opencl *o, bool profiled) {
  cl_int code = CL_SUCCESS;
  if (!o->context) o->context = clCreateContext(NULL, 1, &o->device, NULL, NULL, &code);
  if (!code && !o->queue)
    o->queue = clCreateCommandQueue(o->context, o->device, profiled ? CL_QUEUE_PROFILING_ENABLE : 0,
                                    &code);
  return code;
}

int kcl_opencl_attach(kcl_context *ctx, const kcl_device *which, const kcl_opencl_objects *theirs) {
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *ctx->opencl, "the device", (void **)&ctx->opencl));
  kcl_opencl *o = ctx->opencl;
  cl_int code = CL_SUCCESS;
  if (theirs->context)
    code = retain_objects(o, theirs);
  else
    o->device = kcl_opencl_find_device(which->platform, which->device, &o->platform);
  /* To test the source for the layout "cpu" or "gpu" on any device; gpu:2: of which two groups run at once. */
  const char *layout = getenv("KRYLOCL_LAYOUT"), *colon = layout ? strchr(layout, ':') : NULL;
  o->small_groups = layout && *layout;
  o->is_cpu = !strncmp(o->small_groups ? layout : which->kind, "cpu", 3);
  ctx->layout = o->is_cpu ? KCL_LAYOUT_CPU : KCL_LAYOUT_GPU;
  o->is_nvidia = strstr(which->platform_name, "NVIDIA") != NULL;
  o->compiles_alone = strstr(which->platform_name, "Oclgrind") != NULL;
  o->runs_in_waits =
      o->compiles_alone || (!strcmp(which->kind, "cpu") && strstr(which->platform_name, "Intel"));
  o->units = which->compute_units;
  clGetDeviceInfo(o->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof o->local_bytes, &o->local_bytes,
                  NULL);
  o->concurrent = !o->small_groups ? o->units : colon && atoi(colon + 1) > 1 ? atoi(colon + 1) : 1;
  if (!code) code = make_queue(o, ctx->profiled);
  if (!code && !o->is_cpu && !o->small_groups) kcl_opencl_pin_ahead(o);
  if (!code) kcl_opencl_find_images(ctx);
  if (!code) KCL_CALL(kcl_watch_begin(ctx));
  if (!code && !theirs->queue && ctx->profiled) KCL_CALL(kcl_opencl_profile_begin(ctx));
  return kcl_cl_check(ctx, code, o->context ? "clCreateCommandQueue" : "clCreateContext",
                      "opening the device");
}

void kcl_opencl_detach(kcl_context *ctx) {
  if (!ctx->opencl) return;
  if (ctx->opencl->idle_setup) ctx->opencl->free_idle_setup(ctx->opencl->idle_setup);
  kcl_pool_end(ctx->opencl);
  kcl_opencl_profile_end(ctx->opencl);
  kcl_opencl_end_conversions(ctx->opencl);
  kcl_opencl_end_columns(ctx->opencl);
  kcl_compile_ahead_end(ctx->opencl);
  kcl_opencl_forget_programs(ctx->opencl);
  kcl_opencl_unpin(ctx->opencl);
  kcl_watch_end(ctx->opencl);
  if (ctx->opencl->queue) clReleaseCommandQueue(ctx->opencl->queue);
  if (ctx->opencl->context) clReleaseContext(ctx->opencl->context);
  free(ctx->opencl);
  ctx->opencl = NULL;
  ctx->layout = KCL_LAYOUT_NATIVE;
  ctx->images = (kcl_images){0};
}

bool kcl_addresses_stay(const kcl_context *ctx) {
  return ctx->opencl->is_nvidia || !strcmp(ctx->device.kind, "cpu"); /* where it is known to work */
}
