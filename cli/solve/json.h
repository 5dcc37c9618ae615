/* The JSON of a solve. */
#ifndef CLI_SOLVE_JSON_H
#define CLI_SOLVE_JSON_H

#include "cli/solve/run.h"

int cli_solve_json(const cli_run *r);

#endif
