/* Allocations fail: see fault.h. For tests/faults.sh; tests/conform_alloc.c does the same within a process, for the
 * library alone. */
#include "fault.h"
#include <sys/mman.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

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
