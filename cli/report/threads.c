/* Speed-up over the fewest threads against the number of threads, of the formats that are the fastest on the most. */
#include "cli/draw/lines.h"
#include "cli/report/report.h"
#include "cli/ui/say.h"

enum { LINES = 6, COUNTS = 64 };

typedef struct series { /* a format on several numbers of threads, ascending */
  const cli_bench_row *row[COUNTS];
  int threads[COUNTS], count;
} series;

static series series_of(const cli_report_data *r, const cli_report_group *g, const char *format) {
  series s = {.count = 0};
  for (int i = 0; i < r->run.row_count && s.count < COUNTS; i++) {
    const cli_bench_row *row = &r->run.rows[i];
    if (row->state != CLI_BENCH_OK || row->place < 0 || strcmp(row->format, format) ||
        !cli_report_same_question(r, row, g->key))
      continue;
    const kcl_device *d = &r->run.places[row->place].device;
    int k = s.count++;
    if (d->platform >= 0) return (series){.count = 0};
    for (; k && s.threads[k - 1] > d->compute_units; k--)
      s.row[k] = s.row[k - 1], s.threads[k] = s.threads[k - 1];
    s.row[k] = row, s.threads[k] = d->compute_units;
  }
  return s;
}

static int add_thread_line(cli_lines *l, const series *s) {
  const double first = cli_bench_time(s->row[0])->median;
  cli_line *one = cli_lines_add(l, s->count);
  if (!one) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  snprintf(one->name, sizeof one->name, "%s", s->row[0]->format);
  snprintf(one->tip, sizeof one->tip, "%s:", one->name);
  for (int k = 0; k < s->count; k++) {
    const double t = cli_bench_time(s->row[k])->median;
    one->x[k] = s->threads[k], one->y[k] = first / t;
    if (strlen(one->tip) < 240)
      cli_append(one->tip, sizeof one->tip, "%s %d thread%s %s", k ? "," : "", s->threads[k],
                 s->threads[k] == 1 ? "" : "s", cli_axis_seconds(t).s);
  }
  one->count = s->count;
  return 0;
}

static int add_ideal_line(cli_lines *l, const series *s) {
  cli_line *one = cli_lines_add(l, 2);
  if (!one) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  one->x[0] = s->threads[0];
  one->y[0] = 1;
  one->x[1] = s->threads[s->count - 1];
  one->y[1] = one->x[1] / one->x[0];
  one->count = 2;
  one->ideal = true;
  snprintf(one->name, sizeof one->name, "ideal");
  return 0;
}

static cli_text thread_label(double v) {
  cli_text t;
  snprintf(t.s, sizeof t.s, "%.0f", v);
  return t;
}

/* The group of the question with the most threads. */
static const cli_report_group *most_threads_group(const cli_report_data *r,
                                                  const cli_report_group *g) {
  const cli_report_group *best = g;
  for (int i = 0; i < r->group_count; i++) {
    const cli_report_group *h = &r->groups[i];
    if (cli_report_same_question(r, h->key, g->key) &&
        r->run.places[h->key->place].device.compute_units >
            r->run.places[best->key->place].device.compute_units)
      best = h;
  }
  return best;
}

static int draw_threads(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                        bool alone) {
  char title[420];
  series widest = {.count = 0};
  CLI_OWNED_BY(cli_lines_free)
  cli_lines l = {.title = title,
                 .x_title = "threads",
                 .y_title = "speed-up",
                 .x_label = thread_label,
                 .y_label = cli_axis_number,
                 .log_x = true,
                 .log_y = true,
                 .dots = true};
  if (!cli_report_first(r, s->g, true)) return 0;
  const cli_report_group *g = most_threads_group(r, s->g);
  snprintf(title, sizeof title, "%.96s: thread scaling, %s", r->run.matrices[s->matrix].name,
           cli_report_setting(r, g->key, false).s);
  for (int i = 0; i < g->count && l.count < LINES; i++) {
    const series one = series_of(r, g, r->run.rows[g->rows[i]].format);
    if (one.count < 2) continue;
    CLI_CALL(add_thread_line(&l, &one));
    if (one.count > widest.count) widest = one;
  }
  for (int k = 0; k < widest.count && k < 16; k++) l.marks[l.mark_count++] = widest.threads[k];
  if (l.count) CLI_CALL(add_ideal_line(&l, &widest));
  cli_lines_draw(f, &l, alone);
  return 0;
}

const cli_report_figure cli_report_threads = {
    .name = "threads",
    .title = "Thread scaling",
    .how = "Time on the fewest threads by the time on N. A product is bound by memory: the line "
           "bends where the threads in use move all that memory delivers.",
    .scope = CLI_REPORT_GROUP,
    .draw = draw_threads};
