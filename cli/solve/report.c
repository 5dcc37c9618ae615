/* The report of a solve: device, matrix, method and format, result, quality of x, times. */
#include "cli/input/input.h"
#include "cli/ranks/report.h"
#include "cli/ui/terminal.h"

static void say_zeros(const cli_options *o, const kcl_setup_info *s) {
  char text[160];
  if (s->zero_rows) {
    cli_zeros(text, sizeof text, "row", s->zero_rows, s->first_zero_row);
    cli_say(o, "warning     %s\n", text);
  }
  if (s->zero_cols) {
    cli_zeros(text, sizeof text, "column", s->zero_cols, s->first_zero_col);
    cli_say(o, "warning     %s, and x is 0 there\n", text);
  }
}

void cli_report_method(const cli_run *r) {
  const cli_options *o = r->o;
  const kcl_setup_info *s = &r->setup;
  bool plain = strcmp(r->setup.precond, "none") == 0;
  if (r->p.ones)
    cli_say(o, "right side  A*1%s\n",
            r->p.whole.rows < r->p.whole.cols ? "" : ", so x should be 1");
  else
    cli_say(o, "right side  %s, %s column%s\n",
            !r->p.b_of_matrix               ? cli_base(o->files[1])
            : cli_is_generated(o->files[0]) ? "from the generator"
                                            : "from the matrix file",
            cli_count(r->p.b->cols).s, r->p.b->cols == 1 ? "" : "s");
  cli_say(o, "method      %s, %s%s, %s, %d stage%s per iteration", s->solver,
          plain ? "no preconditioner" : "preconditioner ", plain ? "" : r->setup.precond,
          cli_type_words(r->p.precision), s->stages, s->stages == 1 ? "" : "s");
  cli_say(o, "%s%s\n", s->solver_reason[0] ? ": " : "", s->solver_reason);
  cli_say(o, "format      %s (%s), %s: %s\n", s->format, s->kernel, cli_bytes(s->bytes_stored).s,
          s->format_reason);
  if (s->put_aside[0]) cli_say(o, "driver      fails the self-test: %s\n", s->put_aside);
  if (!plain && s->precond_note[0])
    cli_say(o, "precond     %s, %s\n", s->precond_note, cli_bytes(s->bytes_precond).s);
  if (s->scale_reason[0]) cli_say(o, "scale       %s\n", s->scale_reason);
  say_zeros(o, s);
  if (o->verbose && r->device.platform >= 0)
    cli_say(o, "programs    %d compiled, %d from the cache\n", s->programs_compiled,
            s->programs_cached);
  if (s->mixed[0]) cli_say(o, "mixed       %s\n", s->mixed);
}

/* Prints the condition estimate. Ritz values lie between the extreme eigenvalues, so their ratio is a lower bound.
 * It does not bound the error of x; --check does. */
static void say_condition(const cli_run *r, const kcl_report *p) {
  if (!(p->condition_estimate > 0) || p->reason == KCL_INDEFINITE) return;
  cli_say(r->o, ", condition at least about %.1e%s", p->condition_estimate,
          strcmp(r->setup.precond, "none") ? " (preconditioned)"
          : r->setup.scaled                ? " (scaled)"
                                           : "");
}

bool cli_tests_another(const cli_run *r, const kcl_report *p) {
  return p->normal_residual >= 0 || r->setup.scaled;
}

static void say_quality(const cli_run *r, const cli_result *s) {
  const cli_options *o = r->o;
  const kcl_report *p = &s->report;
  if (p->relative_residual < 0)
    cli_say(o, "            relative residual %.3e recomputed from b - A x\n",
            p->true_relative_residual);
  else if (r->setup.scaled)
    cli_say(
        o,
        "            tested residual of the scaled system %.3e by the recurrence, %.3e recomputed\n"
        "            relative residual %.3e recomputed from b - A x\n",
        p->relative_residual, p->tested_residual, p->true_relative_residual);
  else if (p->normal_residual >= 0)
    cli_say(o,
            "            tested residual %.3e by the recurrence, %.3e recomputed: the smaller of\n"
            "            |r|/|b| = %.3e and the normal residual %.3e, r = b - A x\n",
            p->relative_residual, p->tested_residual, p->true_relative_residual,
            p->normal_residual);
  else
    cli_say(o,
            "            relative residual %.3e by the recurrence, %.3e recomputed from b - A x\n",
            p->relative_residual, p->true_relative_residual);
  cli_say(o, "            backward error %.1e", p->backward_error);
  say_condition(r, p);
  cli_say(o, "\n");
  if (o->reproducible && cli_checksum_known(r, s))
    cli_say(o, "            checksum of x %s\n", cli_checksum_text(p->x_sum).s);
  if (p->rowwise_error > 1e-6 && p->rowwise_error > 1e3 * p->backward_error)
    cli_say(o,
            "warning     by rows the backward error is %.1e: rows that are small beside others are "
            "solved less well\n",
            p->rowwise_error);
  if (s->forward_error >= 0)
    cli_say(o, "            forward error %.3e = |x - 1|_inf\n", s->forward_error);
}

