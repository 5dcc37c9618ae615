/* The table of subcommands, known to main.c alone: others are given it. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/ui/options.h"

extern const cli_command *const cli_commands[]; /* ended by NULL */

#endif
