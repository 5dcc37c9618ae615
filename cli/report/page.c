/* The page of a report: one HTML file that needs nothing else. First what to use, then the figures of every matrix, the table,
 * how it was measured, and the data. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"
#include "cli/ui/json.h"

typedef struct writer {
  FILE *f;
  const cli_report_data *r;
  int matrix;                    /* figures of this matrix alone; -1: figures of no single matrix */
  const cli_report_figure *last; /* that was explained */
} writer;

/* ---------------------------------------------------------------- what to use */

static void print_answers(FILE *f, const cli_report_data *r) {
  fputs("<ul class=\"answer\">\n", f);
  for (int m = 0; m < r->run.matrix_count; m++) {
    bool any = false;
    fprintf(f, "<li><a class=\"matrix\" href=\"#m%d\">", m);
    cli_xml_text(f, r->run.matrices[m].name);
    fputs("</a>", f);
    for (int i = 0; i < r->group_count; i++) {
      const cli_report_group *g = &r->groups[i];
      if (g->matrix != m || !g->count || !cli_report_first(r, g, true)) continue;
      if (any) fputs("<br>", f);
      cli_report_answer(f, r, g, true), fputs("\n", f);
      any = true;
    }
    if (!any) fputs("Nothing was measured.", f);
    fputs("</li>\n", f);
  }
  fputs("</ul>\n", f);
}

/* ---------------------------------------------------------------- figures */

static int print_figure(void *self, const cli_report_figure *figure, const cli_report_subject *s) {
  writer *w = self;
  CLI_OWNED_BY(cli_buffer_free) cli_buffer svg = {0};
  if (s->matrix != w->matrix && figure->scope != CLI_REPORT_RUN) return 0;
  CLI_CALL(cli_buffer_open(&svg));
  CLI_CALL(figure->draw(svg.f, w->r, s, false));
  CLI_CALL(cli_buffer_close(&svg));
  if (!svg.size) return 0;
  fprintf(w->f, "<figure><h3>%s", figure->title);
  if (s->g) {
    const cli_report_name name =
        figure->scope == CLI_REPORT_RUN
            ? cli_report_setting_all(w->r, s->g->key)
            : cli_report_setting(w->r, s->g->key, figure != &cli_report_threads);
    fputs(" <span class=\"setting\">", w->f);
    cli_xml_text(w->f, name.s);
    fputs("</span>", w->f);
  }
  if (s->solve) {
    char name[200];
    cli_bench_short_name(cli_get_text(cli_field(s->solve->json, "matrix"), "file"), name,
                         sizeof name);
    fputs(" <span class=\"setting\">", w->f);
    cli_xml_text(w->f, name);
    fputs("</span>", w->f);
  }
  fputs("</h3>\n", w->f);
  if (w->last != figure) {
    fputs("<figcaption>", w->f);
    cli_xml_text(w->f, figure->how);
    fputs("</figcaption>\n", w->f);
  }
  w->last = figure;
  fwrite(svg.data, 1, svg.size, w->f);
  fputs("</figure>\n", w->f);
  return 0;
}

static int print_figures(FILE *f, const cli_report_data *r, cli_report_scope from,
                         cli_report_scope to, int matrix) {
  writer w = {f, r, matrix, NULL};
  const cli_report_figure *one;
  int rc = 0;
  fputs("<div class=\"figures\">\n", f);
  for (int i = 0; (one = cli_report_figure_at(i)) && !rc; i++)
    if (one->scope >= from && one->scope <= to) rc = cli_report_subjects(r, one, print_figure, &w);
  fputs("</div>\n", f);
  return rc;
}

/* ---------------------------------------------------------------- a matrix */

static void print_facts(FILE *f, const cli_bench_matrix *A) {
  char text[600];
  snprintf(text, sizeof text,
           "%s \xc3\x97 %s, %s nonzeros, %s %s; %s to %s entries per row, mean %.2f, mean absolute "
           "deviation %.1f\xc2\xa0%%; bandwidth %s, entries on %s diagonals. %s",
           cli_count(A->rows).s, cli_count(A->cols).s, cli_count(A->nnz).s, A->field, A->symmetry,
           cli_count(A->row_min).s, cli_count(A->row_max).s, A->row_mean, A->row_deviation,
           cli_count(A->bandwidth).s, cli_count(A->diagonals).s,
           strcmp(A->name, A->file) ? "" : "Generated.");
  fputs("<p class=\"facts\">", f);
  cli_xml_text(f, text);
  fputs("</p>\n", f);
}

static bool same_remark(const cli_bench_row *a, const cli_bench_row *b) {
  return a->matrix == b->matrix && a->state == b->state && a->place == b->place &&
         a->type == b->type && !strcmp(a->why, b->why);
}

/* Collects the formats with the remark of this row, each once. False: an earlier row has it. */
static bool gather_page_remark(FILE *f, const cli_report_data *r, const cli_bench_row *row) {
  const cli_bench_run *b = &r->run;
  for (const cli_bench_row *o = b->rows; o < row; o++)
    if (same_remark(o, row)) return false;
  fputs("<tr><td class=\"left\">", f);
  for (const cli_bench_row *o = row; o < b->rows + b->row_count; o++) {
    bool before = false;
    if (!same_remark(o, row)) continue;
    for (const cli_bench_row *p = row; p < o && !before; p++)
      before = same_remark(p, row) && !strcmp(p->format, o->format);
    if (before) continue;
    if (o != row) fputs(", ", f);
    cli_xml_text(f, o->format);
  }
  return true;
}

