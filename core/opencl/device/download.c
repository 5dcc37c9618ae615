/* Reads from a device to the host. The driver writes large ones into memory of the library's own, never into the caller's, where a read
 * that ends after its device was given up (watch.c) would still write. From GPUs in chunks through the pinned memory of uploads:
 *
 *   device -> chunk, KCL_CHUNKS of them enqueued ahead; the caller waits for the oldest -> threads copy it to the caller's memory
 *
 * From CPU devices by all threads out of the mapped buffer. Small ones: watched_transfers.c. The caller alone calls the driver, as in
 * upload.c. Cost: a copy by several threads, beside the transfer. */
#include "core/opencl/device/device.h"
#include <sched.h>

enum { COPIERS = 8 /* threads, at most */ };

typedef struct reading {
  kcl_opencl *o;
  cl_mem from;
  size_t offset, bytes;
  char *to;
  int64_t end;                   /* chunks */
  _Atomic int64_t next, arrived; /* next to be copied; all before `arrived` are in their chunks */
  _Atomic int64_t copied[KCL_CHUNKS]; /* 1 + the last chunk that was copied out of there */
  cl_event read[KCL_CHUNKS];          /* NULL: has ended */
  _Atomic cl_int code;                /* of the first call that failed: copiers end */
} reading;

static size_t first_byte(const reading *p, int64_t chunk) {
  return (size_t)chunk * p->o->chunk_bytes;
}

static size_t bytes_in(const reading *p, int64_t chunk) {
  const size_t left = p->bytes - first_byte(p, chunk);
  return left < p->o->chunk_bytes ? left : p->o->chunk_bytes;
}

static char *ring_place(const reading *p, int64_t chunk) {
  return p->o->chunks + first_byte(p, chunk % KCL_CHUNKS);
}

static void copy_chunk(reading *p, int64_t chunk) {
  memcpy(p->to + first_byte(p, chunk), ring_place(p, chunk), bytes_in(p, chunk));
  p->copied[chunk % KCL_CHUNKS] = chunk + 1;
}

static void copy_chunks(reading *p) {
  for (int64_t chunk; (chunk = atomic_fetch_add(&p->next, 1)) < p->end;) {
    while (p->arrived <= chunk && !p->code) sched_yield();
    if (p->code) return;
    copy_chunk(p, chunk);
  }
}

/* Has the chunk that was there before been copied? */
static bool place_is_free(const reading *p, int64_t chunk) {
  return chunk < KCL_CHUNKS || p->copied[chunk % KCL_CHUNKS] == chunk - KCL_CHUNKS + 1;
}

static void enqueue_chunk(reading *p, int64_t chunk) {
  const size_t bytes = bytes_in(p, chunk);
  cl_event *read = &p->read[chunk % KCL_CHUNKS];
  cl_int code =
      clEnqueueReadBuffer(p->o->queue, p->from, CL_FALSE, p->offset + first_byte(p, chunk), bytes,
                          ring_place(p, chunk), 0, NULL, read);
  if (code)
    *read = NULL;
  else
    kcl_profile_keep(p->o, *read, "read", bytes);
  if (!code) code = clFlush(p->o->queue);
  if (code) p->code = code;
}

static cl_int await_chunk(reading *p, int64_t chunk) {
  cl_event *read = &p->read[chunk % KCL_CHUNKS];
  const cl_int code = clWaitForEvents(1, read);
  if (!code) clReleaseEvent(*read), *read = NULL;
  return code;
}

/* The caller's part: enqueues reads and waits for them; alone: copies as well. */
static void read_chunks(reading *p, bool alone) {
  int64_t enqueued = 0;
  for (int64_t chunk = 0; chunk < p->end && !p->code; chunk++) {
    while (!place_is_free(p, chunk)) sched_yield();
    while (enqueued < p->end && place_is_free(p, enqueued) && !p->code)
      enqueue_chunk(p, enqueued++);
    const cl_int code = p->code ? p->code : await_chunk(p, chunk);
    if (code)
      p->code = code;
    else
      p->arrived = chunk + 1;
    if (alone && !code) copy_chunk(p, chunk);
  }
}

static void read_or_copy(void *arg, const kcl_member *me) {
  if (me->number)
    copy_chunks(arg);
  else
    read_chunks(arg, me->threads == 1);
}

/* After a failure chunks may still be on their way. Where that cannot be awaited, either, the memory is abandoned. */
static void end_reads(reading *p) {
  bool ended = true;
  for (int i = 0; i < KCL_CHUNKS; i++)
    if (p->read[i]) ended &= !clWaitForEvents(1, &p->read[i]), clReleaseEvent(p->read[i]);
  if (!ended) p->o->pinned = NULL, p->o->chunks = NULL;
}

static cl_int read_by_chunks(kcl_opencl *o, cl_mem from, size_t offset, size_t bytes, void *to) {
  reading p = {.o = o, .from = from, .offset = offset, .bytes = bytes, .to = to};
  p.end = (int64_t)((bytes + o->chunk_bytes - 1) / o->chunk_bytes);
  const int threads = kcl_threads() - 1 < COPIERS ? kcl_threads() - 1 : COPIERS;
  kcl_parallel(1 + (p.end < threads ? (int)p.end : threads), read_or_copy, &p);
  end_reads(&p);
  return p.code;
}

static cl_int read_at_once(kcl_opencl *o, cl_mem from, size_t offset, size_t bytes, void *to) {
  return clEnqueueReadBuffer(o->queue, from, CL_TRUE, offset, bytes, to, 0, NULL,
                             kcl_profile_event(o, "read", bytes));
}

static cl_int read_mapped(kcl_opencl *o, cl_mem from, size_t offset, size_t bytes, void *to) {
  cl_int code;
  void *data = clEnqueueMapBuffer(o->queue, from, CL_TRUE, CL_MAP_READ, offset, bytes, 0, NULL,
                                  kcl_profile_event(o, "map", 0), &code);
  if (code) return code;
  kcl_copy_bytes(to, data, (int64_t)bytes);
  return clEnqueueUnmapMemObject(o->queue, from, data, 0, NULL,
                                 kcl_profile_event(o, "read", bytes));
}

int kcl_opencl_read(kcl_context *ctx, cl_mem from, size_t offset, size_t bytes, void *to,
                    const char *what) {
  kcl_opencl *o = ctx->opencl;
  const bool large = kcl_is_large_transfer(o, bytes);
  const cl_int code = large && o->is_cpu               ? read_mapped(o, from, offset, bytes, to)
                      : large && !kcl_obtain_chunks(o) ? read_by_chunks(o, from, offset, bytes, to)
                                                       : read_at_once(o, from, offset, bytes, to);
  return kcl_cl_check(ctx, code, "clEnqueueReadBuffer", what);
}

int kcl_opencl_read_bytes(kcl_context *ctx, void *buffer, size_t offset, size_t bytes, void *to) {
  return kcl_opencl_read(ctx, buffer, offset, bytes, to, "reading a buffer");
}
