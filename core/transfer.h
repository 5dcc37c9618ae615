/* Between vectors of two programs on one device, one in double and one in float. Memory as executors give
 * it, n real numbers (two for a complex one), without a look by the host. */
#ifndef KCL_TRANSFER_H
#define KCL_TRANSFER_H

#include "core/impl.h"

int kcl_narrow(kcl *ctx, void *y, void *x, int64_t n, double scale);  /* float y = scale x */
int kcl_collect(kcl *ctx, void *y, void *x, int64_t n, double scale); /* double y = y + scale x */

#endif
