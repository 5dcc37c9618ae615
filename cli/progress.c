/* Progress of a solve on the terminal. The remaining time is extrapolated from the mean slope of the
 * logarithm of the residual, bounded by the iteration limit. */
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

cli_progress cli_progress_begin(const cli_options *o) {
  bool terminal = isatty(STDERR_FILENO);
  return (cli_progress){.terminal = terminal && !o->quiet,
                        .lines = !terminal && o->verbose && !o->quiet,
                        .next = terminal ? 0.2 : 1};
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
  if ((!s->terminal && !s->lines) || p->seconds < s->next) return cli_interrupted();
  double rate = p->seconds > 0 ? (double)p->iteration / p->seconds : 0, left = remaining(p);
  s->next = p->seconds + (s->terminal ? 0.1 : 1);
  fprintf(stderr, "%s%10s iterations   residual %.2e (to %.0e)   %s it/s   ",
          s->terminal ? "\r\033[K" : "", cli_count(p->iteration).s, p->relative_residual, p->target,
          cli_count((int64_t)rate).s);
  if (p->running > 1) fprintf(stderr, "largest of %d active   ", p->running);
  if (left >= 0 && rate > 0)
    fprintf(stderr, "about %s remaining", cli_seconds(left / rate).s);
  else
    fprintf(stderr, "not falling yet");
  if (s->lines) fputc('\n', stderr);
  s->shown = true;
  fflush(stderr);
  return cli_interrupted();
}

void cli_progress_end(cli_progress *s) {
  if (s->terminal && s->shown) fputs("\r\033[K", stderr);
}
