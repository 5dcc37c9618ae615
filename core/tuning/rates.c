/* What a device needs for bytes and for a launch, both by recorded programs of one stage, and so through the same code as
 * every iteration. The stream rate: z = a x + y over three large vectors (McCalpin 1995), 3 n s bytes per pass, the best
 * of several passes. A launch: the same over vectors that take no time.
 */
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/device/device.h"
#include "core/tuning/rates.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- between processes
 * Other programs on the machine only slow it down: of all measured rates the best is kept. */

typedef struct rates {
  double stream, launch;
} rates;

static void device_key(const kcl *ctx, char key[600]) {
  const kcl_device *d = &ctx->device;
  snprintf(key, 600, "triad\n%s\n%s\n%s\n%s\n%d", d->platform_name, d->name, d->version, d->driver,
           d->compute_units);
}

static rates recall(const kcl *ctx) {
  char key[600];
  size_t size = 0;
  rates r = {0, 0};
  device_key(ctx, key);
  void *kept = kcl_cache_get("rates", key, &size);
  if (kept && size == sizeof r) memcpy(&r, kept, size);
  free(kept);
  return r.stream > 0 && r.stream < 1e18 && r.launch >= 0 && r.launch < 1 ? r : (rates){0, 0};
}

static void remember(const kcl *ctx, rates r) {
  const rates known = recall(ctx);
  char key[600];
  device_key(ctx, key);
  if (known.stream > r.stream) r.stream = known.stream;
  if (known.launch > 0 && known.launch < r.launch) r.launch = known.launch;
  if (r.stream > known.stream || r.launch != known.launch)
    kcl_cache_put("rates", key, &r, sizeof r);
}

void kcl_rates_recall(kcl *ctx) {
  const rates r = recall(ctx);
  if (!ctx->stream_rate) ctx->stream_rate = r.stream;
  if (!ctx->launch) ctx->launch = r.launch;
}

/* ---------------------------------------------------------------- measuring */

typedef struct triad {
  kcl_program *k;
  kcl_executor ex;
} triad;

static int open_triad(kcl *ctx, int64_t n, triad *t) {
  int rc;
  KCL_TRY(kcl_program_create(ctx, ctx->device.has_double ? KCL_D : KCL_S, n, n, &t->k));
  kcl_vec z = kcl_vector(t->k, "z");
  kcl_slot a = kcl_scalar(t->k, "a");
  kcl_begin(t->k, KCL_START);
  kcl_assign(t->k, a, (kcl_coef){.constant = 3, .slot = -1});
  kcl_lincomb(t->k, z, plus(a), kcl_x(t->k), KCL_ONE, kcl_b(t->k));
  KCL_TRY(kcl_program_end(t->k));
  KCL_TRY(kcl_executor_open(t->k, &t->ex));
done:
  return rc;
}

static void close_triad(triad *t) {
  if (t->ex.close) t->ex.close(&t->ex);
  kcl_program_free(&t->k);
}

/* The least seconds per pass of up to 8 samples in a tenth of a second; the first is one pass. */
static int time_triad(kcl *ctx, int64_t n, int times, double *least) {
  const kcl_control head = {.limit = 1, .tests_off = 1};
  const double target = 0;
  triad t = {.k = NULL};
  int rc;
  *least = 0;
  KCL_TRY(open_triad(ctx, n, &t));
  const double start = kcl_now();
  for (int sample = 0; !sample || (sample < 8 && kcl_now() - start < 0.1); sample++) {
    int passes = sample ? times : 1;
    KCL_TRY(t.ex.set_state(&t.ex, &head, &target));
    KCL_TRY(t.ex.finish(&t.ex));
    double begin = kcl_now();
    KCL_TRY(t.ex.run(&t.ex, KCL_START, passes));
    KCL_TRY(t.ex.finish(&t.ex));
    double seconds = (kcl_now() - begin) / passes;
    if (!*least || seconds < *least) *least = seconds;
  }
done:
  close_triad(&t);
  return rc;
}

/* Per vector: 256 MB on a GPU; elsewhere 8 MB per thread, several times its part of the last cache, of two threads at least. */
static int64_t elements(const kcl_device *d) {
  const int threads = d->compute_units > 2 ? d->compute_units : 2;
  return !strcmp(d->kind, "gpu") ? 1 << 25 : (int64_t)threads << 20;
}

int kcl_stream_measure(kcl *ctx, double *rate) {
  enum { FEW = 64, LAUNCHES = 200 };
  double seconds, launch = 0;
  int rc;
  if ((rc = kcl_need(ctx, "ctx", ctx)) || (rc = kcl_need(ctx, "bytes_per_second", rate))) return rc;
  *rate = 0;
  if (!ctx->selected && (rc = kcl_select(ctx, NULL, 0))) return rc;
  const int64_t n = elements(&ctx->device);
  const size_t element = kcl_type_size(ctx->device.has_double ? KCL_D : KCL_S);
  if ((rc = time_triad(ctx, n, 2, &seconds))) return rc;
  if (ctx->opencl && (rc = time_triad(ctx, FEW, LAUNCHES, &launch))) return rc;
  *rate = ctx->stream_rate = 3.0 * (double)n * (double)element / seconds;
  ctx->launch = launch;
  remember(ctx, (rates){*rate, launch});
  return KCL_OK;
}

int kcl_stream_rate(kcl *ctx, double *rate) {
  int rc;
  if ((rc = kcl_need(ctx, "ctx", ctx)) || (rc = kcl_need(ctx, "bytes_per_second", rate))) return rc;
  if (!ctx->selected) rc = kcl_select(ctx, NULL, 0);
  if (!rc) kcl_rates_recall(ctx);
  *rate = ctx->stream_rate;
  return rc || *rate > 0 ? rc : kcl_stream_measure(ctx, rate);
}
