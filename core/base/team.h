/* Threads: parallel regions and parallel loops on a team of threads.
 *
 *   kcl_parallel(threads, body, arg)    body(arg, me) on each member of a team
 *   kcl_for(n, least, body, arg)        body(arg, from, to): one contiguous part of [0, n) per thread
 *   kcl_for_each(n, grain, body, arg)   the same in parts of `grain`, handed out one after another
 *   kcl_while(threads, next, part, arg) while (next(arg)) part(arg, p, parts) for p = 0 .. parts - 1, with a barrier
 *                                       before and after next
 *
 * The caller is member 0; the others come from a pool of the process, are created when they are first needed and sleep
 * between regions. Each region has members of its own, so user threads do not disturb each other. A region inside a region
 * has one member. Where threads cannot be created the team is smaller. A child of fork() begins with an empty pool.
 */
#ifndef KCL_TEAM_H
#define KCL_TEAM_H
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct kcl_team kcl_team;
typedef struct kcl_member {
  kcl_team *team;
  int number, threads; /* 0 to threads - 1 */
} kcl_member;

typedef void kcl_region(void *arg, const kcl_member *me);
typedef void kcl_range(void *arg, int64_t from, int64_t to);

void kcl_parallel(int threads, kcl_region *body, void *arg);

/* next prepares a step, on one thread; the parts of a step run on all threads, neighbouring parts on the same one. Parts that a
 * delayed thread has not started are taken by others, so that barriers do not wait for threads that a busy machine does not run. */
enum { KCL_PARTS_PER_THREAD = 4 }; /* parts = 4 threads */
typedef bool kcl_prepare(void *arg);
typedef void kcl_share(void *arg, int part, int parts);
void kcl_while(int threads, kcl_prepare *next, kcl_share *part, void *arg);

enum { KCL_FEW_ROWS = 4096, KCL_FEW = 1 << 15 }; /* rows, and numbers, that are worth a thread */

/* For the thread sanitizer: small loops and small systems use all threads, too. */
#ifndef KCL_ALL_THREADS
#define KCL_ALL_THREADS 0
#endif

/* least: of indices that are worth a thread. The parts of kcl_for do not overlap and are in the order of the members. */
void kcl_for(int64_t n, int64_t least, kcl_range *body, void *arg);
void kcl_for_each(int64_t n, int64_t grain, kcl_range *body, void *arg);

/* The sum, or the largest, of part(arg, from, to) over parts of [0, n). The parts do not depend on the number of threads,
 * nor does their order: the bits are the same on any number. A NaN is the largest. */
typedef double kcl_part(const void *arg, int64_t from, int64_t to);
double kcl_sum(int64_t n, int64_t least, kcl_part *part, const void *arg);
double kcl_largest(int64_t n, int64_t least, kcl_part *part, const void *arg);
/* The larger of both; NaN if one of them is. */
static inline double kcl_larger_or_nan(double a, double b) { return b <= a || isnan(a) ? a : b; }

/* Results of all parts in one place. */
void kcl_lower(_Atomic int64_t *least, int64_t value);
void kcl_raise(_Atomic int64_t *most, int64_t value);
/* Numbers of 0 or more are in the order of their bits, and NaN is above all of them. */
static inline int64_t kcl_bits(double v) {
  int64_t bits;
  v = fabs(v);
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
static inline double kcl_of_bits(int64_t bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* A pause between two polls of a value that another thread writes. */
static inline void kcl_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Threads that can run at once: the processors that this process may use, at most the quota of its control groups and
 * OMP_NUM_THREADS. Loops have at most kcl_threads() (krylocl.h), which is as many unless the user asks for another number. */
int kcl_cpus(void);
/* Processors of the quota of control groups version 1 and 2, 0 if there is none; root: "" or a folder, for tests. */
double kcl_cgroup_cpus(const char *root);
/* Bytes of memory that the control groups allow, 0 if there is no limit; root: as above. */
double kcl_cgroup_memory(const char *root);
#endif
