/* See arrays.h. */
#include "solver/guard/arrays.h"
#include "core/base/sum64.h"
#include "core/device/device.h"

static size_t count_chunks(const kcl_guarded_array *a) {
  return (a->bytes + KCL_SUM64_CHUNK - 1) / KCL_SUM64_CHUNK;
}

static size_t guarded_bytes(const kcl_guarded_array *a, size_t chunk) {
  const size_t left = a->bytes - chunk * KCL_SUM64_CHUNK;
  return left < KCL_SUM64_CHUNK ? left : KCL_SUM64_CHUNK;
}

/* *out: where the chunk can be read, in place or in g->chunk. */
static int read_chunk(const kcl_guarded_arrays *g, const kcl_guarded_array *a, size_t chunk,
                      const unsigned char **out) {
  const size_t from = chunk * KCL_SUM64_CHUNK;
  *out = a->data ? (unsigned char *)a->data + from : g->chunk;
  return a->data ? KCL_OK
                 : kcl_read_bytes(g->ctx, a->buffer, from, guarded_bytes(a, chunk), g->chunk);
}

static int write_chunk(const kcl_guarded_arrays *g, const kcl_guarded_array *a, size_t chunk,
                       const unsigned char *values) {
  const size_t from = chunk * KCL_SUM64_CHUNK, bytes = guarded_bytes(a, chunk);
  if (!a->data) return kcl_write_bytes(g->ctx, a->buffer, from, bytes, values);
  memcpy((unsigned char *)a->data + from, values, bytes);
  return KCL_OK;
}

/* Chunks in place are summed by all threads. */
static int sum_array(const kcl_guarded_arrays *g, const kcl_guarded_array *a, uint64_t *sum) {
  const unsigned char *at;
  int rc = KCL_OK;
  if (a->data) kcl_sum64_chunks(a->data, a->bytes, sum);
  for (size_t c = 0; c < count_chunks(a) && !a->data && !rc; c++)
    if (!(rc = read_chunk(g, a, c, &at))) kcl_sum64_chunks(at, guarded_bytes(a, c), &sum[c]);
  return rc;
}

/* to = to xor all chunks but one. */
static int add_other_chunks(const kcl_guarded_arrays *g, const kcl_guarded_array *a, size_t but,
                            unsigned char *to) {
  int rc = KCL_OK;
  for (size_t c = 0; c < count_chunks(a) && !rc; c++) {
    const unsigned char *from;
    if (c == but || (rc = read_chunk(g, a, c, &from))) continue;
    for (size_t i = 0, n = guarded_bytes(a, c); i < n; i++) to[i] ^= from[i];
  }
  return rc;
}

static bool array_is_known(const kcl_guarded_arrays *g, const kcl_guarded_array *a) {
  for (int i = 0; i < g->count; i++)
    if (g->list[i].data == a->data && g->list[i].buffer == a->buffer) return true;
  return false;
}

int kcl_guarded_add(kcl_guarded_arrays *g, kcl_guarded_array given) {
  kcl_guarded_array *a;
  int rc = KCL_OK;
  if ((!given.data && !given.buffer) || !given.bytes || array_is_known(g, &given)) return KCL_OK;
  if (!given.data && !g->chunk)
    rc = kcl_alloc_unset(g->ctx, KCL_SUM64_CHUNK, 1, "checksums", (void **)&g->chunk);
  if (rc) return rc;
  if (!(a = realloc(g->list, (size_t)(g->count + 1) * sizeof *a)))
    return kcl_fail(g->ctx, KCL_MEMORY, "out of memory: checksums");
  g->list = a, a += g->count++, *a = given;
  const int64_t chunks = (int64_t)count_chunks(a);
  rc = kcl_alloc(g->ctx, chunks, sizeof *a->sum, "checksums", (void **)&a->sum);
  if (!rc) rc = kcl_alloc(g->ctx, (int64_t)guarded_bytes(a, 0), 1, "parity", (void **)&a->parity);
  if (!rc) rc = sum_array(g, a, a->sum);
  return rc ? rc : add_other_chunks(g, a, (size_t)chunks, a->parity);
}

/* The chunk from all others; *restored is false where another one is damaged, too. */
static int restore_chunk(const kcl_guarded_arrays *g, const kcl_guarded_array *a, size_t chunk,
                         bool *restored) {
  const size_t room = guarded_bytes(a, 0);
  unsigned char *values;
  uint64_t sum;
  int rc;
  KCL_TRY(kcl_alloc_unset(g->ctx, (int64_t)room, 1, "a chunk", (void **)&values));
  memcpy(values, a->parity, room);
  KCL_TRY(add_other_chunks(g, a, chunk, values));
  kcl_sum64_chunks(values, guarded_bytes(a, chunk), &sum);
  *restored = sum == a->sum[chunk];
  if (*restored) rc = write_chunk(g, a, chunk, values);
done:
  free(values);
  return rc;
}

static int restore_array(const kcl_guarded_arrays *g, const kcl_guarded_array *a,
                         const uint64_t *now) {
  bool restored = a->writable;
  int rc = KCL_OK;
  for (size_t c = 0; c < count_chunks(a) && restored && !rc; c++)
    if (now[c] != a->sum[c]) rc = restore_chunk(g, a, c, &restored);
  if (rc || restored) return rc;
  return kcl_fail(
      g->ctx, KCL_CHANGED, "%s changed in memory during the solve and cannot be restored: %s",
      a->what, a->writable ? "more than one part of it is damaged" : "the memory is the caller's");
}

static int check_array(const kcl_guarded_arrays *g, const kcl_guarded_array *a, int *damaged) {
  const size_t bytes = count_chunks(a) * sizeof *a->sum;
  uint64_t *now;
  int rc;
  KCL_TRY(kcl_alloc_unset(g->ctx, (int64_t)bytes, 1, "checksums", (void **)&now));
  KCL_TRY(sum_array(g, a, now));
  if (memcmp(now, a->sum, bytes)) ++*damaged, rc = restore_array(g, a, now);
done:
  free(now);
  return rc;
}

int kcl_guarded_check(kcl_guarded_arrays *g, int *damaged) {
  int rc = KCL_OK;
  *damaged = 0;
  for (int i = 0; i < g->count && !rc; i++) rc = check_array(g, &g->list[i], damaged);
  return rc;
}

void kcl_guarded_free(kcl_guarded_arrays *g) {
  for (int i = 0; i < g->count; i++) free(g->list[i].sum), free(g->list[i].parity);
  free(g->list), free(g->chunk);
  *g = (kcl_guarded_arrays){.ctx = g->ctx};
}
