/* Set-up and solves on one rank or several. */
#ifndef CLI_RANKS_SOLVE_H
#define CLI_RANKS_SOLVE_H

#include "cli/solve/run.h"
#include "cli/ui/options.h"
#include "krylocl.h"

int cli_ranks_device(kcl *ctx, const cli_options *o); /* that of this rank */
int cli_setup(kcl *ctx, cli_run *r);
void cli_describe(cli_run *r); /* r->setup */
int cli_solve_columns(kcl *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report);
int cli_solves_end(kcl *ctx, cli_run *r); /* once, after the last */
void cli_setup_free(cli_run *r);

#endif
