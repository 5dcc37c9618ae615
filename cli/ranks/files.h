/* Files that all ranks read and write; each has to call these. */
#ifndef CLI_RANKS_FILES_H
#define CLI_RANKS_FILES_H

#include "cli/problem/problem.h"

/* True if each rank reads its own rows. */
bool cli_ranks_spread(const cli_options *o);
/* Reads p->A and p->whole; b and x0 as in cli_read. */
int cli_ranks_read(kcl_context *ctx, const cli_options *o, const char *path, cli_problem *p,
                   kcl_dense **b, kcl_dense **x0);
/* Copies the matrix of rank 0 to all others. */
int cli_ranks_copy_matrix(kcl_context *ctx, kcl_csr **A);
/* Reads rows of a vector file: own of them on this rank. */
int cli_ranks_dense_read(kcl_context *ctx, const char *path, int64_t own, kcl_dense **out);
/* Writes a vector file of which each rank has its own rows. */
int cli_ranks_dense_write(kcl_context *ctx, const char *path, const kcl_dense *own);

#endif
