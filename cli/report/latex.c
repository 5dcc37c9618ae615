/* The tables of a report for LaTeX with booktabs: one per matrix, with a caption. Tables longer than a page use
 * longtable. */
#include "cli/report/report.h"

enum { PAGE = 42 }; /* rows */

/* Prints text with the characters escaped that are TeX commands or missing in its fonts. */
static void print_latex_text(FILE *f, const char *text) {
  static const struct {
    const char *from, *to;
  } signs[] = {{"\\", "\\textbackslash{}"},
               {"_", "\\_"},
               {"%", "\\%"},
               {"&", "\\&"},
               {"#", "\\#"},
               {"$", "\\$"},
               {"{", "\\{"},
               {"}", "\\}"},
               {"~", "$\\sim$"},
               {"^", "\\textasciicircum{}"},
               {"<", "\\textless{}"},
               {">", "\\textgreater{}"},
               {"|", "\\textbar{}"},
               {"\"", "\\textquotedbl{}"},
               {"\xc2\xb5", "\\textmu{}"},
               {"\xc3\x97", "$\\times$"},
               {"+/-", "$\\pm$"}};
  while (*text) {
    size_t k = 0, n = sizeof signs / sizeof *signs;
    while (k < n && strncmp(text, signs[k].from, strlen(signs[k].from))) k++;
    if (k < n)
      fputs(signs[k].to, f), text += strlen(signs[k].from);
    else
      fputc((unsigned char)*text < 0x20 ? ' ' : *text, f), text++;
  }
}

/* True if the column is printed: paper is narrow, so rates and set-up times are left out. */
static bool is_printed(const cli_report_data *r, int matrix, const cli_report_column *c) {
  return c->cell != CLI_BENCH_GBYTES && c->cell != CLI_BENCH_SETUP &&
         cli_report_column_shown(r, matrix, c);
}

static void print_latex_row(FILE *f, const cli_report_data *r, int matrix,
                            const cli_bench_row *row) {
  const cli_report_column *c;
  bool first = true;
  for (int i = 0; (c = cli_report_column_at(i)); i++) {
    double v;
    if (!is_printed(r, matrix, c)) continue;
    if (!first) fputs(" & ", f);
    print_latex_text(f, row ? cli_report_cell(r, row, c, &v).s : c->title);
    first = false;
  }
  fputs(" \\\\\n", f);
}

static void print_latex_table(FILE *f, const cli_report_data *r, int matrix, const int *rows,
                              int count) {
  const cli_report_column *c;
  const bool tall = count > PAGE;
  fputs(
      tall ? "\n\\begingroup\\footnotesize\\setlength{\\tabcolsep}{4pt}\n\\begin{longtable}{"
           : "\n\\begin{table}\n\\centering\\footnotesize\\setlength{\\tabcolsep}{4pt}\n\\caption{",
      f);
  if (!tall)
    print_latex_text(f, cli_report_caption(r, matrix).s),
        fputs("}\n\\smallskip\n\\begin{tabular}{", f);
  for (int i = 0; (c = cli_report_column_at(i)); i++)
    if (is_printed(r, matrix, c)) fputc(c->left ? 'l' : 'r', f);
  fputs("}\n", f);
  if (tall) {
    fputs("\\caption{", f);
    print_latex_text(f, cli_report_caption(r, matrix).s);
    fputs("}\\\\\n", f);
  }
  fputs("\\toprule\n", f);
  print_latex_row(f, r, matrix, NULL);
  fputs(tall ? "\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n" : "\\midrule\n", f);
  for (int i = 0; i < count; i++) print_latex_row(f, r, matrix, &r->run.rows[rows[i]]);
  fputs(tall ? "\\end{longtable}\n\\endgroup\n" : "\\bottomrule\n\\end{tabular}\n\\end{table}\n",
        f);
}

int cli_report_latex(const cli_report_data *r, const char *path) {
  cli_buffer b;
  CLI_CALL(cli_buffer_open(&b));
  fputs("% Of krylocl report. Needs \\usepackage[T1]{fontenc}, \\usepackage{textcomp}, "
        "\\usepackage{booktabs} and, for tables longer than a page,\n% \\usepackage{longtable}.\n",
        b.f);
  for (int i = 0; i < r->run.matrix_count; i++) {
    int count;
    int *rows = cli_report_rows(r, i, &count);
    if (rows && count) print_latex_table(b.f, r, i, rows, count);
    free(rows);
  }
  return cli_buffer_write(&b, path);
}
