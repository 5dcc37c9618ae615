/* Compiled programs, kept in two places: a context remembers its latest by their text, and the cache folder
 * (core/base/cache.h) stores the driver's binaries for all processes. The key is all that a binary depends on:
 *
 *   platform and its version | device | driver | options | source
 *
 * A binary that the driver does not take is compiled again and replaced. */
#include "core/base/cache.h"
#include "core/opencl/device/device.h"

static const char folder[] = "programs";
static const long long most_kept = 256 << 20; /* bytes */

/* ---------------------------------------------------------------- on disk */

static cl_program load_binary(kcl_opencl *o, const char *key, const char *options) {
  size_t size;
  unsigned char *binary = kcl_cache_get(folder, key, &size);
  const unsigned char *bytes = binary;
  cl_int code, status;
  if (!binary) return NULL;
  cl_program p =
      clCreateProgramWithBinary(o->context, 1, &o->device, &size, &bytes, &status, &code);
  free(binary);
  char *all = code ? NULL : kcl_opencl_all_options(o, "", options);
  if (!code) code = all ? clBuildProgram(p, 1, &o->device, all, NULL, NULL) : CL_OUT_OF_HOST_MEMORY;
  free(all);
  if (!code) {
    o->from_cache++;
    return p;
  }
  if (p) clReleaseProgram(p);
  return NULL;
}

void kcl_opencl_store(kcl_opencl *o, const char *key, cl_program p) {
  char path[4096];
  size_t size;
  if (kcl_cache_path(folder, "", path, sizeof path)) return;
  char *binary = kcl_opencl_binary(p, &size);
  if (binary) kcl_cache_put(folder, key, binary, size), o->stored += (long long)size;
  free(binary);
}

/* ---------------------------------------------------------------- in memory */

char *kcl_opencl_key(const kcl_context *ctx, const kcl_build *b) {
  const kcl_device *d = &ctx->device;
  char version[128] = "";
  clGetPlatformInfo(ctx->opencl->platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
  size_t capacity = strlen(b->options) + strlen(b->source) + sizeof *d + sizeof version;
  char *key = malloc(capacity);
  if (key)
    snprintf(key, capacity, "%s\n%s\n%s\n%s\n%s\n%s\n%s", d->platform_name, version, d->name,
             d->version, d->driver, b->options, b->source);
  return key;
}

/* Its place among the context's latest; -1: it is none of them. */
static int find_built(const kcl_opencl *o, const char *key) {
  for (int i = 0; i < KCL_BUILT; i++)
    if (o->built[i].key && !strcmp(o->built[i].key, key)) return i;
  return -1;
}

static cl_program recall(const kcl_opencl *o, const char *key) {
  const int i = find_built(o, key);
  return i < 0 || clRetainProgram(o->built[i].program) ? NULL : o->built[i].program;
}

static void forget_program(kcl_opencl *o, int i) {
  if (o->built[i].program) clReleaseProgram(o->built[i].program);
  free(o->built[i].key);
  o->built[i].program = NULL, o->built[i].key = NULL;
}

void kcl_opencl_remember(kcl_opencl *o, char *key, cl_program p) {
  int i = o->builds++ % KCL_BUILT;
  forget_program(o, i);
  if (clRetainProgram(p))
    free(key);
  else
    o->built[i].key = key, o->built[i].program = p;
}

cl_program kcl_opencl_obtain(kcl_opencl *o, char *key, const char *options) {
  cl_program p = recall(o, key);
  if (p) {
    free(key);
    return p;
  }
  if ((p = load_binary(o, key, options))) kcl_opencl_remember(o, key, p);
  return p;
}

/* ---------------------------------------------------------------- in the background */

typedef struct kcl_loading {
  kcl_context *ctx;
  kcl_background *work;
  int count;
  kcl_build list[];
} kcl_loading;

static bool have(kcl_context *ctx, const kcl_build *b) {
  char *key = kcl_opencl_key(ctx, b);
  cl_program p = key ? kcl_opencl_obtain(ctx->opencl, key, b->options) : NULL;
  if (p)
    clReleaseProgram(p); /* the context keeps it */
  else
    free(key);
  return p;
}

static void load_all(void *self) {
  const kcl_loading *l = self;
  for (int i = 0; i < l->count; i++) have(l->ctx, &l->list[i]);
}

void kcl_opencl_end_loading(kcl_opencl *o) {
  if (o->loading) kcl_background_await(&o->loading->work);
  free(o->loading), o->loading = NULL;
}

bool kcl_opencl_have(kcl_context *ctx, const kcl_build *b) {
  kcl_opencl_end_loading(ctx->opencl);
  return have(ctx, b);
}

bool kcl_opencl_keeps(kcl_context *ctx, const kcl_build *b) {
  kcl_opencl_end_loading(ctx->opencl);
  char *key = kcl_opencl_key(ctx, b);
  const bool kept = key && (find_built(ctx->opencl, key) >= 0 || kcl_cache_has(folder, key));
  free(key);
  return kept;
}

void kcl_opencl_load_ahead(kcl_context *ctx, const kcl_build *list, int count) {
  const size_t bytes = (size_t)count * sizeof *list;
  kcl_opencl_end_loading(ctx->opencl);
  kcl_loading *l = malloc(sizeof *l + bytes);
  if (!l) return;
  *l = (kcl_loading){.ctx = ctx, .count = count};
  memcpy(l->list, list, bytes);
  ctx->opencl->loading = l;
  l->work = kcl_background_begin(load_all, l);
}

void kcl_opencl_forget_programs(kcl_opencl *o) {
  kcl_opencl_end_loading(o);
  for (int i = 0; i < KCL_BUILT; i++) forget_program(o, i);
  if (o->compiled) kcl_cache_trim(folder, most_kept);
}

kcl_program_counts kcl_opencl_count_programs(const kcl_context *ctx) {
  const kcl_opencl *o = ctx->opencl;
  return (kcl_program_counts){o->compiled, o->from_cache, (double)o->stored};
}
