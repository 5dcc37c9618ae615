/* A run of krylocl solve: what its files share. */
#ifndef CLI_SOLVE_RUN_H
#define CLI_SOLVE_RUN_H

#include "cli/problem/problem.h"
#include "krylocl/check.h"
#include "krylocl/device.h"
#include "krylocl/explain.h"

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

#endif
