/* Products with their transfers (krylocl bench --with-transfer): a bar per format, of the product on the device, of x and y
 * between host and device, and of the upload of the matrix. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"

enum { LINE = 20, HEAD = 30, LABELS = 74 };

typedef struct carried { /* seconds: up to the end of each part */
  double product, vectors, matrix;
} carried;

static carried carried_parts(const cli_bench_row *r) {
  return (carried){r->product.median, fmax(r->transfer.median, r->product.median),
                   fmax(r->transfer.median, r->product.median) + r->measured.seconds_upload};
}

static void draw_carried_row(FILE *f, const cli_axis *x, const cli_bench_row *r, double y) {
  const carried c = carried_parts(r);
  const double ends[] = {cli_axis_at(x, 0), cli_axis_at(x, c.product), cli_axis_at(x, c.vectors),
                         cli_axis_at(x, c.matrix)};
  char tip[300];
  snprintf(tip, sizeof tip, "%s: product %s, with x and y %s, with the matrix %s", r->format,
           cli_exact_seconds(c.product).s, cli_exact_seconds(c.vectors).s,
           cli_exact_seconds(c.matrix).s);
  cli_svg_group(f, tip);
  cli_svg_rect(f, 0, y - 3, CLI_REPORT_WIDTH, LINE, "hit");
  cli_svg_text(f, x->from - 8, y + 11, "ink e", r->format);
  cli_svg_rect(f, ends[0], y, ends[1] - ends[0], 14, "best");
  cli_svg_rect(f, ends[1], y, ends[2] - ends[1], 14, "stream");
  cli_svg_rect(f, ends[2], y, ends[3] - ends[2], 14, "bar");
  cli_svg_text(f, CLI_REPORT_WIDTH - 4, y + 11, "ink e", cli_exact_seconds(c.matrix).s);
  cli_svg_group_end(f);
}

static void draw_carried_key(FILE *f, double x) {
  static const char *const key[][2] = {
      {"best", "product"}, {"stream", "x and y"}, {"bar", "matrix, once"}};
  for (int i = 0; i < 3; i++) {
    cli_svg_rect(f, x + 90 * i, 5, 16, 10, key[i][0]);
    cli_svg_text(f, x + 90 * i + 21, 14, "mute", key[i][1]);
  }
}

/* Sets the axis for the rows that have transfers, and returns their number. */
static int measure_carried(const cli_report_data *r, const cli_report_group *g, cli_axis *x) {
  int count = 0;
  *x = (cli_axis){.from = 40, .to = CLI_REPORT_WIDTH - LABELS};
  for (int i = 0; i < g->count; i++) {
    const cli_bench_row *row = &r->run.rows[g->rows[i]];
    if (!row->transfer.count) continue;
    x->hi = fmax(x->hi, carried_parts(row).matrix * 1.02);
    x->from = fmax(x->from, cli_svg_width(row->format) + 12);
    count++;
  }
  return count;
}

static int draw_transfers(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                          bool alone) {
  const cli_report_group *g = s->g;
  cli_axis x;
  char title[420];
  const int count = measure_carried(r, g, &x);
  if (!count) return 0;
  snprintf(title, sizeof title, "%.96s: a product with its transfers, %s",
           r->run.matrices[s->matrix].name, cli_report_setting(r, g->key, true).s);
  cli_svg_begin(f, CLI_REPORT_WIDTH, HEAD + LINE * count + 40, title, alone);
  draw_carried_key(f, x.from);
  cli_axis_below(f, &x, HEAD + LINE * count + 2, HEAD - 6, cli_axis_seconds, "time of one product");
  for (int i = 0, line = 0; i < g->count; i++) {
    const cli_bench_row *row = &r->run.rows[g->rows[i]];
    if (row->transfer.count) draw_carried_row(f, &x, row, HEAD + LINE * line++);
  }
  cli_svg_end(f);
  return 0;
}

const cli_report_figure cli_report_transfers = {
    .name = "transfers",
    .title = "Products with transfers",
    .how = "One product: on the device, with x from and y to the host, and with the upload of the "
           "matrix. On the native CPU nothing is moved.",
    .scope = CLI_REPORT_GROUP,
    .draw = draw_transfers};
