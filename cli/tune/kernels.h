/* krylocl tune --kernels. */
#ifndef CLI_TUNE_KERNELS_H
#define CLI_TUNE_KERNELS_H

#include "cli/ui/options.h"

/* Compiles programs into the cache folder, by setting up solvers for systems of a list or for the operand. The exit code. */
int cli_compile_kernels(kcl_context *ctx, const cli_options *o);

#endif
