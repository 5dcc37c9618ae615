/* What repeats in a matrix, for formats that store it once and name it by a number: values, pairs of
 * (column - row, value), whole rows of such pairs. Values are the same when all their bits are. */
#ifndef KCL_REPEATS_H
#define KCL_REPEATS_H

#include "core/impl.h"

typedef enum kcl_thing { KCL_VALUES, KCL_PAIRS, KCL_ROWS } kcl_thing;
enum { KCL_MOST_REPEATS = 65536 }; /* numbers of 16 bits */

/* The distinct ones, numbered in the order in which the rows first show them. */
typedef struct kcl_repeats {
  const kcl_csr *A;
  kcl_thing thing;
  int64_t count;        /* KCL_MOST_REPEATS + 1: there are more, and nothing else is of use */
  int64_t *row, *entry; /* [count] where each was first met; of a row: itself and its first entry */
  uint16_t *code;       /* [rows] the number of each row, when asked for */
  int64_t runs;         /* rows that differ from the row before, the first one included */
  uint64_t *hash;       /* [slots] */
  int32_t *number;      /* [slots] 1 + the number of what has this hash; 0: free */
  int64_t slots;
} kcl_repeats;

/* One pass over A; or only over what `from` found, repeats of a larger thing (NULL, or too many: A).
 * Ends early where there are more than KCL_MOST_REPEATS. codes: of KCL_ROWS, without from. */
int kcl_repeats_find(kcl *ctx, const kcl_csr *A, kcl_thing thing, const kcl_repeats *from,
                     bool codes, kcl_repeats *out);
/* The number of the value or pair at entry k of row i. */
int64_t kcl_repeats_number(const kcl_repeats *r, int64_t i, int64_t k);
void kcl_repeats_free(kcl_repeats *r);

static inline bool kcl_repeats_few(const kcl_repeats *r) { return r->count <= KCL_MOST_REPEATS; }

bool kcl_all_single(const kcl_csr *A);                    /* every value is a float exactly */
int32_t kcl_slice_least(const kcl_csr *A, int64_t slice); /* its least column */
int64_t kcl_slice_span(const kcl_csr *A); /* largest difference of columns within a slice */
/* The fields of kcl_stats that compressed formats are sized by: row_patterns, pattern_entries,
 * pattern_runs, pairs, values, single_values, slice_span. */
int kcl_compression(kcl *ctx, const kcl_csr *A, kcl_stats *s);
#endif
