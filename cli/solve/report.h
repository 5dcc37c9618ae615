/* The report of a solve. */
#ifndef CLI_SOLVE_REPORT_H
#define CLI_SOLVE_REPORT_H

#include "cli/solve/run.h"

enum { CLI_TIMES = 15 };

typedef struct cli_time {
  const char *name;
  double seconds;
} cli_time;

/* Lists the times of a run in order. The last two are the unnamed rest and the total. */
void cli_times(const cli_run *r, cli_time list[CLI_TIMES]);
/* Prints right-hand side, method, format and warnings. */
void cli_report_method(const cli_run *r);
/* Prints results, times and the files written. */
void cli_report_results(const cli_run *r);

/* True if the stopping test uses another quantity than |b - A x| / |b|. */
bool cli_tests_another(const cli_run *r, const kcl_report *p);

#endif
