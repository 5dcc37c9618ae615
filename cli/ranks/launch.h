/* The program once more on several ranks. */
#ifndef CLI_RANKS_LAUNCH_H
#define CLI_RANKS_LAUNCH_H

#include "cli/ui/options.h"

void cli_launched(
    void); /* rank 0 of several, after cli_interrupt_begin: heeds what cli_launch passes on */
int cli_launch(const cli_options *o); /* the program once more on so many ranks; its exit code */

#endif
