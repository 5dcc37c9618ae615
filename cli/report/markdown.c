/* The tables of a report as Markdown: one per matrix. Values that all its rows share stand above it. */
#include "cli/report/report.h"

/* Prints text with the characters escaped that would end a cell or be marks. */
static void print_markdown_text(FILE *f, const char *text) {
  for (size_t n; *text; text += n) {
    n = (size_t)cli_character(text);
    if (strchr("\\|*_`<>[]&", *text)) fputc('\\', f);
    if (n)
      fwrite(text, 1, n, f);
    else
      fputc(' ', f), n = 1;
  }
}

/* Names what the rows of a matrix share: all but the format, or at least precision and method. */
cli_report_name cli_report_caption(const cli_report_data *r, int matrix) {
  const cli_bench_matrix *A = &r->run.matrices[matrix];
  const cli_bench_row *row = cli_bench_fastest(&r->run, matrix, -1, false);
  cli_report_name t;
  bool whole = true, partly = true;
  if (!row) row = cli_bench_fastest(&r->run, matrix, -1, true);
  snprintf(t.s, sizeof t.s, "%.96s: ", A->name);
  cli_append(t.s, sizeof t.s, "%s \xc3\x97 %s, %s nonzeros", cli_count(A->rows).s,
             cli_count(A->cols).s, cli_count(A->nnz).s);
  if (!row) return t;
  for (int i = 0; i < r->run.row_count; i++) {
    const cli_bench_row *other = &r->run.rows[i];
    if (other->matrix != matrix || other->place < 0 || other->state != CLI_BENCH_OK) continue;
    whole = whole && cli_report_same_setting(other, row);
    partly = partly && other->type == row->type && !strcmp(other->method, row->method) &&
             cli_bench_alone(other) == cli_bench_alone(row);
  }
  if (whole)
    cli_append(t.s, sizeof t.s, "; %.100s", cli_report_setting(r, row, true).s);
  else if (partly)
    cli_append(t.s, sizeof t.s, "; %s, %s", cli_type_words(row->type),
               cli_bench_alone(row) ? "product alone" : row->method);
  return t;
}

static void print_markdown_row(FILE *f, const cli_report_data *r, int matrix,
                               const cli_bench_row *row) {
  const cli_report_column *c;
  for (int i = 0; (c = cli_report_column_at(i)); i++) {
    double v;
    if (!cli_report_column_shown(r, matrix, c)) continue;
    fputs("| ", f);
    print_markdown_text(f, row ? cli_report_cell(r, row, c, &v).s : c->title);
    fputc(' ', f);
  }
  fputs("|\n", f);
}

static void print_markdown_table(FILE *f, const cli_report_data *r, int matrix) {
  int count;
  const cli_report_column *c;
  int *rows = cli_report_rows(r, matrix, &count);
  fputs("\n", f);
  print_markdown_text(f, cli_report_caption(r, matrix).s);
  fputs("\n\n", f);
  if (rows && count) {
    print_markdown_row(f, r, matrix, NULL);
    for (int i = 0; (c = cli_report_column_at(i)); i++)
      if (cli_report_column_shown(r, matrix, c)) fputs(c->left ? "| --- " : "| ---: ", f);
    fputs("|\n", f);
  }
  for (int i = 0; rows && i < count; i++) print_markdown_row(f, r, matrix, &r->run.rows[rows[i]]);
  free(rows);
}

int cli_report_markdown(const cli_report_data *r, const char *path) {
  cli_buffer b;
  CLI_CALL(cli_buffer_open(&b));
  fputs("<!-- krylocl report -->\n", b.f);
  for (int i = 0; i < r->run.matrix_count; i++) print_markdown_table(b.f, r, i);
  return cli_buffer_write(&b, path);
}
