/* Contexts and devices: the list of devices, and the selection of one by name. */
#include "core/opencl/opencl.h"
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#ifdef KCL_NO_OPENCL
const kcl_opencl_ops *const kcl_opencl_backend = NULL;
#endif

enum { MOST_DEVICES = 64 };

const char *kcl_opencl_missing(void) {
  return kcl_opencl_backend
             ? kcl_opencl_backend->missing()
             : "this build has no OpenCL: install its headers (Debian, Ubuntu: opencl-headers), "
               "then run make again";
}

static int check_opencl(kcl_context *ctx) {
  const char *missing = kcl_opencl_missing();
  return missing ? kcl_fail(ctx, KCL_DEVICE, "%s", missing) : KCL_OK;
}

static int set_threads(int threads) {
  if (!kcl_set_threads(threads)) return KCL_OK;
  return kcl_fail(NULL, KCL_USAGE, "%d threads: 0 to %d are possible", threads, KCL_MAX_THREADS);
}

int kcl_context_create(const char *device, int threads, kcl_context **out) {
  KCL_OWNED_BY(kcl_context_free) kcl_context *ctx = NULL;
  KCL_CALL(kcl_need(NULL, "out", out));
  *out = NULL;
  if ((ctx = calloc(1, sizeof *ctx)) == NULL)
    return kcl_fail(NULL, KCL_MEMORY, "out of memory: a context");
  ctx->references = 1;
  kcl_context_begin(ctx);
  if (threads) KCL_CALL(set_threads(threads));
  if (device) KCL_CALL(kcl_select(ctx, device, threads));
  *out = ctx, ctx = NULL;
  return KCL_OK;
}

void kcl_context_free(kcl_context **ctx) {
  if (!ctx || !*ctx) return;
  kcl_context_release(*ctx);
  *ctx = NULL;
}

/* ---------------------------------------------------------------- the list */

static void cpu_name(char *name, size_t capacity) {
  char line[512];
  FILE *f = fopen("/proc/cpuinfo", "r");
  snprintf(name, capacity, "CPU");
  while (f && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    colon[strcspn(colon, "\n")] = 0;
    snprintf(name, capacity, "%.100s", colon + 2);
    break;
  }
  if (f) fclose(f);
}

