/* Pictures of lines with names at their ends (lines.c). */
#ifndef CLI_DRAW_LINES_H
#define CLI_DRAW_LINES_H

#include "cli/draw/svg.h"

typedef struct cli_line {
  char name[100], tip[300];
  double *x, *y; /* [count], ours */
  int count;
  double mark; /* a dot at this y at its end, 0: none */
  bool ideal;  /* dashed, no colour of its own */
} cli_line;
typedef struct cli_lines {
  const char *title, *x_title, *y_title;
  const char *caption; /* below, or NULL */
  cli_axis_label x_label, y_label;
  bool log_x, log_y, dots; /* dots: at the points of the lines */
  double marks[16];        /* ticks of x [mark_count], 0: round ones */
  int mark_count;
  double level; /* a dashed line at this y, 0: none */
  const char *level_name;
  cli_line *list; /* [count], ours */
  int count;
} cli_lines;
/* Adds a line with memory for this many points; NULL: out of memory. */
cli_line *cli_lines_add(cli_lines *l, int points);
/* Draws the picture. alone: as a file of its own, else inside a page. */
void cli_lines_draw(FILE *f, const cli_lines *l, bool alone);
void cli_lines_free(cli_lines *l);

#endif
