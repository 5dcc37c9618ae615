/* How many threads run at once: processors of the affinity mask, quota of control groups, OMP_NUM_THREADS. The limit of
 * control groups on memory is found in the same folders. */
#include "core/base/base.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { CPU_PATH = 4600 }; /* for a path */

static double lesser_quota(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

/* The number in a file of a control group; 0: none. */
static double read_group_number(const char *folder, const char *name) {
  char path[CPU_PATH + 40];
  double v = 0;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "%lf", &v) != 1) v = 0;
  if (f) fclose(f);
  return v;
}

/* Version 2: "max 100000" or "150000 100000" in one file. Version 1: two files, -1: no quota. */
static double quota_of(const char *folder) {
  char path[CPU_PATH + 40], word[32];
  double quota = 0, period = 0;
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  FILE *f = fopen(path, "r");
  if (f) {
    if (fscanf(f, "%31s %lf", word, &period) == 2) quota = atof(word);
    fclose(f);
  } else {
    quota = read_group_number(folder, "cpu.cfs_quota_us");
    period = read_group_number(folder, "cpu.cfs_period_us");
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

/* Bytes. Version 2: "max" in one file. Version 1: without a limit a number beyond all memory. */
static double memory_of(const char *folder) {
  const double bytes = read_group_number(folder, "memory.max");
  const double limit = bytes > 0 ? bytes : read_group_number(folder, "memory.limit_in_bytes");
  return limit < 0x1p60 ? limit : 0;
}

typedef double folder_limit(const char *folder); /* 0: none */

/* The least limit of a group and the groups above it. In a container the group may be invisible, the groups above it are not. */
static double limit_up(folder_limit *of, const char *root, const char *mount, const char *group) {
  char path[CPU_PATH];
  double lowest = 0;
  int head = snprintf(path, sizeof path, "%s%s", root, mount);
  int all = snprintf(path, sizeof path, "%s%s%s", root, mount, strcmp(group, "/") ? group : "");
  if (all >= (int)sizeof path) return 0;
  for (;; *strrchr(path, '/') = 0) {
    lowest = lesser_quota(lowest, of(path));
    if ((int)strlen(path) <= head) return lowest;
  }
}

/* /proc/self/cgroup: "0::/group" for version 2, "4:cpu,cpuacct:/group" for version 1. */
static double group_limit(folder_limit *of, const char *root, const char *controller) {
  char path[CPU_PATH], line[CPU_PATH], mount[64];
  double lowest = 0;
  snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *controllers++ = 0, *group++ = 0;
    if (!*controllers) {
      lowest = lesser_quota(lowest, limit_up(of, root, "/sys/fs/cgroup", group));
      lowest = lesser_quota(lowest, limit_up(of, root, "/sys/fs/cgroup/unified", group));
    }
    for (char *save, *c = strtok_r(controllers, ",", &save); c; c = strtok_r(NULL, ",", &save))
      if (!strcmp(c, controller)) lowest = lesser_quota(lowest, limit_up(of, root, mount, group));
  }
  if (f) fclose(f);
  return lowest;
}

double kcl_cgroup_cpus(const char *root) { return group_limit(quota_of, root, "cpu"); }
double kcl_cgroup_memory(const char *root) { return group_limit(memory_of, root, "memory"); }

static int processors(void) {
#ifdef CPU_COUNT
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

static int found;

static void count_cpus(void) {
  const char *given = getenv("OMP_NUM_THREADS");
  double quota = kcl_cgroup_cpus("");
  int limit = given ? atoi(given) : 0;
  found = processors();
  if (quota > 0 && ceil(quota) < found) found = (int)ceil(quota);
  if (limit > 0) found = limit;
}

int kcl_cpus(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, count_cpus);
  return found;
}

static _Thread_local int wanted; /* 0: all */

int kcl_threads(void) { return wanted ? wanted : kcl_cpus(); }

int kcl_set_threads(int threads) {
  if (threads < 0 || threads > KCL_MAX_THREADS) return KCL_USAGE;
  wanted = threads;
  return KCL_OK;
}
