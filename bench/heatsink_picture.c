/* heatsink-picture SIZE x.mtx OUT.png|OUT.svg: the temperature in a vertical cut through the middle
 * of the heat sink of the generator heatsink:SIZE, across its fins, drawn by gnuplot.
 *
 *   | | | | | |        one rectangle per cell, air white, the outline of the solid along the edges
 *   ===========        of its cells; colours from black over red to pale yellow
 *       ==
 */
#include "data/generators/heatsink.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cut {
  int64_t n[3], unknowns;
  double mm[3];     /* edges of a cell, mm */
  int32_t *unknown; /* [n[2], n[1], n[0]], -1 in air */
  kcl_dense *x;     /* K above ambient */
  double peak;      /* maximum of x */
} cut;

/* Unknown of column i and layer k in the middle plane; -1 in air and outside. */
static int32_t at(const cut *c, int64_t i, int64_t k) {
  if (i < 0 || i >= c->n[0] || k < 0 || k >= c->n[2]) return -1;
  return c->unknown[i + c->n[0] * (c->n[1] / 2 + c->n[1] * k)];
}

static int load(kcl *ctx, const char *size, const char *path, cut *c) {
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
  return KCL_OK;
}

/* Data of the heat map: x z T, one line per solid cell. */
static void cells(FILE *f, const cut *c) {
  fprintf(f, "$T << END\n");
  for (int64_t k = 0; k < c->n[2]; k++)
    for (int64_t i = 0; i < c->n[0]; i++) {
      double x = ((double)i + 0.5) * c->mm[0], z = ((double)k + 0.5) * c->mm[2];
      if (at(c, i, k) >= 0) fprintf(f, "%.6g %.6g %.8g\n", x, z, c->x->val[at(c, i, k)]);
    }
  fprintf(f, "END\n");
}

/* Edges between solid and air: x and z of the start, then the vector to the end. */
static void outline(FILE *f, const cut *c) {
  double dx = c->mm[0], dz = c->mm[2];
  fprintf(f, "$edge << END\n");
  for (int64_t k = 0; k <= c->n[2]; k++)
    for (int64_t i = 0; i <= c->n[0]; i++) {
      bool here = at(c, i, k) >= 0;
      double x = (double)i * dx, z = (double)k * dz;
      if (here != (at(c, i - 1, k) >= 0)) fprintf(f, "%.6g %.6g 0 %.6g\n", x, z, dz);
      if (here != (at(c, i, k - 1) >= 0)) fprintf(f, "%.6g %.6g %.6g 0\n", x, z, dx);
    }
  fprintf(f, "END\n");
}

/* A file name inside gnuplot's single quotes, where two stand for one. */
static void quoted(FILE *f, const char *s) {
  for (fputc('\'', f); *s; s++) fprintf(f, *s == '\'' ? "''" : "%c", *s);
  fprintf(f, "'\n");
}

/* Labels with the materials: see data/generators/heatsink.c. */
static void labels(FILE *f, const cut *c) {
  double middle = (double)c->n[0] * c->mm[0] / 2;
  fprintf(f, "set label 'silicon, 65 W' at %g,1.0 right tc rgb '#333333'\n", middle - 10);
  fprintf(f, "set label 'copper' at %g,3.3 right tc rgb '#333333'\n", middle - 19);
  fprintf(f, "set label 'aluminium' at 1.5,7.8 left front tc rgb 'white'\n");
}

static const char style[] =
    "set xlabel 'across the fins (mm)'\nset ylabel 'height (mm)'\n"
    "set cblabel 'K above ambient' offset 1,0\n"
    "set size ratio -1\nset rmargin 12\nunset key\n"
    "set border 3 lc rgb '#555555'\nset tics out nomirror\nset xtics 10\nset ytics 10\n"
    "set cbtics in scale 0.5\n"
    "set colorbox user origin graph 1.05, graph 0 size graph 0.035, graph 1\n"
    "set palette defined (0 '#2b0a5a', 0.25 '#7a1c6d', 0.5 '#c63d4f', 0.75 '#f58a1f', 1 "
    "'#fcf3a0')\n";
static const char png[] = "pngcairo size 1500,1050 font 'sans,22' linewidth 1.5";
static const char svg[] = "svg size 1000,700 font 'sans,15' background 'white'";

/* Rectangles overlap by a few percent, so that smoothing leaves no white lines between them. */
static void draw(FILE *f, const cut *c, const char *out) {
  bool is_svg = strlen(out) > 4 && !strcmp(out + strlen(out) - 4, ".svg");
  double half = 0.53 * c->mm[0];
  cells(f, c);
  outline(f, c);
  fprintf(f, "set terminal %s\nset output ", is_svg ? svg : png);
  quoted(f, out);
  fprintf(f, "set title 'Heat sink on a 65 W chip: at most %.1f K above ambient' offset 0,0.3\n",
          c->peak);
  fprintf(f, "%s", style);
  fprintf(f, "set xrange [-2:%g]\nset yrange [-2:%g]\n", (double)c->n[0] * c->mm[0] + 2,
          (double)c->n[2] * c->mm[2] + 2);
  labels(f, c);
  fprintf(f, "plot $T using 1:2:(%g):(%g):3 with boxxyerror fs solid noborder lc palette, ", half,
          half);
  fprintf(f, "$edge using 1:2:3:4 with vectors nohead lw 1 lc rgb '#333333'\n");
}

/* Returns 0 if the picture was drawn or gnuplot is not installed. */
static int picture(const cut *c, const char *out) {
  if (system("command -v gnuplot >/dev/null 2>&1")) {
    printf("no picture: gnuplot is not installed\n");
    return 0;
  }
  FILE *f = popen("LC_ALL=C.UTF-8 gnuplot", "w");
  if (!f) return KCL_INPUT;
  draw(f, c, out);
  if (pclose(f)) {
    fprintf(stderr, "heatsink-picture: gnuplot could not draw %s\n", out);
    return KCL_INPUT;
  }
  printf("%s: heatsink, %lld unknowns, at most %.2f K above ambient\n", out, (long long)c->unknowns,
         c->peak);
  return 0;
}

int main(int argc, char **argv) {
  kcl *ctx = NULL;
  cut c = {.peak = 0};
  if (argc != 4) {
    fprintf(stderr, "usage: heatsink-picture SIZE x.mtx OUT.png|OUT.svg\n");
    return KCL_USAGE;
  }
  if (kcl_create(&ctx)) return KCL_MEMORY;
  int rc = load(ctx, argv[1], argv[2], &c);
  if (rc)
    fprintf(stderr, "heatsink-picture: %s\n", kcl_error(ctx));
  else
    rc = picture(&c, argv[3]);
  free(c.unknown);
  kcl_dense_free(&c.x);
  kcl_destroy(&ctx);
  return rc;
}
