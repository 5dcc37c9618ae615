/* Ranks under mpirun; without MPI there is one. "All ranks": each has to call it. */
#ifndef CLI_RANKS_RANKS_H
#define CLI_RANKS_RANKS_H

#include "cli/ui/options.h"
#include "cli/ui/text.h"
#include "krylocl.h"

void cli_ranks_begin(int *argc, char ***argv);
int cli_ranks_end(int rc); /* returns rc */
int cli_rank(void);        /* 0 also without mpirun */
int cli_ranks(void);
cli_text cli_ranks_library(void);          /* the MPI library and its version; "" without */
bool cli_ranks_alone(void);                /* does the ordinary library do the work? */
void cli_ranks_wait(bool waiting);         /* do other ranks wait for the next word of this one? */
int cli_ranks_check(const cli_options *o); /* options of several ranks, in a program without MPI */

/* rc of the command line; KCL_USAGE where those of the ranks differ in what all must have alike. */
int cli_ranks_same(const cli_options *o, int rc);
int cli_ranks_agree(kcl *ctx, int rc);         /* all ranks: the first failure */
int cli_ranks_agreed(kcl *ctx, int rc);        /* the same; another rank's is printed */
int cli_ranks_tell(int word);                  /* all ranks: rank 0's word */
void cli_ranks_share(void *data, size_t size); /* all ranks: rank 0's data */
double cli_ranks_largest(double own);          /* all ranks; NaN if one is */

#endif