static void say_changes(const cli_options *o, const char *lines) {
  while (lines && *lines) {
    int n = (int)strcspn(lines, "\n");
    cli_say(o, "changed     %.*s\n", n, lines);
    lines += n + (lines[n] != 0);
  }
}

static void say_mixed(const cli_options *o, const kcl_report *p) {
  if (!p->mixed) return;
  cli_say(o, "            %s iterations in float with %d correction%s in double, %s in double\n",
          cli_count(p->inner_iterations).s, p->outer_iterations,
          p->outer_iterations == 1 ? "" : "s", cli_count(p->iterations - p->inner_iterations).s);
  if (p->mixed_end[0]) cli_say(o, "            %s\n", p->mixed_end);
}

static void say_uniqueness(const cli_options *o, const kcl_report *p) {
  if (!p->not_unique || (!p->converged && !p->least_squares)) return;
  cli_say(o, "            x is not unique: %s that %s\n",
          p->least_norm ? "the smallest of those" : "one of those",
          p->converged ? "solve A x = b to the tolerance" : "minimise |b - A x|");
}

/* Prints the verdict in its colour, to which tolerance, and after how many iterations. */
static void say_outcome(const cli_run *r, const kcl_report *p) {
  const cli_options *o = r->o;
  const bool absolute = r->asked.atol > 0 && p->true_relative_residual > r->asked.tol,
             direct = p->relative_residual < 0;
  const cli_text count = cli_count(p->iterations);
  const char *plural = p->iterations == 1 ? "" : "s",
             *done = direct ? "solved directly" : "converged",
             *color = p->converged ? CLI_GREEN : CLI_RED;
  cli_say(o, "%s%s%s", cli_style(cli_out(o), p->least_squares ? CLI_YELLOW : color),
          p->least_squares ? "least-squares solution"
          : p->converged   ? done
                           : "NOT CONVERGED",
          cli_style(cli_out(o), CLI_PLAIN));
  if (p->least_squares)
    cli_say(o, " to %.0e in %s iteration%s, with |r|/|b| = %.3e", r->asked.tol, count.s, plural,
            p->true_relative_residual);
  else if (!p->converged)
    cli_say(o, " after %s iteration%s: %s", count.s, plural, kcl_reason_text(p->reason));
  else if (!direct)
    cli_say(o, " to %s%.0e in %s iteration%s", absolute ? "a residual norm of " : "",
            absolute ? r->asked.atol : r->asked.tol, count.s, plural);
  else if (p->iterations)
    cli_say(o, " to %.0e, after %s iterations that did not converge", r->asked.tol, count.s);
  else
    cli_say(o, " to %.0e", r->asked.tol);
}

static void say_result(const cli_run *r, int64_t j) {
  const cli_options *o = r->o;
  const cli_result *s = &r->results[j];
  const kcl_report *p = &s->report;
  if (j == 0 || strcmp(s->changes, r->results[j - 1].changes)) say_changes(o, s->changes);
  cli_say(o, "result      ");
  if (r->p.b->cols > 1) cli_say(o, "column %lld: ", (long long)j + 1);
  say_outcome(r, p);
  if (p->x_iteration < p->iterations)
    cli_say(o, "; x is the nearest, that of iteration %s", cli_count(p->x_iteration).s);
  if (p->residual_restarts)
    cli_say(o, ", restarted %d time%s from the true residual", p->residual_restarts,
            p->residual_restarts > 1 ? "s" : "");
  cli_say(o, "\n");
  say_mixed(o, p);
  say_uniqueness(o, p);
  say_quality(r, s);
  if (s->checked)
    cli_compare_say(o, &s->check);
  else if (r->check_interrupted)
    cli_say(o, "check       interrupted before its verdict\n");
}

