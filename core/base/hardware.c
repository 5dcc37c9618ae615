/* The counters of a stretch of work. Memory traffic is counted at the memory controllers (uncore_imc of Intel's processors,
 * events cas_count_read and _write, all processes) where they may be read; elsewhere it is this process's misses of the
 * last-level cache times the cache line. Kernel documentation: sysfs-bus-event_source-devices-events. */
#include "core/base/counters.h"
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CYCLES, INSTRUCTIONS, MISSES, CORE_EVENTS, MOST_EVENTS = CORE_EVENTS + 128 };

static bool read_event_line(const char *folder, const char *name, char *text, int size) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "r");
  const bool read = f && fgets(text, size, f);
  if (f) fclose(f);
  return read;
}

/* "event=0x04,umask=0x03": bits 0 to 7 and 8 to 15 of `config` on these devices. */
static bool parse_event(const char *text, uint64_t *config) {
  const char *event = strstr(text, "event="), *umask = strstr(text, "umask=");
  *config = event ? strtoull(event + 6, NULL, 0) : 0;
  if (umask) *config |= strtoull(umask + 6, NULL, 0) << 8;
  return event != NULL;
}

/* The unit of a count as bytes: "6.103515625e-5" and "MiB". */
static double event_unit_bytes(const char *device, const char *event) {
  char name[100], text[100];
  snprintf(name, sizeof name, "events/%s.scale", event);
  double scale = read_event_line(device, name, text, sizeof text) ? strtod(text, NULL) : 64;
  snprintf(name, sizeof name, "events/%s.unit", event);
  if (!read_event_line(device, name, text, sizeof text)) return scale;
  return !strncmp(text, "MiB", 3)   ? scale * 1048576
         : !strncmp(text, "KiB", 3) ? scale * 1024
                                    : scale;
}

static bool memory_event(const char *device, const char *event, kcl_event *out) {
  char name[100], text[200];
  snprintf(name, sizeof name, "events/%s", event);
  if (!read_event_line(device, name, text, sizeof text) || !parse_event(text, &out->config))
    return false;
  if (!read_event_line(device, "type", text, sizeof text)) return false;
  out->type = (uint32_t)strtoul(text, NULL, 10);
  out->cpu = read_event_line(device, "cpumask", text, sizeof text) ? atoi(text) : 0;
  out->unit = event_unit_bytes(device, event);
  return true;
}

int kcl_memory_events(const char *sys, kcl_event *events, int most) {
  static const char *const names[] = {"cas_count_read", "cas_count_write"};
  char pattern[400];
  glob_t found = {0};
  int count = 0;
  snprintf(pattern, sizeof pattern, "%s/bus/event_source/devices/uncore_imc*", sys);
  if (glob(pattern, 0, NULL, &found)) return 0;
  for (size_t i = 0; i < found.gl_pathc; i++)
    for (int k = 0; k < 2 && count < most; k++)
      count += memory_event(found.gl_pathv[i], names[k], &events[count]);
  globfree(&found);
  return count;
}

struct kcl_hardware {
  int events;
  kcl_counting *counting;
};

kcl_hardware *kcl_hardware_begin(void) {
  enum { HARDWARE = 0 }; /* PERF_TYPE_HARDWARE; configs: cycles 0, instructions 1, cache misses 3 */
  kcl_event events[MOST_EVENTS] = {[CYCLES] = {HARDWARE, 0, -1, 1},
                                   [INSTRUCTIONS] = {HARDWARE, 1, -1, 1},
                                   [MISSES] = {HARDWARE, 3, -1, 1}};
  const char *asked = getenv("KRYLOCL_COUNTERS");
  if (asked && !strcmp(asked, "none")) return NULL;
  kcl_hardware *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  h->events =
      CORE_EVENTS + kcl_memory_events("/sys", events + CORE_EVENTS, MOST_EVENTS - CORE_EVENTS);
  h->counting = kcl_count_begin(events, h->events);
  if (!h->counting) free(h), h = NULL;
  return h;
}

static double line_bytes(void) {
  long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_LINESIZE
  bytes = sysconf(_SC_LEVEL3_CACHE_LINESIZE);
#endif
  return bytes > 0 ? (double)bytes : 64;
}

/* The sum over the memory controllers; -1 unless all of them were counted. */
static double traffic(const double *v, int events) {
  double sum = events ? 0 : -1;
  for (int i = 0; i < events && sum >= 0; i++) sum = v[i] < 0 ? -1 : sum + v[i];
  return sum;
}

void kcl_hardware_end(kcl_hardware **hardware, kcl_counters *out) {
  kcl_hardware *h = *hardware;
  double v[MOST_EVENTS];
  *out = (kcl_counters){-1, -1, -1, -1, false};
  if (!h) return;
  kcl_count_end(&h->counting, v);
  out->cycles = v[CYCLES];
  out->instructions = v[INSTRUCTIONS];
  out->cache_misses = v[MISSES];
  out->memory_bytes = traffic(v + CORE_EVENTS, h->events - CORE_EVENTS);
  out->memory_from_misses = out->memory_bytes < 0 && out->cache_misses >= 0;
  if (out->memory_from_misses) out->memory_bytes = out->cache_misses * line_bytes();
  free(h);
  *hardware = NULL;
}
