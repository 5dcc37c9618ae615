/* A product y = A x on one rank or several, and on the device of each rank alone. */
#ifndef CLI_RANKS_PRODUCT_H
#define CLI_RANKS_PRODUCT_H

#include "cli/ui/options.h"
#include "krylocl/bench.h"

enum { CLI_PRODUCT_SAMPLES = 7 };

typedef struct cli_product_part { /* of a rank */
  int64_t rows, nonzeros, halo;   /* halo: elements of x that it receives */
  double seconds_halo;            /* per product: waiting for them */
  double seconds_alone; /* of a product of the whole matrix on its device; NAN: that is too small */
  char format[32], device[128];
} cli_product_part;

/* All ranks: the operator of A, which rank 0 has. */
int cli_product_create(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                       kcl_operator **op);
typedef struct cli_product_call { /* y = alpha A x + beta y; on several ranks y = A x */
  kcl_operator *op;
  kcl_type precision; /* of the product; x and y hold doubles, which are rounded to it */
  int columns;
  bool adjoint;
  kcl_dense *x, *y; /* NULL: rank 0 has them */
  double alpha[2], beta[2];
} cli_product_call;
/* All ranks: applies the operator; seconds: of kcl_operator_apply alone. */
int cli_product_apply(kcl_context *ctx, const cli_product_call *c, double *seconds);
/* Samples of 20 ms. */
extern const kcl_bench_plan cli_product_plan;
/* All ranks: plan->samples samples of a product of so many columns, at most CLI_PRODUCT_SAMPLES. */
int cli_product_time(kcl_operator *op, bool adjoint, int columns, const kcl_bench_plan *plan,
                     double sample[CLI_PRODUCT_SAMPLES]);
/* All ranks, after cli_product_time: the parts *list [ranks], to be freed, with the devices timed alone, one after another, on
 * the whole matrix A, which all have. */
int cli_product_parts(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                      kcl_operator *op, const kcl_bench_plan *plan, cli_product_part **list);
/* Seconds per product of the fastest device alone; NAN: the matrix fits none. */
double cli_product_alone(const cli_product_part *list);
/* Longest of the ranks' waits for the halo, seconds per product. */
double cli_product_halo(const cli_product_part *list);
struct cJSON;
/* Adds the list "ranks". nonzeros: of the whole matrix. */
void cli_product_parts_json(struct cJSON *o, const cli_product_part *list, int64_t nonzeros);

#endif