static void describe_native(kcl_device *out) {
  *out = (kcl_device){.platform = -1, .device = -1, .kind = "native", .has_double = true};
  out->compute_units = kcl_threads();
  snprintf(out->platform_name, sizeof out->platform_name, "native");
  snprintf(out->version, sizeof out->version, "threads");
  cpu_name(out->name, sizeof out->name);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  out->memory = pages > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static int list_devices(kcl_context *ctx, bool opencl, kcl_device **list, int *count) {
  *count = 0;
  KCL_CALL(kcl_alloc(ctx, MOST_DEVICES, sizeof **list, "the list of devices", (void **)list));
  describe_native(&(*list)[(*count)++]);
  if (opencl && kcl_opencl_backend) kcl_opencl_backend->list(*list, MOST_DEVICES, count);
  return KCL_OK;
}

int kcl_device_list(kcl_context *ctx, kcl_device **list, int *count) {
  KCL_CALL(kcl_need(ctx, "list", list));
  KCL_CALL(kcl_need(ctx, "count", count));
  return list_devices(ctx, true, list, count);
}

int kcl_device_current(kcl_context *ctx, kcl_device *out) {
  KCL_HOLD(ctx);
  KCL_CALL(kcl_need(ctx, "ctx", ctx));
  KCL_CALL(kcl_need(ctx, "out", out));
  int rc = ctx->selected ? KCL_OK : kcl_select(ctx, NULL, 0);
  *out = ctx->device;
  return rc;
}

enum device_text { EXTENSIONS, PROPERTIES };

/* A malloc'd text about the device; an empty one for the native executor. */
static int get_device_text(kcl_context *ctx, const kcl_device *d, enum device_text what,
                           char **out) {
  KCL_CALL(kcl_need(ctx, "ctx", ctx));
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = NULL;
  KCL_CALL(kcl_need(ctx, "d", d));
  if (d->platform < 0) return kcl_alloc(ctx, 1, 1, "the text about a device", (void **)out);
  KCL_CALL(check_opencl(ctx));
  return what == EXTENSIONS ? kcl_opencl_backend->extensions(ctx, d, out)
                            : kcl_opencl_backend->properties(ctx, d, out);
}

int kcl_device_extensions(kcl_context *ctx, const kcl_device *d, char **out) {
  return get_device_text(ctx, d, EXTENSIONS, out);
}

int kcl_device_properties(kcl_context *ctx, const kcl_device *d, char **out) {
  return get_device_text(ctx, d, PROPERTIES, out);
}

/* ---------------------------------------------------------------- the selection */

static bool contains(const char *text, const char *part) {
  size_t n = strlen(part);
  for (; *text; text++)
    if (!strncasecmp(text, part, n)) return true;
  return false;
}

/* The index of the n-th device of this kind, or -1. */
static int of_kind(const kcl_device *list, int count, const char *kind, int n) {
  for (int i = 1; i < count; i++)
    if (!strcmp(list[i].kind, kind) && n-- == 0) return i;
  return -1;
}

/* A number of at most nine digits at *s, which moves behind it; -1 if there is none. */
static int parse_digits(const char **s) {
  int n = 0, digits = 0;
  for (; **s >= '0' && **s <= '9' && digits < 10; (*s)++, digits++)
    n = digits < 9 ? 10 * n + (**s - '0') : -1;
  return digits ? n : -1;
}

/* The numbers of "P:D". */
static bool parse_place(const char *want, int *p, int *d) {
  *p = parse_digits(&want);
  if (*p < 0 || *want++ != ':') return false;
  *d = parse_digits(&want);
  return *d >= 0 && !*want;
}

/* The number of "gpu:N"; -1: it is none. */
static int gpu_number(const char *want) {
  if (strncmp(want, "gpu:", 4)) return -1;
  want += 4;
  const int n = parse_digits(&want);
  return *want ? -1 : n;
}

/* The index of the device that `want` names, or -1. */
static int match_device(const kcl_device *list, int count, const char *want) {
  int p, d, gpu = of_kind(list, count, "gpu", 0);
  if (gpu_number(want) >= 0) return of_kind(list, count, "gpu", gpu_number(want));
  if (!strcmp(want, "cpu")) return 0;
  if (!strcmp(want, "gpu")) return gpu;
  if (!strcmp(want, "auto")) return gpu < 0 ? 0 : gpu;
  if (!strcmp(want, "opencl")) return gpu >= 0 ? gpu : count > 1 ? 1 : -1;
  if (parse_place(want, &p, &d)) {
    for (int i = 1; i < count; i++)
      if (list[i].platform == p && list[i].device == d) return i;
    return -1;
  }
  for (int i = 1; i < count && *want; i++)
    if (contains(list[i].name, want)) return i;
  return -1;
}

/* Drivers are registered with the ICD loader, so the message for an empty list names the loader. */
static void no_platform(char *text, size_t capacity) {
  const char *vendors = getenv("OCL_ICD_VENDORS"), *files = getenv("OCL_ICD_FILENAMES"),
             *home = getenv("HOME"), *missing = kcl_opencl_missing();
  if (missing) {
    snprintf(text, capacity, "\n  %s", missing);
    return;
  }
  snprintf(
      text, capacity,
      "\n  no OpenCL platform: no driver is registered with the ICD loader (%s), or none starts:\n"
      "  PoCL needs a cache that it can write, POCL_CACHE_DIR or in HOME, which is %s.\n"
      "  OCL_ICD_VENDORS is %s (ocl-icd), OCL_ICD_FILENAMES is %s (Khronos loader); the usual "
      "place is /etc/OpenCL/vendors.",
      kcl_opencl_backend->icd_loader(), home ? home : "not set", vendors ? vendors : "not set",
      files ? files : "not set");
}

static int no_match(kcl_context *ctx, const char *want, const kcl_device *list, int count) {
  char text[3000] = "";
  for (int i = 0; i < count; i++) {
    size_t used = strlen(text);
    if (i == 0)
      snprintf(text, sizeof text, "\n  cpu   %s (native)", list[i].name);
    else
      snprintf(text + used, sizeof text - used, "\n  %d:%d   %s (%s, %s)", list[i].platform,
               list[i].device, list[i].name, list[i].kind, list[i].platform_name);
  }
  if (count == 1) no_platform(text + strlen(text), sizeof text - strlen(text));
  return kcl_fail(ctx, KCL_DEVICE, "no device matches '%s'; there are:%s", want, text);
}

/* Refuses to change the device while there are solvers and operators, which keep its buffers and compiled kernels. */
static int check_unused(kcl_context *ctx) {
  const int users = ctx->references - 1 - ctx->depth - ctx->bystanders;
  if (!users || !ctx->selected) return KCL_OK;
  return kcl_fail(
      ctx, KCL_USAGE,
      "the device cannot be changed: %d solver%s or operator%s of this context still use it", users,
      users > 1 ? "s" : "", users > 1 ? "s" : "");
}

/* Makes this the context's device, with the caller's objects. */
static int use(kcl_context *ctx, const kcl_device *device, const kcl_opencl_objects *objects) {
  int rc = KCL_OK;
  if (ctx->opencl) ctx->detach(ctx);
  ctx->device = *device;
  ctx->stream = (kcl_stream){0}, ctx->moved = 0, ctx->rates_read = false;
  ctx->launch = 0;
  ctx->put_aside[0] = 0, ctx->objects_given = objects->context || objects->queue;
  ctx->threads = kcl_threads(), ctx->opencl_process = getpid();
  if (device->platform < 0)
    ctx->device.compute_units = ctx->threads;
  else
    ctx->detach = kcl_opencl_backend->detach, rc = kcl_opencl_backend->attach(ctx, device, objects);
  if (!rc) rc = kcl_tune_load(ctx);
  if (!rc) ctx->selected = true;
  return rc;
}

int kcl_select(kcl_context *ctx, const char *want, int threads) {
  KCL_ENTER(ctx);
  KCL_OWNED kcl_device *list = NULL;
  int count;
  KCL_CALL(check_unused(ctx));
  if (!want) want = getenv("KRYLOCL_DEVICE");
  if (!want || !*want) want = "auto";
  bool opencl = strcmp(want, "cpu") != 0; /* starting the drivers takes long */
  KCL_CALL(list_devices(ctx, opencl, &list, &count));
  int i = match_device(list, count, want);
  if (i < 0) return no_match(ctx, want, list, count);
  if (threads) KCL_CALL(set_threads(threads));
  return use(ctx, &list[i], &(kcl_opencl_objects){0});
}

static int use_objects(kcl_context *ctx, kcl_opencl_objects o) {
  kcl_device device;
  KCL_CALL(check_unused(ctx));
  KCL_CALL(check_opencl(ctx));
  KCL_CALL(kcl_opencl_backend->device_of(ctx, &o, &device));
  return use(ctx, &device, &o);
}

int kcl_select_opencl(kcl_context *ctx, void *context, void *device, void *queue) {
  KCL_ENTER(ctx);
  if (!queue) KCL_CALL(kcl_need(ctx, "context", context));
  if (!queue) KCL_CALL(kcl_need(ctx, "device", device));
  return use_objects(ctx, (kcl_opencl_objects){context, device, queue});
}

int kcl_context_create_opencl(void *context, void *device, void *queue, kcl_context **out) {
  KCL_OWNED_BY(kcl_context_free) kcl_context *ctx = NULL;
  KCL_CALL(kcl_need(NULL, "out", out));
  *out = NULL;
  KCL_CALL(kcl_context_create(NULL, 0, &ctx));
  KCL_CALL(kcl_select_opencl(ctx, context, device, queue));
  *out = ctx, ctx = NULL;
  return KCL_OK;
}

int kcl_context_opencl(kcl_context *ctx, void **context, void **device, void **queue) {
  KCL_HOLD(ctx);
  kcl_opencl_objects o = {0};
  int rc = kcl_need(ctx, "c", ctx);
  if (!rc && !ctx->selected) rc = kcl_select(ctx, NULL, 0);
  if (!rc && !ctx->opencl)
    rc = kcl_fail(ctx, KCL_USAGE, "the device is the native executor: it has no OpenCL objects");
  if (!rc) o = kcl_opencl_backend->objects(ctx);
  if (context) *context = o.context;
  if (device) *device = o.device;
  if (queue) *queue = o.queue;
  return rc;
}

/* ---------------------------------------------------------------- event times */

void kcl_profile_enable(kcl_context *ctx, bool on) {
  KCL_HOLD(ctx);
  if (ctx) ctx->profiled = on;
}

int kcl_profile_take(kcl_context *ctx, kcl_profile *out) {
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_profile){0};
  if (ctx->opencl) kcl_opencl_backend->profile_take(ctx, out);
  return KCL_OK;
}
