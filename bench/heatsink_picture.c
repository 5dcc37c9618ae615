/* heatsink-picture SIZE x.mtx OUT.svg: the temperature in a vertical cut through the middle of the heat sink of the
 * generator heatsink:SIZE, across its fins, as a picture in SVG.
 *
 *   | | | | | |        one rectangle per cell, air white, the outline of the solid along the edges
 *   ===========        of its cells; colours from black over red to pale yellow
 *       ==
 */
#include "data/generators/heatsink.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cut {
  int64_t n[3], unknowns;
  double mm[3];     /* edges of a cell, mm */
  int32_t *unknown; /* [n[2], n[1], n[0]], -1 in air */
  kcl_dense *x;     /* K above ambient */
  double peak;      /* maximum of x */
  double lo, hi;    /* of the colours, K above ambient: multiples of step */
  double step;
} cut;

/* Unknown of column i and layer k in the middle plane; -1 in air and outside. */
static int32_t at(const cut *c, int64_t i, int64_t k) {
  if (i < 0 || i >= c->n[0] || k < 0 || k >= c->n[2]) return -1;
  return c->unknown[i + c->n[0] * (c->n[1] / 2 + c->n[1] * k)];
}

/* The range of the cut in whole steps of 1, 2 or 5 times a power of ten, at most ten of them. */
static void set_range(cut *c) {
  double lo = INFINITY, hi = -INFINITY;
  for (int64_t k = 0; k < c->n[2]; k++)
    for (int64_t i = 0; i < c->n[0]; i++)
      if (at(c, i, k) >= 0) {
        lo = fmin(lo, c->x->val[at(c, i, k)]);
        hi = fmax(hi, c->x->val[at(c, i, k)]);
      }
  double power = pow(10, floor(log10(fmax(hi - lo, 1e-9) / 10)));
  c->step = hi - lo > 50 * power ? 10 * power : hi - lo > 20 * power ? 5 * power : 2 * power;
  c->lo = floor(lo / c->step) * c->step;
  c->hi = ceil(hi / c->step) * c->step;
}

static int load(kcl_context *ctx, const char *size, const char *path, cut *c) {
  char *end;
  long long n = strtoll(size, &end, 10);
  if (*end || n < 1) return kcl_fail(ctx, KCL_USAGE, "SIZE is a whole number, not '%s'", size);
  int rc = kcl_heatsink_map(ctx, n, c->n, c->mm, &c->unknown);
  if (!rc) rc = kcl_dense_read(ctx, path, &c->x);
  if (rc) return rc;
  for (int a = 0; a < 3; a++) c->mm[a] *= 1e3;
  for (int64_t i = 0; i < c->n[0] * c->n[1] * c->n[2]; i++) c->unknowns += c->unknown[i] >= 0;
  if (c->x->type != KCL_D || c->x->cols != 1 || c->x->rows != c->unknowns)
    return kcl_fail(
        ctx, KCL_INPUT,
        "%s holds %lld rows and %lld columns; heatsink:%lld has %lld unknowns, real, in one column",
        path, (long long)c->x->rows, (long long)c->x->cols, n, (long long)c->unknowns);
  for (int64_t i = 0; i < c->unknowns; i++) c->peak = fmax(c->peak, c->x->val[i]);
  set_range(c);
  return KCL_OK;
}

enum { LEFT = 80, TOP = 60, SCALE = 11, MARGIN = 2, RIGHT = 150, BOTTOM = 70 }; /* MARGIN: mm */

static double width(const cut *c) { return SCALE * ((double)c->n[0] * c->mm[0] + 2 * MARGIN); }
static double height(const cut *c) { return SCALE * ((double)c->n[2] * c->mm[2] + 2 * MARGIN); }
static double px(double x) { return LEFT + SCALE * (x + MARGIN); }
static double py(const cut *c, double z) { return TOP + height(c) - SCALE * (z + MARGIN); }

