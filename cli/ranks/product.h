/* A product y = A x on one rank or several, and on the device of each rank alone. */
#ifndef CLI_RANKS_PRODUCT_H
#define CLI_RANKS_PRODUCT_H

#include "cli/ui/options.h"
#include "krylocl.h"

enum { CLI_PRODUCT_SAMPLES = 7 };

typedef struct cli_product_part { /* of a rank */
  int64_t rows, nonzeros, halo;   /* halo: elements of x that it receives */
  double seconds_halo;            /* per product: waiting for them */
  double seconds_alone; /* of a product of the whole matrix on its device; NAN: that is too small */
  char format[32], device[128];
} cli_product_part;

/* All ranks: the operator of A, which rank 0 has. */
int cli_product_create(kcl *ctx, const kcl_csr *A, const kcl_operator_options *o,
                       kcl_operator **op);
/* All ranks: samples of a product of so many columns, in ascending order. */
int cli_product_time(kcl *ctx, kcl_operator *op, bool adjoint, int columns,
                     double sample[CLI_PRODUCT_SAMPLES]);
/* All ranks, after cli_product_time: the parts *list [ranks], to be freed, with the devices timed alone, one after another. A:
 * on rank 0, copied to the others. */
int cli_product_parts(kcl *ctx, kcl_csr **A, const kcl_operator_options *o, kcl_operator *op,
                      cli_product_part **list);
/* Seconds per product of the fastest device alone; NAN: the matrix fits none. */
double cli_product_alone(const cli_product_part *list);

#endif
