/* A 64-bit checksum of many bytes, at memory bandwidth, by all threads. It detects accidental changes, not
 * deliberate ones.
 *
 *   chunk of 1 MB   8 lanes, word k to lane k mod 8:  s = rotate((s ^ word) * odd)
 *   all chunks      h = mix(h ^ chunk), in order
 *
 * Each step is a bijection of s, so a change of a single word always changes the sum; any other change
 * is missed with probability 2^-64. Words are little-endian. The odd constants and mix come
 * from SplitMix64 (Steele, Lea & Flood 2014). */
#ifndef KCL_SUM64_H
#define KCL_SUM64_H
#include <stddef.h>
#include <stdint.h>

/* A bijection that spreads every bit of k. */
static inline uint64_t kcl_mix_bits(uint64_t k) {
  k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
  k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
  return k ^ (k >> 31);
}

uint64_t kcl_sum64(const void *data, size_t size, uint64_t start);

/* The checksum in parts: kcl_sum64_chunks sums chunks, [ceil(size / KCL_SUM64_CHUNK)]; kcl_sum64_join joins the sums of all
 * chunks, in order; kcl_sum64_end adds the total size in bytes. */
enum { KCL_SUM64_CHUNK = 1 << 20 };
void kcl_sum64_chunks(const void *data, size_t size, uint64_t *sum);
uint64_t kcl_sum64_join(uint64_t h, const uint64_t *sum, int64_t count);
uint64_t kcl_sum64_end(uint64_t h, size_t size);
#endif
