/* The clock. */
#include "core/base/base.h"
#include <time.h>

static double read_clock(clockid_t clock) {
  struct timespec t = {0, 0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double kcl_now(void) { return read_clock(CLOCK_MONOTONIC); }

double kcl_thread_seconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
