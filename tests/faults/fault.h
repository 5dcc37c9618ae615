/* For libraries that are loaded first (LD_PRELOAD): counts the calls of one kind that the program itself makes, and says
 * which of them fail; drivers and libraries get what they ask for.
 *
 *   FAULT_AT=n          the call that fails; unset: none              FAULT_LAST=1   and all after it
 *   FAULT_COUNT=file    receives the number of calls at the end */
#ifndef KCL_FAULT_H
#define KCL_FAULT_H
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long calls;
static long fail_at;
static bool ready, and_later;
static uintptr_t low, high; /* addresses of the program */

__attribute__((constructor)) static void begin(void) {
  char program[400], line[600];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  program[n < 0 ? 0 : n] = 0;
  FILE *f = fopen("/proc/self/maps", "r");
  while (f && fgets(line, sizeof line, f)) {
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx", &from, &to) != 2 || !strstr(line, program)) continue;
    if (!low) low = from;
    high = to;
  }
  if (f) fclose(f);
  if (getenv("FAULT_AT")) fail_at = atol(getenv("FAULT_AT"));
  and_later = getenv("FAULT_LAST") != NULL, ready = true;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAULT_COUNT");
  ready = false;
  FILE *f = path ? fopen(path, "w") : NULL;
  if (f) fprintf(f, "%ld\n", (long)calls), fclose(f);
}

static bool fails(const void *caller) {
  if (!ready || (uintptr_t)caller < low || (uintptr_t)caller >= high) return false;
  long n = ++calls;
  bool no = fail_at && (n == fail_at || (and_later && n > fail_at));
  if (no) errno = ENOMEM;
  return no;
}

#define CALLER __builtin_return_address(0)
#endif
