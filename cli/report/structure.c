/* The lengths of the rows and the positions of the entries, which show why a format fits. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"

enum { HEIGHT = 170, TOP = 28, LEFT = 62 };

static cli_text bin_name(const cli_lengths *b) {
  cli_text t;
  if (b->from == b->to) return cli_count(b->from);
  snprintf(t.s, sizeof t.s, "%.12s\xe2\x80\x93%.12s", cli_count(b->from).s, cli_count(b->to).s);
  return t;
}

static void bin(FILE *f, const cli_bench_matrix *A, int i, double width, const cli_axis *y,
                double *last) {
  const cli_lengths *b = &A->lengths[i];
  const double x = LEFT + width * i, top = cli_axis_at(y, (double)b->rows);
  char tip[200];
  const cli_text name = bin_name(b), from = cli_count(b->from);
  snprintf(tip, sizeof tip, "%s rows of %s entries: %.3g %%", cli_count(b->rows).s, name.s,
           100 * (double)b->rows / (double)A->rows);
  cli_svg_group(f, tip);
  cli_svg_rect(f, x + 1, b->rows ? fmin(top, TOP + HEIGHT - 1) : TOP + HEIGHT, fmax(width - 2, 1),
               TOP + HEIGHT - top, "best");
  cli_svg_group_end(f);
  const double w = cli_svg_width(from.s);
  if (x + width / 2 - w / 2 < *last + 8) return;
  cli_svg_text(f, x + width / 2, TOP + HEIGHT + 16, "mute c", from.s);
  *last = x + width / 2 + w / 2;
}

static int draw_lengths(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                        bool alone) {
  const cli_bench_matrix *A = &r->run.matrices[s->matrix];
  const int n = A->length_count;
  double last = 0;
  char title[300];
  if (!n || !A->rows) return 0;
  cli_axis y = {.lo = 0, .hi = 1, .from = TOP + HEIGHT, .to = TOP};
  for (int i = 0; i < n; i++) y.hi = fmax(y.hi, (double)A->lengths[i].rows);
  y = cli_axis_round(y);
  const double width = fmin((CLI_REPORT_WIDTH - 8.0 - LEFT) / n, 90);
  snprintf(title, sizeof title, "%.96s: rows by their number of entries", A->name);
  cli_svg_begin(f, CLI_REPORT_WIDTH, TOP + HEIGHT + 40, title, alone);
  cli_axis_left(f, &y, LEFT, LEFT + width * n, cli_axis_number, "rows");
  for (int i = 0; i < n; i++) bin(f, A, i, width, &y, &last);
  cli_svg_text(f, LEFT, TOP + HEIGHT + 34, "mute",
               A->lengths[n - 1].from != A->lengths[n - 1].to
                   ? "entries in a row, from this number on (powers of two)"
                   : "entries in a row");
  cli_svg_end(f);
  return 0;
}

static int draw_pattern(FILE *f, const cli_report_data *r, const cli_report_subject *s,
                        bool alone) {
  const cli_bench_matrix *A = &r->run.matrices[s->matrix];
  char title[300];
  if (!A->raster_x || !A->raster_y) return 0;
  const double size =
      fmax(2, floor(256.0 / (double)(A->raster_x > A->raster_y ? A->raster_x : A->raster_y)));
  const double w = size * (double)A->raster_x, h = size * (double)A->raster_y;
  snprintf(title, sizeof title, "%.96s: %s x %s, %s nonzeros; the darkest cell has %s", A->name,
           cli_count(A->rows).s, cli_count(A->cols).s, cli_count(A->nnz).s,
           cli_count(A->raster_max).s);
  cli_svg_begin(f, w + 2, h + 2, title, alone);
  cli_svg_raster(f, A->raster, A->raster_x, A->raster_y, size);
  cli_svg_end(f);
  return 0;
}

const cli_report_figure cli_report_lengths = {
    .name = "row-lengths",
    .title = "Row lengths",
    .how = "Formats that pad to the longest row suit narrow distributions; a long tail asks for "
           "CSR or sorted slices.",
    .scope = CLI_REPORT_MATRIX,
    .draw = draw_lengths};
const cli_report_figure cli_report_pattern = {
    .name = "pattern",
    .title = "Non-zero structure",
    .how = "The stronger a cell, the more entries it has (logarithmic).",
    .scope = CLI_REPORT_MATRIX,
    .draw = draw_pattern};
