/* The JSON of a solve. `krylocl solve --help` lists the fields. */
#include "cli/ranks/report.h"
#include "cli/ui/json.h"

/* Adds pairs of an iteration and the residual after it, at most about a thousand. */
static void add_history(cJSON *o, const kcl_report *p) {
  enum { POINTS = 1000 };
  const int64_t n = p->history_size, step = n / POINTS + 1;
  cJSON *list = cJSON_AddArrayToObject(o, "history");
  for (int64_t i = 0; i < n; i = i + step < n || i == n - 1 ? i + step : n - 1) {
    const double pair[] = {(double)i, p->history[i]};
    if (isfinite(pair[1])) cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(pair, 2));
  }
}

static void add_fallback(cJSON *o, const cli_run *r, const kcl_report *p) {
  cJSON *f = cJSON_AddObjectToObject(o, "fallback");
  cli_json_text(f, "from", r->opened.name);
  if (p->fell_back)
    cli_json_text(f, "to", "cpu");
  else
    cJSON_AddNullToObject(f, "to");
  cli_json_count(f, "at_iteration", p->lost_at);
  cli_json_text(f, "why", p->lost_why);
}

/* Adds how the solve went. */
static void add_course(cJSON *o, const cli_run *r, const kcl_report *p) {
  cli_json_bool(o, "converged", p->converged);
  cli_json_text(o, "reason", kcl_reason_text(p->reason));
  cli_json_count(o, "iterations", p->iterations);
  cli_json_count(o, "residual_restarts", p->residual_restarts);
  cli_json_text(o, "changes", p->changes);
  if (r->o->guard) {
    cli_json_count(o, "guard_checks", p->guard_checks);
    cli_json_count(o, "guard_errors", p->guard_errors);
    cli_json_count(o, "guard_rollbacks", p->guard_rollbacks);
  }
  if (r->o->checkpoint) {
    cli_json_count(o, "checkpoints", p->checkpoints);
    cli_json_number(o, "bytes_checkpoint", p->bytes_checkpoint);
    cli_json_number(o, "seconds_checkpoint", p->seconds_checkpoint);
  }
  if (p->lost_why[0]) add_fallback(o, r, p);
  if (p->resumed_at) cli_json_count(o, "resumed_at", p->resumed_at);
  cli_json_bool(o, "mixed", p->mixed);
  if (p->mixed) {
    cli_json_count(o, "inner_iterations", p->inner_iterations);
    cli_json_count(o, "outer_iterations", p->outer_iterations);
    cli_json_text(o, "mixed_end", p->mixed_end);
  }
}

/* Adds residuals and errors. Each is one quantity: a direct solution has no recurrence, and some solves test another residual. */
static void add_residuals(cJSON *o, const cli_run *r, const cli_result *s) {
  const kcl_report *p = &s->report;
  bool other = cli_tests_another(r, p);
  double recurrence = p->relative_residual < 0 ? NAN : p->relative_residual;
  cli_json_number(o, "relative_residual", other ? NAN : recurrence);
  cli_json_number(o, "true_relative_residual", p->true_relative_residual);
  if (cli_checksum_known(r, s)) cli_json_text(o, "x_checksum", cli_checksum_text(p->x_sum).s);
  cli_json_number(o, "backward_error", p->backward_error);
  cli_json_number(o, "rowwise_error", p->rowwise_error);
  cli_json_number(o, "componentwise_error", p->componentwise_error);
  if (other) {
    cli_json_number(o, "tested_residual", recurrence);
    cli_json_number(o, "true_tested_residual", p->tested_residual);
  }
  if (p->normal_residual >= 0) {
    cli_json_bool(o, "least_squares", p->least_squares);
    cli_json_number(o, "normal_residual", p->normal_residual);
  }
}

/* Adds the results of one right-hand side. */
static void add_result(cJSON *o, const cli_run *r, const cli_result *s) {
  const kcl_report *p = &s->report;
  add_course(o, r, p);
  add_residuals(o, r, s);
  cli_json_bool(o, "not_unique", p->not_unique);
  cli_json_bool(o, "least_norm", p->least_norm);
  if (p->condition_estimate > 0 && p->reason != KCL_INDEFINITE) {
    cli_json_number(o, "condition_estimate", p->condition_estimate);
    cli_json_number(o, "ritz_min", p->ritz_min);
    cli_json_number(o, "ritz_max", p->ritz_max);
  } else
    cJSON_AddNullToObject(o, "condition_estimate");
  if (s->forward_error >= 0) cli_json_number(o, "forward_error", s->forward_error);
  if (s->checked)
    cli_json_compare(cJSON_AddObjectToObject(o, "check"), &s->check);
  else if (r->check_interrupted)
    cli_json_text(cJSON_AddObjectToObject(o, "check"), "verdict", "interrupted");
  add_history(o, p);
}

static void add_time_list(cJSON *o, const cli_run *r) {
  cJSON *t = cJSON_AddObjectToObject(o, "seconds");
  cli_time list[CLI_TIMES];
  cli_times(r, list);
  for (int i = 0; i < CLI_TIMES; i++) cli_json_number(t, list[i].name, list[i].seconds);
}

