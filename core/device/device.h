/* The executor of the selected device, native or OpenCL, and conversion of vectors between programs on it. */
#ifndef KCL_DEVICE_H
#define KCL_DEVICE_H

#include "core/opencl/opencl.h"

/* Opens the executor of the context's device for k. It must be closed after a failure too. */
int kcl_executor_open(kcl_program *k, kcl_executor *ex);
/* kcl_executor_open in two steps: plan compiles nothing, and natively does nothing; complete does the rest. */
int kcl_executor_plan(kcl_program *k, kcl_executor *ex);
int kcl_executor_complete(kcl_program *k, kcl_executor *ex);
/* Between them: seconds that the second is expected to compile; 0: what it needs is compiled already, or it is not known what is. */
double kcl_executor_expected(const kcl_program *k, const kcl_executor *ex);

/* Programs that are compiled, in a thread, once solves without them have lost as many seconds as that is expected to take
 * (core/device/later.c). create, between the two steps: what the executor lacks; it may be closed then. NULL, which all others take, too:
 * nothing, or nothing is known. */
typedef struct kcl_later kcl_later;
kcl_later *kcl_later_create(const kcl_program *k, const kcl_executor *ex);
kcl_later *kcl_later_share(kcl_later *l);
void kcl_later_free(kcl_later **l); /* of the last owner: what was lost goes on record */
/* Seconds that solves have lost, in all processes, and adding to them. */
double kcl_later_lost(const kcl_later *l);
void kcl_later_lose(kcl_later *l, double seconds);
/* Begins to compile where that pays, with so many seconds that this solve has lost or is about to lose. Has it begun and ended? */
void kcl_later_begin(kcl_later *l, double seconds);
bool kcl_later_ended(const kcl_later *l);
/* Does a thread of the context compile programs? */
bool kcl_compiles_beside(kcl_context *ctx);

/* Seconds per pass over LOOP, predicted; the program's matrices are outlines (kcl_stored_outline). */
double kcl_executor_estimate(kcl_program *k);

/* Between a vector in double and one in float of two programs: memory as returned by the executors, n real numbers (two
 * per complex number). Asynchronous if the executor is. */
int kcl_narrow(kcl_context *ctx, void *y, void *x, int64_t n, double scale); /* float y = scale x */
int kcl_collect(kcl_context *ctx, void *y, void *x, int64_t n,
                double scale); /* double y = y + scale x */

/* Columns on the context's OpenCL device. kcl_copy_column: y = scale x, enqueued only; x is not read where scale is 0. The others
 * wait. */
int kcl_copy_column(kcl_context *ctx, const kcl_column *y, const kcl_column *x, int64_t n,
                    double scale);
int kcl_measure_column(kcl_context *ctx, const kcl_column *c, int64_t n, kcl_column_size *out);
int kcl_read_column(kcl_context *ctx, const kcl_column *from, int64_t n, void *values); /* [n] */
int kcl_write_column(kcl_context *ctx, const kcl_column *to, int64_t n, const void *values);

/* Bytes of a buffer of the context's OpenCL device to and from the host; they wait. */
int kcl_read_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, void *to);
int kcl_write_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, const void *from);
void kcl_describe_buffer(kcl_context *ctx, void *buffer, kcl_buffer_place *out);

kcl_program_counts kcl_count_programs(const kcl_context *ctx); /* natively none */

/* Waits for the context's device have a limit from here on, or no longer (core/opencl/device/watch.c); natively nothing. */
void kcl_watch_device(kcl_context *ctx, bool on);

/* Host memory that is pinned for the device; ordinary memory for the native executor. */
int kcl_pin(kcl_context *ctx, int64_t count, size_t size, const char *what, kcl_pinned *out);
void kcl_unpin(kcl_context *ctx, kcl_pinned *p); /* also of an empty one */
/* Pins memory of the caller's for the device, if that can be done; out->data is the memory in any case. */
void kcl_register(kcl_context *ctx, void *memory, size_t bytes, kcl_pinned *out);
void kcl_unregister(kcl_context *ctx, kcl_pinned *p);

/* kcl_select with OpenCL objects of the caller's, as kcl_context_create_opencl. */
int kcl_select_opencl(kcl_context *ctx, void *context, void *device, void *queue);

#endif
