/* Progress of a solve on the terminal. */
#include "cli/solve/solve.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/terminal.h"

cli_progress cli_progress_begin(const cli_options *o) {
  return (cli_progress){.o = o, .shows = cli_shows(o)};
}

int cli_progress_show(void *user, const kcl_progress *p) {
  cli_progress *s = user;
  cli_status now = {.timed = false};
  if (s->shows) cli_estimate_add(&s->estimate, p->seconds, p->relative_residual);
  if (!s->shows || cli_now() < s->next) return cli_interrupted();
  s->next = cli_now() + 0.1;
  double rate = p->seconds > 0 ? (double)p->iteration / p->seconds : 0;
  const cli_text left = cli_estimate_words(&s->estimate, p->target);
  int n = 0;
  snprintf(now.part[n++], sizeof now.part[0], "%s iterations", cli_count(p->iteration).s);
  snprintf(now.part[n++], sizeof now.part[0], "residual %.2e to %.0e", p->relative_residual,
           p->target);
  if (*left.s) snprintf(now.part[n++], sizeof now.part[0], "%s", left.s);
  snprintf(now.part[n++], sizeof now.part[0], "%s per second", cli_count((int64_t)rate).s);
  if (p->running > 1)
    snprintf(now.part[n++], sizeof now.part[0], "largest of %d active", p->running);
  cli_show(s->o, &now);
  return cli_interrupted();
}
