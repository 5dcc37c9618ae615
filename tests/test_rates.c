/* Stream rates: what a record of measurements agrees on, how long the vectors are, what the system reports of caches and
 * limits on memory, and which rate a prediction uses. All from figures made by hand, none from a clock. */
#include "core/base/caches.h"
#include "core/base/context.h"
#include "core/base/text.h"
#include "core/program/program.h"
#include "core/tuning/rates.h"
#include "tests/check.h"
#include "tests/system_files.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the record */

static void test_record(void) {
  kcl_rates_record r = {.count = 0};
  CHECK(kcl_rates_agreed(&r).stream == 0);
  const double measured[] = {152, 47, 60, 45, 48, 46, 44, 47}, /* the first was in cache */
      agreed[] = {152, 152, 60, 60, 48, 47, 46, 46};
  for (int i = 0; i < 8; i++) {
    const kcl_rates now = {.stream = measured[i] * 1e9,
                           .low = i,
                           .high = 10 + i,
                           .launch = 1e-6 * (i + 1),
                           .date = 100 + i};
    kcl_rates_add(&r, &now);
    const kcl_rates all = kcl_rates_agreed(&r);
    CHECKF(all.stream == agreed[i] * 1e9, "after %d measurements %g, not %g", i + 1, all.stream,
           agreed[i] * 1e9);
    CHECK(all.date == 100 + i && all.low == (i < 5 ? 0 : i - 4) && all.high == 10 + i);
  }
  CHECK(r.count == KCL_RATES_KEPT && kcl_rates_agreed(&r).launch == 6e-6);
}

/* A first rate that other programs lowered is replaced by the second measurement. */
static void test_low_first_rate(void) {
  kcl_rates_record r = {.count = 0};
  const kcl_rates busy = {.stream = 11e9, .launch = 4e-6}, quiet = {.stream = 44e9, .launch = 1e-6};
  kcl_rates_add(&r, &busy);
  CHECK(kcl_rates_agreed(&r).stream == busy.stream);
  kcl_rates_add(&r, &quiet);
  CHECK(kcl_rates_agreed(&r).stream == quiet.stream && kcl_rates_agreed(&r).launch == quiet.launch);
}

static void test_vectors(void) {
  const int64_t MB = 1 << 20;
  CHECK(kcl_stream_vector(32 * MB, 32 * MB, 1e12) == 128 * MB);
  CHECK(kcl_stream_vector(0, 32 * MB, 1e12) == 32 * MB);
  CHECK(kcl_stream_vector(50 * MB, 256 * MB, 1e12) ==
        256 * MB); /* a GPU: five times its L2 cache */
  CHECK(kcl_stream_vector(32 * MB, 32 * MB, 3.0 * 128 * (double)MB) == 128 * MB);
  CHECK(kcl_stream_vector(32 * MB, 32 * MB, 300.0 * (double)MB) == 64 * MB); /* no room */
  CHECK(kcl_stream_vector(32 * MB, 32 * MB, 1) == MB);
}

/* ---------------------------------------------------------------- the system */

static void put_cache(int cpu, int index, const char *level, const char *size, const char *cpus) {
  const char *const names[] = {"level", "size", "shared_cpu_list"}, *const text[] = {level, size,
                                                                                     cpus};
  for (int i = 0; i < 3; i++) {
    char name[100];
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
             names[i]);
    put(name, text[i]);
  }
}

