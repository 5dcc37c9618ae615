/* An OpenCL device: its queue, buffers, uploads, compiled programs. */
#ifndef KCL_OPENCL_H
#define KCL_OPENCL_H

#include "core/base/background.h"
#include "core/base/context.h"
#include "core/program/executor.h"
#include "core/matrix/matrix.h"

/* ---- without OpenCL types: core/opencl/none.c stands in for these in a build without OpenCL */
void kcl_opencl_list(kcl_device *list, int room, int *count); /* appends every device there is */
const char *kcl_icd_loader(void); /* path of the library that answers calls */
int kcl_opencl_extensions(kcl *ctx, const kcl_device *which, char **out);
/* Context and queue on it; queue: the caller's cl_command_queue and its context, or NULL: new ones. */
int kcl_opencl_attach(kcl *ctx, const kcl_device *which, void *queue);
int kcl_opencl_device_of(kcl *ctx, void *queue, kcl_device *out);  /* of the caller's queue */
void kcl_opencl_get(const kcl *ctx, void **context, void **queue); /* in use */
void kcl_opencl_detach(kcl *ctx);
int kcl_opencl_open(kcl_program *k, kcl_executor *ex);
double kcl_opencl_estimate(
    kcl_program *k);                    /* seconds per pass over LOOP, matrices being outlines */
int kcl_opencl_upload(kcl_matrix *m);   /* its arrays, if that has not been done */
void kcl_opencl_adopt(kcl_matrix *m);   /* m->device is freed with m: arrays are made there */
void kcl_opencl_find_images(kcl *ctx);  /* ctx->images */
int kcl_opencl_profile_begin(kcl *ctx); /* event times are recorded (profile.c) */
void kcl_opencl_profile_take(kcl *ctx, kcl_profile *out);
int kcl_opencl_transfer(kcl *ctx, const char *kernel, void *y, void *x, int64_t n, double scale);
/* Pinned host memory. Reads into it do not block the host; into pageable memory they do, at a third of the rate (NVIDIA). */
int kcl_opencl_pin_host(kcl *ctx, size_t bytes, const char *what, kcl_pinned *out);
void kcl_opencl_unpin_host(kcl *ctx, kcl_pinned *p); /* also of an empty one */
/* Pins memory of the caller's; out->buffer is NULL where the driver does not take it. */
void kcl_opencl_register_host(kcl *ctx, void *memory, size_t bytes, kcl_pinned *out);

#ifndef KCL_NO_OPENCL /* ---- for core/opencl/ alone */
#include "core/opencl/cl.h"

typedef struct kcl_pool kcl_pool;
enum { KCL_BUILT = 128, KCL_CHUNKS = 16 };
struct kcl_opencl {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool is_cpu, is_nvidia, small_groups;
  bool compiles_alone;  /* two compilations at once crash it: Oclgrind 21 */
  int units;            /* compute units */
  int concurrent;       /* groups that run at once and may wait for each other */
  cl_ulong local_bytes; /* local memory of a group */
  struct {
    char *key;
    cl_program program;
  } built[KCL_BUILT];          /* a ring of the latest: other solvers often need the same kernels */
  struct kcl_loading *loading; /* adds to it in the background; or NULL */
  cl_mem pinned;               /* memory for uploads (upload.c), */
  char *chunks;                /* [KCL_CHUNKS, chunk_bytes] */
  cl_event sent[KCL_CHUNKS];   /* is the copy out of it done? */
  int64_t chunked;             /* chunks that were sent from it */
  kcl_background *pins;        /* makes it */
  size_t chunk_bytes;          /* 0: not decided yet (tests use small ones) */
  kcl_pool *pool;              /* of buffers; or NULL: there are none yet */
  void *kept;                  /* between set-ups of preconditioners (sparse/opencl), and its end */
  void (*free_kept)(void *kept);
  int builds, compiled,
      from_cache;            /* programs: all, those the driver compiled, those from the disk */
  bool dumped;               /* something, to the file of KRYLOCL_DUMP */
  struct kcl_event_log *log; /* NULL: no event times */
};

/* For the last argument of an enqueue: where its event goes, or NULL. keep: of an event that the caller has as well. */
cl_event *kcl_profile_event(kcl_opencl *o, const char *kind, size_t bytes);
cl_event *kcl_profile_launch(kcl_opencl *o, cl_kernel k, size_t group);
void kcl_profile_keep(kcl_opencl *o, cl_event event, const char *kind, size_t bytes);
void kcl_opencl_profile_end(kcl_opencl *o);

/* KCL_OK, or a failure that names the call, the code, and `what` was being done. */
int kcl_cl_check(kcl *ctx, cl_int code, const char *call, const char *what);
int kcl_opencl_buffer(kcl *ctx, size_t bytes, const char *what,
                      cl_mem *out); /* filled with zeros */
/* The size of such a buffer; fills so many bytes with zeros. */
size_t kcl_opencl_padded(size_t bytes);
cl_int kcl_opencl_clear(kcl *ctx, cl_mem buffer, size_t bytes);

/* A pool of buffers for reuse (pool.c). briefly: the buffer is returned soon, so a larger one will do. */
int kcl_pool_take(kcl *ctx, size_t bytes, bool briefly, void **out);
void kcl_pool_give(kcl *ctx, const void *buffer); /* any buffer, or NULL: others are released */
void kcl_pool_trim(kcl *ctx);                     /* what is free: to a part of the memory */
void kcl_pool_end(kcl_opencl *o);
/* A buffer of zeros from the pool. */
int kcl_opencl_vector(kcl *ctx, size_t bytes, cl_mem *out);

