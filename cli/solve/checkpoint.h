/* krylocl solve --checkpoint, --every, --resume. */
#ifndef CLI_SOLVE_CHECKPOINT_H
#define CLI_SOLVE_CHECKPOINT_H

#include "cli/solve/run.h"

/* KCL_USAGE: --every is no duration, or stands without --checkpoint. */
int cli_checkpoint_check(const cli_options *o);
/* Before the set-up: SIGUSR1 asks for a checkpoint and ends nothing. */
void cli_checkpoint_begin(const cli_options *o);
/* Likewise on ranks other than 0, where SIGTERM stops the solve of all. */
void cli_checkpoint_serve(const cli_options *o);
/* After the set-up, on all ranks; and before the solver is freed. */
int cli_checkpoint_use(const cli_run *r);
void cli_checkpoint_end(void);
void cli_checkpoint_say(const cli_run *r);

#endif
