/* The report of a solve. */
#ifndef CLI_SOLVE_REPORT_H
#define CLI_SOLVE_REPORT_H

#include "cli/solve/run.h"
#include "krylocl.h"

enum { CLI_TIMES = 15 };

typedef struct cli_time {
  const char *name;
  double seconds;
} cli_time;

/* What a run took, in order; the last two: what has no name, and all. */
void cli_times(const cli_run *r, cli_time list[CLI_TIMES]);
void report_method(const cli_run *r);
void report_results(const cli_run *r);

/* Does it stop by another quantity than |b - A x| / |b|? */
bool cli_tests_another(const cli_run *r, const kcl_report *p);

#endif