/* `count` elements of `element` bytes. fill writes `count` of them from number `from` on to `to`, which may be pinned memory;
 * it has been called for all when kcl_opencl_write returns. kcl_fill_bytes copies. */
typedef void (*kcl_fill)(const void *source, int64_t from, int64_t count, void *to);
typedef struct kcl_upload {
  size_t element;
  int64_t count;
  kcl_fill fill;
  const void *source;
} kcl_upload;
int kcl_opencl_write(kcl *ctx, cl_mem to, const kcl_upload *u, const char *what);
void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to);
void kcl_fill_narrow(const void *source, int64_t from, int64_t count,
                     void *to);           /* int64 to int32 */
void kcl_opencl_pin_ahead(kcl_opencl *o); /* makes the pinned memory of uploads in the background */
void kcl_opencl_unpin(kcl_opencl *o);

/* Compiles, several at once, or finds what this context or an earlier process compiled from the same source
 * (program_cache.c). Release the programs; after a failure there are none. */
enum { KCL_MOST_PARTS = 48, KCL_MOST_BUILDS = KCL_MOST_PARTS + 2 };
typedef struct kcl_build {
  const char *source, *options;
  cl_program program;
} kcl_build;
int kcl_opencl_build(kcl *ctx, kcl_build *list, int count);
bool kcl_opencl_have(kcl *ctx, const kcl_build *b); /* without compiling? */
/* Begins to load, in the background, those that an earlier process compiled. */
void kcl_opencl_load_ahead(kcl *ctx, const kcl_build *list, int count);
/* clBuildProgram; *stopped: the solve is to stop, and the driver goes on with the program by itself (compile.c). */
cl_int kcl_opencl_compile(kcl *ctx, cl_program p, const char *options, bool *stopped);
void kcl_opencl_forget_programs(kcl_opencl *o);

enum { KCL_HALO_GROUPS = 256 }; /* that complete a product, at most (kernels/halo.cl) */
/* How a program is laid out on a device (geometry.c), which its source depends on. */
typedef struct kcl_geometry {
  int group, groups_max; /* work-items per work-group; most groups of a launch */
  int partials_max; /* partial sums of a dot: one per group, and on ranks one per group of the halo */
  int registers;    /* per work-item, where the compiler can be told; 0: its own choice */
  bool streamed;   /* the matrix is read by streaming loads, so that vectors stay in the L2 cache */
  int block;       /* elements per block of a fused loop, CPU layout */
  int sum_block;   /* rows of each work-group, where sums have a fixed shape; 0: any */
  bool wide_index; /* counts beyond 2^31 */
  bool without_loop; /* LOOP and REPLACE are in the persistent kernel: not compiled separately */
  int series_groups; /* work-groups of a series (series.c), all resident; 0: there are no series */
  int series_bytes;  /* that a stage of one moves, at most */
  bool series;       /* the source holds series, not stages */
  /* The persistent kernel: all of LOOP in one launch. What follows is about it. */
  bool persistent;
  bool local_halo;              /* the halo of a group's rows fits in its local memory */
  const kcl_matrix *renumbered; /* A with columns as positions in halo lists; NULL: a range of x */
  bool cached_x;                /* without local_halo: x is read through the L1 cache */
  int rows_per_item;            /* elements per work-item */
  bool in_registers;            /* vectors of LOOP are kept in registers */
  bool overlaps; /* products are computed while reductions are in flight, row sums in registers */
  bool reducing_group; /* one group without rows adds up the dots */
} kcl_geometry;
kcl_geometry kcl_choose_geometry(const kcl_program *k); /* for one launch per stage */
int kcl_most_dots(const kcl_program *k);                /* the constant MOST_DOTS */
size_t kcl_poll_bytes(const kcl_program *k);            /* of a state: control blocks and slots */
size_t kcl_state_bytes(const kcl_program *k, const kcl_geometry *g);
bool kcl_sums_are_argument(const kcl_program *k); /* those over ranks, of kernels */
/* Where the kernel of each stage is (parts.c): stage `number` of `phase` owns it, and it is called stage_PHASE_NUMBER, or
 * stage_shared where it is alone in its part. */
typedef struct kcl_stage_kernel {
  int phase, number, part;
  bool alone;
} kcl_stage_kernel;
typedef struct kcl_parts {
  kcl_stage_kernel *of[KCL_PHASES]; /* [stages] */
  int count;                        /* of parts: programs that are compiled at once */
} kcl_parts;
int kcl_parts_find(const kcl_program *k, const kcl_geometry *g, kcl_parts *out);
void kcl_parts_free(kcl_parts *p);
/* Has the stage a kernel of its own? Not within the persistent kernel or a series. */
bool kcl_stage_compiled(const kcl_program *k, const kcl_geometry *g, int phase, int number);
/* OpenCL source of the kernels of one part of a program, for this device. Free with free(). */
int kcl_program_source(const kcl_program *k, const kcl_geometry *g, const kcl_parts *parts,
                       int part, char **source);
/* Stages of the preconditioner that differ in their vectors and in the contents of their matrix share a kernel, or in series
 * a function: the first such stage's, which has the number *phase, *number afterwards. Stages that the persistent kernel
 * replaces have none. */
void kcl_stage_shared(const kcl_program *k, const kcl_geometry *g, int *phase, int *number);
#endif

#endif
