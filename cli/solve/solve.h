/* A run of krylocl solve: shared by its files. estimate.h: the time that is left. */
#ifndef CLI_SOLVE_SOLVE_H
#define CLI_SOLVE_SOLVE_H

#include "cli/problem/problem.h"
#include "cli/solve/estimate.h"
#include "krylocl/explain.h"

struct cJSON;

typedef struct cli_result { /* of one right-hand side */
  kcl_report report;
  double *history;      /* [report.history_size], ours */
  char *changes;        /* ours */
  double forward_error; /* < 0: not known */
  bool checked;
  kcl_solution_error check;
} cli_result;

typedef struct cli_profile { /* event times, with --profile */
  kcl_profile setup, solve;
} cli_profile;
struct kcl_mpi_share;

typedef struct cli_run { /* a run of `krylocl solve` */
  const cli_options *o;
  cli_problem p;
  kcl_options asked;
  kcl_device device, opened; /* in use after the set-up, and the one that was asked for */
  kcl_solver *solver;
  struct kcl_mpi_share *shares; /* [share_count], after the solves */
  int share_count;
  kcl_setup_info setup;
  cli_profile profile;
  kcl_dense *direct;   /* direct solutions, if asked for */
  cli_result *results; /* [solved]; solved is below p.b->cols after an interrupt */
  int64_t solved,
      worst;         /* worst: first column not converged, else the one with the largest residual */
  kcl_stream stream; /* rate 0: not known */
  bool wrote_x, wrote_direct, wrote_history, wrote_json;
  bool check_interrupted; /* before its verdict on some column */
  double seconds_device;  /* until it is open, after the system was read */
  double seconds_upload, seconds_solve, seconds_download, seconds_certify; /* sums over columns */
  double seconds_write, seconds_total; /* files of x, history and picture; to their end */
} cli_run;

/* Is x_sum the checksum of all of x? Not where each rank has a part, nor where there is no certificate. */
static inline bool cli_checksum_known(const cli_run *r, const cli_result *s) {
  return s->report.x_sum && !r->p.spread;
}

/* ---------------------------------------------------------------- checkpoint.c: --checkpoint, --every, --resume */

/* KCL_USAGE: --every is no duration, or stands without --checkpoint. */
int cli_checkpoint_check(const cli_options *o);
/* Before the set-up: SIGUSR1 asks for a checkpoint and ends nothing. */
void cli_checkpoint_begin(const cli_options *o);
/* Likewise on ranks other than 0, where SIGTERM stops the solve of all. */
void cli_checkpoint_serve(const cli_options *o);
/* After the set-up, on all ranks; and before the solver is freed. */
int cli_checkpoint_use(const cli_run *r);
void cli_checkpoint_end(void);
void cli_checkpoint_say(const cli_run *r);

/* ---------------------------------------------------------------- progress.c: the status line */

typedef struct cli_progress {
  const cli_options *o;
  cli_estimate estimate;
  bool shows;
  double next; /* when the status line is due, by cli_now() */
} cli_progress;
cli_progress cli_progress_begin(const cli_options *o);
/* Updates the status line; for kcl_options.progress. */
int cli_progress_show(void *user, const kcl_progress *p);

/* ---------------------------------------------------------------- report.c */

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

/* ---------------------------------------------------------------- json.c */

int cli_solve_json(const cli_run *r);

/* ---------------------------------------------------------------- profile.c: event times, nothing without --profile */

void cli_profile_say(const cli_run *r);
void cli_profile_json(struct cJSON *all, const cli_run *r);
void cli_profile_free(cli_profile *p);
/* Bytes of all commands of this kind, "write" or "read". */
double cli_profile_moved(const kcl_profile *p, const char *kind);
/* Prints the commands with their shares of p->seconds. */
void cli_profile_say_commands(const cli_options *o, const kcl_profile *p);
/* Adds one profile under this key. */
void cli_profile_part_json(struct cJSON *o, const char *key, const kcl_profile *p);

#endif
