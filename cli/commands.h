/* The table of subcommands. main.c alone includes it and passes it on, so that no subcommand depends on another. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/ui/options.h"

extern const cli_command *const cli_commands[]; /* ended by NULL */

#endif
