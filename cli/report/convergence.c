/* Residuals of solves of one matrix against iterations, and against seconds: set-up first (conversion, upload, compilation),
 * then iterations at their mean time, for the history keeps no times. */
#include "cli/draw/lines.h"
#include "cli/report/report.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

enum { MOST = 12 };

static bool same_solve_matrix(const cli_report_file *a, const cli_report_file *b) {
  const cJSON *m = cli_field(a->json, "matrix"), *n = cli_field(b->json, "matrix");
  return !strcmp(cli_get_text(m, "file"), cli_get_text(n, "file")) &&
         cli_get_number(m, "nnz") == cli_get_number(n, "nnz");
}

bool cli_report_first_solve(const cli_report_data *r, int file) {
  if (!r->files[file].solve) return false;
  for (int i = 0; i < file; i++)
    if (r->files[i].solve && same_solve_matrix(&r->files[i], &r->files[file])) return false;
  return true;
}

static double seconds_before_solve(const cJSON *solve) {
  static const char *const parts[] = {"statistics", "convert", "compile", "measure", "upload"};
  double sum = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const double v = cli_get_number(cli_field(solve, "seconds"), parts[i]);
    if (v > 0) sum += v;
  }
  return sum;
}

static void name_line(const cJSON *o, cli_line *l) {
  const char *precond = cli_get_text(o, "precond");
  const bool plain = !*precond || !strcmp(precond, "none");
  snprintf(l->name, sizeof l->name, "%.24s%s%.24s, %.24s", cli_get_text(o, "solver"),
           plain ? "" : "+", plain ? "" : precond, cli_get_text(o, "format"));
  snprintf(l->tip, sizeof l->tip, "%.100s: %s after %.0f iterations, true residual %.2e, %s",
           l->name, cli_get_text(o, "reason"), cli_get_number(o, "iterations"),
           cli_get_number(o, "true_relative_residual"), cli_get_text(o, "device"));
}

static int add_residual_line(cli_lines *l, const cJSON *o, bool timed) {
  const cJSON *history = cli_field(o, "history"), *one;
  const double each = cli_get_number(o, "seconds_per_iteration"), before = seconds_before_solve(o);
  if (cJSON_GetArraySize(history) < 2 || (timed && !(each > 0))) return 0;
  cli_line *mine = cli_lines_add(l, cJSON_GetArraySize(history));
  if (!mine) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  name_line(o, mine);
  cJSON_ArrayForEach(one, history) {
    const double i = cJSON_GetArrayItem(one, 0)->valuedouble,
                 v = cJSON_GetArrayItem(one, 1)->valuedouble;
    if (!(v > 0) || !isfinite(v) || !(i >= 0)) continue;
    mine->x[mine->count] = timed ? before + i * each : i, mine->y[mine->count++] = v;
  }
  return 0;
}

static int draw_convergence(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                            bool alone, bool timed) {
  const cJSON *first = s->solve->json, *matrix = cli_field(first, "matrix");
  char title[300], name[200];
  CLI_OWNED_BY(cli_lines_free)
  cli_lines l = {.title = title,
                 .x_title = timed ? "seconds, set-up included" : "iterations",
                 .y_title = "relative residual",
                 .x_label = timed ? cli_axis_seconds : cli_axis_number,
                 .y_label = cli_axis_power,
                 .log_y = true,
                 .level = fmax(0, cli_get_number(first, "tol")),
                 .level_name = "tolerance"};
  cli_bench_short_name(cli_get_text(matrix, "file"), name, sizeof name);
  snprintf(title, sizeof title, "%.96s: convergence against %s", name,
           timed ? "seconds" : "iterations");
  for (int i = 0; i < r->file_count && l.count < MOST; i++)
    if (r->files[i].solve && same_solve_matrix(&r->files[i], s->solve))
      CLI_CALL(add_residual_line(&l, r->files[i].json, timed));
  cli_lines_draw(f, &l, alone);
  return 0;
}

static int by_iterations(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                         bool alone) {
  return draw_convergence(f, r, s, alone, false);
}
static int by_seconds(FILE *f, const cli_report_data *r, const cli_report_subject *s, bool alone) {
  return draw_convergence(f, r, s, alone, true);
}

const cli_report_figure cli_report_convergence = {
    .name = "convergence",
    .title = "Convergence",
    .how = "The residual after each iteration; the dashed line is the tolerance. Whether a solve "
           "converged is decided by the "
           "residual recomputed from x, which the tip of each line tells.",
    .scope = CLI_REPORT_SOLVES,
    .draw = by_iterations};
const cli_report_figure cli_report_convergence_time = {
    .name = "convergence-time",
    .title = "Convergence in time",
    .how = "The same against time: set-up first, then iterations at their mean time.",
    .scope = CLI_REPORT_SOLVES,
    .draw = by_seconds};
