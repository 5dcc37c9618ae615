/* Matrices by their names, and columns of vectors. */
#ifndef CLI_INPUT_READ_H
#define CLI_INPUT_READ_H

#include "cli/ui/options.h"
#include "krylocl.h"

/* A matrix by its name: a file, one of the collection, or a generated system such as poisson2d:300. b and x0
 * may be NULL pointers; *b and *x0 are NULL if it has none. */
int cli_read(kcl *ctx, const cli_options *o, const char *path, kcl_csr **A, kcl_dense **b,
             kcl_dense **x0);
double *cli_column(const kcl_dense *B, int64_t j);         /* column j */
double cli_error_from_ones(const kcl_dense *x, int64_t j); /* |x - 1|_inf */

#endif
