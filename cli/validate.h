/* Checks of the command line. */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "cli/ui/options.h"
#include "krylocl.h"

/* Checks operands, names, endings and outputs, before any file is read. */
int cli_validate(const cli_command *c, cli_options *o);
/* The rule of a valid name; NULL is the default. */
kcl_symmetry_rule cli_symmetry_rule(const char *name);
/* The rule of a valid name; NULL is the default. */
kcl_scale_rule cli_scale_rule(const char *name);

#endif
