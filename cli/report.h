/* The page of a run of krylocl bench. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/ui/options.h"

/* Writes the page o->page for the JSON text of one run of krylocl bench. name: the file that the page shows as its
 * source. */
int cli_report_text(const cli_options *o, const char *name, const char *json);

#endif