void cli_times(const cli_run *r, cli_time list[CLI_TIMES]) {
  const kcl_setup_info *s = &r->setup;
  const cli_time all[CLI_TIMES] = {{"device", r->seconds_device},
                                   {"read", r->p.seconds_read},
                                   {"check", s->seconds_check},
                                   {"statistics", s->seconds_stats},
                                   {"convert", s->seconds_convert},
                                   {"precondition", s->seconds_precond},
                                   {"compile", s->seconds_compile},
                                   {"measure", s->seconds_measure},
                                   {"upload", s->seconds_upload + r->seconds_upload},
                                   {"solve", r->seconds_solve},
                                   {"download", r->seconds_download},
                                   {"certify", r->seconds_certify},
                                   {"write", r->seconds_write},
                                   {"other", 0},
                                   {"total", r->seconds_total}};
  double named = 0;
  memcpy(list, all, sizeof all);
  for (int i = 0; i < CLI_TIMES - 2; i++) named += list[i].seconds;
  list[CLI_TIMES - 2].seconds = fmax(r->seconds_total - named, 0);
}

/* Prints the times. Parts below a hundredth of the total are left out. */
static void say_times(const cli_run *r) {
  const cli_options *o = r->o;
  cli_time list[CLI_TIMES];
  cli_times(r, list);
  cli_say(o, "time        ");
  for (int i = 0; i < CLI_TIMES; i++)
    if (list[i].seconds >= 0.01 * r->seconds_total)
      cli_say(o, "%s %s%s", list[i].name, cli_seconds(list[i].seconds).s,
              i + 1 < CLI_TIMES ? ", " : "\n");
}

static void say_solve_speed(const cli_run *r) {
  const cli_options *o = r->o;
  const kcl_report *p = &r->results[r->worst].report;
  double rate =
      p->seconds_per_iteration > 0 ? p->bytes_per_iteration / p->seconds_per_iteration : 0;
  if (!(rate > 0)) return;
  cli_say(o, "speed       %s per iteration, %s moved, %.1f GB/s",
          cli_seconds(p->seconds_per_iteration).s, cli_bytes(p->bytes_per_iteration).s,
          rate * 1e-9);
  cli_say_stream(o, rate, &r->stream);
  cli_say(o, "\n");
}

static void say_written(const cli_options *o, bool written, const char *what, const char *path) {
  if (written && path && strcmp(path, "-")) cli_say(o, "wrote       %s to %s\n", what, path);
}

static void say_guard(const cli_run *r) {
  const kcl_report *p = &r->results[0].report;
  if (!r->o->guard) return;
  cli_say(r->o, "guard       %s checks, %s errors, %s returns to a state that had passed\n",
          cli_count(p->guard_checks).s, cli_count(p->guard_errors).s,
          cli_count(p->guard_rollbacks).s);
}

static void say_lost_device(const cli_run *r) {
  const kcl_report *p = &r->results[r->worst].report;
  if (!p->lost_why[0]) return;
  cli_say(r->o, "fallback    %s: %s\n",
          p->fell_back ? "the CPU took the place of the device" : "none, the device was lost",
          p->lost_why);
}

void cli_report_results(const cli_run *r) {
  for (int64_t j = 0; j < r->solved; j++) say_result(r, j);
  if (r->solved < r->p.b->cols)
    cli_say(r->o, "            interrupted: %s of %s columns solved\n", cli_count(r->solved).s,
            cli_count(r->p.b->cols).s);
  cli_report_ranks(r);
  cli_checkpoint_say(r);
  say_guard(r);
  say_lost_device(r);
  say_times(r);
  say_solve_speed(r);
  cli_profile_say(r);
  say_written(r->o, r->wrote_x, "x", r->o->output);
  say_written(r->o, r->wrote_direct, "the direct solution", r->o->check_output);
  say_written(r->o, r->wrote_history, "the residual history", r->o->history);
  say_written(r->o, r->wrote_json, "the results", r->o->json);
}
