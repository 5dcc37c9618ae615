/* The options --devices and --shares. */
#ifndef CLI_RANKS_SHARES_H
#define CLI_RANKS_SHARES_H

#include "cli/ui/options.h"
#include <stddef.h>

int cli_device_count(const cli_options *o); /* how many; 0: the option is not given */
int cli_devices_check(const cli_options *o);
void cli_device_of_rank(const cli_options *o, int rank, char *word, size_t room);
double cli_share_of_rank(const cli_options *o, int rank); /* 0: not given */

#endif
