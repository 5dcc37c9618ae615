/* Products against the bound of memory, two ways: the roofline (Williams, Waterman & Patterson 2009), rate against
 * arithmetic intensity, and time against bytes moved. The stream rate of each device is a straight line in both. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"
#include "cli/ui/say.h"

enum { HEIGHT = 300, LEFT = 58, LABELS = 20 };

typedef struct view { /* the quantities of both axes */
  double (*x)(const cli_report_data *r, const cli_bench_row *row),
      (*y)(const cli_report_data *r, const cli_bench_row *row);
  double (*bound)(double x, double stream);
  cli_axis_label x_label, y_label;
  const char *x_title, *y_title, *title;
  bool above; /* the bound is above the points */
} view;

static double flops_of_row(const cli_report_data *r, const cli_bench_row *row) {
  return cli_bench_gflops(&r->run, row) * 1e9 * row->product.median;
}
static double intensity_of_row(const cli_report_data *r, const cli_bench_row *row) {
  return flops_of_row(r, row) / row->measured.bytes_product;
}
static double rate_of_row(const cli_report_data *r, const cli_bench_row *row) {
  return cli_bench_gflops(&r->run, row);
}
static double bytes_of_row(const cli_report_data *r, const cli_bench_row *row) {
  return (void)r, row->measured.bytes_product;
}
static double seconds_of_row(const cli_report_data *r, const cli_bench_row *row) {
  return (void)r, row->product.median;
}
static double roof_at(double x, double stream) { return x * stream * 1e-9; }
static double least_seconds(double x, double stream) { return x / stream; }

static const view roofline = {intensity_of_row,
                              rate_of_row,
                              roof_at,
                              cli_axis_number,
                              cli_axis_number,
                              "arithmetic intensity, flop per byte moved",
                              "GFlop/s of the product",
                              "roofline",
                              true},
                  time_of_bytes = {
                      bytes_of_row,        seconds_of_row,       least_seconds,
                      cli_axis_bytes,      cli_axis_seconds,     "bytes moved by a product",
                      "time of a product", "time against bytes", false};

typedef struct plot {
  FILE *f;
  const cli_report_data *r;
  const view *v;
  const cli_bench_row **rows;       /* [count], fastest first */
  int count, *series, series_count; /* series: of each place [place_count], -1: none */
  cli_axis x, y;
} plot;

static int compare_points(const void *a, const void *b) {
  const cli_bench_row *x = *(const cli_bench_row *const *)a, *y = *(const cli_bench_row *const *)b;
  return (x->product.median > y->product.median) - (x->product.median < y->product.median);
}

static void collect_points(plot *p, int matrix) {
  const cli_bench_run *run = &p->r->run;
  for (int i = 0; i < run->place_count; i++) p->series[i] = -1;
  for (int i = 0; i < run->row_count; i++) {
    const cli_bench_row *row = &run->rows[i];
    if (row->matrix != matrix || row->place < 0 || row->state != CLI_BENCH_OK ||
        !(row->measured.bytes_product > 0))
      continue;
    p->rows[p->count++] = row;
    if (p->series[row->place] < 0) p->series[row->place] = p->series_count++;
  }
  qsort(p->rows, (size_t)p->count, sizeof *p->rows, compare_points);
}

static void include_value(cli_axis *a, double v) {
  if (!(a->lo > 0) || v < a->lo) a->lo = v;
  if (v > a->hi) a->hi = v;
}

static void find_ranges(plot *p, double top) {
  p->x = (cli_axis){.log = true, .from = LEFT, .to = CLI_REPORT_WIDTH - 14};
  p->y = (cli_axis){.log = true, .from = top + HEIGHT, .to = top};
  for (int i = 0; i < p->count; i++)
    include_value(&p->x, p->v->x(p->r, p->rows[i])),
        include_value(&p->y, p->v->y(p->r, p->rows[i]));
  for (int i = 0; i < p->count; i++) { /* the bound beside the points */
    const double stream = p->r->run.places[p->rows[i]->place].stream.rate;
    if (stream > 0) include_value(&p->y, p->v->bound(p->v->x(p->r, p->rows[i]), stream));
  }
  p->x = cli_axis_round(p->x), p->y = cli_axis_round(p->y);
}

/* Draws the part of the bound that lies within the picture. Its slope is one in logarithms. */
static void draw_bound(const plot *p, int place) {
  const double stream = p->r->run.places[place].stream.rate, unit = p->v->bound(1, stream);
  char class[16];
  if (!(stream > 0)) return;
  const double from = fmax(p->x.lo, p->y.lo / unit), to = fmin(p->x.hi, p->y.hi / unit);
  if (from >= to) return;
  snprintf(class, sizeof class, "ideal s%d", p->series[place] % CLI_SVG_SERIES);
  cli_svg_line(p->f, cli_axis_at(&p->x, from), cli_axis_at(&p->y, unit * from),
               cli_axis_at(&p->x, to), cli_axis_at(&p->y, unit * to), class);
}

