/* An OpenCL device: its queue, buffers, uploads, compiled programs.
 *
 *   loader.c         the functions of OpenCL, by name (cl.h, functions.def)
 *   device.c         the list of devices, a context with a queue on one
 *   calls.c          errors by name, buffers of zeros
 *   pool.c           buffers for reuse
 *   upload.c         writes through pinned memory
 *   download.c       reads through pinned memory
 *   transfer.c       vectors between float and double; pinned host memory
 *   columns.c        numbers in callers' buffers
 *   matrix_arrays.c  the arrays of a matrix
 *   program_cache.c  compiled programs, kept in memory and on disk
 *   program_build.c  those of a set-up; compile.c: one compilation
 *   compile_cost.c   seconds that compilations take; compile_ahead.c: those beside the iterations
 *   profile.c        event times
 *   watch.c          limits of waits; a device that does not answer; watched_calls.c and
 *                    watched_transfers.c: the calls that have them
 */
#ifndef KCL_OPENCL_DEVICE_H
#define KCL_OPENCL_DEVICE_H

#include "core/base/background.h"
#include "core/base/context.h"
#include "core/matrix/stored.h"
#include "core/opencl/device/cl.h"
#include "core/opencl/opencl.h"
#include <stdatomic.h>
#include <stdio.h>

typedef struct kcl_pool kcl_pool;
typedef struct kcl_watched kcl_watched;
enum { KCL_BUILT = 128, KCL_CHUNKS = 16 };
struct kcl_opencl {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool is_cpu, is_nvidia, small_groups;
  bool runs_in_waits;   /* threads that wait run work-groups, too: no limits (watch.c) */
  bool compiles_alone;  /* two compilations at once crash it: Oclgrind 21 */
  int units;            /* compute units */
  int concurrent;       /* groups that run at once and may wait for each other */
  cl_ulong local_bytes; /* local memory of a group */
  struct {
    char *key;
    cl_program program;
  } built[KCL_BUILT];          /* a ring of the latest: other solvers often need the same kernels */
  struct kcl_loading *loading; /* adds to it in the background; or NULL */
  kcl_ahead *ahead;            /* compiles programs for it (compile_ahead.c); or NULL */
  cl_mem pinned;               /* memory for uploads and downloads (upload.c), */
  char *chunks;                /* [KCL_CHUNKS, chunk_bytes] */
  cl_event sent[KCL_CHUNKS];   /* is the copy out of it done? */
  int64_t chunked;             /* chunks that were sent from it */
  kcl_background *pins;        /* makes it */
  size_t chunk_bytes;          /* 0: not decided yet (tests use small ones) */
  kcl_pool *pool;              /* of buffers; or NULL: there are none yet */
  /* Programs and memory between set-ups of preconditioners (multigrid/opencl), or NULL; and their end. */
  void *idle_setup;
  void (*free_idle_setup)(void *idle_setup);
  cl_kernel conversion[KCL_CONVERT_COLLECT + 1]; /* of transfer.c; NULL: not needed yet */
  cl_kernel copy[2][2], measure[2];              /* of columns.c, likewise, in float and double; */
  cl_mem measured;                               /* its partial sums */
  int builds, compiled,
      from_cache;      /* programs: all, those the driver compiled, those from the disk */
  atomic_llong stored; /* bytes of binaries written to the cache folder */
  double compile_rate; /* seconds per character (compile_cost.c); 0: not looked up yet */
  int rounding[2];     /* of double, of float: 0 not tested, 1 right, else 2 + what is wrong */
  bool dumped;         /* something, to the file of KRYLOCL_DUMP */
  struct kcl_event_log *log; /* NULL: no event times */
  kcl_watched *watched;      /* NULL: waits have no limit */
};

/* ---- loader.c, of the table kcl_opencl_ops, as kcl_cl_load (cl.h) */
const char *kcl_icd_loader(void);

/* ---- device.c, of that table, too */
void kcl_opencl_list(kcl_device *list, int capacity, int *count);
int kcl_opencl_extensions(kcl_context *ctx, const kcl_device *which, char **out);
int kcl_opencl_properties(kcl_context *ctx, const kcl_device *which, char **out);
/* By the numbers of kcl_device; NULL: there is none. */
cl_device_id kcl_opencl_find_device(int platform_number, int device_number,
                                    cl_platform_id *platform);
int kcl_opencl_attach(kcl_context *ctx, const kcl_device *which, const kcl_opencl_objects *objects);
int kcl_opencl_device_of(kcl_context *ctx, kcl_opencl_objects *o, kcl_device *out);
kcl_opencl_objects kcl_opencl_objects_of(const kcl_context *ctx);
void kcl_opencl_detach(kcl_context *ctx);
/* May kernels keep addresses of buffers in a buffer? OpenCL 1.2 does not promise it. */
bool kcl_addresses_stay(const kcl_context *ctx);

/* ---- transfer.c, of that table, too */
int kcl_opencl_convert(kcl_context *ctx, kcl_conversion which, void *y, void *x, int64_t n,
                       double scale);
