/* See sum64.h. */
#include "core/base/sum64.h"
#include "core/base/team.h"

enum {
  SUM_CHUNK = KCL_SUM64_CHUNK,
  LANES = 8,
  AHEAD = 1 << 11,
  SUM_GROUP = 1 << 6
}; /* bytes; words; chunks whose sums are combined at once */

static uint64_t word_at(const unsigned char *p) {
  uint64_t w;
  memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  w = __builtin_bswap64(w);
#endif
  return w;
}

static inline uint64_t sum_word(uint64_t s, uint64_t w) {
  s = (s ^ w) * 0x9e3779b97f4a7c15u;
  return s << 29 | s >> 35;
}

static uint64_t chunk(const unsigned char *p, size_t n) {
  uint64_t s[LANES] = {1, 2, 3, 4, 5, 6, 7, 8}, h = n;
  size_t k = 0;
  for (; k + 8 * LANES <= n; k += 8 * LANES) {
    __builtin_prefetch(p + k + AHEAD);
    for (int l = 0; l < LANES; l++) s[l] = sum_word(s[l], word_at(p + k + 8 * l));
  }
  unsigned char tail[8 * LANES] = {0};
  if (k < n) memcpy(tail, p + k, n - k);
  for (int l = 0; k < n && l < LANES; l++) s[l] = sum_word(s[l], word_at(tail + 8 * l));
  for (int l = 0; l < LANES; l++) h = kcl_mix_bits(h ^ s[l]) + 0x9e3779b97f4a7c15u;
  return h;
}

typedef struct summing {
  const unsigned char *p;
  size_t size;
  uint64_t *sum;
} summing;

static void sum_chunks(void *arg, int64_t first, int64_t end) {
  const summing *s = arg;
  for (size_t k = (size_t)first; k < (size_t)end; k++) {
    size_t from = k * SUM_CHUNK, left = s->size - from;
    s->sum[k] = chunk(s->p + from, left < SUM_CHUNK ? left : SUM_CHUNK);
  }
}

void kcl_sum64_chunks(const void *data, size_t size, uint64_t *sum) {
  kcl_for_each((int64_t)((size + SUM_CHUNK - 1) / SUM_CHUNK), 1, sum_chunks,
               &(summing){data, size, sum});
}

uint64_t kcl_sum64_join(uint64_t h, const uint64_t *sum, int64_t count) {
  for (int64_t k = 0; k < count; k++) h = kcl_mix_bits(h ^ sum[k]) + 0x9e3779b97f4a7c15u;
  return h;
}

uint64_t kcl_sum64_end(uint64_t h, size_t size) { return kcl_mix_bits(h ^ size); }

/* A group of chunks at a time, so that their sums need no allocation. */
uint64_t kcl_sum64(const void *data, size_t size, uint64_t h) {
  const unsigned char *p = data;
  const size_t step_bytes = (size_t)SUM_GROUP * SUM_CHUNK;
  uint64_t sum[SUM_GROUP];
  for (size_t at = 0; at < size; at += step_bytes) {
    const size_t bytes = size - at < step_bytes ? size - at : step_bytes;
    kcl_sum64_chunks(p + at, bytes, sum);
    h = kcl_sum64_join(h, sum, (int64_t)((bytes + SUM_CHUNK - 1) / SUM_CHUNK));
  }
  return kcl_sum64_end(h, size);
}
