/* Checkpoints of krylocl solve. They are written by the library: every so often, when the solve is interrupted (SIGTERM before a time
 * limit), and on SIGUSR1, after which it goes on. A run that may be started again by the same line names one file in
 * --checkpoint and --resume: while there is none, it begins anew. */
#include "cli/solve/solve.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/say.h"
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* The solver to ask, in a handler. */
static _Atomic(kcl_solver *) asked;

static void ask_for_checkpoint(int sig) {
  (void)sig;
  kcl_solver_save(asked);
}

static void stop_on_all(int sig) {
  (void)sig;
  kcl_solver_stop(asked);
}

/* Seconds of "90", "90s", "1.5m", "2h"; negative: it is none. */
static double duration(const char *text) {
  char *end;
  double s = strtod(text, &end);
  if (end == text || !(s > 0 && s < 1e9)) return -1;
  if (!strcmp(end, "m")) return 60 * s;
  if (!strcmp(end, "h")) return 3600 * s;
  return !*end || !strcmp(end, "s") ? s : -1;
}

int cli_checkpoint_check(const cli_options *o) {
  if (!o->every) return 0;
  if (!o->checkpoint) return cli_fail(KCL_USAGE, "--every needs --checkpoint FILE");
  if (duration(o->every) > 0) return 0;
  return cli_fail(KCL_USAGE, "--every: '%s' is no duration, such as 90s, 5m or 2h", o->every);
}

void cli_checkpoint_begin(const cli_options *o) {
  const struct sigaction act = {.sa_handler = ask_for_checkpoint, .sa_flags = SA_RESTART};
  if (o->checkpoint) sigaction(SIGUSR1, &act, NULL);
  if (o->checkpoint && cli_ranks() > 1) sigaction(SIGUSR2, &act, NULL); /* ../ranks/launch.c */
}

void cli_checkpoint_serve(const cli_options *o) {
  const struct sigaction act = {.sa_handler = stop_on_all, .sa_flags = SA_RESTART};
  cli_checkpoint_begin(o);
  sigaction(SIGTERM, &act, NULL);
}

static bool exists(const char *path, const char *ending) {
  char name[4096];
  return snprintf(name, sizeof name, "%s%s", path, ending) < (int)sizeof name &&
         access(name, F_OK) == 0;
}

/* Is this the first run of a line that names one file twice? */
static bool is_first_run(const cli_options *o) {
  return o->checkpoint && !strcmp(o->checkpoint, o->resumed) && !exists(o->resumed, "") &&
         !exists(o->resumed, ".1");
}

static int use_files(const cli_run *r) {
  const cli_options *o = r->o;
  int rc = 0;
  if (o->resumed && cli_ranks_tell(is_first_run(o)))
    cli_say(o, "resume      there is no %s: a new solve begins\n", o->resumed);
  else if (o->resumed)
    rc = kcl_solver_resume(r->solver, o->resumed);
  if (rc || !o->checkpoint) return rc;
  return kcl_solver_checkpoint(r->solver, o->checkpoint, o->every ? duration(o->every) : 0);
}

int cli_checkpoint_use(const cli_run *r) {
  cli_ranks_wait(false);
  const int rc = use_files(r);
  cli_ranks_wait(!rc);
  if (!rc) asked = r->solver;
  return rc;
}

void cli_checkpoint_end(void) { asked = NULL; }

void cli_checkpoint_say(const cli_run *r) {
  const kcl_report *p = &r->results[0].report;
  if (!r->o->checkpoint) return;
  cli_say(r->o, "checkpoint  %s written to %s", cli_count(p->checkpoints).s, r->o->checkpoint);
  if (p->checkpoints)
    cli_say(r->o, ", %s each, %s in all", cli_bytes(p->bytes_checkpoint).s,
            cli_seconds(p->seconds_checkpoint).s);
  cli_say(r->o, "\n");
}
