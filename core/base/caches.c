/* The last-level caches, of /sys/devices/system/cpu/cpuN/cache/indexM: level, size ("32768K") and the processors that share
 * one ("0-7,64-71"). A thread uses one of them, so T threads use the T largest at most. Where sysfs says nothing, the
 * C library's figure stands for one cache. */
#include "core/base/caches.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_INDEX = 8, MOST_CACHES = 512, MOST_CPUS = 4096 };

static bool read_word(const char *root, int cpu, int index, const char *name, char word[256]) {
  char path[700];
  snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cache/index%d/%s", root, cpu, index,
           name);
  FILE *f = fopen(path, "r");
  const bool read = f && fscanf(f, "%255s", word) == 1;
  if (f) fclose(f);
  return read;
}

static int64_t parse_bytes(const char *text) {
  char *unit;
  const long long n = strtoll(text, &unit, 10);
  if (n <= 0) return 0;
  if (*unit == 'M') return n << 20;
  return *unit == 'K' ? n << 10 : n;
}

/* Marks the processors of "0-7,64-71" as seen. */
static void mark(const char *list, bool seen[MOST_CPUS]) {
  for (char *end; *list; list = *end == ',' ? end + 1 : "") {
    long from = strtol(list, &end, 10), to = from;
    if (end == list) return;
    if (*end == '-') to = strtol(end + 1, &end, 10);
    for (long cpu = from; cpu >= 0 && cpu <= to && cpu < MOST_CPUS; cpu++) seen[cpu] = true;
  }
}

/* Bytes of the last-level cache of a processor, whose sharers are marked; 0: not known. */
static int64_t last_cache_of(const char *root, int cpu, bool seen[MOST_CPUS]) {
  char word[256];
  int level = 0, at = -1;
  for (int i = 0; i < MOST_INDEX && read_word(root, cpu, i, "level", word); i++)
    if (atoi(word) > level) level = atoi(word), at = i;
  seen[cpu] = true;
  if (at < 0 || !read_word(root, cpu, at, "size", word)) return 0;
  const int64_t bytes = parse_bytes(word);
  if (read_word(root, cpu, at, "shared_cpu_list", word)) mark(word, seen);
  return bytes;
}

static int descending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

/* Marks the processors that this process may not run on. */
static void mark_others(bool seen[MOST_CPUS]) {
#ifdef CPU_ISSET
  cpu_set_t set;
  const bool known = !sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; known && cpu < MOST_CPUS; cpu++)
    seen[cpu] = cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set);
  if (known) return;
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  for (int cpu = 0; cpu < MOST_CPUS; cpu++) seen[cpu] = cpu >= online;
}

static int64_t library_says(void) {
  long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes <= 0) bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  return bytes > 0 ? bytes : 0;
}

typedef struct caches {
  int64_t size[MOST_CACHES]; /* [count] descending */
  int count;
} caches;

static void find_caches(const char *root, caches *c) {
  bool seen[MOST_CPUS] = {false};
  if (!*root) mark_others(seen);
  for (int cpu = 0; cpu < MOST_CPUS && c->count < MOST_CACHES; cpu++) {
    if (seen[cpu]) continue;
    c->size[c->count] = last_cache_of(root, cpu, seen);
    if (!c->size[c->count] && *root) break;
    c->count += c->size[c->count] > 0;
  }
  if (!c->count && !*root && library_says()) c->size[c->count++] = library_says();
  qsort(c->size, (size_t)c->count, sizeof *c->size, descending);
}

static caches here; /* of this machine: found once */
static void find_here(void) { find_caches("", &here); }

int64_t kcl_last_cache(const char *root, int threads) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  caches other = {.count = 0}, *c = *root ? &other : &here;
  int64_t all = 0;
  if (*root)
    find_caches(root, &other);
  else
    pthread_once(&once, find_here);
  for (int i = 0; i < c->count && i < threads; i++) all += c->size[i];
  return all;
}
