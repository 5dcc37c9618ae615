/* The rates of a device and its launch overhead, measured by recorded programs of one stage and so through the same code as
 * every iteration. Stream rate: z = a x + y over three vectors, each at least four times the last-level cache (McCalpin
 * 1995), 3 n s bytes per pass, the median of several passes. Cache rate: the same over vectors that fit into half of the
 * cache. Launch overhead: the same over vectors too short to take time.
 */
#include "core/tuning/rates.h"
#include "core/base/cache.h"
#include "core/base/caches.h"
#include "core/device/device.h"
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the record */

void kcl_rates_add(kcl_rates_record *r, const kcl_rates *measured) {
  memmove(r->list + 1, r->list, (KCL_RATES_KEPT - 1) * sizeof *r->list);
  r->list[0] = *measured;
  if (r->count < KCL_RATES_KEPT) r->count++;
}

/* The median of v, which is sorted; the greater of the middle two of an even count, since other programs only lower a rate. */
static double median_rate(double *v, int64_t count) {
  qsort(v, (size_t)count, sizeof *v, kcl_compare_doubles);
  return v[count / 2];
}

kcl_rates kcl_rates_agreed(const kcl_rates_record *r) {
  double stream[KCL_RATES_KEPT], cached[KCL_RATES_KEPT], launch[KCL_RATES_KEPT];
  kcl_rates all = r->list[0];
  if (!r->count) return (kcl_rates){0};
  for (int i = 0; i < r->count; i++) {
    stream[i] = r->list[i].stream, cached[i] = r->list[i].cached;
    launch[i] = -r->list[i].launch; /* other programs lengthen it */
    all.low = fmin(all.low, r->list[i].low), all.high = fmax(all.high, r->list[i].high);
  }
  all.stream = median_rate(stream, r->count), all.cached = median_rate(cached, r->count);
  all.launch = -median_rate(launch, r->count);
  return all;
}

/* ---------------------------------------------------------------- sizes */

int64_t kcl_stream_vector(int64_t last_cache, int64_t least, double capacity) {
  int64_t bytes = 4 * last_cache > least ? 4 * last_cache : least;
  while (3.0 * (double)bytes > capacity && bytes > 1 << 20) bytes /= 2;
  return bytes / 4096 * 4096;
}

static bool is_gpu(const kcl_device *d) { return !strcmp(d->kind, "gpu"); }

static int64_t last_cache(const kcl_device *d) {
  const int64_t own = (int64_t)d->cache,
                host = is_gpu(d) ? 0 : kcl_last_cache("", d->compute_units);
  return host > own ? host : own;
}

/* A quarter of the memory of the device, or of the host as far as its control groups allow. Tests, to which rates do not matter,
 * say how much in KRYLOCL_RATE_ROOM (bytes). */
static double rate_memory(const kcl_device *d) {
  const char *capacity = getenv("KRYLOCL_RATE_ROOM");
  if (capacity && atof(capacity) > 0) return atof(capacity);
  const double group = d->platform < 0 || !is_gpu(d) ? kcl_cgroup_memory("") : 0;
  double memory = d->memory > 0 ? (double)d->memory : 4e9;
  if (group > 0 && group < memory) memory = group;
  while (!is_gpu(d) && memory > 1e8 && !kcl_has_memory((size_t)(memory / 4))) memory /= 2;
  if (d->max_alloc > 0 && 3.0 * (double)d->max_alloc < memory / 4)
    return 3.0 * (double)d->max_alloc;
  return memory / 4;
}

/* Bytes per vector for the stream rate, at least 256 MB on a GPU, 32 MB elsewhere. */
static int64_t vector_bytes(const kcl_device *d) {
  return kcl_stream_vector(last_cache(d), is_gpu(d) ? 256 << 20 : 32 << 20, rate_memory(d));
}

/* ---------------------------------------------------------------- between processes */

/* The version of the method of measuring leads the key: records of another one are not read. */
static void device_key(const kcl_context *ctx, char key[600]) {
  const kcl_device *d = &ctx->device;
  snprintf(key, 600, "triad 2\n%s\n%s\n%s\n%s\n%d\n%lld", d->platform_name, d->name, d->version,
           d->driver, d->compute_units, (long long)last_cache(d));
}

