/* Runs one OpenCL kernel on the host: every work-item is a thread, every work-group has its own copy of the compiled
 * kernel (and with it its own local memory), and all groups run at the same time. Compiled with the thread sanitizer by
 * tests/test_persistent.c, which describes a launch in FOLDER/launch and passes the global memory in FOLDER/memory.
 * usage: work_groups FOLDER
 *
 * Memory model: plain accesses are checked for data races. Volatile accesses of a message's size are the protocol's
 * relaxed atomic words: they are not checked, and they order nothing. Volatile reads of other sizes are checked like
 * plain ones. Barriers order a group's work-items. Atomics are relaxed; a fence makes the next exchange a release, and
 * the last atomic read an acquire.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, MOST_GROUPS = 16, MOST_PATH = 1200 };
typedef void kernel_function(long, ...);
typedef struct group {
  kernel_function *kernel;
  pthread_barrier_t barrier;
  atomic_int ended
      [2]; /* work-items at their end, which met there: at barriers of even and of odd number */
  long argument[MOST_ARGUMENTS];
} group;
static group groups[MOST_GROUPS];
static int group_count, group_size, message_bytes, argument_count;
static long bytes[MOST_ARGUMENTS]; /* of buffers; 0: no buffer */
static char *buffer[MOST_ARGUMENTS];
static _Thread_local unsigned my_group, my_item, polls, barriers;
static _Thread_local bool fenced;                          /* the next exchange releases */
static _Thread_local volatile _Atomic unsigned *last_read; /* what the next fence acquires */

static void fail(const char *what, const char *why) {
  fprintf(stderr, "work_groups: %s: %s\n", what, why);
  exit(3);
}

/* ---------------------------------------------------------------- volatile accesses */

void __tsan_read1(void *);
void __tsan_read2(void *);
void __tsan_read4(void *);
void __tsan_read8(void *);
void __tsan_read16(void *);
void __tsan_write4(void *);
void __tsan_write8(void *);
void __tsan_write16(void *);

/* Gives the processor to the work-item that is waited for; sleeps when that takes long. */
static void polled(void) {
  if (++polls % 16) return;
  if (polls < 512)
    sched_yield();
  else
    usleep(50);
}
#define VOLATILE(bytes)                                                                            \
  void __tsan_volatile_read##bytes(void *p) {                                                      \
    polled();                                                                                      \
    if (bytes != message_bytes) __tsan_read##bytes(p);                                             \
  }                                                                                                \
  void __tsan_volatile_write##bytes(void *p) {                                                     \
    polls = 0;                                                                                     \
    if (bytes != message_bytes) __tsan_write##bytes(p);                                            \
  }
VOLATILE(4)
VOLATILE(8)
VOLATILE(16)

/* ---------------------------------------------------------------- OpenCL's functions, by their mangled names */

/* A barrier, or a work-item's end. The work-items of a group reach the same number of barriers: if one ends where another
 * waits, the kernel would hang. A work-item at barrier i + 1 has seen who ended at barrier i. */
static void meet(bool end) {
  group *g = &groups[my_group];
  atomic_int *ended = &g->ended[barriers++ % 2];
  if (end) ++*ended;
  pthread_barrier_wait(&g->barrier);
  if (*ended && *ended < group_size) fail("barrier", "not reached by all work-items of the group");
}

#define OPENCL(name) __asm__(name)
size_t get_local_id(unsigned d) OPENCL("_Z12get_local_idj");
size_t get_group_id(unsigned d) OPENCL("_Z12get_group_idj");
size_t get_num_groups(unsigned d) OPENCL("_Z14get_num_groupsj");
size_t get_global_id(unsigned d) OPENCL("_Z13get_global_idj");
void barrier(unsigned flags) OPENCL("_Z7barrierj");
void fence(unsigned flags) OPENCL("_Z9mem_fencej");
unsigned xchg(volatile _Atomic unsigned *p, unsigned a) OPENCL("_Z11atomic_xchgPU8CLglobalVjj");
unsigned or (volatile _Atomic unsigned *p, unsigned a) OPENCL("_Z9atomic_orPU8CLglobalVjj");
int min_i(int a, int b) OPENCL("_Z3minii");
int max_i(int a, int b) OPENCL("_Z3maxii");
float sqrt_f(float a) OPENCL("_Z4sqrtf");
double sqrt_d(double a) OPENCL("_Z4sqrtd");
float fabs_f(float a) OPENCL("_Z4fabsf");
double fabs_d(double a) OPENCL("_Z4fabsd");
float fmax_f(float a, float b) OPENCL("_Z4fmaxff");
double fmax_d(double a, double b) OPENCL("_Z4fmaxdd");

