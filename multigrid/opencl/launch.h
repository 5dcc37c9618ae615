/* Launches, memory and notes: shared by the files of set-ups on a device. */
#ifndef KCL_SETUP_LAUNCH_H
#define KCL_SETUP_LAUNCH_H

#include "core/opencl/device/device.h"
#include "multigrid/opencl/setup.h"

enum { KCL_AMG_DEVICE_GROUP = 256 }; /* work-items per group, unless a kernel says otherwise */

/* KCL_KERNEL_NAME for each kernel NAME. */
typedef enum kcl_amg_kernel {
#define KCL_AMG_KERNEL(name) KCL_KERNEL_##name,
#include "multigrid/opencl/kernels.def"
#undef KCL_AMG_KERNEL
  KCL_AMG_KERNELS
} kcl_amg_kernel;

/* An argument of a kernel: value NULL: local memory of this size. */
typedef struct kcl_arg {
  size_t size;
  const void *value;
} kcl_arg;
#define KCL_ARG_BUFFER(b)                                                                          \
  { sizeof(cl_mem), &(b) }
#define KCL_ARG_INT(i)                                                                             \
  {                                                                                                \
    sizeof(cl_int), (cl_int[]) { (cl_int)(i) }                                                     \
  }
#define KCL_ARG_REAL(x)                                                                            \
  {                                                                                                \
    sizeof(cl_double), (cl_double[]) { x }                                                         \
  }
#define KCL_ARG_LOCAL(bytes)                                                                       \
  { (size_t)(bytes), NULL }
#define KCL_ARG_PATTERN(A) KCL_ARG_BUFFER((A)->ptr), KCL_ARG_BUFFER((A)->col)
#define KCL_ARG_CSR(A) KCL_ARG_PATTERN(A), KCL_ARG_BUFFER((A)->val)
/* Where rows end, and how far from their number that is written. */
#define KCL_ARG_ENDS(A) {sizeof(cl_mem), (A)->end ? &(A)->end : &(A)->ptr}, KCL_ARG_INT(!(A)->end)
/* A kernel on so many work-items, rounded up to groups. */
#define KCL_LAUNCH(s, kernel, items, group, ...)                                                   \
  kcl_amg_device_launch(s, kernel, items, group, (kcl_arg[]){__VA_ARGS__},                         \
                        (int)(sizeof((kcl_arg[]){__VA_ARGS__}) / sizeof(kcl_arg)))
/* One work-item per row, or per element. */
#define KCL_LAUNCH_EACH(s, kernel, items, ...)                                                     \
  KCL_LAUNCH(s, kernel, items, KCL_AMG_DEVICE_GROUP, __VA_ARGS__)

int kcl_amg_device_launch(kcl_device_setup *s, kcl_amg_kernel kernel, int64_t items, size_t group,
                          const kcl_arg *arg, int args);
kcl_context *kcl_amg_device_context(const kcl_device_setup *s);
bool kcl_amg_device_single(const kcl_device_setup *s); /* formats have values in float */
/* Memory for count + 1 elements; memory of zeros; gives memory back, for other uses. */
int kcl_amg_device_memory(kcl_device_setup *s, int64_t count, size_t element, void **out);
void kcl_amg_device_drop(kcl_device_setup *s, const void *buffer);
int kcl_amg_device_zeros(kcl_device_setup *s, int64_t count, void **out); /* int */
/* [count] ulong, of zeros at first, for the messages of kernels, which are marked by the numbers of notes: the same each time. */
int kcl_amg_device_messages(kcl_device_setup *s, int64_t count, const void **out);
int64_t kcl_amg_device_loose_most(const kcl_device_setup *s); /* entries of a product with room */
/* Reads memory of the device, which waits for the queue. */
int kcl_amg_device_read(kcl_device_setup *s, const void *from, size_t at, size_t bytes, void *to);

/* Notes: numbers that kernels leave for the host, 0 until then. Take `count` of them before the kernels that write them, and read
 * them afterwards. One read fetches all notes taken so far, so that the others are read without another wait. */
int kcl_amg_device_notes(kcl_device_setup *s, int count, int *first);
int kcl_amg_device_read_notes(kcl_device_setup *s, int first, int count, cl_int *to);
const void *kcl_amg_device_notebook(const kcl_device_setup *s); /* where the cl_mem is */
#define KCL_ARG_NOTE(s, first) {sizeof(cl_mem), kcl_amg_device_notebook(s)}, KCL_ARG_INT(first)

/* Work-items per row of A for kernels that take teams: near half its mean length. */
int kcl_amg_device_team(const kcl_device_csr *A);

/* ---- rows.c */
/* out [n + 1]: sums of the elements before each, in [n] or in place; two notes: the sum of all, INT32_MAX if it is larger, and the
 * largest. */
int kcl_amg_device_scan(kcl_device_setup *s, const void *in, int64_t n, void *out, int *note);
int kcl_amg_device_shape(kcl_device_setup *s, kcl_device_csr *C); /* for entries; measures C */
/* C's row pointers from the lengths of its rows, and room for `most` entries. */
int kcl_amg_device_shape_within(kcl_device_setup *s, kcl_device_csr *C, int64_t most);
/* A B whose rows have room behind them, for kcl_amg_device_truncate, and as B of a product; sorted: columns ascend. One wait. Where
 * rows can be long, they have none. */
int kcl_amg_device_loose_product(kcl_device_setup *s, const kcl_device_csr *A,
                                 const kcl_device_csr *B, bool sorted, kcl_device_csr *C);
/* to = factor from, in float if narrow, else in the formats' type. */
int kcl_amg_device_convert(kcl_device_setup *s, const void *from, int64_t n, double factor,
                           bool narrow, void *to);

#endif
