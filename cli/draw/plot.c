/* Pictures: the convergence history of a solve and the non-zero structure of a matrix; .svg by the marks of
 * reports, .png by gnuplot.
 * Long histories are thinned to a few thousand points, matrices are counted in a raster of at most 512 x 512 cells. */
#include "cli/draw/plot.h"
#include "cli/draw/gnuplot.h"
#include "cli/draw/lines.h"
#include "cli/draw/structure.h"
#include "cli/ui/say.h"

enum { RASTER = 512, SVG_RASTER = 256, POINTS = 3000 };

/* text in gnuplot's single quotes. */
static void print_quoted(FILE *g, const char *text) {
  fputc('\'', g);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', g);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, g);
  }
  fputc('\'', g);
}

static bool is_svg(const char *path) { return !strcmp(path + strlen(path) - 4, ".svg"); }

static void print_gnuplot_header(FILE *g, const char *title, int width, int height) {
  const char *ink = "#333333";
  fprintf(g,
          "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {"
          "  set terminal pngcairo size %d,%d font 'Sans,15' noenhanced\n"
          "} else { set terminal png size %d,%d noenhanced }\n",
          2 * width, 2 * height, 2 * width, 2 * height);
  fputs("set termoption fontscale 1.6\nset termoption linewidth 1.7\n", g);
  fputs("set encoding utf8\nset title ", g);
  print_quoted(g, title);
  fprintf(g,
          " textcolor '%s'\nset border 3 linecolor '#888888'\nset tics nomirror out scale 0.6 "
          "textcolor '%s'\n",
          ink, ink);
}

/* ---------------------------------------------------------------- convergence */

static void history_data(FILE *g, const cli_curve *c, int64_t index) {
  int64_t step = (c->n + POINTS - 1) / POINTS;
  fprintf(g, "$h%lld << EOD\n", (long long)index);
  for (int64_t i = 0; i < c->n; i += step) fprintf(g, "%lld %.6g\n", (long long)i, c->v[i]);
  if (c->n) fprintf(g, "%lld %.6g\n", (long long)c->n - 1, c->v[c->n - 1]);
  fprintf(g, "EOD\n$t%lld << EOD\n%lld %.6g\nEOD\n", (long long)index, (long long)c->n - 1,
          c->recomputed);
}

static void history_axes(FILE *g, double target) {
  fputs("set xlabel 'iteration' textcolor '#333333'\n"
        "set ylabel 'residual |b - Ax| / |b|' textcolor '#333333'\n"
        "set logscale y\nset format y '%.0e'\nset grid ytics xtics linetype 1 linecolor '#e6e6e6' "
        "linewidth 0.7\n"
        "set key top right Left reverse samplen 1.5 spacing 1.2 textcolor '#333333'\n"
        "set xrange [0:*]\nset autoscale xfix\nset autoscale yfix\nset offsets graph 0.02, graph "
        "0.02, graph 0.06, graph 0.02\n",
        g);
  if (target > 0)
    fprintf(
        g,
        "set yrange [*<%.6g:*]\nset arrow 1 from graph 0, first %.6g to graph 1, first %.6g nohead "
        "dashtype 2 linecolor '#999999' linewidth 1.2\n"
        "set label 1 'tolerance' at graph 0.012, first %.6g offset 0, 0.55 textcolor '#777777'\n",
        target * 0.3, target, target, target);
}

/* Adds a history. Long ones are thinned; the last point stays. */
static int add_curve(cli_lines *l, const cli_curve *c, int64_t column, bool alone) {
  const int64_t step = c->n / POINTS + 1;
  cli_line *mine = cli_lines_add(l, POINTS + 2);
  if (!mine) return cli_fail(KCL_MEMORY, "out of memory: the picture");
  snprintf(mine->name, sizeof mine->name, alone ? "recurrence" : "column %lld", (long long)column);
  snprintf(mine->tip, sizeof mine->tip, "%s; recomputed at the end: %.3g", mine->name,
           c->recomputed);
  for (int64_t i = 0; i < c->n; i = i < c->n - 1 && i + step >= c->n ? c->n - 1 : i + step)
    if (c->v[i] > 0 && isfinite(c->v[i]))
      mine->x[mine->count] = (double)i, mine->y[mine->count++] = c->v[i];
  if (isfinite(c->recomputed)) mine->mark = c->recomputed;
  return 0;
}

static int svg_history(const char *path, const char *title, const cli_curve *curves, int64_t count,
                       double target) {
  cli_lines l = {.title = title,
                 .caption = title,
                 .x_title = "iterations",
                 .y_title = "residual |b - Ax| / |b|; dot: recomputed",
                 .x_label = cli_axis_number,
                 .y_label = cli_axis_power,
                 .log_y = true,
                 .level = target,
                 .level_name = "tolerance"};
  cli_buffer b;
  int rc = cli_buffer_open(&b);
  for (int64_t j = 0; j < count && !rc; j++) rc = add_curve(&l, &curves[j], j + 1, count == 1);
  if (!rc) cli_lines_draw(b.f, &l, true), rc = cli_buffer_write(&b, path);
  cli_lines_free(&l), cli_buffer_free(&b);
  return rc;
}

