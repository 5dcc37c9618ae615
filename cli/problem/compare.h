/* The comparison of x with a direct solution. */
#ifndef CLI_PROBLEM_COMPARE_H
#define CLI_PROBLEM_COMPARE_H

#include "cli/ui/options.h"
#include "krylocl.h"

kcl_check_plan cli_check_plan(const cli_options *o, double tol);
void cli_compare_say(const cli_options *o, const kcl_solution_error *c);

/* CLI_CHECK_FAILED or CLI_CHECK_UNDECIDED, with the reason as message; or 0. */
int cli_compare_code(const kcl_solution_error *c);

#endif
