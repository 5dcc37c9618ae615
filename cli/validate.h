/* Checks of the command line. */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "cli/ui/options.h"

/* Checks operands, names, endings and outputs, before any file is read. */
int cli_validate(const cli_command *c, cli_options *o);

#endif
