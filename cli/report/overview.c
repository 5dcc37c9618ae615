/* All matrices in one picture: the time of every format relative to the fastest on the same matrix. Formats are
 * ordered by the geometric mean of these ratios; those not measured everywhere come last. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"
#include "cli/ui/say.h"

enum { ROWS = 64, COLUMNS = 40, PITCH = 18, CELL = 42, LONG = 22 };

typedef struct overview {
  const cli_report_group *column[COLUMNS]; /* of each matrix */
  int columns, rows;
  const char *format[ROWS];
  double factor[ROWS][COLUMNS]; /* 0: not measured */
  const cli_bench_row *cell[ROWS][COLUMNS];
  double mean[ROWS];
  int order[ROWS];
} overview;

static int overview_format(overview *o, const char *name) {
  for (int i = 0; i < o->rows; i++)
    if (!strcmp(o->format[i], name)) return i;
  if (o->rows == ROWS) return -1;
  o->format[o->rows] = name;
  return o->rows++;
}

static void collect_overview(overview *o, const cli_report_data *r, const cli_report_group *key) {
  for (int i = 0; i < r->group_count && o->columns < COLUMNS; i++) {
    const cli_report_group *g = &r->groups[i];
    if (!g->count || !cli_report_same_setting(g->key, key->key)) continue;
    const double best = cli_bench_per_rhs(&r->run.rows[g->rows[0]]);
    for (int k = 0; k < g->count; k++) {
      const cli_bench_row *row = &r->run.rows[g->rows[k]];
      int at = overview_format(o, row->format);
      if (at >= 0)
        o->factor[at][o->columns] = cli_bench_per_rhs(row) / best, o->cell[at][o->columns] = row;
    }
    o->column[o->columns++] = g;
  }
}

static void order_overview(overview *o) {
  for (int i = 0; i < o->rows; i++) {
    double sum = 0;
    int missing = 0, k = i;
    for (int j = 0; j < o->columns; j++)
      o->factor[i][j] > 0 ? (void)(sum += log(o->factor[i][j])) : (void)missing++;
    o->mean[i] = sum / fmax(1, o->columns - missing) + 1e3 * missing;
    for (; k && o->mean[o->order[k - 1]] > o->mean[i]; k--) o->order[k] = o->order[k - 1];
    o->order[k] = i;
  }
}

/* Draws a cell: darker is nearer to the fastest, which is 1. */
static void cell(FILE *f, const cli_report_data *r, const overview *o, int i, int j, double x,
                 double y) {
  const double v = o->factor[i][j];
  char tip[300], number[16];
  if (!(v > 0)) {
    cli_svg_text(f, x + CELL / 2.0, y + 12, "mute c", "\xc2\xb7");
    return;
  }
  snprintf(tip, sizeof tip, "%s, %s: %s, %s times the fastest", o->format[i],
           r->run.matrices[o->column[j]->matrix].name,
           cli_exact_seconds(cli_bench_time(o->cell[i][j])->median).s, cli_bench_factor(v).s);
  snprintf(number, sizeof number, v < 9.95 ? "%.2f" : v < 99.5 ? "%.0f" : "99+", v);
  cli_svg_group(f, tip);
  fprintf(f,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"best\" "
          "style=\"fill-opacity:%.2f\"/>",
          x + 1, y + 1, CELL - 2, PITCH - 2, v < 1.0001 ? 1 : fmax(0.04, 0.5 - 0.4 * log2(v)));
  cli_svg_text(f, x + CELL / 2.0, y + 13, v < 1.0001 ? "on c b" : "ink c", number);
  cli_svg_group_end(f);
}

static void draw_grid(FILE *f, const cli_report_data *r, const overview *o, double left,
                      double top) {
  for (int j = 0; j < o->columns; j++) {
    char name[LONG + 4];
    const char *whole = r->run.matrices[o->column[j]->matrix].name;
    snprintf(name, sizeof name, strlen(whole) > LONG ? "%.*s\xe2\x80\xa6" : "%.*s",
             LONG - 1 + (strlen(whole) <= LONG), whole);
    fprintf(f, "<g transform=\"translate(%.1f %.1f) rotate(-40)\">", left + CELL * j + CELL / 2.0,
            top - 6);
    cli_svg_text(f, 0, 0, "ink", name);
    cli_svg_group_end(f);
  }
  for (int k = 0; k < o->rows; k++) {
    cli_svg_text(f, left - 8, top + PITCH * k + 13, "ink e", o->format[o->order[k]]);
    for (int j = 0; j < o->columns; j++)
      cell(f, r, o, o->order[k], j, left + CELL * j, top + PITCH * k);
  }
}

static int draw_overview(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                         bool alone) {
  char title[420];
  double left = 40, head = 0;
  overview *o = calloc(1, sizeof *o);
  if (!o) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  collect_overview(o, r, s->g);
  order_overview(o);
  for (int i = 0; i < o->rows; i++) left = fmax(left, cli_svg_width(o->format[i]) + 12);
  for (int j = 0; j < o->columns; j++)
    head = fmax(head, fmin(cli_svg_width(r->run.matrices[o->column[j]->matrix].name), 7.0 * LONG));
  snprintf(title, sizeof title, "times by that of the fastest format of each matrix: %s",
           cli_report_setting_all(r, s->g->key).s);
  if (o->columns > 1 && o->rows > 1) {
    const double top = 20 + 0.66 * head;
    cli_svg_begin(f, fmax(left + CELL * o->columns + 0.77 * head, 300), top + PITCH * o->rows + 6,
                  title, alone);
    draw_grid(f, r, o, left, top);
    cli_svg_end(f);
  }
  free(o);
  return 0;
}

const cli_report_figure cli_report_overview = {
    .name = "overview",
    .title = "All matrices",
    .how = "Time by that of the fastest format on the same matrix: 1.00 is the fastest, a dot was "
           "not measured (refused, or the "
           "same as another). Formats are ordered by their geometric mean.",
    .scope = CLI_REPORT_RUN,
    .draw = draw_overview};
