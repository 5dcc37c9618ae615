/* The program once more on several ranks. */
#ifndef CLI_RANKS_LAUNCH_H
#define CLI_RANKS_LAUNCH_H

#include "cli/ui/options.h"

/* Called by rank 0 of several after cli_interrupt_begin: handles the signals that cli_launch passes on. checkpoints: SIGUSR1 of another
 * sender asks for one and ends nothing. */
void cli_launched(bool checkpoints);
/* Starts the program again with one rank per device, waits, and returns its exit code. */
int cli_launch(const cli_options *o);

#endif
