/* Pictures of `krylocl solve --plot` and `krylocl info --plot` as SVG, by the marks of reports. */
#include "cli/draw/lines.h"
#include "cli/draw/plot.h"
#include "cli/draw/structure.h"
#include "cli/draw/svg.h"
#include "cli/ui/codes.h"
#include "cli/ui/output.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include "krylocl.h"
#include "krylocl/io.h"
#include <stdbool.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 3000, RASTER = 256 };

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

int cli_svg_history(const char *path, const char *title, const cli_curve *curves, int64_t count,
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

int cli_svg_structure(const char *path, const char *title, const kcl_csr *A) {
  cli_raster r;
  cli_buffer b = {0};
  char *digits = NULL, most[80];
  int rc = cli_raster_count(A, RASTER, &r);
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