int kcl_opencl_write_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes,
                           const void *from);
int kcl_opencl_pin_host(kcl_context *ctx, size_t bytes, const char *what, kcl_pinned *out);
void kcl_opencl_unpin_host(kcl_context *ctx, kcl_pinned *p);
/* Reads into such memory, in the context's queue, and waits: without the copy of other blocking reads under a limit. */
cl_int kcl_opencl_read_pinned(const kcl_context *ctx, cl_mem from, size_t offset, size_t bytes,
                              void *to);
void kcl_opencl_register_host(kcl_context *ctx, void *memory, size_t bytes, kcl_pinned *out);
void kcl_opencl_end_conversions(kcl_opencl *o);

/* ---- download.c, of that table, too */
int kcl_opencl_read_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, void *to);
/* Waits for what was enqueued, and reads; `what` is for a message. */
int kcl_opencl_read(kcl_context *ctx, cl_mem from, size_t offset, size_t bytes, void *to,
                    const char *what);

/* ---- columns.c, of that table, too */
int kcl_opencl_copy_column(kcl_context *ctx, const kcl_column *y, const kcl_column *x, int64_t n,
                           double scale);
int kcl_opencl_measure_column(kcl_context *ctx, const kcl_column *c, int64_t n,
                              kcl_column_size *out);
int kcl_opencl_read_column(kcl_context *ctx, const kcl_column *from, int64_t n, void *values);
int kcl_opencl_write_column(kcl_context *ctx, const kcl_column *to, int64_t n, const void *values);
void kcl_opencl_describe_buffer(kcl_context *ctx, void *buffer, kcl_buffer_place *out);
void kcl_opencl_end_columns(kcl_opencl *o);

/* ---- matrix_arrays.c */
int kcl_opencl_upload(kcl_stored *m); /* its arrays, if that has not been done */
void kcl_opencl_adopt(kcl_stored *m); /* m->device is freed with m: arrays are made there */
void kcl_opencl_find_images(kcl_context *ctx); /* ctx->images */

/* ---- profile.c */
int kcl_opencl_profile_begin(kcl_context *ctx); /* event times are recorded */
void kcl_opencl_profile_take(kcl_context *ctx, kcl_profile *out);
/* For the last argument of an enqueue: where its event goes, or NULL. keep: of an event that the caller has as well. */
cl_event *kcl_profile_event(kcl_opencl *o, const char *kind, size_t bytes);
cl_event *kcl_profile_launch(kcl_opencl *o, cl_kernel k, size_t group);
void kcl_profile_keep(kcl_opencl *o, cl_event event, const char *kind, size_t bytes);
void kcl_opencl_profile_end(kcl_opencl *o);

/* ---- watch.c. Of a context that has a queue; its end abandons what is lost. */
int kcl_watch_begin(kcl_context *ctx);
void kcl_watch_end(kcl_opencl *o);
/* In the table kcl_opencl_ops: waits have a limit from here on, or no longer. */
void kcl_opencl_watch(kcl_context *ctx, bool on);
void kcl_watch_expect(const kcl_opencl *o,
                      double seconds);       /* all that is enqueued should take so long */
double kcl_watch_limit(const kcl_opencl *o); /* seconds; INFINITY: none */
bool kcl_watch_lost(const kcl_opencl *o);
/* One wait that polls by itself, all 0 at its beginning. False: the limit has passed, the device is lost. */
typedef struct kcl_wait {
  double seconds, last;
} kcl_wait;
bool kcl_wait_goes_on(const kcl_opencl *o, kcl_wait *wait);

/* ---- calls.c. KCL_OK, or a failure that names the call, the code, and `what` was being done. */
int kcl_cl_check(kcl_context *ctx, cl_int code, const char *call, const char *what);
int kcl_opencl_buffer(kcl_context *ctx, size_t bytes, const char *what,
                      cl_mem *out); /* filled with zeros */
/* The size of such a buffer; fills so many bytes with zeros. */
size_t kcl_opencl_padded(size_t bytes);
cl_int kcl_opencl_clear(kcl_context *ctx, cl_mem buffer, size_t bytes);

/* A pool of buffers for reuse (pool.c). briefly: the buffer is returned soon, so a larger one will do. */
int kcl_pool_take(kcl_context *ctx, size_t bytes, bool briefly, void **out);
void kcl_pool_give(kcl_context *ctx,
                   const void *buffer); /* any buffer, or NULL: others are released */
void kcl_pool_trim(kcl_context *ctx);   /* what is free: to a part of the memory */
void kcl_pool_end(kcl_opencl *o);
/* A buffer of zeros from the pool. */
int kcl_opencl_vector(kcl_context *ctx, size_t bytes, cl_mem *out);

/* `count` elements of `element` bytes. fill writes `count` of them from number `from` on to `to`, which may be pinned memory;
 * it has been called for all when kcl_opencl_write returns. kcl_fill_bytes copies. */