static bool sound(const kcl_rates *r) {
  return r->stream > 0 && r->stream < 1e18 && r->cached >= 0 && r->cached < 1e18 &&
         r->launch >= 0 && r->launch < 1;
}

static kcl_rates_record read_record(const kcl_context *ctx) {
  char key[600];
  size_t size = 0;
  kcl_rates_record r = {.count = 0};
  device_key(ctx, key);
  void *kept = kcl_cache_get("rates", key, &size);
  if (kept && size == sizeof r) memcpy(&r, kept, size);
  free(kept);
  bool good = r.count >= 0 && r.count <= KCL_RATES_KEPT;
  for (int i = 0; good && i < r.count; i++) good = sound(&r.list[i]);
  return good ? r : (kcl_rates_record){.count = 0};
}

static void use_record(kcl_context *ctx, const kcl_rates_record *record) {
  const kcl_rates r = kcl_rates_agreed(record);
  ctx->launch = r.launch;
  ctx->stream = (kcl_stream){.rate = r.stream,
                             .low = r.low,
                             .high = r.high,
                             .cache_rate = r.cached,
                             .cache_bytes = last_cache(&ctx->device),
                             .vector_bytes = r.vector,
                             .measurements = (int)record->count,
                             .date = r.date};
}

void kcl_rates_recall(kcl_context *ctx) {
  if (ctx->rates_read || ctx->stream.rate > 0) return;
  ctx->rates_read = true;
  const kcl_rates_record r = read_record(ctx);
  use_record(ctx, &r);
}

/* ---------------------------------------------------------------- measuring */

enum { RATE_PASSES = 9, LEAST_PASSES = 3, FEW_PASSES = 64, MOST_RUNS = 400 };
static const double SAMPLE = 2e-3, /* seconds per sample, at least */
    SECONDS = 0.3;                 /* after which no further sample begins */

typedef struct triad {
  kcl_program *k;
  kcl_executor ex;
} triad;

static kcl_type triad_type(const kcl_context *ctx) {
  return ctx->device.has_double ? KCL_D : KCL_S;
}

static int open_triad(kcl_context *ctx, int64_t n, triad *t) {
  KCL_CALL(kcl_program_create(ctx, triad_type(ctx), n, n, &t->k));
  kcl_vec z = kcl_vector(t->k, "z");
  kcl_slot a = kcl_scalar(t->k, "a");
  kcl_begin(t->k, KCL_START);
  kcl_assign(t->k, a, (kcl_coef){.constant = 3, .slot = -1});
  kcl_lincomb(t->k, z, plus(a), kcl_x(t->k), KCL_ONE, kcl_b(t->k));
  KCL_CALL(kcl_program_end(t->k));
  return kcl_executor_open(t->k, &t->ex);
}

static void close_triad(triad *t) {
  if (t->ex.close) t->ex.close(&t->ex);
  kcl_program_free(&t->k);
}

static int time_passes(triad *t, int passes, double *seconds) {
  const kcl_control control = {.limit = 1, .tests_off = 1};
  const double target = 0;
  KCL_CALL(t->ex.set_state(&t->ex, &control, &target));
  KCL_CALL(t->ex.finish(&t->ex));
  const double begin = kcl_now();
  KCL_CALL(t->ex.run(&t->ex, KCL_START, passes));
  KCL_CALL(t->ex.finish(&t->ex));
  *seconds = (kcl_now() - begin) / passes;
  return KCL_OK;
}

/* Seconds per pass over vectors of n elements, ascending, after passes that warm up. */
static int time_triad(kcl_context *ctx, int64_t n, double sample[RATE_PASSES], int *count) {
  KCL_OWNED_BY(close_triad) triad t = {.k = NULL};
  double once = 0;
  *count = 0;
  KCL_CALL(open_triad(ctx, n, &t));
  const double start = kcl_now();
  KCL_CALL(time_passes(&t, 1, &once));
  if (once < SAMPLE) KCL_CALL(time_passes(&t, 8, &once));
  const int passes = (int)fmin(fmax(ceil(SAMPLE / fmax(once, 1e-9)), 1), MOST_RUNS);
  while (*count < LEAST_PASSES || (*count < RATE_PASSES && kcl_now() - start < SECONDS))
    KCL_CALL(time_passes(&t, passes, &sample[(*count)++]));
  qsort(sample, (size_t)*count, sizeof *sample, kcl_compare_doubles);
  return KCL_OK;
}

