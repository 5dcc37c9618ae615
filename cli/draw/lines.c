/* Lines in a picture, each with its name at its end, pushed apart where they would collide. */
#include "cli/draw/lines.h"
#include "cli/report/report.h"

enum { TOP = 28, HEIGHT = 280, LEFT = 62 };

cli_line *cli_lines_add(cli_lines *l, int points) {
  cli_line *more = realloc(l->list, ((size_t)l->count + 1) * sizeof *more);
  if (!more) return NULL;
  l->list = more;
  cli_line *one = &more[l->count];
  *one = (cli_line){.x = calloc((size_t)points + 1, sizeof(double)),
                    .y = calloc((size_t)points + 1, sizeof(double))};
  if (one->x && one->y) {
    l->count++;
    return one;
  }
  free(one->x), free(one->y);
  return NULL;
}

void cli_lines_free(cli_lines *l) {
  for (int i = 0; i < l->count; i++) free(l->list[i].x), free(l->list[i].y);
  free(l->list);
  *l = (cli_lines){0};
}

static void widen_axis(cli_axis *a, double v, bool *any) {
  if (!*any || v < a->lo) a->lo = v;
  if (!*any || v > a->hi) a->hi = v;
  *any = true;
}

static void find_line_ranges(const cli_lines *l, cli_axis *x, cli_axis *y) {
  bool any_x = false, any_y = false;
  double widest = 0;
  for (int i = 0; i < l->count; i++) {
    widest = fmax(widest, cli_svg_width(l->list[i].name));
    for (int k = 0; k < l->list[i].count; k++)
      widen_axis(x, l->list[i].x[k], &any_x), widen_axis(y, l->list[i].y[k], &any_y);
    if (l->list[i].mark > 0) widen_axis(y, l->list[i].mark, &any_y);
  }
  if (l->level > 0) widen_axis(y, l->level, &any_y);
  x->marks = l->marks, x->mark_count = l->mark_count;
  x->log = l->log_x, y->log = l->log_y;
  x->from = LEFT, x->to = CLI_REPORT_WIDTH - 14 - fmin(widest + 6, 170);
  y->from = TOP + HEIGHT, y->to = TOP;
  if (!x->log) x->lo = fmin(x->lo, 0);
  if (!y->log) y->lo = fmin(y->lo, 0);
  if (!(x->hi > x->lo)) x->hi = x->lo > 0 ? 2 * x->lo : x->lo + 1;
  *y = cli_axis_round(*y);
}

static void draw_line(FILE *f, const cli_line *l, int series, const cli_axis *x, const cli_axis *y,
                      bool dots) {
  char class[16];
  if (l->ideal)
    snprintf(class, sizeof class, "ideal");
  else
    snprintf(class, sizeof class, "s%d", series % CLI_SVG_SERIES);
  cli_svg_group(f, l->tip);
  for (int k = 0; k < l->count; k++)
    cli_svg_point(f, cli_axis_at(x, l->x[k]), cli_axis_at(y, l->y[k]), k == 0, class);
  if (l->count) cli_svg_point_end(f);
  class[0] = 'f';
  for (int k = 0; k < l->count && dots && !l->ideal; k++)
    cli_svg_dot(f, cli_axis_at(x, l->x[k]), cli_axis_at(y, l->y[k]), 3, class);
  if (l->count && l->mark > 0)
    cli_svg_dot(f, cli_axis_at(x, l->x[l->count - 1]), cli_axis_at(y, l->mark), 4, class);
  cli_svg_group_end(f);
}

static void draw_line_names(FILE *f, const cli_lines *l, const cli_axis *x, const cli_axis *y) {
  cli_label *list = calloc((size_t)l->count + 1, sizeof *list);
  char(*classes)[8] = calloc((size_t)l->count + 1, sizeof *classes);
  int n = 0, series = 0;
  for (int i = 0; list && classes && i < l->count; i++) {
    const cli_line *one = &l->list[i];
    if (!one->count) continue;
    snprintf(classes[n], sizeof *classes, "f%d", one->ideal ? 7 : series++ % CLI_SVG_SERIES);
    const double end = cli_axis_at(x, one->x[one->count - 1]);
    list[n] = (cli_label){.x = end,
                          .far = end < x->to - 40,
                          .y = cli_axis_at(y, one->y[one->count - 1]),
                          .text = one->name,
                          .class = one->ideal ? "mute" : classes[n]};
    n++;
  }
  if (list && classes)
    cli_labels_spread(list, n, x->to + 8, TOP, TOP + HEIGHT), cli_labels_draw(f, list, n);
  free(list), free(classes);
}

void cli_lines_draw(FILE *f, const cli_lines *l, bool alone) {
  cli_axis x = {0}, y = {0};
  int series = 0;
  if (!l->count) return;
  find_line_ranges(l, &x, &y);
  cli_svg_begin(f, CLI_REPORT_WIDTH, TOP + HEIGHT + (l->caption ? 60 : 40), l->title, alone);
  cli_axis_left(f, &y, LEFT, x.to, l->y_label, l->y_title);
  cli_axis_below(f, &x, TOP + HEIGHT, TOP, l->x_label, l->x_title);
  if (l->level > 0) {
    cli_svg_line(f, LEFT, cli_axis_at(&y, l->level), x.to, cli_axis_at(&y, l->level), "ideal");
    cli_svg_text(f, LEFT + 4, cli_axis_at(&y, l->level) - 4, "mute", l->level_name);
  }
  for (int i = 0; i < l->count; i++)
    draw_line(f, &l->list[i], l->list[i].ideal ? 0 : series++, &x, &y, l->dots);
  draw_line_names(f, l, &x, &y);
  if (l->caption) cli_svg_text(f, 4, TOP + HEIGHT + 54, "ink", l->caption);
  cli_svg_end(f);
}
