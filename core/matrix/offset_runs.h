/* Runs of rows whose entries are at the same offsets, column - row, such as the points along a line of a grid:
 *
 *     | a b . . |          run 0    row 0         offsets  0 1
 *     | c d e . |          run 1    rows 1, 2     offsets -1 0 1
 *     | . f g h |          run 2    row 3         offsets -1 0
 *     | . . i j |
 *
 * In a run of rows of L entries, entry p of all rows is at k, k + L, k + 2 L ... of the values, and its images, if they are in one
 * run too, are at equal distances as well: passes over new values of a known structure read no columns. Kept with a solver from its first
 * update on, where runs are long.
 */
#ifndef KCL_OFFSET_RUNS_H
#define KCL_OFFSET_RUNS_H

#include "core/base/base.h"

typedef struct kcl_offset_runs {
  int64_t count;  /* 0: they are short, and none is listed */
  int64_t *first; /* [count + 1] the first row of each run, and A's rows */
  int sharers;    /* owners beyond the first */
} kcl_offset_runs;

/* Runs of a matrix whose columns are checked; they are listed where they have 8 rows or more on average. */
int kcl_offset_runs_find(kcl_context *ctx, const kcl_csr *A, kcl_offset_runs **out);
kcl_offset_runs *kcl_offset_runs_share(
    kcl_offset_runs *r); /* r, to be freed once more; NULL of NULL */
void kcl_offset_runs_free(kcl_offset_runs **r);

/* Are runs listed? r may be NULL. */
static inline bool kcl_offset_runs_listed(const kcl_offset_runs *r) { return r && r->count; }
/* The number of the run that row i is in; they are listed. */
int64_t kcl_offset_run_of(const kcl_offset_runs *r, int64_t i);

#endif
