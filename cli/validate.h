/* Checks of the command line. */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "cli/ui/options.h"
#include "krylocl.h"

int cli_validate(const cli_command *c, cli_options *o); /* before any file is read */
kcl_symmetry_rule cli_symmetry_rule(const char *name);  /* of a valid name, or NULL */
kcl_scale_rule cli_scale_rule(const char *name);        /* likewise */

#endif