static void add_speed(cJSON *o, const cli_run *r, const kcl_report *p) {
  double rate = p->bytes_per_iteration / p->seconds_per_iteration; /* not finite: null */
  cli_json_number(o, "seconds_per_iteration", p->seconds_per_iteration);
  cli_json_number(o, "bytes_per_iteration", p->bytes_per_iteration);
  cli_json_number(o, "gbytes_per_second", rate * 1e-9);
  const double stream = r->stream.rate > 0 ? r->stream.rate : NAN;
  cli_json_number(o, "stream_gbytes_per_second", stream * 1e-9);
  cli_json_number(o, "stream_fraction", rate / stream);
  cli_json_stream(o, &r->stream);
}

/* Adds the times on record that "auto" chooses by. */
static void add_timings(cJSON *o, const cli_run *r) {
  cJSON *list = cJSON_AddArrayToObject(o, "timed");
  for (int i = 0; i < r->setup.timings; i++) {
    kcl_setup_timing t;
    kcl_solver_timing(r->solver, i, &t);
    cJSON *one = cli_json_item(list);
    cli_json_text(one, "solver", t.solver);
    cli_json_text(one, "format", t.format);
    cli_json_text(one, "precond", t.precond);
    cli_json_number(one, "seconds_setup", t.seconds_setup);
    cli_json_number(one, "seconds_per_iteration", t.seconds_per_iteration);
  }
  cli_json_count(o, "expected_iterations", r->setup.expected_iterations);
}

static void add_powers(cJSON *o, const char *name, const int range[2]) {
  cJSON_AddItemToObject(o, name, cJSON_CreateIntArray(range, 2));
}

static void add_scale(cJSON *o, const kcl_setup_info *s) {
  cli_json_bool(o, "scaled", s->scaled);
  cli_json_text(o, "scale_reason", s->scale_reason);
  if (!s->scaled) return;
  add_powers(o, "scale_rows", s->row_powers);
  add_powers(o, "scale_columns", s->col_powers);
}

static void add_precond_fields(cJSON *o, const kcl_setup_info *s) {
  if (!s->precond_levels) return;
  cli_json_number(o, "precond_bytes", s->bytes_precond);
  cli_json_text(o, "precond_note", s->precond_note);
  cli_json_count(o, "precond_levels", s->precond_levels);
  cli_json_number(o, "precond_rows", s->precond_rows);
  cli_json_number(o, "precond_nonzeros", s->precond_nonzeros);
  cli_json_number(o, "precond_complexity", s->precond_complexity);
}

static void add_method_fields(cJSON *o, const cli_run *r) {
  cli_json_text(o, "solver", r->setup.solver);
  cli_json_text(o, "solver_reason", r->setup.solver_reason);
  cli_json_bool(o, "solver_remembered", r->setup.solver_remembered);
  cli_json_text(o, "precond", r->setup.precond);
  if (r->o->parameters) cli_json_text(o, "parameters", r->o->parameters);
  add_precond_fields(o, &r->setup);
  cli_json_text(o, "format", r->setup.format);
  cli_json_text(o, "format_reason", r->setup.format_reason);
  add_timings(o, r);
  add_scale(o, &r->setup);
  cli_json_zeros(o, r->setup.zero_rows, r->setup.first_zero_row, r->setup.zero_cols,
                 r->setup.first_zero_col);
  if (r->setup.put_aside[0]) cli_json_text(o, "put_aside", r->setup.put_aside);
  cli_json_text(o, "kernel", r->setup.kernel);
  cli_json_number(o, "bytes_stored", r->setup.bytes_stored);
  cli_json_count(o, "stages", r->setup.stages);
  cli_json_letter(o, "precision", r->p.precision);
  if (r->asked.mixed) {
    cli_json_text(o, "mixed_reason", r->setup.mixed);
    cli_json_number(o, "bytes_float", r->setup.bytes_float);
  }
  cli_json_device(o, &r->device);
  cli_json_number(o, "tol", r->asked.tol);
  cli_json_number(o, "atol", r->asked.atol);
}

static void add_columns(cJSON *o, const cli_run *r) {
  cli_json_count(o, "nrhs", r->p.b->cols);
  if (r->p.b->cols == 1) return;
  cli_json_count(o, "nrhs_at_once", r->setup.nrhs);
  cli_json_count(o, "worst_column", r->worst + 1);
  cJSON *list = cJSON_AddArrayToObject(o, "solves");
  for (int64_t j = 0; j < r->solved; j++) {
    cJSON *one = cli_json_item(list);
    cli_json_count(one, "column", j + 1);
    add_result(one, r, &r->results[j]);
    cli_json_number(one, "seconds_solve", r->results[j].report.seconds_solve);
  }
}

int cli_solve_json(const cli_run *r) {
  const cli_result *worst = &r->results[r->worst];
  cJSON *o = cJSON_CreateObject();
  cli_json_text(o, "krylocl", kcl_version());
  cli_json_matrix(o, r->o->files[0], &r->p.whole);
  add_method_fields(o, r);
  add_result(o, r, worst);
  add_time_list(o, r);
  add_speed(o, r, &worst->report);
  add_columns(o, r);
  cli_json_ranks(o, r);
  cli_profile_json(o, r);
  return cli_json_finish(r->o->json, o);
}
