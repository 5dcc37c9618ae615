/* Files that all ranks read and write; each has to call these. */
#ifndef CLI_RANKS_FILES_H
#define CLI_RANKS_FILES_H

#include "cli/problem/problem.h"
#include "cli/ui/options.h"
#include "krylocl.h"

bool cli_ranks_spread(const cli_options *o); /* does each rank read its own rows? */
int cli_ranks_read(kcl *ctx, const cli_options *o, const char *path, cli_problem *p, kcl_dense **b,
                   kcl_dense **x0); /* p->A and p->whole; b, x0 as cli_read */
int cli_ranks_dense_read(kcl *ctx, const char *path, int64_t own, kcl_dense **out);
int cli_ranks_dense_write(kcl *ctx, const char *path, const kcl_dense *own);

#endif