/* Draws the devices and their rates, one below another. */
static void draw_roofline_key(const plot *p) {
  int line = 0;
  for (int s = 0; s < p->series_count; s++)
    for (int i = 0; i < p->r->run.place_count; i++) {
      char class[8], text[300];
      const double stream = p->r->run.places[i].stream.rate;
      if (p->series[i] != s) continue;
      snprintf(class, sizeof class, "f%d", s % CLI_SVG_SERIES);
      cli_svg_dot(p->f, LEFT + 5, 30 + 16 * line, 4, class);
      snprintf(text, sizeof text, "%s", cli_report_place(p->r, i, true).s);
      if (stream > 0)
        cli_append(text, sizeof text, "; dashed: its stream rate, %s GB/s",
                   cli_bench_factor(stream * 1e-9).s);
      cli_svg_text(p->f, LEFT + 15, 34 + 16 * line++, "mute", text);
    }
}

static void draw_point(const plot *p, const cli_bench_row *row, cli_label *l) {
  char tip[500], class[8];
  *l = (cli_label){.x = cli_axis_at(&p->x, p->v->x(p->r, row)),
                   .y = cli_axis_at(&p->y, p->v->y(p->r, row)),
                   .text = "",
                   .class = "ink"};
  snprintf(class, sizeof class, "f%d", p->series[row->place] % CLI_SVG_SERIES);
  snprintf(tip, sizeof tip,
           "%s, %s: %s per product, %s moved, %s GFlop/s, %.3g flop per byte, %.1f GB/s",
           row->format, cli_report_setting(p->r, row, true).s,
           cli_axis_seconds(row->product.median).s, cli_axis_bytes(row->measured.bytes_product).s,
           cli_bench_factor(rate_of_row(p->r, row)).s, intensity_of_row(p->r, row),
           row->measured.bytes_product / row->product.median * 1e-9);
  cli_svg_group(p->f, tip);
  cli_svg_dot(p->f, l->x, l->y, 3.5, class);
  cli_svg_group_end(p->f);
}

/* Places the names of the fastest points, each format once. */
static int draw_points(const plot *p, double top) {
  cli_label *list = calloc((size_t)p->count + 1, sizeof *list);
  if (!list) return cli_fail(KCL_MEMORY, "out of memory: a picture");
  for (int i = 0, named = 0; i < p->count; i++) {
    bool before = false;
    draw_point(p, p->rows[i], &list[i]);
    for (int k = 0; k < i && !before; k++) before = !strcmp(p->rows[k]->format, p->rows[i]->format);
    if (!before && named++ < LABELS) list[i].text = p->rows[i]->format;
  }
  cli_labels_place(list, p->count, CLI_REPORT_WIDTH, top, top + HEIGHT);
  cli_labels_draw(p->f, list, p->count);
  free(list);
  return 0;
}

static int draw_rates(FILE *f, const cli_report_data *r, const cli_report_subject *s, bool alone,
                      const view *v) {
  plot p = {.f = f, .r = r, .v = v};
  char title[300];
  int rc = 0;
  p.rows = calloc((size_t)r->run.row_count + 1, sizeof *p.rows);
  p.series = calloc((size_t)r->run.place_count + 1, sizeof *p.series);
  CLI_TRY(p.rows && p.series ? 0 : cli_fail(KCL_MEMORY, "out of memory: a picture"));
  collect_points(&p, s->matrix);
  if (!p.count) goto done;
  const double top = 30 + 16 * p.series_count;
  find_ranges(&p, top);
  snprintf(title, sizeof title, "%.96s: %s", r->run.matrices[s->matrix].name, v->title);
  cli_svg_begin(f, CLI_REPORT_WIDTH, top + HEIGHT + 40, title, alone);
  cli_axis_left(f, &p.y, LEFT, p.x.to, v->y_label, v->y_title);
  cli_axis_below(f, &p.x, top + HEIGHT, top, v->x_label, v->x_title);
  draw_roofline_key(&p);
  for (int i = 0; i < r->run.place_count; i++)
    if (p.series[i] >= 0) draw_bound(&p, i);
  rc = draw_points(&p, top);
  cli_svg_end(f);
done:
  free(p.rows), free(p.series);
  return rc;
}

static int draw_roofline(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                         bool alone) {
  return draw_rates(f, r, s, alone, &roofline);
}
static int draw_bytes(FILE *f, const cli_report_data *r, const cli_report_subject *s, bool alone) {
  return draw_rates(f, r, s, alone, &time_of_bytes);
}

const cli_report_figure cli_report_roofline = {
    .name = "roofline",
    .title = "Roofline",
    .how = "Each point is a product. The dashed line is what the stream rate of the device allows "
           "at that intensity; points above it work from cache.",
    .scope = CLI_REPORT_MATRIX,
    .draw = draw_roofline};
const cli_report_figure cli_report_bytes = {
    .name = "bytes",
    .title = "Time against bytes",
    .how = "Formats further left move fewer bytes. The dashed line is the time of those bytes at "
           "the stream rate: the distance above it is what a format loses to anything but memory.",
    .scope = CLI_REPORT_MATRIX,
    .draw = draw_bytes};
