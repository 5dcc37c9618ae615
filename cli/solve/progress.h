/* The status line of a solve. */
#ifndef CLI_SOLVE_PROGRESS_H
#define CLI_SOLVE_PROGRESS_H

#include "cli/solve/estimate.h"
#include "cli/ui/options.h"

typedef struct cli_progress {
  const cli_options *o;
  cli_estimate estimate;
  bool shows;
  double next; /* when the status line is due, by cli_now() */
} cli_progress;
cli_progress cli_progress_begin(const cli_options *o);
/* Updates the status line; for kcl_options.progress. */
int cli_progress_show(void *user, const kcl_progress *p);

#endif
