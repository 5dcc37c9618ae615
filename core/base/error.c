/* The last error of each thread, and allocation with an error message. */
#include "core/base/context.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

/* Messages quote names and texts of files: a control character in them, also one of two bytes in UTF-8, is printed as \x1b. */
static void escape(char *to, size_t capacity, const char *text) {
  size_t n = 0;
  for (; *text && n + 5 < capacity; text++) {
    const unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
    const bool two = c == 0xc2 && next >= 0x80 && next < 0xa0;
    if (two || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
      n += (size_t)sprintf(to + n, "\\x%02x", two ? next : c), text += two;
    else
      to[n++] = *text;
  }
  to[n] = 0;
}

static _Thread_local char last_message[KCL_MESSAGE];

int kcl_fail(kcl_context *ctx, kcl_status status, const char *format, ...) {
  char text[KCL_MESSAGE];
  va_list args;
  (void)ctx;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  escape(last_message, sizeof last_message, text);
  return status;
}

const char *kcl_error(void) { return last_message; }

int kcl_need(kcl_context *ctx, const char *name, const void *p) {
  return p ? KCL_OK : kcl_fail(ctx, KCL_USAGE, "the argument %s is NULL", name);
}

enum { SMALL = 1 << 20 }; /* bytes that are not worth a system call: no limit is below */

/* In parallel for large blocks: first touch places the pages near the threads that use them on NUMA systems. */
static void zero(void *block, int64_t from, int64_t to) {
  memset((char *)block + from, 0, (size_t)(to - from));
}

bool kcl_has_memory(size_t bytes) {
  if (bytes < SMALL) return true;
  unsigned long long free_kb = ~0ULL >> 10, swap_kb = 0;
  char line[128];
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes > limit.rlim_cur)
    return false;
  FILE *f = bytes < (size_t)1 << 30 ? NULL : fopen("/proc/meminfo", "r");
  if (!f) return true;
  while (fgets(line, sizeof line, f)) {
    sscanf(line, "MemAvailable: %llu", &free_kb);
    sscanf(line, "SwapFree: %llu", &swap_kb);
  }
  fclose(f);
  return bytes >> 10 < free_kb + swap_kb;
}

int kcl_alloc_unset(kcl_context *ctx, int64_t count, size_t size, const char *what, void **out) {
  *out = NULL;
  size_t bytes = 0;
  bool fits =
      count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes) && bytes < SIZE_MAX - 64;
  if (fits && kcl_has_memory(bytes)) *out = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (*out) return KCL_OK;
  return kcl_fail(ctx, KCL_MEMORY, "out of memory: %s needs %.3g GB", what,
                  (double)count * (double)size * 1e-9);
}

int kcl_alloc(kcl_context *ctx, int64_t count, size_t size, const char *what, void **out) {
  const int rc = kcl_alloc_unset(ctx, count, size, what, out);
  if (!rc) kcl_for((count * (int64_t)size + 127) / 64 * 64, 4 << 20, zero, *out);
  return rc;
}