static int measure_memory(kcl_context *ctx, kcl_rates *r) {
  const int64_t size = (int64_t)kcl_type_size(triad_type(ctx));
  double t[RATE_PASSES], bytes;
  int count, rc;
  r->vector = vector_bytes(&ctx->device);
  while ((rc = time_triad(ctx, r->vector / size, t, &count)) == KCL_MEMORY && r->vector > 1 << 22)
    r->vector /= 2;
  if (rc) return rc;
  bytes = 3.0 * (double)r->vector;
  r->stream = bytes / t[count / 2];
  r->low = bytes / t[count - 1];
  r->high = bytes / t[0];
  return KCL_OK;
}

/* Measures the cache rate of a CPU. The model of a GPU has constants for its L2 cache instead (core/opencl/persistent/persistent.c). */
static int measure_cache(kcl_context *ctx, kcl_rates *r) {
  const int64_t size = (int64_t)kcl_type_size(triad_type(ctx)),
                n = last_cache(&ctx->device) / 6 / size;
  double t[RATE_PASSES];
  int count;
  if (is_gpu(&ctx->device) || n < 4096) return KCL_OK;
  KCL_CALL(time_triad(ctx, n, t, &count));
  r->cached = 3.0 * (double)(n * size) / t[count / 2];
  return KCL_OK;
}

static int measure_launch(kcl_context *ctx, kcl_rates *r) {
  double t[RATE_PASSES];
  int count;
  if (!ctx->opencl) return KCL_OK;
  KCL_CALL(time_triad(ctx, FEW_PASSES, t, &count));
  r->launch = t[0];
  return KCL_OK;
}

static int measure_rates(kcl_context *ctx, kcl_rates *r) {
  *r = (kcl_rates){.date = (int64_t)time(NULL)};
  KCL_CALL(measure_memory(ctx, r));
  KCL_CALL(measure_cache(ctx, r));
  return measure_launch(ctx, r);
}

/* ---------------------------------------------------------------- for users */

int kcl_stream_measure(kcl_context *ctx, double *rate) {
  KCL_ENTER(ctx);
  kcl_rates now;
  KCL_CALL(kcl_need(ctx, "bytes_per_second", rate));
  *rate = 0;
  if (!ctx->selected) KCL_CALL(kcl_select(ctx, NULL, 0));
  KCL_CALL(measure_rates(ctx, &now));
  *rate = now.stream;
  kcl_rates_record r = read_record(ctx);
  char key[600];
  kcl_rates_add(&r, &now);
  device_key(ctx, key);
  kcl_cache_put("rates", key, &r, sizeof r);
  use_record(ctx, &r);
  return KCL_OK;
}

/* Iterations that moved their data four times as fast as memory and cache on record: those were measured beside other programs.
 * Up to three times as fast are small systems, in the caches of single cores or a GPU. */
static bool is_refuted(const kcl_context *ctx) {
  const kcl_stream *s = &ctx->stream;
  return s->measurements < KCL_RATES_KEPT && ctx->moved > 4 * fmax(s->rate, s->cache_rate);
}

/* Is there nothing on record to go by? */
static bool lacks_rate(kcl_context *ctx) {
  kcl_rates_recall(ctx);
  return !(ctx->stream.rate > 0) || is_refuted(ctx);
}

/* A driver that compiles in a thread would keep the kernels of a measurement waiting. */
int kcl_stream_get(kcl_context *ctx, kcl_stream *out) {
  KCL_ENTER(ctx);
  double rate;
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_stream){0};
  if (!ctx->selected) KCL_CALL(kcl_select(ctx, NULL, 0));
  if (lacks_rate(ctx) && !kcl_compiles_beside(ctx)) KCL_CALL(kcl_stream_measure(ctx, &rate));
  *out = ctx->stream;
  return KCL_OK;
}

int kcl_stream_rate(kcl_context *ctx, double *rate) {
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "bytes_per_second", rate));
  *rate = 0;
  if (!ctx->selected) KCL_CALL(kcl_select(ctx, NULL, 0));
  if (lacks_rate(ctx)) KCL_CALL(kcl_stream_measure(ctx, rate));
  *rate = ctx->stream.rate;
  return KCL_OK;
}
