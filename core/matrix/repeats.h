/* The distinct values, (column - row, value) pairs or rows of such pairs in a matrix, for formats that store each once and
 * refer to it by a number. Values are equal if all their bits are. */
#ifndef KCL_REPEATS_H
#define KCL_REPEATS_H

#include "core/base/base.h"

typedef enum kcl_repeats_kind { KCL_VALUES, KCL_PAIRS, KCL_ROWS } kcl_repeats_kind;
enum { KCL_MOST_REPEATS = 65536 }; /* numbers have 16 bits */

/* Distinct items of A, numbered in the order of their first occurrence by rows. */
typedef struct kcl_repeats {
  const kcl_csr *A;
  kcl_repeats_kind kind;
  int64_t count; /* KCL_MOST_REPEATS + 1: there are more, and the other fields are undefined */
  int64_t *row,
      *entry;      /* [capacity] of the first occurrence; of a row: itself and its first entry */
  uint16_t *code;  /* [rows] the number of each row, if requested */
  int64_t runs;    /* rows that differ from the row before; the first row counts */
  uint64_t *hash;  /* [slots] */
  int32_t *number; /* [slots] 1 + the number stored in the slot; 0: free */
  int64_t slots, capacity; /* capacity: of row and entry; both grow */
  bool failed;             /* memory ran out */
  bool shared;             /* all this belongs to a kcl_distinct_rows */
} kcl_repeats;

/* The distinct rows of A with their codes, from the first request on; A must not change until they are freed. */
typedef struct kcl_distinct_rows {
  const kcl_csr *A;
  kcl_repeats found; /* A NULL: nobody has asked for them yet */
  int64_t *run; /* [found.runs + 1] the first row of each run, and A's rows; NULL: not listed */
} kcl_distinct_rows;
bool kcl_distinct_rows_found(const kcl_distinct_rows *d, const kcl_csr *A);  /* d NULL: no */
bool kcl_distinct_rows_listed(const kcl_distinct_rows *d, const kcl_csr *A); /* and their runs? */
void kcl_distinct_rows_free(kcl_distinct_rows *d);
/* Lists the runs where they are few, and ends the search: no more rows can be numbered. False: they are many, or nobody has asked for
 * the distinct rows. */
int kcl_distinct_rows_list_runs(kcl_context *ctx, kcl_distinct_rows *d, bool *few);
/* d's A has new values in the pattern of before's, whose runs are listed. Where rows with one code are still equal, codes and
 * runs are known: *same. Rows with two codes may be equal then. */
int kcl_distinct_rows_renew(kcl_context *ctx, kcl_distinct_rows *d, const kcl_distinct_rows *before,
                            bool *same);

/* The distinct rows of A: found now, or those of `distinct` where it has A's; NULL: now. codes: fill code. */
int kcl_repeats_find_rows(kcl_context *ctx, const kcl_csr *A, kcl_distinct_rows *distinct,
                          bool codes, kcl_repeats *out);
/* One pass over the distinct members of `from`, the repeats of a larger kind; if it overflowed, over A. Ends early beyond
 * KCL_MOST_REPEATS. */
int kcl_repeats_find(kcl_context *ctx, const kcl_csr *A, kcl_repeats_kind kind,
                     const kcl_repeats *from, kcl_repeats *out);
/* The number of the value or pair at entry k of row i. */
int64_t kcl_repeats_number(const kcl_repeats *r, int64_t i, int64_t k);
/* Distinct rows (KCL_ROWS, all of which fit): the number of their entries, and the entries one row after another. Row p has
 * entries start[p] up to start[p + 1]: offset = column - row, val in this type. start: [count + 1]. */
int64_t kcl_repeats_entries(const kcl_repeats *r);
void kcl_repeats_rows(const kcl_repeats *r, kcl_type type, int32_t *start, int32_t *offset,
                      void *val);
void kcl_repeats_free(kcl_repeats *r);

static inline bool kcl_repeats_fit(const kcl_repeats *r) { return r->count <= KCL_MOST_REPEATS; }

bool kcl_all_single(const kcl_csr *A); /* every value is exactly representable as float */
int32_t kcl_slice_least(const kcl_csr *A, int64_t slice); /* the least column in it */
int64_t kcl_slice_span(const kcl_csr *A); /* largest difference of columns within a slice */
/* The fields of kcl_stats that compressed formats are sized by: row_patterns, pattern_entries,
 * pattern_runs, distinct_pairs, distinct_values, values_fit_float. */
int kcl_compression(kcl_context *ctx, const kcl_csr *A, kcl_distinct_rows *distinct, kcl_stats *s);
#endif