size_t get_local_id(unsigned d) { return d ? 0 : my_item; }
size_t get_group_id(unsigned d) { return d ? 0 : my_group; }
size_t get_num_groups(unsigned d) { return d ? 1 : (size_t)group_count; }
size_t get_global_id(unsigned d) { return d ? 0 : my_group * (size_t)group_size + my_item; }
void barrier(unsigned flags) {
  (void)flags, polls = 0;
  meet(false);
}
void fence(unsigned flags) {
  (void)flags;
  if (last_read) atomic_load_explicit(last_read, memory_order_acquire);
  last_read = NULL, fenced = true;
}
unsigned xchg(volatile _Atomic unsigned *p, unsigned a) {
  bool release = fenced;
  fenced = false;
  return release ? atomic_exchange_explicit(p, a, memory_order_release)
                 : atomic_exchange_explicit(p, a, memory_order_relaxed);
}
unsigned or (volatile _Atomic unsigned *p, unsigned a) {
  polled();
  last_read = p;
  return atomic_fetch_or_explicit(p, a, memory_order_relaxed);
}
int min_i(int a, int b) { return a < b ? a : b; }
int max_i(int a, int b) { return a > b ? a : b; }
float sqrt_f(float a) { return __builtin_sqrtf(a); }
double sqrt_d(double a) { return __builtin_sqrt(a); }
float fabs_f(float a) { return __builtin_fabsf(a); }
double fabs_d(double a) { return __builtin_fabs(a); }
float fmax_f(float a, float b) { return a > b ? a : b; }
double fmax_d(double a, double b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- a launch */

static void *work_item(void *number) {
  my_group = (unsigned)((intptr_t)number / group_size);
  my_item = (unsigned)((intptr_t)number % group_size);
  const long *a = groups[my_group].argument;
  /* pointers and integers alone: more arguments than the kernel has do no harm */
#define FOUR(i) a[i], a[i + 1], a[i + 2], a[i + 3]
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
  groups[my_group].kernel(SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48));
  meet(true);
  return NULL;
}

/* The i-th group's copy of FOLDER/kernel.so, a file of its own, for its variables are the local memory. */
static void load(const char *folder, const char *name, int i) {
  char command[3 * MOST_PATH], path[MOST_PATH];
  snprintf(path, sizeof path, "%s/kernel-%d.so", folder, i);
  snprintf(command, sizeof command, "cp '%s/kernel.so' '%s'", folder, path);
  if (system(command)) fail(path, "not copied");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(path, dlerror());
  *(void **)&groups[i].kernel = dlsym(library, name);
  if (!groups[i].kernel) fail(path, "no such kernel");
  pthread_barrier_init(&groups[i].barrier, NULL, (unsigned)group_size);
}

/* FOLDER/memory, all buffers one after the other: read into memory of their own, or written back. */
static void copy_memory(const char *folder, bool back) {
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/memory", folder);
  FILE *f = fopen(path, back ? "wb" : "rb");
  if (!f) fail(path, "not opened");
  for (int i = 0; i < argument_count; i++) {
    if (!bytes[i]) continue;
    size_t size = (size_t)bytes[i];
    if (!back) buffer[i] = aligned_alloc(64, (size + 63) / 64 * 64);
    for (int g = 0; g < group_count; g++) groups[g].argument[i] = (long)buffer[i];
    /* cppcheck-suppress IOWithoutPositioning ; one direction per call */
    size_t done = back ? fwrite(buffer[i], 1, size, f) : fread(buffer[i], 1, size, f);
    if (done != size) fail(path, "cut short");
  }
  if (fclose(f)) fail(path, "not closed");
}

/* kind: b a buffer of so many bytes, l local memory, s a scalar with this value */
static void read_launch(const char *folder, char name[64]) {
  char path[MOST_PATH], kind;
  long value;
  snprintf(path, sizeof path, "%s/launch", folder);
  FILE *f = fopen(path, "r");
  if (!f || fscanf(f, "%63s %d %d %d %d", name, &group_count, &group_size, &message_bytes,
                   &argument_count) != 5)
    fail(path, "not readable");
  for (int i = 0; i < argument_count; i++) {
    if (fscanf(f, " %c %ld", &kind, &value) != 2) fail(path, "an argument is missing");
    bytes[i] = kind == 'b' ? value : 0;
    for (int g = 0; g < group_count; g++)
      groups[g].argument[i] = kind == 'l' ? (long)calloc(1, (size_t)value) : value;
  }
  fclose(f);
}

int main(int argc, char **argv) {
  char name[64];
  if (argc != 2) return 2;
  read_launch(argv[1], name);
  copy_memory(argv[1], false);
  for (int g = 0; g < group_count; g++) load(argv[1], name, g);
  pthread_t *thread = malloc((size_t)(group_count * group_size) * sizeof *thread);
  for (intptr_t i = 0; i < group_count * group_size; i++)
    if (pthread_create(&thread[i], NULL, work_item, (void *)i)) fail("a work-item", "no thread");
  for (int i = 0; i < group_count * group_size; i++) pthread_join(thread[i], NULL);
  copy_memory(argv[1], true);
  return 0;
}
