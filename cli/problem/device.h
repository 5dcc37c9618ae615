/* The device that the options name. */
#ifndef CLI_PROBLEM_DEVICE_H
#define CLI_PROBLEM_DEVICE_H

#include "cli/ui/options.h"
#include "krylocl/device.h"

/* The word that names the device, by options or by the environment; NULL: none does. */
const char *cli_device_word(const cli_options *o);
/* Opens the device of the options and describes it in d. --source and --profile select an OpenCL device. */
int cli_device(kcl_context *ctx, const cli_options *o, kcl_device *d);
void cli_report_device(const cli_options *o, const kcl_device *d);

#endif
