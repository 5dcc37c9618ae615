/* Matrices by their names, and columns of vectors. */
#ifndef CLI_INPUT_READ_H
#define CLI_INPUT_READ_H

#include "cli/ui/options.h"
#include "krylocl/io.h"

/* Reads a matrix by its name: a file, one of the collection, or a generated system such as poisson2d:300. b and x0
 * may be NULL; *b and *x0 become NULL if the file has none. */
int cli_read(kcl_context *ctx, const cli_options *o, const char *path, kcl_csr **A, kcl_dense **b,
             kcl_dense **x0);
/* Column j of B. */
double *cli_column(const kcl_dense *B, int64_t j);
/* Largest |x_i - 1| in column j. */
double cli_error_from_ones(const kcl_dense *x, int64_t j);

#endif
