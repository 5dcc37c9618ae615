/* Progress of a solve on the terminal. The remaining time is extrapolated from the mean slope of the
 * logarithm of the residual, bounded by the iteration limit. */
#include "cli/cli.h"
#include <math.h>

cli_progress cli_progress_begin(const cli_options *o) {
  return (cli_progress){.o = o, .shows = cli_shows(o)};
}

/* Iterations still needed at the mean slope so far; < 0 if the residual has not fallen. */
static double remaining(const kcl_progress *p) {
  double limit = (double)(p->max_iter - p->iteration);
  double fallen = -log(p->relative_residual), left = log(p->relative_residual / p->target);
  if (!(fallen > 0) || !(p->target > 0)) return -1;
  double need = left * (double)p->iteration / fallen;
  return need < 0 ? 0 : need < limit ? need : limit;
}

int cli_progress_show(void *user, const kcl_progress *p) {
  cli_progress *s = user;
  cli_status now = {.timed = false};
  if (!s->shows || cli_now() < s->next) return cli_interrupted();
  s->next = cli_now() + 0.1;
  double rate = p->seconds > 0 ? (double)p->iteration / p->seconds : 0, left = remaining(p);
  int n = 0;
  snprintf(now.part[n++], sizeof now.part[0], "%s iterations", cli_count(p->iteration).s);
  snprintf(now.part[n++], sizeof now.part[0], "residual %.2e to %.0e", p->relative_residual,
           p->target);
  if (left >= 0 && rate > 0)
    snprintf(now.part[n++], sizeof now.part[0], "%s left", cli_seconds(left / rate).s);
  else
    snprintf(now.part[n++], sizeof now.part[0], "not falling yet");
  snprintf(now.part[n++], sizeof now.part[0], "%s per second", cli_count((int64_t)rate).s);
  if (p->running > 1)
    snprintf(now.part[n++], sizeof now.part[0], "largest of %d active", p->running);
  cli_show(s->o, &now);
  return cli_interrupted();
}

void cli_progress_end(void) { cli_idle(); }
