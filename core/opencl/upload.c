/* Host arrays to the device. On GPUs large arrays go in pieces through pinned memory: some threads fill pieces, conversions
 * included, and the caller alone sends those that are full, in order. (A GPU reads pageable memory through a buffer of its
 * driver, at 9.5 GB/s, and pinned memory at 55 GB/s, on an NVIDIA H200. Once several threads have enqueued, NVIDIA's driver
 * serves all later calls more slowly.) On CPU devices the buffer is mapped and filled in place. Pinned memory is made in the
 * background while a GPU is opened: that takes 0.6 ms per MB. */
#include "core/opencl/opencl.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { STAGING = 1 << 19 /* bytes of a piece */, FILLERS = 8 /* threads, at most */ };

void kcl_fill_bytes(const void *source, int64_t from, int64_t count, void *to) {
  kcl_copy_bytes(to, (const char *)source + from, count);
}

static size_t piece_bytes(const kcl_opencl *o) {
  return o->staging_bytes ? o->staging_bytes : STAGING;
}

static cl_int pin(kcl_opencl *o) {
  cl_int code;
  o->staging_bytes = piece_bytes(o);
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

/* Pieces are numbered from the context's first one on; piece k is at k % KCL_STAGES of the pinned memory. */
typedef struct pieces {
  kcl_opencl *o;
  cl_mem to;
  const kcl_upload *u;
  int64_t per, first, end;          /* elements of a piece; pieces of this upload */
  _Atomic int64_t next, gone;       /* next to be filled; all before `gone` have been copied */
  _Atomic int64_t full[KCL_STAGES]; /* 1 + the piece that is there */
  _Atomic cl_int code;              /* of the first call that failed: fillers end */
} pieces;

static char *place(const pieces *p, int64_t piece) {
  return p->o->staging + piece % KCL_STAGES * p->o->staging_bytes;
}
static int64_t first_of(const pieces *p, int64_t piece) { return (piece - p->first) * p->per; }
static int64_t count_of(const pieces *p, int64_t piece) {
  const int64_t left = p->u->count - first_of(p, piece);
  return left < p->per ? left : p->per;
}

/* Notes what has been copied; wait: until the oldest piece is. */
static void retire(pieces *p, int64_t sent, bool wait) {
  for (; p->gone < sent; wait = false) {
    cl_event *e = &p->o->sent[p->gone % KCL_STAGES];
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

static void fill_piece(pieces *p, int64_t piece) {
  p->u->fill(p->u->source, first_of(p, piece), count_of(p, piece), place(p, piece));
  p->full[piece % KCL_STAGES] = piece + 1;
}

static void fill_pieces(pieces *p) {
  for (int64_t piece; (piece = atomic_fetch_add(&p->next, 1)) < p->end;) {
    while (p->gone + KCL_STAGES <= piece && !p->code) sched_yield();
    if (p->code) return;
    fill_piece(p, piece);
  }
}

static void send_piece(pieces *p, int64_t piece) {
  kcl_opencl *o = p->o;
  const size_t size = p->u->element, bytes = (size_t)count_of(p, piece) * size;
  cl_event *sent = &o->sent[piece % KCL_STAGES];
  cl_int code = clEnqueueWriteBuffer(o->queue, p->to, CL_FALSE, (size_t)first_of(p, piece) * size,
                                     bytes, place(p, piece), 0, NULL, sent);
  if (!code) kcl_profile_keep(o, *sent, "write", bytes);
  if (!code) code = clFlush(o->queue);
  if (code) p->code = code;
}

/* The caller; alone: it fills as well. */
static void send_pieces(pieces *p, bool alone) {
  for (int64_t piece = p->first; piece < p->end && !p->code; piece++) {
    if (alone && p->gone + KCL_STAGES <= piece) retire(p, piece, true);
    if (alone && !p->code) fill_piece(p, piece);
    while (p->full[piece % KCL_STAGES] != piece + 1 && !p->code)
      retire(p, piece, false), sched_yield();
    if (!p->code) send_piece(p, piece);
  }
}

static void send_or_fill(void *arg, const kcl_member *me) {
  if (me->number)
    fill_pieces(arg);
  else
    send_pieces(arg, me->threads == 1);
}

static cl_int by_staging(kcl_opencl *o, cl_mem to, const kcl_upload *u) {
  kcl_background_await(&o->pins);
  cl_int code = o->staging ? CL_SUCCESS : pin(o);
  if (code) return code;
  pieces p = {.o = o, .to = to, .u = u, .per = (int64_t)(o->staging_bytes / u->element)};
  const int64_t count = (u->count + p.per - 1) / p.per;
  p.first = o->pieces, p.end = o->pieces += count;
  p.next = p.first;
  p.gone = p.first < KCL_STAGES ? 0 : p.first - KCL_STAGES;
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
  size_t large = ahead(o) ? piece_bytes(o) / 2 : KCL_STAGES * piece_bytes(o);
  if (u->count == 0) return KCL_OK;
  cl_int code = o->is_cpu                                ? in_place(o, to, u)
                : (size_t)u->count * u->element >= large ? by_staging(o, to, u)
                                                         : at_once(o, to, u);
  return kcl_cl_check(ctx, code, "clEnqueueWriteBuffer", what);
}

void kcl_opencl_unpin(kcl_opencl *o) {
  kcl_background_await(&o->pins);
  for (int i = 0; i < KCL_STAGES; i++)
    if (o->sent[i]) clWaitForEvents(1, &o->sent[i]), clReleaseEvent(o->sent[i]);
  if (o->staging) {
    clEnqueueUnmapMemObject(o->queue, o->pinned, o->staging, 0, NULL, NULL);
    clFinish(o->queue);
  }
  if (o->pinned) clReleaseMemObject(o->pinned);
}
