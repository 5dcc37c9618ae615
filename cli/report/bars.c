/* Times of the formats of a group: a bar to the median, the samples as dots, and a mark where the bytes of the format would
 * be moved at the device's stream rate. The scale ends at eight times the fastest; longer bars are cut. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"

enum { PITCH = 20, TOP = 30, NUMBERS = 74 };

typedef struct bars {
  FILE *f;
  const cli_report_data *r;
  cli_axis x;
} bars;

static double row_bytes(const cli_bench_row *row) {
  return cli_bench_alone(row) ? row->measured.bytes_product : row->measured.bytes_iteration;
}

static void format_tip(const bars *b, const cli_bench_row *row, char *text, size_t capacity) {
  const kcl_summary *t = cli_bench_time(row);
  const double part = cli_bench_fraction(&b->r->run, row);
  snprintf(text, capacity, "%s: median %s", row->format, cli_exact_seconds(t->median).s);
  if (t->confidence > 0)
    cli_append(text, capacity, ", %.0f %% interval %s to %s", 100 * t->confidence,
               cli_exact_seconds(t->low).s, cli_exact_seconds(t->high).s);
  cli_append(text, capacity, ", %d sample%s, least %s, largest %s; %s moved, %.1f GB/s", t->count,
             t->count == 1 ? "" : "s", cli_exact_seconds(t->min).s, cli_exact_seconds(t->max).s,
             cli_axis_bytes(row_bytes(row)).s, cli_bench_rate(row) * 1e-9);
  if (part > 0)
    cli_append(text, capacity, ", %.0f %% of the stream rate%s", 100 * part,
               part > 1 ? " (in cache)" : "");
}

/* Draws a bar and its samples. The dots take turns in height, so that equal samples do not hide each other. */
static void draw_dots(const bars *b, const cli_bench_row *row, double y) {
  const kcl_samples *s = cli_bench_samples(row);
  const int step = s->count / 60 + 1;
  for (int i = 0; i < s->count; i += step)
    if (s->seconds[i] <= b->x.hi)
      cli_svg_dot(b->f, cli_axis_at(&b->x, s->seconds[i]), y + 3.5 + (i / step) % 5 * 1.75, 1.6,
                  "dot");
}

static void draw_time_bar(const bars *b, const cli_bench_row *row, double y, bool best) {
  const double median = cli_bench_time(row)->median,
               end = cli_axis_at(&b->x, fmin(median, b->x.hi));
  const double stream = b->r->run.places[row->place].stream.rate,
               ideal = stream > 0 ? row_bytes(row) / stream : 0;
  char text[400];
  format_tip(b, row, text, sizeof text);
  cli_svg_group(b->f, text);
  cli_svg_rect(b->f, 0, y - 3, CLI_REPORT_WIDTH, PITCH, "hit");
  cli_svg_text(b->f, b->x.from - 8, y + 11, best ? "ink e b" : "ink e", row->format);
  cli_svg_rect(b->f, b->x.from, y, end - b->x.from, 14, best ? "best" : "bar");
  if (median > b->x.hi) cli_svg_text(b->f, end + 3, y + 11, "mute", "\xe2\x80\xba");
  draw_dots(b, row, y);
  if (ideal > 0 && ideal <= b->x.hi)
    cli_svg_rect(b->f, cli_axis_at(&b->x, ideal) - 1.25, y - 2, 2.5, 18, "stream");
  cli_svg_text(b->f, CLI_REPORT_WIDTH - 4, y + 11, best ? "ink e b" : "ink e",
               cli_exact_seconds(median).s);
  cli_svg_group_end(b->f);
}

static void draw_bars_key(FILE *f, double x) {
  cli_svg_rect(f, x, 5, 16, 10, "bar"), cli_svg_text(f, x + 21, 14, "mute", "median");
  cli_svg_dot(f, x + 82, 10, 1.8, "dot");
  cli_svg_dot(f, x + 87, 8, 1.8, "dot");
  cli_svg_text(f, x + 94, 14, "mute", "sample");
  cli_svg_rect(f, x + 152, 2, 2.5, 16, "stream"),
      cli_svg_text(f, x + 160, 14, "mute", "its bytes at the stream rate");
}

static int draw_bars(FILE *f, const cli_report_data *r, const cli_report_subject *s, bool alone) {
  const cli_report_group *g = s->g;
  char title[420];
  double left = 40;
  if (!g->count) return 0;
  for (int i = 0; i < g->count; i++)
    left = fmax(left, cli_svg_width(r->run.rows[g->rows[i]].format) + 12);
  const cli_bench_row *first = &r->run.rows[g->rows[0]],
                      *last = &r->run.rows[g->rows[g->count - 1]];
  const kcl_summary *quick = cli_bench_time(first), *slow = cli_bench_time(last);
  const double bottom = TOP + PITCH * g->count;
  bars b = {f,
            r,
            {.lo = 0,
             .hi = fmin(fmax(slow->median, slow->high) * 1.02, 8 * quick->median),
             .from = left,
             .to = CLI_REPORT_WIDTH - NUMBERS}};
  snprintf(title, sizeof title, "%.96s: time per %s, %s", r->run.matrices[s->matrix].name,
           cli_bench_alone(first) ? "product" : "iteration", cli_report_setting(r, g->key, true).s);
  cli_svg_begin(f, CLI_REPORT_WIDTH, bottom + 40, title, alone);
  draw_bars_key(f, left);
  cli_axis_below(f, &b.x, bottom + 2, TOP - 6, cli_axis_seconds,
                 cli_bench_alone(first) ? "time per product" : "time per iteration");
  for (int i = 0; i < g->count; i++)
    draw_time_bar(&b, &r->run.rows[g->rows[i]], TOP + PITCH * i, i == 0);
  cli_svg_end(f);
  return 0;
}

const cli_report_figure cli_report_bars = {
    .name = "times",
    .title = "Times",
    .how = "Fastest first. A bar ends at the median; dots are samples. The green mark is the time "
           "that the format's bytes would take at the device's stream rate: a bar that reaches it "
           "cannot be faster, one that ends before it works from cache.",
    .scope = CLI_REPORT_GROUP,
    .draw = draw_bars};
