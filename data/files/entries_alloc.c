/* Allocates entries whose number is known in advance: contiguous memory divided into blocks, which
 * csr_build.c distributes over threads. Pages are populated when they are written. */
#include "data/files/file.h"

enum { ALLOCATED_BLOCK = 1 << 16, HUGE_BLOCK = 1 << 21 }; /* entries; bytes */

int mm_entries_alloc(kcl_context *ctx, int width, int64_t count, mm_entries *e, uint64_t **words) {
  *e = (mm_entries){.width = width, .stride = width + 1, .total = count};
  size_t entry = (size_t)e->stride * sizeof **words;
  *words = NULL;
  if (count >= INT64_MAX / 64)
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: %lld entries", (long long)count);
  e->reserved = ((size_t)count * entry / HUGE_BLOCK + 1) * HUGE_BLOCK;
  e->memory = mmap(NULL, e->reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (e->memory == MAP_FAILED) e->memory = NULL;
  e->blocks = e->memory ? count / ALLOCATED_BLOCK + 1 : 0;
  e->block = e->memory ? calloc((size_t)e->blocks, sizeof *e->block) : NULL;
  if (!e->block)
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: the entries need %.3g GB",
                    (double)e->reserved * 1e-9);
  if (e->reserved > 16 * HUGE_BLOCK) (void)!madvise(e->memory, e->reserved, KCL_LARGE_PAGES);
  *words = e->memory;
  for (int64_t k = 0; k < e->blocks; k++) {
    int64_t left = count - k * ALLOCATED_BLOCK;
    e->block[k].words = *words + k * ALLOCATED_BLOCK * e->stride;
    e->block[k].count = left < ALLOCATED_BLOCK ? left : ALLOCATED_BLOCK;
  }
  return KCL_OK;
}
