/* A 64-bit checksum of many bytes, at memory bandwidth, by all threads. It detects accidental changes, not
 * deliberate ones.
 *
 *   chunk of 1 MB   8 lanes, word k to lane k mod 8:  s = rotate((s ^ word) * odd)
 *   all chunks      h = mix(h ^ chunk), in order
 *
 * Each step is a bijection of s, so a change of a single word always changes the sum; any other change
 * is missed with probability 2^-64. Words are little-endian. The odd constants and mix are
 * those of SplitMix64 (Steele, Lea & Flood 2014). */
#ifndef KCL_SUM64_H
#define KCL_SUM64_H
#include <stddef.h>
#include <stdint.h>
uint64_t kcl_sum64(const void *data, size_t size, uint64_t start);
#endif
