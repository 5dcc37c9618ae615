/* Settings and versions of OpenCL drivers. */
#ifndef CLI_DRIVERS_H
#define CLI_DRIVERS_H

#include "cli/ui/options.h"

void cli_say_drivers(const cli_options *o);
void cli_configure_drivers(void); /* before the first OpenCL call */

#endif
