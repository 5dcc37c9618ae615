/* Settings and versions of OpenCL drivers. */
#ifndef CLI_DRIVERS_H
#define CLI_DRIVERS_H

#include "cli/ui/options.h"

/* Prints why drivers that are installed show no device. */
void cli_say_drivers(const cli_options *o);
/* Sets the environment that drivers need. To be called before the first OpenCL call. */
void cli_configure_drivers(void);

#endif
