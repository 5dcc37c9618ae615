/* See counters.h. An event is opened once per thread of the process, as /proc/self/task lists them: workers of the pool,
 * and threads of an OpenCL driver on the host, are older than the stretch that is counted and so do not inherit. */
#include "core/base/counters.h"
#include <stdlib.h>
#ifdef __linux__
#include <dirent.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kcl_counting {
  int events, files;
  struct counter {
    int fd, event;
  } * file; /* [files] */
  double unit[];
};

static int open_event(const kcl_event *e, int thread) {
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = e->type;
  a.config = e->config;
  a.disabled = 1, a.inherit = thread >= 0;
  a.exclude_kernel = a.exclude_hv = thread >= 0; /* what an unprivileged user may count */
  a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return (int)syscall(SYS_perf_event_open, &a, thread, e->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Counts an event in a thread; without effect if there is no memory or the event cannot be opened. */
static void add_counter(kcl_counting *c, const kcl_event *e, int event, int thread) {
  struct counter *more = realloc(c->file, (size_t)(c->files + 1) * sizeof *more);
  if (!more) return;
  c->file = more;
  int fd = open_event(e, thread);
  if (fd >= 0) c->file[c->files++] = (struct counter){fd, event};
}

static void add_threads(kcl_counting *c, const kcl_event *e, int event) {
  DIR *tasks = opendir("/proc/self/task");
  for (const struct dirent *d; tasks && (d = readdir(tasks));)
    if (*d->d_name != '.') add_counter(c, e, event, atoi(d->d_name));
  if (tasks) closedir(tasks);
}

static void all(const kcl_counting *c, unsigned long what) {
  for (int i = 0; i < c->files; i++) ioctl(c->file[i].fd, what, 0);
}

kcl_counting *kcl_count_begin(const kcl_event *events, int count) {
  kcl_counting *c = calloc(1, sizeof *c + (size_t)count * sizeof *c->unit);
  if (!c) return NULL;
  c->events = count;
  for (int i = 0; i < count; i++) {
    c->unit[i] = events[i].unit;
    if (events[i].cpu < 0)
      add_threads(c, &events[i], i);
    else
      add_counter(c, &events[i], i, -1);
  }
  if (!c->files) {
    free(c->file);
    free(c);
    c = NULL;
  }
  if (c) all(c, PERF_EVENT_IOC_ENABLE);
  return c;
}

/* Adds a counter's value. An event that had a counter for part of the time is scaled; one that never had any is not counted. */
static void add_counts(const kcl_counting *c, double *values, int i) {
  uint64_t read_out[3]; /* the value, ns enabled, ns counted */
  double *v = &values[c->file[i].event];
  if (read(c->file[i].fd, read_out, sizeof read_out) != sizeof read_out) return;
  if (read_out[1] && !read_out[2]) return;
  if (*v < 0) *v = 0;
  if (read_out[2])
    *v += (double)read_out[0] * ((double)read_out[1] / (double)read_out[2]) *
          c->unit[c->file[i].event];
}

void kcl_count_end(kcl_counting **counting, double *values) {
  kcl_counting *c = *counting;
  if (!c) return;
  all(c, PERF_EVENT_IOC_DISABLE);
  for (int i = 0; i < c->events; i++) values[i] = -1;
  for (int i = 0; i < c->files; i++) add_counts(c, values, i), close(c->file[i].fd);
  free(c->file), free(c);
  *counting = NULL;
}

#else
struct kcl_counting {
  int events;
};
kcl_counting *kcl_count_begin(const kcl_event *events, int count) {
  return (void)events, (void)count, NULL;
}
void kcl_count_end(kcl_counting **c, double *values) { (void)c, (void)values; }
#endif
