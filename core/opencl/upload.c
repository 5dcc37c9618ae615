/* Host arrays to the device. On GPUs large arrays go through pinned staging buffers, two for each of a few threads, which fill
 * one while the other is copied, without waiting for each other. (A GPU reads pageable memory through a buffer of its driver,
 * at 9.5 GB/s, and pinned memory at 55 GB/s, on an NVIDIA H200.) On CPU devices the buffer is mapped and filled in place.
 * Conversions happen while filling. The staging buffers are made in the background while a GPU is opened: pinning takes 0.6 ms
 * per MB. */
#include "core/opencl/opencl.h"
#include <stdlib.h>
#include <string.h>

enum {
  STAGING = 1 << 20,
  LARGE = 8 /* staging buffers */,
  SMALL = 1 << 18 /* once they are pinned */
};

void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to) {
  kcl_copy_bytes(to, (const char *)source + from, count);
}

static cl_int pin(kcl_opencl *o) {
  cl_int code;
  if (!o->staging_bytes) o->staging_bytes = STAGING;
  const size_t bytes = KCL_STAGES * o->staging_bytes;
  o->pinned =
      clCreateBuffer(o->context, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
  if (!code)
    o->staging = clEnqueueMapBuffer(o->queue, o->pinned, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0, NULL,
                                    NULL, &code);
  if (code && o->pinned) clReleaseMemObject(o->pinned), o->pinned = NULL;
  return code;
}

static void pin_in_background(void *self) { pin(self); }

void kcl_opencl_pin_ahead(kcl_opencl *o) { o->pins = kcl_background_begin(pin_in_background, o); }

static cl_int await(kcl_opencl *o, int stage) {
  if (!o->sent[stage]) return CL_SUCCESS;
  cl_int code = clWaitForEvents(1, &o->sent[stage]);
  clReleaseEvent(o->sent[stage]);
  o->sent[stage] = NULL;
  return code;
}

typedef struct sending {
  kcl_opencl *o;
  cl_mem to;
  const kcl_upload *u;
  int64_t most;         /* elements per piece */
  _Atomic int64_t next; /* the first that nobody has taken */
  _Atomic cl_int code;
} sending;

/* count elements from `at` on, through a staging buffer. */
static cl_int send(const sending *s, int64_t at, int64_t count, int stage) {
  kcl_opencl *o = s->o;
  const kcl_upload *u = s->u;
  const size_t bytes = (size_t)count * u->element;
  char *staging = o->staging + (size_t)stage * o->staging_bytes;
  cl_int code = await(o, stage);
  if (code) return code;
  u->fill(u->source, at, count, staging);
  code = clEnqueueWriteBuffer(o->queue, s->to, CL_FALSE, (size_t)at * u->element, bytes, staging, 0,
                              NULL, &o->sent[stage]);
  if (!code) kcl_profile_keep(o, o->sent[stage], "write", bytes);
  return code ? code : clFlush(o->queue);
}

static void send_pieces(void *arg, const kcl_member *me) {
  sending *s = arg;
  for (int64_t at, turn = 0; !s->code && (at = atomic_fetch_add(&s->next, s->most)) < s->u->count;
       turn ^= 1) {
    const int64_t left = s->u->count - at;
    const cl_int code = send(s, at, left < s->most ? left : s->most, 2 * me->number + (int)turn);
    if (code) s->code = code;
  }
}

/* The log of events takes them from one thread. */
static cl_int by_staging(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
  kcl_background_await(&o->pins);
  sending s = {.o = o, .to = to, .u = u, .code = o->staging ? CL_SUCCESS : pin(o)};
  if (s.code) return s.code;
  s.most = (int64_t)(o->staging_bytes / u->element);
  const int64_t pieces = (u->count + s.most - 1) / s.most;
  int threads = o->log ? 1 : kcl_threads() < KCL_STAGES / 2 ? kcl_threads() : KCL_STAGES / 2;
  kcl_parallel(pieces < threads ? (int)pieces : threads, send_pieces, &s);
  return s.code;
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
static bool ahead(const kcl_opencl *o) { return o->pins || o->staging; }

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
  for (int i = 0; i < KCL_STAGES; i++) await(o, i);
  if (o->staging) {
    clEnqueueUnmapMemObject(o->queue, o->pinned, o->staging, 0, NULL, NULL);
    clFinish(o->queue);
  }
  if (o->pinned) clReleaseMemObject(o->pinned);
}
