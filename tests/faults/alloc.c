/* Loaded first (LD_PRELOAD): the n-th allocation that the program itself makes fails; drivers and libraries get what they
 * ask for. For tests/faults.sh; tests/conform_alloc.c does the same within a process, for the library alone.
 *
 *   FAULT_AT=n          the allocation that fails; unset: none        FAULT_LAST=1   and all after it
 *   FAULT_COUNT=file    receives the number of allocations at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

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
void *malloc(size_t n) { return fails(CALLER) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails(CALLER) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails(CALLER) ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return fails(CALLER) ? NULL : __libc_memalign(a, n); }

char *strdup(const char *s) {
  size_t n = strlen(s) + 1;
  char *p = fails(CALLER) ? NULL : __libc_malloc(n);
  return p ? memcpy(p, s, n) : NULL;
}

void *mmap(void *at, size_t n, int protection, int flags, int file, off_t offset) {
  static void *(*real)(void *, size_t, int, int, int, off_t);
  if (fails(CALLER)) return MAP_FAILED;
  if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  return real(at, n, protection, flags, file, offset);
}
