/* Buffers that are used again. A new one costs NVIDIA's driver 0.05 ms at its first use and 0.02 to 0.2 ms at its release, whatever its
 * size, which is more than most kernels take. (Not parts of large ones: the driver copies a part on its way out, at 1.5 GB/s.)
 * Memory that is given back may be used again at once, also before what was enqueued has run: the queue is in order. */
#include "core/opencl/device/device.h"

enum { KEPT_PART = 64 /* of the device's memory is kept when nothing uses it */ };
static const size_t SMALL = 64 << 10;

typedef struct pool_entry {
  cl_mem buffer;
  size_t size;
  bool used;
} pool_entry;

struct kcl_pool {
  pool_entry *entry; /* [entries] */
  int entries;
};

/* The smallest free buffer that is large enough and not larger than `most`; or NULL. */
static pool_entry *find_free(const kcl_pool *p, size_t bytes, size_t most) {
  pool_entry *best = NULL;
  for (int i = 0; i < p->entries; i++) {
    pool_entry *q = &p->entry[i];
    if (!q->used && q->size >= bytes && q->size <= most && (!best || q->size < best->size))
      best = q;
  }
  return best;
}

static pool_entry *add_pool_entry(kcl_opencl *o, size_t bytes, cl_int *code) {
  kcl_pool *p = o->pool;
  pool_entry *more = realloc(p->entry, (size_t)(p->entries + 1) * sizeof *more);
  *code = CL_OUT_OF_HOST_MEMORY;
  if (!more) return NULL;
  p->entry = more, more += p->entries;
  *more = (pool_entry){.size = bytes};
  more->buffer = clCreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, code);
  return *code ? NULL : &p->entry[p->entries++];
}

int kcl_pool_take(kcl_context *ctx, size_t bytes, bool briefly, void **out) {
  kcl_opencl *o = ctx->opencl;
  cl_int code = CL_SUCCESS;
  *out = NULL;
  if (!o->pool) KCL_CALL(kcl_alloc(ctx, 1, sizeof *o->pool, "buffers", (void **)&o->pool));
  if (bytes < SMALL) bytes = SMALL;
  pool_entry *q = find_free(o->pool, bytes, briefly ? SIZE_MAX : bytes + bytes / 4);
  if (!q) q = add_pool_entry(o, bytes, &code);
  if (q) q->used = true, *out = q->buffer;
  char text[64];
  snprintf(text, sizeof text, "a buffer of %.3g GB", (double)bytes * 1e-9);
  return kcl_cl_check(ctx, code, "clCreateBuffer", text);
}

int kcl_opencl_vector(kcl_context *ctx, size_t bytes, cl_mem *out) {
  void *buffer;
  bytes = kcl_opencl_padded(bytes);
  int rc = kcl_pool_take(ctx, bytes, false, &buffer);
  *out = buffer;
  if (rc) return rc;
  return kcl_cl_check(ctx, kcl_opencl_clear(ctx, *out, bytes), "clEnqueueFillBuffer", "a vector");
}

void kcl_pool_give(kcl_context *ctx, const void *buffer) {
  const kcl_pool *p = ctx->opencl ? ctx->opencl->pool : NULL;
  for (int i = 0; p && i < p->entries; i++)
    if (p->entry[i].buffer == buffer) {
      p->entry[i].used = false;
      return;
    }
  if (buffer) clReleaseMemObject((cl_mem)(uintptr_t)buffer);
}

static int by_size(const void *a, const void *b) {
  const size_t x = ((const pool_entry *)a)->size, y = ((const pool_entry *)b)->size;
  return (x > y) - (x < y);
}

/* Keeps the smallest free buffers, `capacity` bytes in total, and releases the others. */
static void trim(kcl_pool *p, size_t capacity) {
  int kept = 0;
  if (!p->entries) return;
  qsort(p->entry, (size_t)p->entries, sizeof *p->entry, by_size);
  for (int i = 0; i < p->entries; i++) {
    const pool_entry q = p->entry[i];
    if (!q.used && q.size > capacity) {
      clReleaseMemObject(q.buffer), capacity = 0;
      continue;
    }
    if (!q.used) capacity -= q.size;
    p->entry[kept++] = q;
  }
  p->entries = kept;
}

void kcl_pool_trim(kcl_context *ctx) {
  if (ctx->opencl && ctx->opencl->pool) trim(ctx->opencl->pool, ctx->device.memory / KEPT_PART);
}

void kcl_pool_end(kcl_opencl *o) {
  if (o->pool) trim(o->pool, 0), free(o->pool->entry);
  free(o->pool), o->pool = NULL;
}
