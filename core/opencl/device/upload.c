/* Host arrays to the device. On GPUs large arrays go in chunks through pinned memory: some threads fill chunks, conversions
 * included, and the caller alone sends those that are full, in order. (A GPU reads pageable memory through a buffer of its
 * driver, at 9.5 GB/s, and pinned memory at 55 GB/s, on an NVIDIA H200. Once several threads have enqueued, NVIDIA's driver
 * serves all later calls more slowly.) On CPU devices the buffer is mapped and filled in place. Pinned memory is made in the
 * background while a GPU is opened: that takes 0.6 ms per MB. */
#include "core/opencl/device/device.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { UPLOAD_CHUNK = 1 << 19 /* bytes of a chunk */, FILLERS = 8 /* threads, at most */ };

void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to) {
  kcl_copy_bytes(to, (const char *)source + from, count);
}

static size_t chunk_bytes(const kcl_opencl *o) {
  return o->chunk_bytes ? o->chunk_bytes : UPLOAD_CHUNK;
}

static cl_int pin(kcl_opencl *o) {
  cl_int code;
  o->chunk_bytes = chunk_bytes(o);
  const size_t bytes = KCL_CHUNKS * o->chunk_bytes;
  o->pinned =
      clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
  if (!code)
    o->chunks = clEnqueueMapBuffer(o->queue, o->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                   bytes, 0, NULL, NULL, &code);
  if (code && o->pinned) clReleaseMemObject(o->pinned), o->pinned = NULL;
  return code;
}

static void pin_in_background(void *self) { pin(self); }

void kcl_opencl_pin_ahead(kcl_opencl *o) { o->pins = kcl_background_begin(pin_in_background, o); }

/* Chunks are numbered from the context's first one on; chunk k is at k % KCL_CHUNKS of the pinned memory. */
typedef struct chunks {
  kcl_opencl *o;
  cl_mem to;
  const kcl_upload *u;
  int64_t per, first, end;          /* elements of a chunk; chunks of this upload */
  _Atomic int64_t next, gone;       /* next to be filled; all before `gone` have been copied */
  _Atomic int64_t full[KCL_CHUNKS]; /* 1 + the chunk that is there */
  _Atomic cl_int code;              /* of the first call that failed: fillers end */
} chunks;

static char *chunk_at(const chunks *p, int64_t chunk) {
  return p->o->chunks + chunk % KCL_CHUNKS * p->o->chunk_bytes;
}
static int64_t first_of(const chunks *p, int64_t chunk) { return (chunk - p->first) * p->per; }
static int64_t chunk_count(const chunks *p, int64_t chunk) {
  const int64_t left = p->u->count - first_of(p, chunk);
  return left < p->per ? left : p->per;
}

