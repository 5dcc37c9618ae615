/* The shape of reproducible sums: one order of additions for every executor, device, number of threads and number of ranks.
 *
 *   block   kcl_sum_rows(n) consecutive rows, at most KCL_SUM_BLOCKS blocks
 *   lane    row i of a block adds to lane i mod KCL_SUM_LANES, rows in order: lane = fma(a_i, b_i, lane)
 *   tree    lane l = lane l + lane (l + reach), for reach = KCL_SUM_LANES / 2, ..., 2, 1; lane 0 is the sum of the block
 *   total   the sums of the blocks, by the same lanes and tree
 *
 * A lane is a work-item of a GPU or an element of a vector register. kernels/stage.clh has the tree for devices,
 * core/cpu/stage.c for the native executor.
 */
#ifndef KCL_SHAPE_H
#define KCL_SHAPE_H

#include "krylocl/io.h"

/* Has this build a fast fused multiply-add in both precisions? clang says so by processor alone. */
#if (defined __FP_FAST_FMA && defined __FP_FAST_FMAF) || defined __FMA__ ||                        \
    defined __ARM_FEATURE_FMA
#define KCL_HAS_FMA 1
#else
#define KCL_HAS_FMA 0
#endif

enum { KCL_SUM_LANES = 256, KCL_SUM_BLOCKS = 1024, KCL_SUM_UNIT = 64 };

/* Rows of a block of a system of so many rows: a multiple of KCL_SUM_UNIT. */
static inline int64_t kcl_sum_rows(int64_t rows) {
  const int64_t unit = (int64_t)KCL_SUM_BLOCKS * KCL_SUM_UNIT;
  return rows > 0 ? (rows + unit - 1) / unit * KCL_SUM_UNIT : KCL_SUM_UNIT;
}

/* The total of the sums of blocks. single: they are floats, and every addition is rounded to float. */
double kcl_sum_total(bool single, const double *sum, int64_t blocks);
/* Sums of squares of v / 2^exponent over blocks of `block` elements: out [blocks], in double. */
void kcl_sum_squares(kcl_type type, const void *v, int64_t n, int64_t block, int exponent,
                     double *out);
/* The exponent with which no square of v overflows, nor one that matters underflows; largest: kcl_largest_part of v. */
int kcl_sum_exponent(double largest);
double kcl_largest_part(kcl_type type, const void *v,
                        int64_t n); /* of |re| and |im|; NaN if one is */

#endif
