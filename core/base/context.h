/* The state of a kcl context. For core/, spmv/rank.c and solver/; plug-ins do not use it. */
#ifndef KCL_CONTEXT_H
#define KCL_CONTEXT_H
#include "core/base/base.h"
#include "core/base/tunables.h"
#include <pthread.h>
#include <sys/types.h>

typedef struct kcl_opencl
    kcl_opencl; /* core/opencl/device/device.h: device, queue, compiled programs */

/* How the rows of a product are divided. NATIVE: among threads. CPU: one contiguous row block per work-group of one
 * work-item. GPU: neighbouring rows to neighbouring work-items. */
typedef enum kcl_layout { KCL_LAYOUT_NATIVE, KCL_LAYOUT_CPU, KCL_LAYOUT_GPU } kcl_layout;

/* The device's 2D images of 32-bit words, for formats that read x from an image. */
enum { KCL_IMAGE_BITS = 13 }; /* rows of 2^13 texels: every device with images has them */
typedef struct kcl_images {
  size_t width, height; /* of the largest image, in texels */
  int texel[4];         /* scalars per texel, by type; 0: no such image */
} kcl_images;

/* How ranks share the rows: by weights, else equal nonzeros on like devices and by rates on others; equal nonzeros;
 * nonzeros by rates; equal numbers of rows. */
typedef enum kcl_share_rule {
  KCL_SHARES_AUTO,
  KCL_SHARES_NONZEROS,
  KCL_SHARES_RATES,
  KCL_SHARES_ROWS
} kcl_share_rule;

/* A system that ranks share: own rows, or a function in place of them. */
struct kcl_shell;
typedef struct kcl_own_system {
  const kcl_csr *A;
  const struct kcl_shell *shell; /* or NULL */
  kcl_precond *M;                /* given, for own rows; or NULL */
  const kcl_options *options;
  const kcl_solver
      *before; /* of earlier values in A's pattern, to keep of it (KCL_KEEP_...); or NULL */
  int keep;
} kcl_own_system;

/* Functions on several ranks, in place of those of one process (distributed/world.c). */
typedef struct kcl_world kcl_world;
struct kcl_world {
  int rank, ranks;
  int (*setup)(kcl_context *ctx, const kcl_own_system *own, kcl_solver **out);
  int (*multiply)(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                  kcl_operator **out);
  void (*free)(kcl_world *);
};

/* A kernel that the self-test of the driver has run (solver/engine/selftest.c). */
enum { KCL_MOST_TESTED = 64 };
typedef struct kcl_tested {
  uint64_t key;      /* 0: an unused entry */
  double difference; /* of x from the native executor's, beyond rounding; 0: the kernel is right */
} kcl_tested;

struct kcl_context {
  _Atomic int
      references; /* the caller's, until kcl_destroy, one per solver and operator, and one per entry */
  _Atomic int bystanders; /* of them: matrices by handle, which keep nothing on the device */
  pthread_mutex_t lock;   /* held by the thread that is inside; core/base/context.c */
  pid_t process;          /* that made the lock */
  int depth;              /* entries of that thread */
  bool solving;           /* a solve is running: its callbacks may not use the context */
  bool watching;          /* kcl_context_watch's callback is running */
  _Atomic bool stop;      /* kcl_solver_stop was called in this solve */
  void (*watch)(void *user, const kcl_activity *a); /* or NULL */
  void *watcher;
  /* In a solve: the callback that says whether it is to stop, and its argument; NULL: no solve is running. */
  int (*ask)(void *asker);
  void *asker;
  pthread_t asks;       /* the thread that may ask: the one that uses the context */
  _Atomic bool stopped; /* the answer was yes */
  bool selected;
  kcl_device device;
  kcl_layout layout;
  bool like_gpu; /* natively: preconditioners are those that a GPU has, to be compared with it */
  kcl_share_rule shares;
  kcl_images images;                /* of the device */
  int threads;                      /* of the native executor */
  kcl_world *world;                 /* owned; NULL: a context of one process */
  bool padding_allowed;             /* kcl_allow_padding */
  bool zero_based;                  /* kcl_set_index_base */
  bool profiled;                    /* kcl_profile_enable */
  kcl_opencl *opencl;               /* NULL on the native executor */
  pid_t opencl_process;             /* that made it */
  void (*detach)(kcl_context *ctx); /* frees it */
  kcl_stream stream;                /* all 0 until measured or recalled */
  bool rates_read;                  /* kcl_rates_recall has looked for those on record */
  double moved;      /* bytes/s of the fastest iterations that this device has done here */
  double launch;     /* seconds of the shortest stage on an OpenCL device; 0 until measured */
  double weight;     /* of this rank's rows, on several ranks; 0: by stream rate */
  bool reproducible; /* solvers: the same bits on any device and number of threads and ranks */
  bool metis;        /* on several ranks: the rows of a rank are a part of METIS */
  kcl_tune tune;     /* of the device */
  kcl_tested tested[KCL_MOST_TESTED]; /* a ring */
  int tested_count;
  bool device_failed;  /* a call of its driver failed since this was last cleared */
  bool objects_given;  /* OpenCL objects are the caller's */
  char put_aside[600]; /* kernels that failed one, by name; or empty */
  bool wrong_kernels;  /* the engine that was to be built last is among them */
};

/* Are matrices and solvers of this context shared by ranks? One rank alone has the functions of one process. */
static inline bool kcl_on_ranks(const kcl_context *ctx) {
  return ctx->world && ctx->world->ranks > 1;
}

void kcl_context_begin(kcl_context *ctx); /* makes its lock */
#endif
