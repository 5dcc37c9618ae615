/* The list of figures, and all of them as files. */
#include "cli/draw/gnuplot.h"
#include "cli/report/report.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"
#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

const cli_report_figure *cli_report_figure_at(int i) {
  static const cli_report_figure *const all[] = {
      &cli_report_overview, &cli_report_pattern,     &cli_report_lengths,
      &cli_report_bars,     &cli_report_transfers,   &cli_report_even,
      &cli_report_threads,  &cli_report_storage,     &cli_report_roofline,
      &cli_report_bytes,    &cli_report_convergence, &cli_report_convergence_time};
  return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

int cli_report_subjects(const cli_report_data *r, const cli_report_figure *figure,
                        int (*each)(void *self, const cli_report_figure *figure,
                                    const cli_report_subject *s),
                        void *self) {
  int rc = 0;
  for (int i = 0; figure->scope == CLI_REPORT_MATRIX && i < r->run.matrix_count && !rc; i++)
    rc = each(self, figure, &(cli_report_subject){.matrix = i});
  for (int i = 0; i < r->group_count && !rc; i++) {
    const cli_report_group *g = &r->groups[i];
    const cli_report_subject s = {.matrix = g->matrix, .g = g};
    if (figure->scope == CLI_REPORT_GROUP ||
        (figure->scope == CLI_REPORT_RUN && cli_report_first(r, g, false)))
      rc = each(self, figure, &s);
  }
  for (int i = 0; figure->scope == CLI_REPORT_SOLVES && i < r->file_count && !rc; i++)
    if (cli_report_first_solve(r, i))
      rc = each(self, figure, &(cli_report_subject){.matrix = -1, .solve = &r->files[i]});
  return rc;
}

typedef struct writing {
  const cli_report_data *r;
  const char *folder;
  int written;
  bool no_png;
} writing;

/* Copies the letters, digits, points and hyphens of a name for a file name. */
static void file_name(const char *name, char *out, size_t capacity) {
  size_t n = 0;
  for (const char *s = name; *s && n + 1 < capacity && n < 60; s++) {
    const bool plain = isalnum((unsigned char)*s) || *s == '.' || *s == '-' || *s == '_';
    if (plain || (n && out[n - 1] != '-')) out[n++] = plain ? *s : '-';
  }
  while (n && out[n - 1] == '-') n--;
  out[n] = 0;
  if (!n || *out == '.') snprintf(out, capacity, "matrix");
}

/* The name of a figure's file: MATRIX-FIGURE-SETTING, the setting only if there are several. */
static void figure_name(const writing *w, const cli_report_figure *figure,
                        const cli_report_subject *s, char *name, size_t capacity) {
  char matrix[80] = "", setting[80] = "";
  char whole[512] = "";
  if (s->solve)
    cli_bench_short_name(cli_get_text(cli_field(s->solve->json, "matrix"), "file"), whole,
                         sizeof whole);
  else if (s->matrix >= 0)
    snprintf(whole, sizeof whole, "%s", w->r->run.matrices[s->matrix].name);
  int settings = 0;
  if (figure->scope != CLI_REPORT_RUN) file_name(whole, matrix, sizeof matrix);
  for (int i = 0; i < w->r->group_count; i++)
    settings += cli_report_first(w->r, &w->r->groups[i], false);
  if (s->g && settings > 1)
    file_name(cli_report_setting(w->r, s->g->key, figure != &cli_report_threads).s, setting,
              sizeof setting);
  snprintf(name, capacity, "%s%s%s%s%s", matrix, *matrix ? "-" : "", figure->name,
           *setting ? "-" : "", setting);
}

/* Draws a PNG of twice the size by rsvg-convert of librsvg. */
static int write_png(writing *w, const cli_buffer *svg, const char *path) {
  static const char *const program[] = {"rsvg-convert", "--zoom", "2", "--format", "png", NULL};
  cli_buffer picture;
  int rc = cli_buffer_open(&picture), code = rc ? 0 : cli_filter(program, svg, picture.f);
  if (!rc && code == CLI_NO_PROGRAM)
    w->no_png = true;
  else if (!rc && code)
    rc = cli_fail(KCL_INPUT, "rsvg-convert failed, so %s was not drawn", path);
  else if (!rc) {
    w->written++;
    return cli_buffer_write(&picture, path);
  }
  cli_buffer_free(&picture);
  return rc;
}

static int write_one(void *self, const cli_report_figure *figure, const cli_report_subject *s) {
  writing *w = self;
  CLI_OWNED_BY(cli_buffer_free) cli_buffer svg = {0};
  char name[240], path[4400];
  CLI_CALL(cli_buffer_open(&svg));
  CLI_CALL(figure->draw(svg.f, w->r, s, true));
  CLI_CALL(cli_buffer_close(&svg));
  if (!svg.size) return 0;
  figure_name(w, figure, s, name, sizeof name);
  snprintf(path, sizeof path, "%.4000s/%s.svg", w->folder, name);
  CLI_CALL(cli_write(path, svg.data, svg.size));
  w->written++;
  snprintf(path, sizeof path, "%.4000s/%s.png", w->folder, name);
  return w->no_png ? 0 : write_png(w, &svg, path);
}

int cli_report_files(const cli_report_data *r, const char *folder) {
  writing w = {.r = r, .folder = folder};
  const cli_report_figure *figure;
  int rc = 0;
  if (mkdir(folder, 0777) && errno != EEXIST)
    return cli_fail(KCL_INPUT, "%s cannot be made: %s", folder, strerror(errno));
  for (int i = 0; (figure = cli_report_figure_at(i)) && !rc; i++)
    rc = cli_report_subjects(r, figure, write_one, &w);
  if (w.no_png)
    fprintf(
        stderr,
        "krylocl: rsvg-convert (librsvg2-bin) is not installed: the figures are SVG files alone\n");
  if (!rc) cli_say(r->o, "wrote       %d figures to %s\n", w.written, folder);
  return rc;
}
