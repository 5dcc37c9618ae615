/* See arrays.h. */
#include "solver/guard/arrays.h"
#include "core/base/sum64.h"
#include "core/base/team.h"
#include <stdlib.h>
#include <string.h>

static size_t count_chunks(const kcl_guarded_array *a) {
  return (a->bytes + KCL_SUM64_CHUNK - 1) / KCL_SUM64_CHUNK;
}

static size_t parity_bytes(const kcl_guarded_array *a) {
  return a->bytes < KCL_SUM64_CHUNK ? a->bytes : KCL_SUM64_CHUNK;
}

static size_t chunk_bytes(const kcl_guarded_array *a, size_t chunk) {
  const size_t left = a->bytes - chunk * KCL_SUM64_CHUNK;
  return left < KCL_SUM64_CHUNK ? left : KCL_SUM64_CHUNK;
}

/* The exclusive or of all chunks but one is added to bytes [first, end) of `to`. */
typedef struct chunks_but_one {
  const kcl_guarded_array *a;
  size_t but; /* none: the number of chunks */
  unsigned char *to;
} chunks_but_one;

static void add_parity(void *arg, int64_t first, int64_t end) {
  const chunks_but_one *p = arg;
  for (size_t c = 0; c < count_chunks(p->a); c++) {
    const unsigned char *from = p->a->data + c * KCL_SUM64_CHUNK;
    const int64_t bytes = (int64_t)chunk_bytes(p->a, c), to = end < bytes ? end : bytes;
    if (c == p->but) continue;
    for (int64_t i = first; i < to; i++) p->to[i] ^= from[i];
  }
}

int kcl_guarded_add(kcl_guarded_arrays *g, const char *what, void *data, size_t bytes,
                    bool writable) {
  if (!data || !bytes) return KCL_OK;
  for (int i = 0; i < g->count; i++)
    if (g->list[i].data == data) return KCL_OK;
  kcl_guarded_array *more = realloc(g->list, (size_t)(g->count + 1) * sizeof *more);
  if (!more) return kcl_fail(g->ctx, KCL_MEMORY, "out of memory: checksums");
  g->list = more;
  kcl_guarded_array *a = &more[g->count];
  *a = (kcl_guarded_array){.what = what, .data = data, .bytes = bytes, .writable = writable};
  int rc =
      kcl_alloc(g->ctx, (int64_t)count_chunks(a), sizeof *a->sum, "checksums", (void **)&a->sum);
  if (rc) return rc;
  g->count++;
  rc = kcl_alloc(g->ctx, (int64_t)parity_bytes(a), 1, "parity", (void **)&a->parity);
  if (rc) return rc;
  kcl_sum64_chunks(data, bytes, a->sum);
  kcl_for((int64_t)parity_bytes(a), KCL_FEW, add_parity,
          &(chunks_but_one){a, count_chunks(a), a->parity});
  return KCL_OK;
}

static bool chunk_is_whole(const kcl_guarded_array *a, size_t chunk) {
  uint64_t sum;
  kcl_sum64_chunks(a->data + chunk * KCL_SUM64_CHUNK, chunk_bytes(a, chunk), &sum);
  return sum == a->sum[chunk];
}

/* The chunk from all others. False: another one is damaged, too. */
static bool restore_chunk(kcl_guarded_array *a, size_t chunk) {
  unsigned char *at = a->data + chunk * KCL_SUM64_CHUNK;
  memcpy(at, a->parity, chunk_bytes(a, chunk));
  add_parity(&(chunks_but_one){a, chunk, at}, 0, (int64_t)chunk_bytes(a, chunk));
  return chunk_is_whole(a, chunk);
}

static int restore_array(kcl_context *ctx, kcl_guarded_array *a, const uint64_t *now) {
  bool restored = a->writable;
  for (size_t c = 0; c < count_chunks(a) && restored; c++)
    if (now[c] != a->sum[c]) restored = restore_chunk(a, c);
  if (restored) return KCL_OK;
  return kcl_fail(
      ctx, KCL_CHANGED, "%s changed in memory during the solve and cannot be restored: %s", a->what,
      a->writable ? "more than one part of it is damaged" : "the memory is the caller's");
}

static int check_array(kcl_context *ctx, kcl_guarded_array *a, int *damaged) {
  const size_t bytes = count_chunks(a) * sizeof *a->sum;
  uint64_t *now;
  int rc = kcl_alloc_unset(ctx, (int64_t)count_chunks(a), sizeof *now, "checksums", (void **)&now);
  if (rc) return rc;
  kcl_sum64_chunks(a->data, a->bytes, now);
  if (memcmp(now, a->sum, bytes)) ++*damaged, rc = restore_array(ctx, a, now);
  free(now);
  return rc;
}

int kcl_guarded_check(kcl_guarded_arrays *g, int *damaged) {
  int rc = KCL_OK;
  *damaged = 0;
  for (int i = 0; i < g->count && !rc; i++) rc = check_array(g->ctx, &g->list[i], damaged);
  return rc;
}

void kcl_guarded_free(kcl_guarded_arrays *g) {
  for (int i = 0; i < g->count; i++) free(g->list[i].sum), free(g->list[i].parity);
  free(g->list);
  g->list = NULL, g->count = 0;
}
