/* The executor of the selected device, native or OpenCL, and conversion of vectors between programs on it. */
#ifndef KCL_DEVICE_H
#define KCL_DEVICE_H

#include "core/program/executor.h"

/* Opens the executor of the context's device for k. It must be closed after a failure too. */
int kcl_executor_open(kcl_program *k, kcl_executor *ex);
/* Seconds per pass over LOOP, predicted; the program's matrices are outlines (kcl_stored_outline). */
double kcl_executor_estimate(kcl_program *k);

/* Between a vector in double and one in float of two programs: memory as returned by the executors, n real numbers (two
 * per complex number). Asynchronous if the executor is. */
int kcl_narrow(kcl *ctx, void *y, void *x, int64_t n, double scale);  /* float y = scale x */
int kcl_collect(kcl *ctx, void *y, void *x, int64_t n, double scale); /* double y = y + scale x */

/* Host memory that is pinned for the device; ordinary memory for the native executor. */
int kcl_pin(kcl *ctx, int64_t count, size_t size, const char *what, kcl_pinned *out);
void kcl_unpin(kcl *ctx, kcl_pinned *p); /* also of an empty one */
/* Pins memory of the caller's for the device, if that can be done; out->data is the memory in any case. */
void kcl_register(kcl *ctx, void *memory, size_t bytes, kcl_pinned *out);
void kcl_unregister(kcl *ctx, kcl_pinned *p);

#endif
