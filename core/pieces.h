/* Rows in pieces of equal length, and what each piece reaches of x: so few columns that the group of work-items
 * which has the piece can keep them near, numbered anew from 0.
 */
#ifndef KCL_PIECES_H
#define KCL_PIECES_H

#include "core/impl.h"

typedef struct kcl_pieces {
  int64_t count, most; /* pieces; columns of the piece that reaches most */
  int32_t *from;       /* [count + 1]: where a piece's columns begin */
  int32_t *column;     /* [from[count]]: ascending in each piece */
  kcl_csr A; /* rows and values are the original's; col: positions among the piece's columns */
} kcl_pieces;

/* KCL_OK with count = 0 when a piece reaches more than `room` columns, or a row is empty: for its padding no column
 * would be sure to be near. A has to outlive it. */
int kcl_pieces_find(kcl *ctx, const kcl_csr *A, int64_t piece, int64_t room, kcl_pieces *out);
int64_t kcl_reach(const kcl_csr *A); /* max |i - j| of its entries */
void kcl_pieces_free(kcl_pieces *p);

#endif
