/* Lines that several reports have. */
#ifndef CLI_PROBLEM_DESCRIBE_H
#define CLI_PROBLEM_DESCRIBE_H

#include "cli/ui/options.h"
#include "krylocl.h"
#include "krylocl/device.h"
#include "krylocl/io.h"

/* Prints the device. */
void cli_report_device(const cli_options *o, const kcl_device *d);
/* Prints the matrix and the time to read it. */
void cli_report_matrix(const cli_options *o, const char *path, const kcl_csr *A, double seconds);

#endif
