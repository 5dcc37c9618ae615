/* The comparison of x with a direct solution. */
#ifndef CLI_PROBLEM_COMPARE_H
#define CLI_PROBLEM_COMPARE_H

#include "cli/ui/options.h"
#include "krylocl/check.h"

/* The direct check that the options ask for; tol: of the solve. */
kcl_check_plan cli_check_plan(const cli_options *o, double tol);
void cli_compare_say(const cli_options *o, const kcl_solution_error *c);

/* CLI_CHECK_FAILED or CLI_CHECK_UNDECIDED after printing the reason; 0: passed. */
int cli_compare_code(const kcl_solution_error *c);

#endif