/* From cold to hot, at equal distances. */
static const unsigned char colour[][3] = {{0x2b, 0x0a, 0x5a},
                                          {0x7a, 0x1c, 0x6d},
                                          {0xc6, 0x3d, 0x4f},
                                          {0xf5, 0x8a, 0x1f},
                                          {0xfc, 0xf3, 0xa0}};
enum { COLOURS = sizeof colour / sizeof *colour };

static void put_colour(FILE *f, double part) {
  double at_colour = fmin(fmax(part, 0), 1) * (COLOURS - 1);
  int i = at_colour < COLOURS - 2 ? (int)at_colour : COLOURS - 2;
  fputc('#', f);
  for (int rgb = 0; rgb < 3; rgb++)
    fprintf(f, "%02x",
            (int)(colour[i][rgb] + (at_colour - i) * (colour[i + 1][rgb] - colour[i][rgb]) + 0.5));
}

static void draw_cells(FILE *f, const cut *c) {
  fprintf(f, "<g shape-rendering='crispEdges'>\n");
  for (int64_t k = 0; k < c->n[2]; k++)
    for (int64_t i = 0; i < c->n[0]; i++) {
      if (at(c, i, k) < 0) continue;
      fprintf(f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='",
              px((double)i * c->mm[0]), py(c, (double)(k + 1) * c->mm[2]), SCALE * c->mm[0],
              SCALE * c->mm[2]);
      put_colour(f, (c->x->val[at(c, i, k)] - c->lo) / (c->hi - c->lo));
      fprintf(f, "'/>\n");
    }
  fprintf(f, "</g>\n");
}

/* Edges between solid and air. */
static void draw_outline(FILE *f, const cut *c) {
  fprintf(f, "<path fill='none' stroke='#333' stroke-linecap='square' d='");
  for (int64_t k = 0; k <= c->n[2]; k++)
    for (int64_t i = 0; i <= c->n[0]; i++) {
      bool here = at(c, i, k) >= 0;
      double x = px((double)i * c->mm[0]), y = py(c, (double)k * c->mm[2]);
      if (here != (at(c, i - 1, k) >= 0)) fprintf(f, "M%.2f %.2fv%.2f", x, y, -SCALE * c->mm[2]);
      if (here != (at(c, i, k - 1) >= 0)) fprintf(f, "M%.2f %.2fh%.2f", x, y, SCALE * c->mm[0]);
    }
  fprintf(f, "'/>\n");
}

static void put_text(FILE *f, double x, double y, const char *style, const char *text) {
  fprintf(f, "<text x='%.1f' y='%.1f' %s>%s</text>\n", x, y, style, text);
}

static void put_number(FILE *f, double x, double y, const char *style, double value) {
  char text[32];
  snprintf(text, sizeof text, "%g", value);
  put_text(f, x, y, style, text);
}

static void draw_axes(FILE *f, const cut *c) {
  const double bottom = TOP + height(c), right = LEFT + width(c);
  fprintf(f, "<path fill='none' stroke='#555' d='M%d %dV%.1fH%.1f", LEFT, TOP, bottom, right);
  for (double x = 0; px(x) < right; x += 10) fprintf(f, "M%.1f %.1fv6", px(x), bottom);
  for (double z = 0; py(c, z) > TOP; z += 10) fprintf(f, "M%d %.1fh-6", LEFT, py(c, z));
  fprintf(f, "'/>\n");
  for (double x = 0; px(x) < right; x += 10)
    put_number(f, px(x), bottom + 24, "text-anchor='middle' fill='#555'", x);
  for (double z = 0; py(c, z) > TOP; z += 10)
    put_number(f, LEFT - 12, py(c, z) + 5, "text-anchor='end' fill='#555'", z);
  put_text(f, (LEFT + right) / 2, bottom + 52, "text-anchor='middle'", "across the fins (mm)");
  fprintf(f, "<g transform='translate(24 %.1f) rotate(-90)'>", TOP + height(c) / 2);
  put_text(f, 0, 0, "text-anchor='middle'", "height (mm)");
  fprintf(f, "</g>\n");
}

