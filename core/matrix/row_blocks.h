/* Row blocks of equal length, one per work-group, each with its halo list: the columns of x that its rows use. If
 * they are few, the work-group keeps them in local memory, and the matrix is stored with renumbered columns, positions in
 * the halo list.
 */
#ifndef KCL_ROW_BLOCKS_H
#define KCL_ROW_BLOCKS_H

#include "core/base/base.h"

typedef struct kcl_row_blocks {
  int64_t count, most; /* row blocks; length of the longest halo list */
  int32_t *from;       /* [count + 1]: the start of each halo list in column */
  int32_t *column;     /* [from[count]]: the halo lists, each ascending */
  kcl_csr A;           /* rows and values of the original; col: renumbered columns */
} kcl_row_blocks;

/* block: rows per block. count is 0 and the status KCL_OK if a halo list is longer than `limit`, which may be negative, or a
 * row is empty, since its padding column need not be in the list. A must outlive the result. */
int kcl_row_blocks_find(kcl_context *ctx, const kcl_csr *A, int64_t block, int64_t limit,
                        kcl_row_blocks *out);
int64_t kcl_bandwidth(const kcl_csr *A); /* max |i - j| of its entries */
void kcl_row_blocks_free(kcl_row_blocks *p);

#endif
