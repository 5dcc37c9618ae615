/* Set-up and solves on one rank or several. */
#ifndef CLI_RANKS_SOLVE_H
#define CLI_RANKS_SOLVE_H

#include "cli/solve/solve.h"

int cli_ranks_device(kcl_context *ctx, const cli_options *o);
int cli_setup(kcl_context *ctx, cli_run *r);
/* Fills in r->setup. */
void cli_describe(cli_run *r);
/* Solves columns j to j + count - 1. */
int cli_solve_columns(kcl_context *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report);
/* Ends the solves; called once, after the last. */
int cli_solves_end(kcl_context *ctx, cli_run *r);
void cli_setup_free(cli_run *r);

#endif
