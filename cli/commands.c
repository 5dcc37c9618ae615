/* The table of all subcommands, in the order of the help. A new subcommand is a file in cli/ that exports a cli_command,
 * and its name in both lists here. */
#include "cli/commands.h"
#include "cli/ui/options.h"

extern const cli_command cli_solve, cli_spmv, cli_bench, cli_report, cli_info, cli_check,
    cli_devices, cli_generate, cli_convert, cli_get, cli_tune, cli_explain, cli_list, cli_man,
    cli_completion, cli_version_command;

const cli_command *const cli_commands[] = {
    &cli_solve,    &cli_spmv,       &cli_check, &cli_info,
    &cli_bench,    &cli_report,     &cli_tune,  &cli_explain,
    &cli_generate, &cli_convert,    &cli_get,   &cli_list,
    &cli_devices,  &cli_completion, &cli_man,   &cli_version_command,
    NULL};
