/* Ranks under mpirun; without MPI there is one. "All ranks": each has to call it. */
#ifndef CLI_RANKS_RANKS_H
#define CLI_RANKS_RANKS_H

#include "cli/ui/options.h"
#include "cli/ui/text.h"

/* Starts MPI if a launcher started this process. */
void cli_ranks_begin(int *argc, char ***argv);
/* Ends MPI and returns rc. Aborts the other ranks if they wait for this one. */
int cli_ranks_end(int rc);
/* Number of this rank; 0 without mpirun. */
int cli_rank(void);
/* Number of ranks; 1 without mpirun. */
int cli_ranks(void);
/* Name and version of the MPI library; "" without MPI. */
cli_text cli_ranks_library(void);
/* True if the ordinary library does the work. */
bool cli_ranks_alone(void);
/* Records whether the other ranks wait for the next message of this one. */
void cli_ranks_wait(bool waiting);
/* Refuses options that need MPI in a program without it. */
int cli_ranks_check(const cli_options *o);

/* Returns rc, the result of parsing, or KCL_USAGE if the ranks differ in an option that must be the same on all. */
int cli_ranks_same(const cli_options *o, int rc);
/* All ranks: returns the first failure of any. */
int cli_ranks_agree(kcl_context *ctx, int rc);
/* All ranks: cli_ranks_agree, and prints the failure if it is of another rank. */
int cli_ranks_agreed(kcl_context *ctx, int rc);
/* All ranks: returns the value of rank 0. */
int cli_ranks_tell(int word);
/* All ranks: replaces data by that of rank 0, or of another one. */
void cli_ranks_share(void *data, size_t size);
void cli_ranks_share_from(int from, void *data, size_t size);
/* All ranks: the largest value; NaN if any is NaN. */
double cli_ranks_largest(double own);

#endif
