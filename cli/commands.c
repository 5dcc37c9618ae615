/* The table of all subcommands, made from list.def. */
#include "cli/commands.h"

#define CLI_COMMAND(name) extern const cli_command cli_##name;
#include "cli/list.def"
#undef CLI_COMMAND

const cli_command *const cli_commands[] = {
#define CLI_COMMAND(name) &cli_##name,
#include "cli/list.def"
    NULL};
