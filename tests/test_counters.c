/* Counters of the process: the threads of the pool count, events that cannot be opened do not, and the events of memory
 * controllers as sysfs describes them. Hardware counters are rare in virtual machines: the CPU time that the kernel counts,
 * an event of software, stands for them. */
#include "core/base/base.h"
#include "core/base/counters.h"
#include "core/base/team.h"
#include "tests/check.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SOFTWARE = 1, TASK_CLOCK = 1, NOTHING = 0x7ffffff0 };
static const double busy = 10e-3; /* seconds per member */

static double thread_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(void *arg, const kcl_member *me) {
  if (!me->number) *(int *)arg = me->threads;
  for (double end = thread_seconds() + busy; thread_seconds() < end;) continue;
}

static void test_threads(void) {
  const kcl_event events[] = {{SOFTWARE, TASK_CLOCK, -1, 1e-9}, {NOTHING, 0, -1, 1}};
  double v[2] = {-2, -2};
  int members = 0;
  kcl_parallel(3, work, &members); /* the workers are there before */
  kcl_counting *c = kcl_count_begin(events, 2);
  if (!c) {
    skip("the system counts nothing");
    return;
  }
  kcl_parallel(3, work, &members);
  kcl_count_end(&c, v);
  CHECKF(v[0] >= 0.9 * busy * members, "%g s of %d threads", v[0], members);
  CHECK(v[1] < 0 && !c); /* no such event */
  c = kcl_count_begin(events + 1, 1);
  CHECK(!c);
  kcl_count_end(&c, v);
}

static void test_none(void) {
  kcl_counters c;
  setenv("KRYLOCL_COUNTERS", "none", 1);
  kcl_hardware *h = kcl_hardware_begin();
  CHECK(!h);
  kcl_hardware_end(&h, &c);
  CHECK(c.cycles < 0 && c.instructions < 0 && c.cache_misses < 0 && c.memory_bytes < 0);
  CHECK(!c.memory_from_misses);
  unsetenv("KRYLOCL_COUNTERS");
  h = kcl_hardware_begin();
  kcl_hardware_end(&h, &c);
  CHECK(!h && c.memory_from_misses <= (c.cache_misses >= 0));
}

static void put(const char *root, const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/bus/event_source/devices/uncore_imc_0/%s", root, name);
  FILE *f = fopen(path, "w");
  CHECKF(f && fputs(text, f) >= 0, "cannot write %s", path);
  if (f) fclose(f);
}

static void test_controllers(void) {
  char root[] = "/tmp/krylocl-counters-XXXXXX", command[600];
  kcl_event e[4];
  CHECK(mkdtemp(root) != NULL);
  CHECK(kcl_memory_events(root, e, 4) == 0);
  snprintf(command, sizeof command, "mkdir -p %s/bus/event_source/devices/uncore_imc_0/events",
           root);
  CHECK(!system(command));
  CHECK(kcl_memory_events(root, e, 4) == 0); /* a controller without events */
  put(root, "type", "17\n"), put(root, "cpumask", "2\n");
  put(root, "events/cas_count_read", "event=0x04,umask=0x03\n");
  put(root, "events/cas_count_read.scale", "6.103515625e-5\n");
  put(root, "events/cas_count_read.unit", "MiB\n");
  put(root, "events/cas_count_write", "event=0x04,umask=0x0c\n");
  CHECK(kcl_memory_events(root, e, 4) == 2);
  CHECK(e[0].type == 17 && e[0].config == 0x304 && e[0].cpu == 2 && e[0].unit == 64);
  CHECK(e[1].config == 0xc04 && e[1].unit == 64); /* without a scale: lines */
  CHECK(kcl_memory_events(root, e, 1) == 1);
  snprintf(command, sizeof command, "rm -r %s", root);
  CHECK(!system(command));
}

int main(void) {
  test_threads();
  test_none();
  test_controllers();
  return check_report();
}
