/* Indices of a guarded matrix, looked at before the cpu executor multiplies rows with them (kcl_format.bounded): loops over contiguous
 * memory, which the product then finds in the cache. A bit that flips in between, in microseconds, is not seen. */
#ifndef KCL_SPMV_BOUNDS_H
#define KCL_SPMV_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/* The largest of a[0 .. count), negative numbers being large; 0 of none. */
static inline uint32_t kcl_largest_index(const int32_t *a, int64_t count) {
  uint32_t most = 0;
  for (int64_t k = 0; k < count; k++) most = (uint32_t)a[k] > most ? (uint32_t)a[k] : most;
  return most;
}

/* The largest of indices of 8 and of 16 bits; 0 of none. */
static inline uint32_t kcl_largest_byte(const uint8_t *a, int64_t count) {
  uint8_t most = 0;
  for (int64_t k = 0; k < count; k++) most = a[k] > most ? a[k] : most;
  return most;
}
static inline uint32_t kcl_largest_short(const uint16_t *a, int64_t count) {
  uint16_t most = 0;
  for (int64_t k = 0; k < count; k++) most = a[k] > most ? a[k] : most;
  return most;
}

/* Are indices a[0 .. count) in an array of n elements? */
static inline bool kcl_indices_within(const int32_t *a, int64_t count, int64_t n) {
  return count <= 0 || kcl_largest_index(a, count) < n;
}

/* Are indices a[0 .. count) from lo to below hi? */
static inline bool kcl_indices_between(const int32_t *a, int64_t count, int64_t lo, int64_t hi) {
  uint32_t most = 0;
  for (int64_t k = 0; k < count; k++) {
    const uint32_t j = (uint32_t)a[k] - (uint32_t)lo;
    most = j > most ? j : most;
  }
  return count <= 0 || most < hi - lo;
}

/* Do start[lo .. hi] ascend, from 0 or more to n or less? */
static inline bool kcl_starts_ascend(const int64_t *start, int64_t lo, int64_t hi, int64_t n) {
  uint64_t signs = (uint64_t)start[lo];
  for (int64_t i = lo; i < hi; i++)
    signs |= (uint64_t)start[i + 1] | ((uint64_t)start[i + 1] - (uint64_t)start[i]);
  return !(signs >> 63) && start[hi] <= n;
}

/* As kcl_starts_ascend. */
static inline bool kcl_short_starts_ascend(const int32_t *start, int64_t lo, int64_t hi,
                                           int64_t n) {
  uint32_t signs = (uint32_t)start[lo];
  for (int64_t i = lo; i < hi; i++)
    signs |= (uint32_t)start[i + 1] | ((uint32_t)start[i + 1] - (uint32_t)start[i]);
  return !(signs >> 31) && start[hi] <= n;
}

#endif
