/* The page of a run of krylocl bench. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/ui/options.h"

/* The page of o->page, of the JSON of krylocl bench. */
int cli_report_text(const cli_options *o, const char *name, const char *json);

#endif
