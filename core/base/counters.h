/* Hardware counters of all threads of this process: cycles, instructions, cache misses, and memory traffic where the
 * machine counts it (perf_event_open, Linux). Elsewhere, and where the system does not allow them, nothing is counted. */
#ifndef KCL_COUNTERS_H
#define KCL_COUNTERS_H
#include "krylocl/device.h"

typedef struct kcl_event { /* as in perf_event_open(2); pid -1: of a whole processor `cpu` */
  uint32_t type;
  uint64_t config;
  int cpu;
  double unit; /* of one count */
} kcl_event;

typedef struct kcl_counting kcl_counting;

/* Counts the events in all present threads and in threads that they create. NULL: no event can be counted. */
kcl_counting *kcl_count_begin(const kcl_event *events, int count);
/* values: [count], sums over the threads, scaled where events took turns; negative: not counted. */
void kcl_count_end(kcl_counting **c, double *values);

/* Traffic of the memory controllers, whose events are under sys ("/sys", or a folder for tests). Returns their number. */
int kcl_memory_events(const char *sys, kcl_event *events, int most);

/* All of kcl_counters. Nothing is counted if KRYLOCL_COUNTERS is "none". */
typedef struct kcl_hardware kcl_hardware;
kcl_hardware *kcl_hardware_begin(void);
void kcl_hardware_end(kcl_hardware **h, kcl_counters *out);

#endif
