/* The order in which the unknowns of a triangular system can be computed: level l has the rows that need rows of levels
 * before l alone (Anderson & Saad 1989). */
#ifndef KCL_LEVEL_SETS_H
#define KCL_LEVEL_SETS_H

#include "core/base/base.h"

/* On a GPU: most rows that one work-group solves, with a barrier per level; for larger systems launches of one level each: so few that rough
 * sweeps are not asked for, and the most. A launch takes 2 to 3 us (NVIDIA H200). */
enum { KCL_GROUP_ROWS = 1 << 15, KCL_FEW_LAUNCHES = 128, KCL_MOST_LAUNCHES = 1024 };

typedef struct kcl_level_sets {
  int64_t count;  /* of levels; 0 of no rows */
  int32_t *level; /* [rows] from 0 on */
  int64_t *rows;  /* [count] of each level */
  int64_t *work;  /* [count] their rows and entries */
  bool upper;     /* entries are above the diagonal: the last row comes first */
} kcl_level_sets;

/* Fills level [N->rows] and returns the number of levels. Entries [row_ptr[i], end[i]) of row i count; they are in columns before
 * i, or with `upper` after it. */
int64_t kcl_level_numbers(const kcl_csr *N, const int64_t *end, bool upper, int32_t *level);
/* The level sets of I + N. KCL_USAGE unless N is strictly triangular. */
int kcl_level_sets_find(kcl_context *ctx, const kcl_csr *N, kcl_level_sets *out);
void kcl_level_sets_free(kcl_level_sets *s);
/* The n-th row in the order of elimination. */
static inline int64_t kcl_eliminated(const kcl_level_sets *s, int64_t n, int64_t rows) {
  return s->upper ? rows - 1 - n : n;
}
#endif
