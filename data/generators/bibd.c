/* bibd:VxK, a balanced incomplete block design: all blocks of K of V points.
 *
 *   rows     the pairs of points, in the order (1,2) (1,3) ...
 *   columns  the blocks, in lexicographic order; a_ij = 1 if block j contains pair i
 *
 * V (V-1) / 2 rows, binomial(V, K) columns, K (K-1) / 2 entries per column. JGD_BIBD/bibd_V_K of the
 * SuiteSparse collection. b = A 1. */
#include "data/generators/generate.h"

enum { MOST_POINTS = 40 };
typedef struct design {
  int points, block;
  int64_t choose[MOST_POINTS + 1][MOST_POINTS + 1];
} design;

/* Blocks of the points from `first` on that take `left` more of them and hold both points of the
 * pair: their numbers counted from `at`, ascending. */
static int64_t list_common_blocks(const design *d, int first, int left, int64_t at,
                                  const int pair[2], int32_t *col, int64_t k) {
  int need = (pair[0] >= first) + (pair[1] >= first);
  if (need > left) return k;
  if (left == 0) {
    if (col) col[k] = (int32_t)at;
    return k + 1;
  }
  for (int p = first; p + left <= d->points; p++) { /* p is the next point taken */
    k = list_common_blocks(d, p + 1, left - 1, at, pair, col, k);
    at += d->choose[d->points - p - 1][left - 1];
    if (p == pair[0] || p == pair[1]) break; /* left out from here on */
  }
  return k;
}

static int bibd_row(const void *self, int64_t i, int32_t *col, double *val) {
  const design *d = self;
  int pair[2] = {0, 0};
  int64_t left = i;
  if (!col) return (int)d->choose[d->points - 2][d->block - 2];
  for (; left >= d->points - 1 - pair[0]; pair[0]++) left -= d->points - 1 - pair[0];
  pair[1] = pair[0] + 1 + (int)left;
  int n = (int)list_common_blocks(d, 0, d->block, 0, pair, col, 0);
  for (int k = 0; k < n; k++) val[k] = 1;
  return n;
}

static int bibd_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                     kcl_dense **b) {
  design d = {0};
  if (n_sizes != 2 || size[1] < 2 || size[1] > size[0] || size[0] > MOST_POINTS)
    return kcl_fail(
        ctx, KCL_USAGE,
        "bibd takes points x points of a block, the second at least 2 and not above the "
        "first, the first at most %d: bibd:17x8",
        MOST_POINTS);
  d.points = (int)size[0], d.block = (int)size[1];
  d.choose[0][0] = 1;
  for (int n = 1; n <= MOST_POINTS; n++)
    for (int k = 0; k <= n; k++)
      d.choose[n][k] = k == 0 || k == n ? 1 : d.choose[n - 1][k - 1] + d.choose[n - 1][k];
  if (d.choose[d.points][d.block] > INT32_MAX)
    return kcl_fail(ctx, KCL_USAGE,
                    "bibd: more than 2147483647 blocks, which column indices of 32 "
                    "bits allow: take at most 33 points");
  kcl_rows rows = {d.choose[d.points][2], KCL_D, KCL_GENERAL, KCL_PATTERN, bibd_row, &d};
  int rc = kcl_rows_rectangle(ctx, &rows, d.choose[d.points][d.block], A);
  return rc ? rc : kcl_rhs_image(ctx, *A, b);
}

const kcl_generator kcl_gen_bibd = {
    .name = "bibd",
    .example = "bibd:14x7",
    .summary = "block design: pairs of V points x blocks of K, SIZE V x K, pattern, rectangular",
    .make = bibd_make};
