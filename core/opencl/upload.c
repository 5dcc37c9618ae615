/* Host arrays to the device. On GPUs large arrays go through two pinned staging buffers that alternate: a few threads fill one
 * while the other is copied. (A GPU reads pageable memory through a buffer of its driver, at 9.5 GB/s, and pinned memory at
 * 55 GB/s, on an NVIDIA H200; on its host 16 threads fill no faster than 8. The caller alone
 * enqueues: once several threads have, NVIDIA's driver serves all later calls more slowly.) On CPU devices the buffer is mapped and filled in place. Conversions happen
 * while filling. The staging buffers are made in the background while a GPU is opened: pinning takes 0.6 ms per MB. */
#include "core/opencl/opencl.h"
#include <stdlib.h>
#include <string.h>

enum {
  STAGING = 4 << 20,
  FILLERS = 8,     /* threads, each of */
  LEAST = 1 << 16, /* bytes at least */
  LARGE = 2 /* staging buffers */,
  SMALL = 1 << 18 /* once they are pinned */
};

void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to) {
  kcl_copy_bytes(to, (const char *)source + from, count);
}

static cl_int pin(kcl_opencl *o) {
  cl_int code;
  if (!o->staging_bytes) o->staging_bytes = STAGING;
  o->pinned = clCreateBuffer(o->context, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR,
                             2 * o->staging_bytes, NULL, &code);
  if (!code)
    o->staging[0] = clEnqueueMapBuffer(o->queue, o->pinned, CL_TRUE, CL_MAP_WRITE, 0,
                                       2 * o->staging_bytes, 0, NULL, NULL, &code);
  if (!code) o->staging[1] = o->staging[0] + o->staging_bytes;
  if (code && o->pinned) clReleaseMemObject(o->pinned), o->pinned = NULL;
  return code;
}

static void pin_in_background(void *self) { pin(self); }

void kcl_opencl_pin_ahead(kcl_opencl *o) { o->pins = kcl_background_begin(pin_in_background, o); }

static cl_int await(kcl_opencl *o, int turn) {
  if (!o->sent[turn]) return CL_SUCCESS;
  cl_int code = clWaitForEvents(1, &o->sent[turn]);
  clReleaseEvent(o->sent[turn]);
  o->sent[turn] = NULL;
  return code;
}

/* What goes into a staging buffer. */
typedef struct filling {
  const kcl_upload *u;
  int64_t from, count;
  char *to;
} filling;

static void fill_part(void *arg, const kcl_member *me) {
  enum { TOGETHER = 64 }; /* elements */
  const filling *f = arg;
  const int64_t groups = (f->count + TOGETHER - 1) / TOGETHER,
                first = groups * me->number / me->threads * TOGETHER,
                end = groups * (me->number + 1) / me->threads * TOGETHER,
                count = (end < f->count ? end : f->count) - first;
  if (count > 0)
    f->u->fill(f->u->source, f->from + first, count, f->to + (size_t)first * f->u->element);
}

static void fill(const kcl_upload *u, int64_t from, int64_t count, char *to) {
  const int64_t worth = count * (int64_t)u->element / LEAST + 1;
  const int threads = kcl_threads() < FILLERS ? kcl_threads() : FILLERS;
  kcl_parallel(worth < threads ? (int)worth : threads, fill_part, &(filling){u, from, count, to});
}

static cl_int by_staging(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
  kcl_background_await(&o->pins);
  cl_int code = o->staging[0] ? CL_SUCCESS : pin(o);
  int64_t per = code ? 1 : (int64_t)(o->staging_bytes / u->element);
  for (int64_t at = 0, turn = 0; at < u->count && !code; at += per, turn ^= 1) {
    int64_t n = u->count - at < per ? u->count - at : per;
    if ((code = await(o, (int)turn))) break;
    fill(u, at, n, o->staging[turn]);
    code = clEnqueueWriteBuffer(o->queue, to, CL_FALSE, (size_t)at * u->element,
                                (size_t)n * u->element, o->staging[turn], 0, NULL, &o->sent[turn]);
    if (!code) kcl_profile_keep(o, o->sent[turn], "write", (size_t)n * u->element);
    if (!code) code = clFlush(o->queue);
  }
  return code;
}

static cl_int in_place(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
  cl_int code;
  void *data = clEnqueueMapBuffer(o->queue, to, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                  (size_t)u->count * u->element, 0, NULL,
                                  kcl_profile_event(o, "map", 0), &code);
  if (code) return code;
  u->fill(u->source, 0, u->count, data);
  return clEnqueueUnmapMemObject(o->queue, to, data, 0, NULL,
                                 kcl_profile_event(o, "write", (size_t)u->count * u->element));
}

static cl_int at_once(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
  size_t bytes = (size_t)u->count * u->element;
  if (u->fill == kcl_fill_bytes)
    return clEnqueueWriteBuffer(o->queue, to, CL_TRUE, 0, bytes, u->source, 0, NULL,
                                kcl_profile_event(o, "write", bytes));
  void *data = malloc(bytes);
  if (!data) return CL_OUT_OF_HOST_MEMORY;
  u->fill(u->source, 0, u->count, data);
  cl_int code = clEnqueueWriteBuffer(o->queue, to, CL_TRUE, 0, bytes, data, 0, NULL,
                                     kcl_profile_event(o, "write", bytes));
  free(data);
  return code;
}

/* Are there staging buffers, now or soon? */
static bool ahead(const kcl_opencl *o) { return o->pins || o->staging[0]; }

int kcl_opencl_write(kcl *ctx, cl_mem to, const kcl_upload *u, const char *what) {
  kcl_opencl *o = ctx->opencl;
  size_t large = ahead(o) ? SMALL : LARGE * (o->staging_bytes ? o->staging_bytes : STAGING);
  if (u->count == 0) return KCL_OK;
  cl_int code = o->is_cpu                                ? in_place(o, to, u)
                : (size_t)u->count * u->element >= large ? by_staging(o, to, u)
                                                         : at_once(o, to, u);
  return kcl_cl_check(ctx, code, "clEnqueueWriteBuffer", what);
}

void kcl_opencl_unpin(kcl_opencl *o) {
  kcl_background_await(&o->pins);
  for (int i = 0; i < 2; i++) await(o, i);
  if (o->staging[0]) {
    clEnqueueUnmapMemObject(o->queue, o->pinned, o->staging[0], 0, NULL, NULL);
    clFinish(o->queue);
  }
  if (o->pinned) clReleaseMemObject(o->pinned);
}