static void draw_colours(FILE *f, const cut *c) {
  const double x = LEFT + width(c) + 30, bottom = TOP + height(c);
  fprintf(f, "<linearGradient id='colours' x1='0' y1='1' x2='0' y2='0'>");
  for (int i = 0; i < COLOURS; i++) {
    fprintf(f, "<stop offset='%g' stop-color='", (double)i / (COLOURS - 1));
    put_colour(f, (double)i / (COLOURS - 1));
    fprintf(f, "'/>");
  }
  fprintf(f,
          "</linearGradient>\n<rect x='%.1f' y='%d' width='24' height='%.1f' stroke='#555' "
          "fill='url(#colours)'/>\n",
          x, TOP, height(c));
  for (int i = 0; c->lo + i * c->step < c->hi + c->step / 2; i++) {
    double T = c->lo + i * c->step, y = bottom - height(c) * (T - c->lo) / (c->hi - c->lo);
    fprintf(f, "<path stroke='#555' d='M%.1f %.1fh6'/>\n", x + 24, y);
    put_number(f, x + 36, y + 5, "fill='#555'", T);
  }
  fprintf(f, "<g transform='translate(%.1f %.1f) rotate(-90)'>", x + 95, TOP + height(c) / 2);
  put_text(f, 0, 0, "text-anchor='middle'", "K above ambient");
  fprintf(f, "</g>\n");
}

/* The materials: see data/generators/heatsink.c. */
static void draw_labels(FILE *f, const cut *c) {
  double middle = (double)c->n[0] * c->mm[0] / 2;
  char title[80];
  snprintf(title, sizeof title, "Heat sink on a 65 W chip: at most %.1f K above ambient", c->peak);
  put_text(f, LEFT + width(c) / 2, 34, "text-anchor='middle' font-size='18'", title);
  put_text(f, px(middle - 10), py(c, 0.6), "text-anchor='end' fill='#333'", "silicon, 65 W");
  put_text(f, px(middle - 19), py(c, 2.9), "text-anchor='end' fill='#333'", "copper");
  put_text(f, px(1.5), py(c, 7.3), "fill='white'", "aluminium");
}

static void draw(FILE *f, const cut *c) {
  const double w = LEFT + width(c) + RIGHT, h = TOP + height(c) + BOTTOM;
  fprintf(f,
          "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
          "font-family='sans-serif' font-size='16'>\n",
          w, h);
  fprintf(f, "<rect width='%.0f' height='%.0f' fill='white'/>\n", w, h);
  draw_cells(f, c);
  draw_outline(f, c);
  draw_axes(f, c);
  draw_colours(f, c);
  draw_labels(f, c);
  fprintf(f, "</svg>\n");
}

static int picture(const cut *c, const char *out) {
  FILE *f = fopen(out, "w");
  if (f) draw(f, c);
  if (!f || ferror(f) | fclose(f)) {
    fprintf(stderr, "heatsink-picture: %s could not be written\n", out);
    return KCL_INPUT;
  }
  printf("%s: heatsink, %lld unknowns, at most %.2f K above ambient\n", out, (long long)c->unknowns,
         c->peak);
  return 0;
}

int main(int argc, char **argv) {
  kcl_context *ctx = NULL;
  cut c = {.peak = 0};
  if (argc != 4) {
    fprintf(stderr, "usage: heatsink-picture SIZE x.mtx OUT.svg\n");
    return KCL_USAGE;
  }
  if (kcl_context_create(NULL, 0, &ctx)) return KCL_MEMORY;
  int rc = load(ctx, argv[1], argv[2], &c);
  if (rc)
    fprintf(stderr, "heatsink-picture: %s\n", kcl_error());
  else
    rc = picture(&c, argv[3]);
  free(c.unknown);
  kcl_dense_free(&c.x);
  kcl_context_free(&ctx);
  return rc;
}
