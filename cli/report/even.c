/* Time of set-up and N iterations relative to the fastest plain CSR, against N: below 1 a format pays. The picture
 * has the fastest formats and every format that is the best for some N. */
#include "cli/draw/lines.h"
#include "cli/report/report.h"
#include "cli/ui/say.h"

enum { POINTS = 81, MOST = 7 };
static const double LONGEST = 1e5, CUT = 3; /* iterations; the picture ends there */

/* Seconds of set-up without the first compilation, as in the column "pays after". */
static double row_setup_seconds(const cli_bench_row *r) {
  return cli_bench_setup(r) - (r->measured.compiled ? r->measured.seconds_compile : 0);
}

static double total_seconds(const cli_bench_row *r, double n) {
  return row_setup_seconds(r) + n * cli_bench_time(r)->median;
}

static double iterations_at(int k) { return pow(LONGEST, (double)k / (POINTS - 1)); }

static int best_for(const cli_report_data *r, const cli_report_group *g, double n) {
  int best = g->rows[0];
  for (int i = 1; i < g->count; i++)
    if (total_seconds(&r->run.rows[g->rows[i]], n) < total_seconds(&r->run.rows[best], n))
      best = g->rows[i];
  return best;
}

static bool best_somewhere(const cli_report_data *r, const cli_report_group *g, int row) {
  for (int k = 0; k < POINTS; k++)
    if (best_for(r, g, iterations_at(k)) == row) return true;
  return false;
}

/* Names a line with the number of iterations from which, or up to which, its format pays. */
static void name_even_line(const cli_report_data *r, const cli_bench_row *row, cli_line *l) {
  const cli_bench_break_even e = cli_bench_pays(&r->run, row);
  const cli_text from = cli_whole(e.after), until = cli_whole(e.until);
  const bool begins = isfinite(e.after) && e.after > 1,
             ends = !isfinite(e.after) && e.until > 0 && isfinite(e.until);
  snprintf(l->tip, sizeof l->tip, "%s: set-up %s, then %s each", row->format,
           cli_exact_seconds(row_setup_seconds(row)).s,
           cli_exact_seconds(cli_bench_time(row)->median).s);
  snprintf(l->name, sizeof l->name, "%.40s%s%s", row->format,
           begins ? ", from "
           : ends ? ", up to "
                  : "",
           begins ? from.s
           : ends ? until.s
                  : "");
  if (begins || ends)
    cli_append(l->tip, sizeof l->tip, "; pays %s %s against %s", begins ? "from" : "up to",
               begins ? from.s : until.s, e.against->format);
}

/* Adds the line of a row, from the first N on at which it lies within the picture. */
static int add_even_line(const cli_report_data *r, const cli_bench_row *row,
                         const cli_bench_row *against, cli_lines *l) {
  cli_line *one = cli_lines_add(l, POINTS);
  if (!one) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  for (int k = 0; k < POINTS; k++) {
    const double v =
        total_seconds(row, iterations_at(k)) / total_seconds(against, iterations_at(k));
    if (v > CUT && one->count) break;
    if (v <= CUT) one->x[one->count] = iterations_at(k), one->y[one->count++] = v;
  }
  name_even_line(r, row, one);
  return 0;
}

static int draw_even(FILE *f, const cli_report_data *r, const cli_report_subject *s, bool alone) {
  const cli_report_group *g = s->g;
  char title[420], name[120];
  if (g->count < 2) return 0;
  const cli_bench_row *against = NULL;
  for (int i = 0; i < g->count && !against; i++)
    against = cli_bench_pays(&r->run, &r->run.rows[g->rows[i]]).against;
  if (!against || !(row_setup_seconds(against) > 0)) return 0;
  CLI_OWNED_BY(cli_lines_free)
  cli_lines l = {.title = title,
                 .x_title = cli_bench_alone(g->key) ? "products" : "iterations",
                 .y_title = name,
                 .x_label = cli_axis_power,
                 .y_label = cli_axis_number,
                 .log_x = true,
                 .level = 1,
                 .level_name = ""};
  snprintf(name, sizeof name, "set-up and %s together, by those of %.40s", l.x_title,
           against->format);
  snprintf(title, sizeof title, "%.96s: break-even, %s", r->run.matrices[s->matrix].name,
           cli_report_setting(r, g->key, true).s);
  for (int i = 0; i < g->count; i++) {
    const cli_bench_row *row = &r->run.rows[g->rows[i]];
    if (row != against && l.count < MOST && (i < 4 || best_somewhere(r, g, g->rows[i])))
      CLI_CALL(add_even_line(r, row, against, &l));
  }
  cli_lines_draw(f, &l, alone);
  return 0;
}

const cli_report_figure cli_report_even = {
    .name = "break-even",
    .title = "Break-even",
    .how = "Set-up (conversion, upload, loading of compiled kernels) and N iterations together, by "
           "those of the fastest plain CSR. Where a line falls below 1 the format pays; take the "
           "lowest line at the length of your solve.",
    .scope = CLI_REPORT_GROUP,
    .draw = draw_even};
