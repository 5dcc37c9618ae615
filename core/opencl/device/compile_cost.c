/* Seconds that a driver's compiler takes, by the length of the source. The first COMMON characters are mostly functions of headers that
 * no kernel calls; of the others each takes about as long, on one device, within a factor of 2 for methods from cg to idr
 * (docs/lab/2026-11-28-first-solve.md). What programs of the kernels of stages took is added up in the cache folder, for each device and its
 * driver:
 *
 *   seconds = rate * (characters - COMMON)        rate = seconds so far / characters so far
 *
 * Programs that are compiled at once count together, so the rate is that of the threads that the driver compiles in. */
#include "core/base/cache.h"
#include "core/opencl/device/device.h"

enum {
  COMMON = 40000,
  FEW_COMMON = 30000,
  LEAST = 4000,
  ENOUGH = 300000 /* characters that say what the rate is */
};
/* Before anything was compiled: an NVIDIA H200; PoCL 3.1 on a CPU. */
static const double RATE_GPU = 3e-5, RATE_CPU = 1e-4;
static const char record_folder[] = "compile";

typedef struct cost_record {
  double characters, seconds;
} cost_record;

static double weigh_source(const kcl_build *b) {
  const double headers = b->few_headers ? FEW_COMMON : COMMON;
  return fmax((double)strlen(b->source) - headers, LEAST);
}

static void name_compiler(const kcl_context *ctx, char key[600]) {
  const kcl_device *d = &ctx->device;
  const char *options = getenv("KRYLOCL_OPTIONS");
  snprintf(key, 600, "compile 1\n%s\n%s\n%s\n%s\n%.100s", d->platform_name, d->name, d->version,
           d->driver, options ? options : "");
}

static cost_record read_cost(const char *key) {
  cost_record r = {0, 0};
  size_t size = 0;
  void *kept = kcl_cache_get(record_folder, key, &size);
  if (kept && size == sizeof r) memcpy(&r, kept, size);
  free(kept);
  const bool sound = r.characters > 0 && r.characters < 1e9 && r.seconds > 0 && r.seconds < 1e6;
  return sound ? r : (cost_record){0, 0};
}

static double find_rate(kcl_context *ctx) {
  kcl_opencl *o = ctx->opencl;
  char key[600];
  if (o->compile_rate > 0) return o->compile_rate;
  name_compiler(ctx, key);
  const cost_record r = read_cost(key);
  const double usual = strcmp(ctx->device.kind, "gpu") ? RATE_CPU : RATE_GPU;
  return o->compile_rate = r.characters > 0 ? r.seconds / r.characters : usual;
}

double kcl_compile_seconds(kcl_context *ctx, const kcl_build *list, int count) {
  char path[4096];
  double characters = 0;
  if (kcl_cache_path("programs", "", path, sizeof path)) return 0;
  for (int i = 0; i < count; i++)
    if (!kcl_opencl_keeps(ctx, &list[i])) characters += weigh_source(&list[i]);
  return characters > 0 ? characters * find_rate(ctx) : 0;
}

void kcl_compile_note(kcl_context *ctx, const kcl_build *list, int count, double seconds) {
  char key[600];
  double characters = 0;
  for (int i = 0; i < count; i++)
    if (list[i].compiled) characters += weigh_source(&list[i]);
  if (!(characters > 0)) return;
  name_compiler(ctx, key);
  cost_record r = read_cost(key);
  if (r.characters > ENOUGH) r.characters /= 2, r.seconds /= 2; /* the latest count most */
  r.characters += characters, r.seconds += seconds;
  ctx->opencl->compile_rate = r.seconds / r.characters;
  kcl_cache_put(record_folder, key, &r, sizeof r);
}
