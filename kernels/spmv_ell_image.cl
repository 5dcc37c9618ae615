/* ELL as in spmv_ell.cl, with x read from an image (image.clh), which prepare fills before each product
 * (Lokhmotov 2011; Kuresson 2012, 6.4). */
#include "spmv_ell.cl"

static inline void prepare(PREPARED, global const scalar *restrict x, idx lo, idx hi)
{
  image_fill(xi, x, lo, hi);
}
