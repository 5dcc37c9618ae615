/* The stream rate of a device: z = a x + y over three large vectors (McCalpin 1995), 3 n s bytes per pass. It is a recorded
 * program of one stage, and so runs through the same code as every iteration. The best of several passes counts.
 */
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/device/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- between processes
 * Other programs on the machine only slow it down: of all measured rates the best is kept. */

static void device_key(const kcl *ctx, char key[600]) {
  const kcl_device *d = &ctx->device;
  snprintf(key, 600, "triad\n%s\n%s\n%s\n%s\n%d", d->platform_name, d->name, d->version, d->driver,
           d->compute_units);
}

static double recall(const kcl *ctx) {
  char key[600];
  size_t size = 0;
  double rate = 0;
  device_key(ctx, key);
  void *kept = kcl_cache_get("rates", key, &size);
  if (kept && size == sizeof rate) memcpy(&rate, kept, size);
  free(kept);
  return rate > 0 && rate < 1e18 ? rate : 0;
}

static void remember(const kcl *ctx, double rate) {
  char key[600];
  device_key(ctx, key);
  if (rate > recall(ctx)) kcl_cache_put("rates", key, &rate, sizeof rate);
}

/* ---------------------------------------------------------------- measuring */

static int measure(kcl_program *k, kcl_executor *ex, int64_t n, double *rate) {
  double best = 0;
  const kcl_control head = {.limit = 1, .tests_off = 1};
  const double target = 0;
  double start = kcl_now();
  for (int pass = 0; pass < 8 && kcl_now() - start < 0.1; pass++) {
    int times = pass ? 2 : 1, rc;
    if ((rc = ex->set_state(ex, &head, &target)) || (rc = ex->finish(ex))) return rc;
    double t = kcl_now();
    for (int i = 0; i < times; i++)
      if ((rc = ex->run(ex, KCL_START, 1))) return rc;
    if ((rc = ex->finish(ex))) return rc;
    double seconds = (kcl_now() - t) / times,
           now = 3.0 * (double)n * (double)kcl_type_size(k->type) / seconds;
    if (now > best) best = now;
  }
  *rate = best;
  return KCL_OK;
}

int kcl_stream_measure(kcl *ctx, double *rate) {
  int rc;
  if ((rc = kcl_need(ctx, "ctx", ctx)) || (rc = kcl_need(ctx, "bytes_per_second", rate))) return rc;
  kcl_program *k = NULL;
  kcl_executor ex = {0};
  if (!ctx->selected) rc = kcl_select(ctx, NULL, 0);
  *rate = 0;
  if (rc) return rc;
  bool gpu = !strcmp(ctx->device.kind, "gpu");
  int64_t n = gpu ? 1 << 25 : 1 << 21; /* 256 MB per vector on a GPU, 16 MB elsewhere */
  KCL_TRY(kcl_program_create(ctx, ctx->device.has_double ? KCL_D : KCL_S, n, n, &k));
  kcl_vec z = kcl_vector(k, "z");
  kcl_slot a = kcl_scalar(k, "a");
  kcl_begin(k, KCL_START);
  kcl_assign(k, a, (kcl_coef){.constant = 3, .slot = -1});
  kcl_lincomb(k, z, plus(a), kcl_x(k), KCL_ONE, kcl_b(k));
  KCL_TRY(kcl_program_end(k));
  KCL_TRY(kcl_executor_open(k, &ex));
  KCL_TRY(measure(k, &ex, n, rate));
  ctx->stream_rate = *rate;
  remember(ctx, *rate);
done:
  if (ex.close) ex.close(&ex);
  kcl_program_free(&k);
  return rc;
}

int kcl_stream_rate(kcl *ctx, double *rate) {
  int rc;
  if ((rc = kcl_need(ctx, "ctx", ctx)) || (rc = kcl_need(ctx, "bytes_per_second", rate))) return rc;
  if (!ctx->selected) rc = kcl_select(ctx, NULL, 0);
  if (!rc && !ctx->stream_rate) ctx->stream_rate = recall(ctx);
  *rate = ctx->stream_rate;
  return rc || *rate > 0 ? rc : kcl_stream_measure(ctx, rate);
}
