/* Checks that no output is the file of an input. */
#ifndef CLI_SAME_H
#define CLI_SAME_H

#include "cli/ui/options.h"

/* Checks that each output is a file of its own and no input: else KCL_USAGE. outputs [count]: NULL where not
 * given. */
int cli_files_apart(const cli_command *c, const cli_options *o, const char *const *outputs,
                    size_t count);

#endif
