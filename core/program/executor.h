/* The executor's table: where a recorded program runs. One instance serves one program. The native executor (core/cpu)
 * is the definition; the OpenCL executor (core/opencl) must agree with it. */
#ifndef KCL_EXECUTOR_H
#define KCL_EXECUTOR_H

#include "core/program/program.h"

enum {
  KCL_HISTORY = 4096,      /* iterations kept on the device; the host fetches them earlier */
  KCL_HISTORY_FIELDS = 4,  /* numbers per iteration: residual^2, alpha, beta, spare */
  KCL_MOST_SLOTS = 1600,   /* on an OpenCL device, whose work-groups keep them in local memory: */
  KCL_OPENCL_RESTART = 50, /* the longest cycle of gmres that has no more */
  KCL_SNAPSHOTS = 2
};

/* The control block of a right-hand side, as on the device (kernels/stage.clh). */
typedef struct kcl_control {
  int32_t stop; /* 0 running, else 1 + kcl_reason */
  int32_t iteration, limit;
  int32_t tests_off;  /* 1: no test stops the loop (timing) */
  int32_t cycle_open; /* 1: stopped inside a cycle, whose end is still to run */
  int32_t
      group_missing;  /* a work-group missed a grid barrier: 1 before anything was done, 2 later */
  int32_t was_active; /* scratch of the persistent kernel */
  int32_t group_lost; /* any work-group missed a message later on */
} kcl_control;

/* Numbers in a buffer of an OpenCL device: number i is element first + i step. */
typedef struct kcl_column {
  void *buffer; /* cl_mem; NULL: there is no column */
  int64_t first, step;
  kcl_type type;
} kcl_column;

/* y = alpha A x + beta y on the caller's memory: x and y have all fields set and checked (solver/vectors.h); arrays have inc 1.
 * alpha, beta: one number of their type; NULL: 1 and 0. */
typedef struct kcl_multiplication {
  const kcl_vectors *x, *y;
  const void *alpha, *beta;
} kcl_multiplication;

typedef struct kcl_executor kcl_executor;
struct kcl_executor {
  void *data;
  /* The vector of one right-hand side from and to the host, converted and multiplied by scale. */
  int (*put)(kcl_executor *, kcl_vec, int rhs, kcl_type type, const void *values, double scale);
  int (*get)(kcl_executor *, kcl_vec, int rhs, kcl_type type, void *values, double scale);
  /* control, target: [nrhs]; target: squared norm to reach. A right-hand side whose stop is set keeps its vectors. */
  int (*set_state)(kcl_executor *, const kcl_control *control, const double *target);
  int (*run)(kcl_executor *, kcl_phase, int64_t times); /* asynchronous where possible; at most
                                                              KCL_HISTORY iterations */
  /* The state after the oldest run that was not polled, [nrhs] each; unchanged if there is none. */
  int (*poll)(kcl_executor *, kcl_control *control, double *rr);
  /* The real part of a slot, after the latest poll. */
  double (*scalar)(const kcl_executor *, kcl_slot, int rhs);
  int (*history)(kcl_executor *, int rhs, int64_t from, int64_t to,
                 double *out /* [to - from, KCL_HISTORY_FIELDS] */);
  int (*finish)(kcl_executor *);
  /* Copies of x kept aside, KCL_SNAPSHOTS of them: save x of all right-hand sides, in the order of what is enqueued; load x
   * of one. KCL_MEMORY: no room for a copy. */
  int (*save)(kcl_executor *, int snapshot);
  int (*load)(kcl_executor *, int snapshot, int rhs);
  /* `to` runs the same method with A in another format on the same device: it gets the state and the vectors of `from`,
   * between two passes over LOOP, everything polled. */
  int (*carry)(kcl_executor *to, const kcl_executor *from);
  /* Slots, partial sums and the executor's own counters, state_bytes of them: with the vectors that kcl_vector_carried names and the
   * control blocks they are all that LOOP goes on from. They serve the same program on a device of one kind, laid out alike, between
   * two passes over LOOP with nothing enqueued. */
  size_t (*state_bytes)(const kcl_executor *);
  int (*get_state)(kcl_executor *, void *bytes);
  int (*put_state)(kcl_executor *, const void *bytes);
  /* For a program b = A x. Enqueued only, where x and y are buffers. */
  int (*multiply)(kcl_executor *, const kcl_multiplication *m);
  void *(*memory)(kcl_executor *, kcl_vec); /* of a vector: on the host, or a cl_mem */
  /* A cl_mem that describes stages to kernels, which no run changes, or NULL. NULL: the native executor. */
  void *(*table)(kcl_executor *);
  kcl_column (*column)(kcl_executor *, kcl_vec, int rhs); /* of a right-hand side; NULL: natively */
  /* Kernels that a stage begins with: a product may be prepared by one of its own; 0 within another stage's. NULL: none at all. */
  int (*launches)(const kcl_executor *, kcl_phase, int stage);
  int (*source)(kcl_executor *, char **out); /* OpenCL C, malloc'd; NULL: it runs no source */
  void (*close)(kcl_executor *);
  bool replaces; /* run(LOOP) runs REPLACE, too, every kcl_replacement_interval passes */
  bool ends;     /* on several ranks: run(LOOP) ends when all right-hand sides have stopped */
  int team; /* threads of the native executor in its last run, which may be fewer than there are; 0: other executors */
  int64_t least_iterations; /* that are worth a call of run(LOOP); 0: a few */
  double seconds_upload, seconds_compile;
  int compiled, from_cache; /* programs: by the driver, from the cache folder */
};

#endif