static void test_system(void) {
  if (!CHECK(mkdtemp(root))) return;
  CHECK(kcl_last_cache(root, 4) == 0 && kcl_cgroup_memory(root) == 0);
  for (int cpu = 0; cpu < 2; cpu++) { /* two cores that share the third level */
    put_cache(cpu, 0, "1\n", "32K\n", cpu ? "1\n" : "0\n"),
        put_cache(cpu, 1, "1\n", "32K\n", cpu ? "1\n" : "0\n");
    put_cache(cpu, 2, "2\n", "512K\n", cpu ? "1\n" : "0\n"),
        put_cache(cpu, 3, "3\n", "32768K\n", "0-1\n");
  }
  CHECK(kcl_last_cache(root, 2) == 32 << 20 && kcl_last_cache(root, 1) == 32 << 20);
  clear(); /* two parts of a processor, with a second hardware thread of each core; the first cache is larger */
  for (int cpu = 0; cpu < 8; cpu++)
    put_cache(cpu, 0, "3\n", cpu % 4 < 2 ? "96M\n" : "32M\n",
              cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6-7\n");
  CHECK(kcl_last_cache(root, 1) == 96 << 20 && kcl_last_cache(root, 8) == 128 << 20);
  clear();
  put_cache(0, 0, "3\n", "nonsense\n", "x-y\n");
  CHECK(kcl_last_cache(root, 2) == 0);
  clear();
  put("proc/self/cgroup", "0::/a\n"), put("sys/fs/cgroup/memory.max", "max\n");
  CHECK(kcl_cgroup_memory(root) == 0);
  put("sys/fs/cgroup/a/memory.max", "1073741824\n");
  CHECK(kcl_cgroup_memory(root) == 1 << 30);
  clear();
  put("proc/self/cgroup", "5:memory:/docker/1\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(kcl_cgroup_memory(root) == 0);
  put("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "500000000\n");
  CHECK(kcl_cgroup_memory(root) == 5e8);
  clear(), rmdir(root);
}

/* ---------------------------------------------------------------- predictions */

/* z = a x + y of n numbers: three vectors. */
static double rate_of(kcl_context *ctx, int64_t n) {
  kcl_program *k = NULL;
  double rate = 0;
  if (!CHECK(!kcl_program_create(ctx, KCL_D, n, n, &k))) return 0;
  kcl_vec z = kcl_vector(k, "z");
  kcl_begin(k, KCL_LOOP);
  kcl_lincomb(k, z, KCL_ONE, kcl_x(k), KCL_ONE, kcl_b(k));
  if (CHECK(!kcl_program_end(k))) rate = kcl_program_rate(k, 7);
  kcl_program_free(&k);
  return rate;
}

static void test_rate_of_program(void) {
  kcl_context *ctx = NULL;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 1))) return;
  const int64_t cache = 24 << 20, all = cache / 24; /* numbers per vector that fill the cache */
  ctx->stream = (kcl_stream){0};
  CHECK(rate_of(ctx, 1000) == 7);
  ctx->stream = (kcl_stream){.rate = 1e10};
  CHECK(rate_of(ctx, 1000) == 1e10);
  ctx->stream = (kcl_stream){.rate = 1e10, .cache_rate = 4e10, .cache_bytes = cache};
  CHECK(rate_of(ctx, all / 2) == 4e10 && rate_of(ctx, all) == 1e10 &&
        rate_of(ctx, 4 * all) == 1e10);
  const double between = rate_of(ctx, 3 * all / 4);
  CHECKF(between > 1e10 && between < 4e10, "%g", between);
  ctx->stream.cache_rate = 0.9e10; /* slower than memory: not believed */
  CHECK(rate_of(ctx, 1000) == 1e10);
  kcl_context_free(&ctx);
}

/* ---------------------------------------------------------------- numbers in messages */

static void test_text(void) {
  const struct {
    double seconds;
    const char *text;
  } known[] = {{3.2e-7, "0.32 us"}, {410e-6, "410 us"}, {999.7e-6, "1 ms"}, {2.81e-3, "2.81 ms"},
               {0.25, "250 ms"},    {1.5, "1.5 s"},     {1234, "1234 s"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    CHECKF(!strcmp(kcl_seconds_text(known[i].seconds).s, known[i].text), "%g: %s", known[i].seconds,
           kcl_seconds_text(known[i].seconds).s);
  CHECK(!strcmp(kcl_bytes_text(2.81e9).s, "2.81 GB") && !strcmp(kcl_bytes_text(12).s, "12 B"));
  CHECK(!strcmp(kcl_factor_text(INFINITY).s, "more than 1e+308"));
  CHECK(!strcmp(kcl_factor_text(2500).s, "2500") && !strcmp(kcl_factor_text(3.25e8).s, "3.2e+08"));
}

int main(void) {
  test_record(), test_low_first_rate();
  test_vectors(), test_system(), test_rate_of_program(), test_text();
  return check_report();
}
