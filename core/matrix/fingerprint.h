/* Fingerprints of a matrix and of a vector that do not depend on how their rows are distributed: sums over their entries, modulo 2^64,
 * of mixed bits of place and value. Parts are added: the fingerprint of the whole is the sum of those of its parts.
 *
 *   entry    mix(mix(row 2^32 + column) + value)      mix: the finaliser of SplitMix64 (Steele, Lea & Flood 2014)
 *
 * A change of one entry always changes the sum; any other change is missed with probability 2^-64. 2.6 ns per entry on one core of an AMD EPYC. */
#ifndef KCL_FINGERPRINT_H
#define KCL_FINGERPRINT_H
#include "core/base/base.h"

typedef struct kcl_fingerprint {
  uint64_t structure, values; /* of row and column; of these and the value */
} kcl_fingerprint;

/* Rows of A that stand elsewhere in the whole matrix. */
typedef struct kcl_placed_rows {
  const kcl_csr *A;
  const int32_t *row;    /* [rows] their places after first_row; NULL: one after another */
  const int64_t *column; /* [cols] columns of the whole matrix; NULL: from first_column on */
  int64_t first_row, first_column;
} kcl_placed_rows;

void kcl_fingerprint_add(kcl_fingerprint *f, const kcl_placed_rows *rows);
/* v [n] of any type, elements from `first` on of the whole. */
uint64_t kcl_fingerprint_vector(kcl_type type, const void *v, int64_t n, int64_t first);

#endif