/* Records which chunks have been copied; wait: waits for the oldest one. */
static void retire(chunks *p, int64_t sent, bool wait) {
  for (; p->gone < sent; wait = false) {
    cl_event *e = &p->o->sent[p->gone % KCL_CHUNKS];
    cl_int state = CL_COMPLETE;
    if (*e && wait)
      state = clWaitForEvents(1, e);
    else if (*e)
      clGetEventInfo(*e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (state > CL_COMPLETE) return;
    if (state) p->code = state;
    if (*e) clReleaseEvent(*e);
    *e = NULL, p->gone++;
  }
}

static void fill_chunk(chunks *p, int64_t chunk) {
  p->u->fill(p->u->source, first_of(p, chunk), chunk_count(p, chunk), chunk_at(p, chunk));
  p->full[chunk % KCL_CHUNKS] = chunk + 1;
}

static void fill_chunks(chunks *p) {
  for (int64_t chunk; (chunk = atomic_fetch_add(&p->next, 1)) < p->end;) {
    while (p->gone + KCL_CHUNKS <= chunk && !p->code) sched_yield();
    if (p->code) return;
    fill_chunk(p, chunk);
  }
}

static void send_chunk(chunks *p, int64_t chunk) {
  kcl_opencl *o = p->o;
  const size_t size = p->u->element, bytes = (size_t)chunk_count(p, chunk) * size;
  cl_event *sent = &o->sent[chunk % KCL_CHUNKS];
  cl_int code = clEnqueueWriteBuffer(o->queue, p->to, CL_FALSE, (size_t)first_of(p, chunk) * size,
                                     bytes, chunk_at(p, chunk), 0, NULL, sent);
  if (!code) kcl_profile_keep(o, *sent, "write", bytes);
  if (!code) code = clFlush(o->queue);
  if (code) p->code = code;
}

/* The caller's part: sends filled chunks; alone: fills them as well. */
static void send_chunks(chunks *p, bool alone) {
  for (int64_t chunk = p->first; chunk < p->end && !p->code; chunk++) {
    if (alone && p->gone + KCL_CHUNKS <= chunk) retire(p, chunk, true);
    if (alone && !p->code) fill_chunk(p, chunk);
    for (kcl_wait w = {0}; p->full[chunk % KCL_CHUNKS] != chunk + 1 && !p->code; sched_yield()) {
      retire(p, chunk, false);
      if (!kcl_wait_goes_on(p->o, &w)) p->code = KCL_CL_LOST;
    }
    if (!p->code) send_chunk(p, chunk);
  }
}

static void send_or_fill(void *arg, const kcl_member *me) {
  if (me->number)
    fill_chunks(arg);
  else
    send_chunks(arg, me->threads == 1);
}

cl_int kcl_obtain_chunks(kcl_opencl *o) {
  kcl_background_await(&o->pins);
  return o->chunks ? CL_SUCCESS : pin(o);
}

static cl_int by_chunks(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
  const cl_int code = kcl_obtain_chunks(o);
  if (code) return code;
  chunks p = {.o = o, .to = to, .u = u, .per = (int64_t)(o->chunk_bytes / u->element)};
  const int64_t count = (u->count + p.per - 1) / p.per;
  p.first = o->chunked, p.end = o->chunked += count;
  p.next = p.first;
  p.gone = p.first < KCL_CHUNKS ? 0 : p.first - KCL_CHUNKS;
  const int threads = kcl_threads() - 1 < FILLERS ? kcl_threads() - 1 : FILLERS;
  kcl_parallel(1 + (count < threads ? (int)count : threads), send_or_fill, &p);
  return p.code;
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

static cl_int upload_at_once(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
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

/* Chunks pay earlier where they are pinned, or are being pinned in the background. */
bool kcl_is_large_transfer(const kcl_opencl *o, size_t bytes) {
  const bool soon = o->is_cpu || o->pins || o->chunks;
  return bytes >= (soon ? chunk_bytes(o) / 2 : KCL_CHUNKS * chunk_bytes(o));
}

int kcl_opencl_write(kcl_context *ctx, cl_mem to, const kcl_upload *u, const char *what) {
  kcl_opencl *o = ctx->opencl;
  const bool large = kcl_is_large_transfer(o, (size_t)u->count * u->element);
  if (u->count == 0) return KCL_OK;
  cl_int code = o->is_cpu ? in_place(o, to, u)
                : large   ? by_chunks(o, to, u)
                          : upload_at_once(o, to, u);
  return kcl_cl_check(ctx, code, "clEnqueueWriteBuffer", what);
}

void kcl_opencl_unpin(kcl_opencl *o) {
  kcl_background_await(&o->pins);
  for (int i = 0; i < KCL_CHUNKS; i++)
    if (o->sent[i]) clWaitForEvents(1, &o->sent[i]), clReleaseEvent(o->sent[i]);
  cl_int code = CL_SUCCESS;
  if (o->chunks) code = clEnqueueUnmapMemObject(o->queue, o->pinned, o->chunks, 0, NULL, NULL);
  if (o->chunks && !code) code = clFinish(o->queue);
  if (o->pinned && !code) clReleaseMemObject(o->pinned); /* else a chunk may be on its way */
}
