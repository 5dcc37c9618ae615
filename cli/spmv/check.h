/* The checks of y = alpha A x + beta y0: against the host's product, and against a y that was computed elsewhere. */
#ifndef CLI_SPMV_CHECK_H
#define CLI_SPMV_CHECK_H

#include "cli/ui/options.h"
#include "krylocl/bench.h"
#include <cjson/cJSON.h>

typedef struct cli_product { /* a computed product; all columns in double or complex double */
  const kcl_csr *A;
  kcl_type precision;         /* that y was computed in */
  const double *alpha, *beta; /* one number each */
  const kcl_dense *x, *y, *y0 /* NULL: beta is 0 */, *other /* y of --compare, or NULL */;
} cli_product;

typedef struct cli_product_verdict {
  int64_t rows, columns;   /* of y */
  kcl_product_error worst; /* of --check: the largest ratio, in this column */
  int64_t worst_column;
  kcl_product_difference difference; /* of --compare: the largest ratio, in this column */
  int64_t difference_column;
  double largest; /* difference of all columns */
  int64_t largest_row, largest_column;
  int64_t beyond; /* elements whose difference exceeds their bound */
} cli_product_verdict;

/* Makes the checks that the options ask for. */
int cli_check_product(kcl_context *ctx, const cli_options *o, const cli_product *p,
                      cli_product_verdict *v);
/* Prints their results. */
void cli_say_product_check(const cli_options *o, const cli_product_verdict *v);
void cli_json_product_check(cJSON *out, const cli_options *o, const cli_product_verdict *v);
/* CLI_CHECK_FAILED after printing the reason; 0: passed, or not asked for. */
int cli_product_check_code(const cli_options *o, const cli_product_verdict *v);

#endif
