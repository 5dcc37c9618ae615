/* Marks of SVG pictures, and text escaped for XML and HTML. */
#include "cli/draw/svg.h"

void cli_xml_text(FILE *f, const char *text) {
  for (const char *s = text; *s;) {
    int n = cli_character(s);
    if (*s == '<')
      fputs("&lt;", f);
    else if (*s == '>')
      fputs("&gt;", f);
    else if (*s == '&')
      fputs("&amp;", f);
    else if (*s == '"')
      fputs("&quot;", f);
    else if (*s == '\'')
      fputs("&#39;", f);
    else if (*s == '\n' || *s == '\t')
      fputc(*s, f), n = 1;
    else if (n)
      fwrite(s, 1, (size_t)n, f);
    else
      fputs("\xef\xbf\xbd", f); /* the replacement character */
    s += n ? n : 1;
  }
}

void cli_svg_begin(FILE *f, double width, double height, const char *title, bool alone) {
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\"", width, height);
  if (alone) fprintf(f, " width=\"%.0f\" height=\"%.0f\"", width, height);
  fprintf(f, " role=\"img\" style=\"max-width:%.0fpx\">\n<title>", 1.15 * width);
  cli_xml_text(f, title);
  fputs("</title>\n", f);
  if (!alone) return;
  fputs("<style>", f);
  cli_svg_style(f, true);
  fputs("</style>\n", f);
  fprintf(f, "<rect width=\"%.0f\" height=\"%.0f\" class=\"paper\"/>\n", width, height);
}

void cli_svg_end(FILE *f) { fputs("</svg>\n", f); }

void cli_svg_group(FILE *f, const char *tip) {
  fputs("<g>", f);
  if (!tip || !*tip) return;
  fputs("<title>", f);
  cli_xml_text(f, tip);
  fputs("</title>", f);
}

void cli_svg_group_end(FILE *f) { fputs("</g>\n", f); }

void cli_svg_text(FILE *f, double x, double y, const char *class, const char *text) {
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
  cli_xml_text(f, text);
  fputs("</text>\n", f);
}

void cli_svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *class) {
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2,
          y2, class);
}

void cli_svg_rect(FILE *f, double x, double y, double w, double h, const char *class) {
  fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, y,
          w > 0 ? w : 0, h > 0 ? h : 0, class);
}

void cli_svg_dot(FILE *f, double x, double y, double r, const char *class) {
  fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"/>\n", x, y, r, class);
}

void cli_svg_point(FILE *f, double x, double y, bool first, const char *class) {
  if (first) fprintf(f, "<path class=\"%s\" d=\"M", class);
  fprintf(f, "%s%.1f %.1f", first ? "" : "L", x, y);
}

void cli_svg_point_end(FILE *f) { fputs("\"/>\n", f); }

/* Draws the cells of one digit as one path, with neighbours in a line as one rectangle. */
static void draw_digit_cells(FILE *f, const char *digits, int64_t nx, int64_t ny, char digit,
                             double size) {
  bool any = false;
  for (int64_t y = 0; y < ny; y++)
    for (int64_t x = 0, run; x < nx; x += run) {
      const char *cell = digits + y * nx;
      for (run = 1; cell[x] == digit && x + run < nx && cell[x + run] == digit; run++) continue;
      if (cell[x] != digit) continue;
      if (!any)
        fprintf(f, "<path class=\"cell\" style=\"fill-opacity:%.2f\" d=\"",
                0.15 + 0.85 * (digit - '1') / 8);
      any = true;
      fprintf(f, "M%g %gh%gv%gh-%gz", 1 + size * (double)x, 1 + size * (double)y,
              size * (double)run, size, size * (double)run);
    }
  if (any) fputs("\"/>\n", f);
}

void cli_svg_raster(FILE *f, const char *digits, int64_t nx, int64_t ny, double size) {
  for (int digit = '1'; digit <= '9'; digit++)
    draw_digit_cells(f, digits, nx, ny, (char)digit, size);
  fprintf(
      f,
      "<rect x=\".5\" y=\".5\" width=\"%g\" height=\"%g\" class=\"axis\" style=\"fill:none\"/>\n",
      size * (double)nx + 1, size * (double)ny + 1);
}

/* Advance widths of Helvetica in thirds: narrow, common and wide characters; a little more for other fonts. */
double cli_svg_width(const char *text) {
  double w = 0;
  for (const char *s = text; *s; s++) {
    if (((unsigned char)*s & 0xc0) == 0x80) continue;
    if (strchr("iljtfrI.,:;'|!()[]/ -", *s))
      w += 0.34;
    else if (strchr("mwMW%@", *s))
      w += 0.87;
    else if (*s >= 'A' && *s <= 'Z')
      w += 0.7;
    else
      w += 0.57;
  }
  return 12 * w;
}
