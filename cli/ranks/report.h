/* Ranks in the report and in the JSON; nothing where there is one. */
#ifndef CLI_RANKS_REPORT_H
#define CLI_RANKS_REPORT_H

#include "cli/solve/solve.h"

struct cJSON;

/* Prints how the ranks shared the work. */
void cli_report_ranks(const cli_run *r);
void cli_json_ranks(struct cJSON *o, const cli_run *r);

#endif
