/* Drawing in SVG: marks (svg.c), axes (axis.c), labels that do not collide (labels.c), and the colours of all pictures
 * (svg_style.c). Lengths are pixels, y points down. Marks carry a class, which the style gives its colour:
 *
 *   text    ink, mute, and with it c: centred, e: ends there, b: bold      line  rule, axis, ideal, s0 to s7
 *   areas   bar, best, none (hollow), dot, stream, f0 to f7 (as s0 to s7)
 */
#ifndef CLI_DRAW_SVG_H
#define CLI_DRAW_SVG_H

#include "cli/draw/plot.h"
#include "cli/ui/text.h"
#include <stdio.h>

enum { CLI_SVG_SERIES = 8 }; /* colours that tell things apart */

/* Writes text escaped for elements and attributes. */
void cli_xml_text(FILE *f, const char *text);

/* Begins a picture. alone: a file of its own, with the light style inside; else part of a page, which has the
 * style. */
void cli_svg_begin(FILE *f, double width, double height, const char *title, bool alone);
void cli_svg_end(FILE *f);
/* Begins a group of marks that show tip; NULL or "": no tip. */
void cli_svg_group(FILE *f, const char *tip);
void cli_svg_group_end(FILE *f);
void cli_svg_text(FILE *f, double x, double y, const char *class, const char *text);
void cli_svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *class);
void cli_svg_rect(FILE *f, double x, double y, double w, double h, const char *class);
void cli_svg_dot(FILE *f, double x, double y, double r, const char *class);
/* Adds a point to a line. first: begins the line, with this class. */
void cli_svg_point(FILE *f, double x, double y, bool first, const char *class);
void cli_svg_point_end(FILE *f);
/* Draws digits [ny, nx] of cli_raster_digits as cells of this size in a frame, from (1, 1) on. */
void cli_svg_raster(FILE *f, const char *digits, int64_t nx, int64_t ny, double size);
/* Approximate width of a text at the size of labels, 12 pixels. */
double cli_svg_width(const char *text);

typedef struct cli_axis {
  double lo, hi;   /* range of values */
  double from, to; /* positions of lo and hi */
  bool log;
  const double *marks; /* values of ticks [mark_count]; mark_count 0: round ones */
  int mark_count;
} cli_axis;
enum { CLI_AXIS_TICKS = 24 };
/* Position of the value v on the axis. */
double cli_axis_at(const cli_axis *a, double v);
/* Extends lo and hi to whole ticks. */
cli_axis cli_axis_round(cli_axis a);
typedef cli_text (*cli_axis_label)(double v);
/* Draws a horizontal axis at y with grid lines up to top. title: the quantity. */
void cli_axis_below(FILE *f, const cli_axis *a, double y, double top, cli_axis_label label,
                    const char *title);
/* Draws a vertical axis at x with grid lines to right. title: the quantity. */
void cli_axis_left(FILE *f, const cli_axis *a, double x, double right, cli_axis_label label,
                   const char *title);
/* Seconds with three digits: 18.0 us. */
cli_text cli_exact_seconds(double v);
cli_text cli_axis_seconds(double v), cli_axis_bytes(double v), cli_axis_number(double v),
    cli_axis_power(double v);

typedef struct cli_label { /* of a point, or of the end of a line */
  double x, y;             /* of what it names */
  const char *text;
  const char *class;
  double at_x, at_y; /* where the text begins, on its base line */
  bool placed, far;  /* far: from what it names, to which no line is drawn */
} cli_label;
/* Places labels beside their points, within 0..width and top..bottom, in the order of the list. Labels that find
 * no room are not placed. */
void cli_labels_place(cli_label *list, int count, double width, double top, double bottom);
/* Places labels one below another at x, each nearest to its own y. */
void cli_labels_spread(cli_label *list, int count, double x, double top, double bottom);
/* Draws the labels, with lines to points that are not near. */
void cli_labels_draw(FILE *f, const cli_label *list, int count);

/* Writes the CSS of the classes. alone: the light colours only, else light and dark. */
void cli_svg_style(FILE *f, bool alone);

#endif
