/* The context's last error, allocation with an error message, and the clock. */
#include "core/base/context.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int kcl_fail(kcl *ctx, kcl_status status, const char *format, ...) {
  va_list args;
  if (!ctx) return status;
  va_start(args, format);
  vsnprintf(ctx->error, sizeof ctx->error, format, args);
  va_end(args);
  return status;
}

const char *kcl_error(const kcl *ctx) {
  return ctx ? ctx->error : "there is no context: out of memory, or kcl_create was not called";
}

int kcl_need(kcl *ctx, const char *name, const void *p) {
  return p ? KCL_OK : kcl_fail(ctx, KCL_USAGE, "the argument %s is NULL", name);
}

/* In parallel for large blocks: first touch places the pages near the threads that use them on NUMA systems. */
static void zero(void *block, size_t bytes) {
  const size_t part = 1 << 20;
#pragma omp parallel for schedule(static) if (bytes > 8 * part)
  for (size_t at = 0; at < bytes; at += part)
    memset((char *)block + at, 0, bytes - at < part ? bytes - at : part);
}

bool kcl_has_room(size_t bytes) {
  unsigned long long free_kb = ~0ULL >> 10, swap_kb = 0;
  char line[128];
  FILE *f = bytes < (size_t)1 << 30 ? NULL : fopen("/proc/meminfo", "r");
  if (!f) return true;
  while (fgets(line, sizeof line, f)) {
    sscanf(line, "MemAvailable: %llu", &free_kb);
    sscanf(line, "SwapFree: %llu", &swap_kb);
  }
  fclose(f);
  return bytes >> 10 < free_kb + swap_kb;
}

int kcl_alloc(kcl *ctx, int64_t count, size_t size, const char *what, void **out) {
  *out = NULL;
  size_t bytes = 0;
  bool fits =
      count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes) && bytes < SIZE_MAX - 64;
  if (fits && kcl_has_room(bytes)) *out = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!*out)
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: %s needs %.3g GB", what,
                    (double)count * (double)size * 1e-9);
  zero(*out, (bytes + 127) / 64 * 64);
  return KCL_OK;
}

double kcl_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
