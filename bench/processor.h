/* For the benchmarks in C: an end with the library's message, and processor time. */
#ifndef BENCH_PROCESSOR_H
#define BENCH_PROCESSOR_H
#include <krylocl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ends the program with a status that is not 0. */
static void must(int status) {
  if (!status) return;
  fprintf(stderr, "status %d: %s\n", status, kcl_error());
  exit(status);
}

/* Seconds that all threads of this process have used. */
static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
