/* Buffers that are used again. A new one costs NVIDIA's driver 0.05 ms at its first use and 0.02 to 0.2 ms at its release, whatever its
 * size, which is more than most kernels take. (Not parts of large ones: the driver copies a part on its way out, at 1.5 GB/s.)
 * What is given back may be used again at once, also before what was enqueued has run: the queue is in order. */
#include "core/opencl/opencl.h"
#include <stdlib.h>

enum { KEPT_PART = 64 /* of the device's memory stays when nothing uses it */ };
static const size_t SMALL = 64 << 10;

typedef struct piece {
  cl_mem buffer;
  size_t size;
  bool used;
} piece;

struct kcl_pool {
  piece *piece; /* [pieces] */
  int pieces;
};

/* The smallest free one that is large enough and not larger than `most`; or NULL. */
static piece *find_free(const kcl_pool *p, size_t bytes, size_t most) {
  piece *best = NULL;
  for (int i = 0; i < p->pieces; i++) {
    piece *q = &p->piece[i];
    if (!q->used && q->size >= bytes && q->size <= most && (!best || q->size < best->size))
      best = q;
  }
  return best;
}

static piece *add(kcl_opencl *o, size_t bytes, cl_int *code) {
  kcl_pool *p = o->pool;
  piece *more = realloc(p->piece, (size_t)(p->pieces + 1) * sizeof *more);
  *code = CL_OUT_OF_HOST_MEMORY;
  if (!more) return NULL;
  p->piece = more, more += p->pieces;
  *more = (piece){.size = bytes};
  more->buffer = clCreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, code);
  return *code ? NULL : &p->piece[p->pieces++];
}

int kcl_pool_take(kcl *ctx, size_t bytes, bool briefly, void **out) {
  kcl_opencl *o = ctx->opencl;
  cl_int code = CL_SUCCESS;
  int rc = o->pool ? KCL_OK : kcl_alloc(ctx, 1, sizeof *o->pool, "buffers", (void **)&o->pool);
  *out = NULL;
  if (rc) return rc;
  if (bytes < SMALL) bytes = SMALL;
  piece *q = find_free(o->pool, bytes, briefly ? SIZE_MAX : bytes + bytes / 4);
  if (!q) q = add(o, bytes, &code);
  if (q) q->used = true, *out = q->buffer;
  return kcl_cl_check(ctx, code, "clCreateBuffer", "a buffer");
}

void kcl_pool_give(kcl *ctx, const void *buffer) {
  const kcl_pool *p = ctx->opencl ? ctx->opencl->pool : NULL;
  for (int i = 0; p && i < p->pieces; i++)
    if (p->piece[i].buffer == buffer) {
      p->piece[i].used = false;
      return;
    }
  if (buffer) clReleaseMemObject((cl_mem)(uintptr_t)buffer);
}

static int by_size(const void *a, const void *b) {
  const size_t x = ((const piece *)a)->size, y = ((const piece *)b)->size;
  return (x > y) - (x < y);
}

/* Of those that are free the smallest stay, so many bytes of them. */
static void trim(kcl_pool *p, size_t room) {
  int kept = 0;
  if (!p->pieces) return;
  qsort(p->piece, (size_t)p->pieces, sizeof *p->piece, by_size);
  for (int i = 0; i < p->pieces; i++) {
    const piece q = p->piece[i];
    if (!q.used && q.size > room) {
      clReleaseMemObject(q.buffer), room = 0;
      continue;
    }
    if (!q.used) room -= q.size;
    p->piece[kept++] = q;
  }
  p->pieces = kept;
}

void kcl_pool_trim(kcl *ctx) {
  if (ctx->opencl && ctx->opencl->pool) trim(ctx->opencl->pool, ctx->device.memory / KEPT_PART);
}

void kcl_pool_end(kcl_opencl *o) {
  if (o->pool) trim(o->pool, 0), free(o->pool->piece);
  free(o->pool), o->pool = NULL;
}
