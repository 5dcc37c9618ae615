/* The OpenCL side of core/: one device with its queue, and error texts. */
#ifndef KCL_OPENCL_H
#define KCL_OPENCL_H

#include "core/context.h"
#include "core/executor.h"
#include "core/matrix.h"

/* ---- without OpenCL types: core/opencl_none.c stands in for these in a build without OpenCL */
void kcl_opencl_list(kcl_device *list, int room, int *count); /* appends every device there is */
const char *kcl_icd_loader(void); /* path of the library that answers calls */
int kcl_opencl_attach(kcl *ctx, const kcl_device *which); /* context and queue on it */
void kcl_opencl_detach(kcl *ctx);
bool kcl_opencl_neighbours(const kcl *ctx); /* work-items of a group run side by side (GPUs) */
int kcl_opencl_upload(kcl_matrix *m);       /* its arrays, if that has not been done */
/* Scalars of this type that a texel of the device's images holds, 0: there is no such image; and NULL, or why
 * no image of n of them can be had. */
int kcl_opencl_texel(const kcl *ctx, kcl_type type);
const char *kcl_opencl_no_image(const kcl *ctx, int64_t n, kcl_type type);
void kcl_opencl_release(kcl_matrix *m);
int kcl_opencl_transfer(kcl *ctx, const char *kernel, void *y, void *x, int64_t n, double scale);

#ifndef KCL_NO_OPENCL /* ---- for core/opencl*.c and core/codegen.c */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

enum { KCL_IMAGE_BITS = 13 }; /* every device with images has rows of 2^13 texels */

enum { KCL_BUILT = 64 };
struct kcl_opencl {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool is_cpu, is_nvidia, small_groups;
  int units;
  struct {
    char *key;
    cl_program program;
  } built[KCL_BUILT]; /* a ring of the latest: other solvers often want the same kernels */
  cl_mem pinned;      /* for uploads (core/opencl_upload.c): two pieces that take turns, */
  char *stage[2];     /* [piece] bytes */
  cl_event sent[2];
  size_t piece; /* bytes; 0: not decided yet (tests have small ones) */
  int builds, compiled,
      from_cache; /* programs: all, those the driver compiled, those from the disk */
};

/* KCL_OK, or a failure that names the call, the code, and `what` was being done. */
int kcl_cl_check(kcl *ctx, cl_int code, const char *call, const char *what);
int kcl_opencl_buffer(kcl *ctx, size_t bytes, const char *what,
                      cl_mem *out); /* filled with zeros */

/* `count` elements of `element` bytes, written by `fill`: those from number `from` on to `to`, which may be
 * pinned memory. It has been called for all when kcl_opencl_write returns; bytes as they are: kcl_fill_bytes. */
typedef void (*kcl_fill)(const void *source, int64_t from, int64_t count, void *to);
typedef struct kcl_upload {
  size_t element;
  int64_t count;
  kcl_fill fill;
  const void *source;
} kcl_upload;
int kcl_opencl_write(kcl *ctx, cl_mem to, const kcl_upload *u, const char *what);
void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to);
void kcl_opencl_unpin(kcl_opencl *o);

/* Compiles, or returns what was compiled from the same text, by this context or an earlier process; release
 * it (core/opencl_program.c). */
int kcl_opencl_build(kcl *ctx, const char *source, const char *options, cl_program *out);
void kcl_opencl_forget_programs(kcl_opencl *o);

/* The text of all stages of a program, for this device. Free with free(). */
typedef struct kcl_geometry {
  int group, groups_max;  /* work-items a group; most groups of a launch */
  int registers;          /* of a work-item, where the compiler can be told; 0: as it likes */
  bool streamed;          /* the matrix is not to take the place of vectors in the caches */
  int block;              /* elements a fused loop goes over at a time, CPU devices */
  bool wide_index;        /* counts beyond 2^31 */
  bool without_loop;      /* nobody needs the stages of what stays one by one */
  bool stays;             /* all of LOOP as one kernel that stays on the device; else one a stage */
  bool window;            /* what the rows of a group gather there fits in its local memory: */
  const kcl_matrix *near; /* A, its columns numbered anew (core/pieces.h); NULL: a range of x */
  bool cached;            /* where it does not: read through the first-level cache */
  int rounds;             /* elements a work-item has there */
  bool held;              /* it keeps its vectors in registers, */
  bool early;             /* and the sums of its rows, before the stage's scalars are known */
  bool adding;            /* a group without rows adds up the dots */
} kcl_geometry;
kcl_geometry kcl_choose_geometry(const kcl_program *k); /* for a kernel a stage */
/* Is it in the kernel that stays? */
static inline bool kcl_phase_stays(int phase) { return phase == KCL_LOOP || phase == KCL_REPLACE; }
int kcl_most_dots(const kcl_program *k); /* the constant MOST_DOTS */
int kcl_at_once(int dots);               /* how many are summed with common barriers */
bool kcl_can_stay(const kcl_program *k);
/* Of a phase, or of LOOP and REPLACE, which stay together: which vectors; which of them products gather. */
bool kcl_phase_uses(const kcl_program *k, kcl_phase phase, kcl_vec v);
bool kcl_phase_gathers(const kcl_program *k, kcl_phase phase, kcl_vec v);
bool kcl_stay_uses(const kcl_program *k, kcl_vec v);
bool kcl_stay_gathers(const kcl_program *k, kcl_vec v);
bool kcl_loop_comes_early(
    const kcl_program *k); /* has LOOP a product that can be done while sums are under way? */
size_t kcl_look_bytes(const kcl_program *k); /* of a state: heads and slots */
size_t kcl_state_bytes(const kcl_program *k, const kcl_geometry *g);
int kcl_codegen(const kcl_program *k, const kcl_geometry *g, char **source);

/* Kernel texts by name ("spmv_csr.cl"), embedded by the build; NULL for an unknown one. */
const char *kcl_kernel_text(const char *name);
#endif

#endif