typedef void (*kcl_fill)(const void *source, int64_t from, int64_t count, void *to);
typedef struct kcl_upload {
  size_t element;
  int64_t count;
  kcl_fill fill;
  const void *source;
} kcl_upload;
int kcl_opencl_write(kcl_context *ctx, cl_mem to, const kcl_upload *u, const char *what);
void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to);
void kcl_fill_narrow(const void *source, int64_t from, int64_t count,
                     void *to);           /* int64 to int32 */
void kcl_opencl_pin_ahead(kcl_opencl *o); /* makes the pinned memory of uploads in the background */
void kcl_opencl_unpin(kcl_opencl *o);
/* For download.c: makes o->chunks unless it is there; do so many bytes go through it, or, on CPU devices, through a mapping? */
cl_int kcl_obtain_chunks(kcl_opencl *o);
bool kcl_is_large_transfer(const kcl_opencl *o, size_t bytes);

/* Compiles, several at once, or finds what this context or an earlier process compiled from the same source
 * (program_cache.c). Release the programs; after a failure there are none. */
enum { KCL_MOST_PARTS = 48, KCL_MOST_BUILDS = KCL_MOST_PARTS + 2 };
typedef struct kcl_build {
  const char *source, *options;
  bool few_headers; /* the source has those of the interpreter alone */
  cl_program program;
  bool compiled; /* by the driver, now */
} kcl_build;
int kcl_opencl_build(kcl_context *ctx, kcl_build *list, int count);
bool kcl_opencl_have(kcl_context *ctx, const kcl_build *b);  /* without compiling? */
bool kcl_opencl_keeps(kcl_context *ctx, const kcl_build *b); /* the same, and nothing is loaded */
/* compile_cost.c: seconds that the driver is expected to take for those that are not kept; 0 where there is no cache folder, since it is
 * not known then what the driver itself has kept. And what it took for those that were compiled. */
double kcl_compile_seconds(kcl_context *ctx, const kcl_build *list, int count);
void kcl_compile_note(kcl_context *ctx, const kcl_build *list, int count, double seconds);
/* Begins to load, in the background, those that an earlier process compiled. */
void kcl_opencl_load_ahead(kcl_context *ctx, const kcl_build *list, int count);
/* clBuildProgram; *stopped: the solve is to stop, and the driver goes on with the program by itself (compile.c). */
cl_int kcl_opencl_compile(kcl_context *ctx, cl_program p, const char *options, bool *stopped);
/* first, options that change no binary, and options, malloc'd; NULL: out of memory. */
char *kcl_opencl_all_options(const kcl_opencl *o, const char *first, const char *options);
void kcl_opencl_forget_programs(kcl_opencl *o);
/* For compile_ahead.c: the key of a program, malloc'd, NULL: out of memory; stores its binary, if there is a folder, for which some
 * drivers compile further; adds it to the context's latest, and takes over the key. */
char *kcl_opencl_key(const kcl_context *ctx, const kcl_build *b);
/* For program_build.c: the program from this context or else from the folder; takes over the key. NULL: there is none, the key stays the
 * caller's. Before that kcl_opencl_end_loading, which waits for the thread that loads programs. */
cl_program kcl_opencl_obtain(kcl_opencl *o, char *key, const char *options);
void kcl_opencl_end_loading(kcl_opencl *o);
void kcl_opencl_store(kcl_opencl *o, const char *key, cl_program p);
void kcl_opencl_remember(kcl_opencl *o, char *key, cl_program p);

/* compile_ahead.c: those that are not kept, their texts copied; NULL: all are, or out of memory. A checksum of their keys. begin: compiles
 * them in a thread, which takes them over; false: another one does so, and nothing happens. Has that ended? What it compiled is then the
 * context's. await: waits where it compiles this program. */
kcl_ahead *kcl_ahead_create(kcl_context *ctx, const kcl_build *list, int count);
void kcl_ahead_free(kcl_ahead *a); /* or NULL; not after it has begun */
uint64_t kcl_ahead_sum(const kcl_ahead *a);
bool kcl_ahead_begin(kcl_ahead *a);
bool kcl_compile_ahead_ended(kcl_context *ctx);
void kcl_compile_ahead_await(kcl_opencl *o, const char *key);
void kcl_compile_ahead_end(kcl_opencl *o);
kcl_program_counts kcl_opencl_count_programs(const kcl_context *ctx);
/* Texts of a built program, to be freed, or NULL: the compiler's log; the binary, ended by a zero, with its size. */
char *kcl_opencl_log(const kcl_opencl *o, cl_program p);
char *kcl_opencl_binary(cl_program p, size_t *size);
/* Resources of a kernel of p from the log and the binary; nothing is set that they do not tell. */
void kcl_opencl_kernel_usage(const kcl_opencl *o, cl_program p, const char *kernel,
                             kcl_profile_entry *out);
/* Writes a comment of OpenCL C per kernel of p of which the driver tells that. */
void kcl_opencl_put_usage(FILE *f, const kcl_opencl *o, cl_program p);

#endif