int cli_plot_history(const char *path, const char *title, const cli_curve *curves, int64_t count,
                     double target) {
  static const char *const colours[] = {"#1f5fa8", "#d1495b", "#2e8b57", "#8e5ea2", "#e08e1b"};
  cli_buffer commands;
  if (count > 20) count = 20;
  if (is_svg(path)) return svg_history(path, title, curves, count, target);
  CLI_CALL(cli_buffer_open(&commands));
  FILE *g = commands.f;
  print_gnuplot_header(g, title, 900, 520);
  history_axes(g, target);
  for (int64_t j = 0; j < count; j++) history_data(g, &curves[j], j);
  fputs("plot ", g);
  for (int64_t j = 0; j < count; j++) {
    fprintf(g, "%s$h%lld using 1:2 with lines linewidth 2 linecolor '%s' ", j ? ", " : "",
            (long long)j, colours[j % 5]);
    if (count == 1)
      fputs("title 'recurrence'", g);
    else
      fprintf(g, "title 'column %lld'", (long long)j + 1);
    fprintf(g, ", $t%lld using 1:2 with points pointtype 7 pointsize 1.5 linecolor '%s' ",
            (long long)j, count == 1 ? colours[1] : colours[j % 5]);
    fputs(count == 1 ? "title 'recomputed'" : "notitle", g);
  }
  fputc('\n', g);
  return cli_gnuplot(&commands, path);
}

/* ---------------------------------------------------------------- non-zero structure */

static void structure_data(FILE *g, const cli_raster *r) {
  fputs("$m << EOD\n", g);
  for (int64_t y = 0; y < r->ny; y++) {
    for (int64_t x = 0; x < r->nx; x++) {
      int64_t c = r->cell[y * r->nx + x];
      fprintf(g, "%lld ", (long long)c);
    }
    fputc('\n', g);
  }
  fputs("EOD\n", g);
}

static void structure_axes(FILE *g, const kcl_csr *A, const cli_raster *r) {
  double ratio = (double)A->rows / (double)A->cols;
  fprintf(g, "set xrange [0:%lld]\nset yrange [%lld:0]\nset size ratio %.4g\nset border 15\n",
          (long long)A->cols, (long long)A->rows,
          ratio < 0.2 ? 0.2
          : ratio > 5 ? 5
                      : ratio);
  fputs("set xlabel 'column' textcolor '#333333'\nset ylabel 'row' textcolor '#333333'\n"
        "set xtics autofreq rotate by 0\nset format x '%.0f'\nset format y '%.0f'\nset xtics "
        "nomirror\nunset key\n"
        "set palette defined (0 '#9ec5e8', 0.5 '#2f74b5', 1 '#07203f')\n"
        "set lmargin at screen 0.12\nset rmargin at screen 0.84\n"
        "set colorbox user size 0.022, 0.4 origin 0.875, 0.3\n",
        g);
  if (r->max > 1)
    fprintf(g,
            "set logscale cb\nset cbrange [1:%lld]\nset cblabel 'entries in a cell' textcolor "
            "'#333333'\n",
            (long long)r->max);
  else
    fputs("set cbrange [0:1]\nunset colorbox\n", g);
}

static int svg_structure(const char *path, const char *title, const kcl_csr *A) {
  cli_raster r;
  cli_buffer b = {0};
  char *digits = NULL, most[80];
  int rc = cli_raster_count(A, SVG_RASTER, &r);
  CLI_TRY(rc);
  CLI_TRY(cli_buffer_open(&b));
  digits = malloc((size_t)(r.nx * r.ny + 1));
  if (!digits) CLI_TRY(cli_fail(KCL_MEMORY, "out of memory: the picture"));
  cli_raster_digits(&r, digits);
  const double size = fmax(2, floor(512.0 / (double)(r.nx > r.ny ? r.nx : r.ny)));
  const double w = size * (double)r.nx + 2, h = size * (double)r.ny + 2;
  snprintf(most, sizeof most, "darkest cell: %s", cli_count(r.max).s);
  cli_svg_begin(b.f, fmax(w, cli_svg_width(title) + 8), h + 44, title, true);
  cli_svg_raster(b.f, digits, r.nx, r.ny, size);
  cli_svg_text(b.f, 4, h + 18, "ink", title);
  cli_svg_text(b.f, 4, h + 36, "mute", most);
  cli_svg_end(b.f);
  rc = cli_buffer_write(&b, path);
done:
  free(digits);
  free(r.cell);
  cli_buffer_free(&b);
  return rc;
}

int cli_plot_structure(const char *path, const char *title, const kcl_csr *A) {
  cli_raster r = {0};
  if (A->rows == 0 || A->cols == 0)
    return cli_fail(KCL_INPUT, "the matrix is empty: nothing to draw");
  if (is_svg(path)) return svg_structure(path, title, A);
  int rc = cli_raster_count(A, RASTER, &r);
  cli_buffer commands = {0};
  CLI_TRY(rc);
  CLI_TRY(cli_buffer_open(&commands));
  FILE *g = commands.f;
  print_gnuplot_header(g, title, 860, 760);
  structure_axes(g, A, &r);
  structure_data(g, &r);
  fprintf(g, "plot $m matrix using (($1+0.5)*%.17g):(($2+0.5)*%.17g):($3>0?$3:NaN) with image%s\n",
          (double)A->cols / (double)r.nx, (double)A->rows / (double)r.ny,
          r.nx < 128 && r.ny < 128 ? " pixels" : "");
  rc = cli_gnuplot(&commands, path);
done:
  free(r.cell);
  return rc;
}
