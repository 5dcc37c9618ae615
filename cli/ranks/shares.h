/* The options --devices and --shares. */
#ifndef CLI_RANKS_SHARES_H
#define CLI_RANKS_SHARES_H

#include "cli/ui/options.h"

/* Number of devices of --devices; 0: not given. */
int cli_device_count(const cli_options *o);
/* Checks the lists of --devices and --shares. */
int cli_devices_check(const cli_options *o);
void cli_device_of_rank(const cli_options *o, int rank, char *word, size_t capacity);
/* The rule that --shares names: "nonzeros", "rates" or "rows"; NULL: numbers, or not given. */
const char *cli_share_rule(const cli_options *o);
/* Share of a rank; 0: not given as a number. */
double cli_share_of_rank(const cli_options *o, int rank);

#endif