static void print_remarks(FILE *f, const cli_report_data *r, int matrix) {
  bool any = false;
  for (int i = 0; i < r->run.row_count; i++) {
    const cli_bench_row *row = &r->run.rows[i];
    char status[640];
    if (row->matrix != matrix || row->place < 0 || row->state == CLI_BENCH_OK ||
        row->state == CLI_BENCH_TODO)
      continue;
    if (!any)
      fputs("<h3>Not measured</h3><div class=\"wide\"><table class=\"words\"><thead><tr><th "
            "class=\"left\">format</th><th class=\"left\">device</th><th "
            "class=\"left\">why</th></tr></thead><tbody>\n",
            f);
    any = true;
    if (!gather_page_remark(f, r, row)) continue;
    cli_bench_status(row, status, sizeof status);
    fputs("</td><td class=\"left\">", f), cli_xml_text(f, cli_report_place(r, row->place, true).s);
    fputs("</td><td class=\"left\">", f);
    cli_xml_text(f, status);
    fputs("</td></tr>\n", f);
  }
  if (any) fputs("</tbody></table></div>\n", f);
}

static int print_matrix_part(FILE *f, const cli_report_data *r, int m) {
  fprintf(f, "<section>\n<h2 id=\"m%d\">", m);
  cli_xml_text(f, r->run.matrices[m].name);
  fputs("</h2>\n", f);
  print_facts(f, &r->run.matrices[m]);
  int rc = print_figures(f, r, CLI_REPORT_MATRIX, CLI_REPORT_GROUP, m);
  print_remarks(f, r, m);
  fputs("</section>\n", f);
  return rc;
}

/* ---------------------------------------------------------------- the page */

/* Writes the data as it was read, with "<" escaped so that no text can end the element. */
static void print_data(FILE *f, const cli_report_data *r) {
  fputs("<script type=\"application/json\" id=\"data\">[", f);
  for (int i = 0; i < r->file_count; i++) {
    if (i) fputs(",\n", f);
    for (const char *s = r->files[i].text.data; *s; s++)
      *s == '<' ? (void)fputs("\\u003c", f) : (void)fputc(*s, f);
  }
  fputs("]</script>\n", f);
}

static void print_page_head(FILE *f, const cli_report_data *r) {
  const cli_bench_run *b = &r->run;
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
        "name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
        f);
  if (b->matrix_count) cli_xml_text(f, b->matrices[0].name);
  if (b->matrix_count > 1) fprintf(f, " and %d more", b->matrix_count - 1);
  fprintf(f, "%skrylocl report</title>\n", b->matrix_count ? ": " : "");
  cli_report_page_style(f);
  fputs("</head><body><main>\n<h1>Which storage format?</h1>\n<p class=\"mute\">", f);
  const int measured = b->row_count;
  fprintf(f, "%d matri%s, %d row%s", b->matrix_count, b->matrix_count == 1 ? "x" : "ces", measured,
          measured == 1 ? "" : "s");
  for (int i = 0; i < b->place_count; i++)
    fputs(i ? "; " : " on ", f), cli_xml_text(f, cli_report_place(r, i, true).s);
  const char *date = r->file_count ? cli_get_text(r->files[0].json, "date") : "";
  fprintf(f, "%s%.10s. Sparse matrix-vector products and Krylov iterations, by krylocl.</p>\n",
          *date ? ". Measured " : "", date);
}

static int print_body(FILE *f, const cli_report_data *r) {
  bool solves = false;
  int rc = 0;
  for (int i = 0; i < r->file_count; i++) solves |= r->files[i].solve;
  if (r->run.matrix_count) print_answers(f, r);
  if (r->run.matrix_count > 1) rc = print_figures(f, r, CLI_REPORT_RUN, CLI_REPORT_RUN, -1);
  for (int m = 0; m < r->run.matrix_count && !rc; m++) rc = print_matrix_part(f, r, m);
  if (solves) fputs("<section>\n<h2>Convergence</h2>\n", f);
  if (solves && !rc) rc = print_figures(f, r, CLI_REPORT_SOLVES, CLI_REPORT_SOLVES, -1);
  if (solves) fputs("</section>\n", f);
  if (r->run.row_count) {
    fputs("<section>\n<h2>All rows</h2>\n<p class=\"mute\">A click on a heading sorts.</p>\n", f);
    cli_report_table(f, r);
    fputs("</section>\n", f);
  }
  return rc;
}

int cli_report_page(const cli_report_data *r, const char *path) {
  CLI_OWNED_BY(cli_buffer_free) cli_buffer b = {0};
  CLI_CALL(cli_buffer_open(&b));
  print_page_head(b.f, r);
  CLI_CALL(print_body(b.f, r));
  fputs("<section>\n<h2>How it was measured</h2>\n", b.f);
  cli_report_how(b.f, r);
  fputs("</section>\n", b.f);
  fprintf(b.f, "</main>\n<script>%s</script>\n", cli_report_script);
  print_data(b.f, r);
  fputs("</body></html>\n", b.f);
  return cli_buffer_write(&b, path);
}
