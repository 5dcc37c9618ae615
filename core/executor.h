/* The executor's table: where a recorded program runs. One instance serves one program.
 * cpu (core/cpu.c) is the definition; opencl (core/opencl_run.c) must agree with it. */
#ifndef KCL_EXECUTOR_H
#define KCL_EXECUTOR_H

#include "core/program.h"

enum {
  KCL_HISTORY = 4096, /* iterations the device remembers; the host fetches them sooner */
  KCL_LOG = 4,        /* numbers noted an iteration: residual^2, alpha, beta, spare */
  KCL_MOST_SLOTS = 1600
};

/* The integers of a program's state, as on the device (kernels/stage.clh). */
typedef struct kcl_head {
  int32_t stop; /* 0 running, else 1 + kcl_reason */
  int32_t iteration, limit;
  int32_t untested; /* 1: no test stops the loop (timing) */
  int32_t open;     /* 1: stopped inside a cycle, which is still to be closed */
  int32_t lost;     /* work-groups that should meet do not (kernels/grid.clh) */
  int32_t spare[2];
} kcl_head;

typedef struct kcl_executor kcl_executor;
struct kcl_executor {
  void *data;
  /* vectors from and to the host, one column, converted from type and multiplied by scale */
  int (*put)(kcl_executor *, kcl_vec, int column, kcl_type type, const void *values, double scale);
  int (*get)(kcl_executor *, kcl_vec, int column, kcl_type type, void *values, double scale);
  /* Each of [columns]; target: squared norm to reach. A column whose stop is set keeps all its vectors. */
  int (*set_state)(kcl_executor *, const kcl_head *head, const double *target);
  int (*run)(kcl_executor *, kcl_phase, int64_t times); /* asynchronous where it can be; at most
                                                              KCL_HISTORY steps */
  /* State after the oldest run that was not looked at, each of [columns]; where all were, nothing need change. */
  int (*look)(kcl_executor *, kcl_head *head, double *rr);
  int (*history)(kcl_executor *, int column, int64_t from, int64_t to,
                 double *out /* [to - from, KCL_LOG] */);
  int (*finish)(kcl_executor *);
  /* `to`, which runs the same method with A in another format on the same device, goes on where `from`
   * stands, between two passes over LOOP, with nothing left to be looked at */
  int (*carry)(kcl_executor *to, const kcl_executor *from);
  void *(*memory)(kcl_executor *, kcl_vec); /* where a vector lies: on the host, or a cl_mem */
  void (*close)(kcl_executor *);
  bool replaces; /* run(LOOP) sees to REPLACE itself, every kcl_replacement_interval passes */
  int64_t least; /* passes over LOOP that are worth a call of run: 0 means few */
  double seconds_upload, seconds_compile;
  int compiled, from_cache; /* programs: by the driver, from the cache folder */
};

int kcl_executor_open(kcl_program *k,
                      kcl_executor *ex); /* on the context's device; on failure close it too */
int kcl_opencl_open(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_s(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_d(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_c(kcl_program *k, kcl_executor *ex);
int kcl_cpu_open_z(kcl_program *k, kcl_executor *ex);

#endif
