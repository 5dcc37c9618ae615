/* The last-level caches of the processor. */
#ifndef KCL_CACHES_H
#define KCL_CACHES_H
#include <stdint.h>

/* Bytes of the last-level caches that so many threads can use together, each in one of the processors of this process;
 * 0: not known. root: "" or a folder, for tests. Kernel documentation: sysfs-devices-system-cpu. */
int64_t kcl_last_cache(const char *root, int threads);
#endif
