/* The time that a solve still takes. */
#ifndef CLI_SOLVE_ESTIMATE_H
#define CLI_SOLVE_ESTIMATE_H

#include "cli/ui/text.h"

enum { CLI_POINTS = 128 };

typedef struct cli_point {
  double seconds, log_residual;
} cli_point;

typedef struct cli_estimate { /* residuals of a solve, evenly spaced in time */
  cli_point point[CLI_POINTS];
  int count;
  double gap; /* seconds between two, at least */
} cli_estimate;
/* Adds a residual at this time. */
void cli_estimate_add(cli_estimate *e, double seconds, double residual);

/* Seconds until the residual reaches the target; < 0: not known; INFINITY: it is not falling. */
double cli_estimate_left(const cli_estimate *e, double target);
/* "about 40 s left", or "" where it is not known. */
cli_text cli_estimate_words(const cli_estimate *e, double target);

#endif
