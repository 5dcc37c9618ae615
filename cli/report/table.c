/* The table of all measured rows. Its columns are cells of the tables of bench, each with its value for pages that
 * sort and for tests that compare. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"

static const cli_report_column columns[] = {
    {"format", "storage format", CLI_BENCH_FORMAT, true},
    {"device", "device and threads", CLI_BENCH_PLACE, true},
    {"type", "scalar type", CLI_BENCH_PRECISION, true},
    {"method", "Krylov method", CLI_BENCH_METHOD, true},
    {"\xc2\xb5s/iter", "median time per iteration, microseconds", CLI_BENCH_ITERATION, false},
    {"\xc2\xb5s/rhs", "by the number of right-hand sides", CLI_BENCH_PER_RHS, false},
    {"+/-", "half of the interval around the median; ~: noisy", CLI_BENCH_SPREAD, false},
    {"\xc2\xb5s/product",
     "median time of y = A x, microseconds; !: longer than the iteration that contains it",
     CLI_BENCH_PRODUCT, false},
    {"\xc2\xb5s with x,y", "product with x from and y to the host, microseconds",
     CLI_BENCH_WITH_VECTORS, false},
    {"with A,x,y", "one product with the upload of the matrix as well, microseconds",
     CLI_BENCH_WITH_MATRIX, false},
    {"of stream", "bytes moved per second by the stream rate of the device", CLI_BENCH_STREAM,
     false},
    {"GB/s", "bytes moved per second", CLI_BENCH_GBYTES, false},
    {"GFlop/s", "of the product", CLI_BENCH_GFLOPS, false},
    {"speed-up", "of the product, over sequential C; of full storage over a dense loop",
     CLI_BENCH_SPEEDUP, false},
    {"set-up ms", "conversion, upload, compilation, milliseconds", CLI_BENCH_SETUP, false},
    {"pays after", "iterations that repay the set-up, against the fastest plain CSR",
     CLI_BENCH_PAYS, false},
    {"stored", "bytes on the device", CLI_BENCH_STORED, false}};

const cli_report_column *cli_report_column_at(int i) {
  return i < (int)(sizeof columns / sizeof *columns) ? &columns[i] : NULL;
}

static double cell_value(const cli_report_data *r, const cli_bench_row *row, cli_bench_column c) {
  const cli_bench_run *b = &r->run;
  const bool reference = row->place < 0, none = reference || cli_bench_alone(row);
  const kcl_summary *t = cli_bench_time(row);
  const cli_bench_break_even e = cli_bench_pays(b, row);
  double v = 0;
  switch (c) {
  case CLI_BENCH_ITERATION: return none ? NAN : row->iteration.median;
  case CLI_BENCH_PER_RHS: return cli_bench_per_rhs(row);
  case CLI_BENCH_SPREAD: return fmax(t->high - t->median, t->median - t->low) / t->median;
  case CLI_BENCH_PRODUCT: return row->product.median;
  case CLI_BENCH_WITH_VECTORS: v = row->transfer.median; break;
  case CLI_BENCH_WITH_MATRIX: v = row->transfer.count ? cli_bench_with_matrix(row) : 0; break;
  case CLI_BENCH_STREAM: v = cli_bench_fraction(b, row); break;
  case CLI_BENCH_GBYTES: return cli_bench_rate(row) * 1e-9;
  case CLI_BENCH_GFLOPS: return cli_bench_gflops(b, row);
  case CLI_BENCH_SPEEDUP: v = cli_bench_speedup(b, row); break;
  case CLI_BENCH_SETUP: return reference ? NAN : cli_bench_setup(row);
  case CLI_BENCH_PAYS: return e.against ? e.after : NAN;
  case CLI_BENCH_STORED: v = row->measured.bytes_stored; break;
  default: return NAN;
  }
  return v > 0 ? v : NAN;
}

cli_report_name cli_report_cell(const cli_report_data *r, const cli_bench_row *row,
                                const cli_report_column *c, double *value) {
  cli_report_name t;
  cli_text buffer;
  *value = cell_value(r, row, c->cell);
  if (c->cell == CLI_BENCH_PLACE && row->place >= 0) return cli_report_place(r, row->place, true);
  if (c->cell == CLI_BENCH_PLACE) return (cli_report_name){"host, 1 thread"};
  snprintf(t.s, sizeof t.s, "%s",
           c->left || isfinite(*value) || c->cell == CLI_BENCH_PAYS
               ? cli_bench_cell(&r->run, row, c->cell, &buffer)
               : "-");
  return t;
}

/* True if rows of the matrix differ in this column. */
static bool report_column_varies(const cli_report_data *r, int matrix, const cli_report_column *c) {
  cli_report_name first = {""};
  for (int i = 0; i < r->run.row_count; i++) {
    const cli_bench_row *row = &r->run.rows[i];
    double v;
    if (row->state != CLI_BENCH_OK || row->place < 0 || (matrix >= 0 && row->matrix != matrix))
      continue;
    const cli_report_name text = cli_report_cell(r, row, c, &v);
    if (*first.s && strcmp(first.s, text.s)) return true;
    first = text;
  }
  return false;
}

static const cli_bench_run *sorting;
static int compare_table_rows(const void *a, const void *b) {
  const cli_bench_row *x = &sorting->rows[*(const int *)a], *y = &sorting->rows[*(const int *)b];
  const double s = cli_bench_per_rhs(x), t = cli_bench_per_rhs(y);
  if (x->matrix != y->matrix) return x->matrix - y->matrix;
  if ((x->place < 0) != (y->place < 0)) return (x->place < 0) - (y->place < 0);
  if (cli_bench_alone(x) != cli_bench_alone(y)) return cli_bench_alone(x) - cli_bench_alone(y);
  return s < t ? -1 : s > t;
}

int *cli_report_rows(const cli_report_data *r, int matrix, int *count) {
  int *list = malloc(((size_t)r->run.row_count + 1) * sizeof *list);
  *count = 0;
  for (int i = 0; list && i < r->run.row_count; i++)
    if (r->run.rows[i].state == CLI_BENCH_OK && (matrix < 0 || r->run.rows[i].matrix == matrix))
      list[(*count)++] = i;
  sorting = &r->run;
  if (list) qsort(list, (size_t)*count, sizeof *list, compare_table_rows);
  return list;
}

/* True for columns that stand in no table if no row has anything there. */
static bool is_column_optional(cli_bench_column c) {
  return c == CLI_BENCH_PER_RHS || c == CLI_BENCH_WITH_VECTORS || c == CLI_BENCH_WITH_MATRIX;
}

static void print_column_head(FILE *f, const char *title, const char *tip, bool left) {
  fprintf(f, "<th scope=\"col\"%s title=\"", left ? " class=\"left\"" : "");
  cli_xml_text(f, tip);
  fputs("\"><button type=\"button\">", f);
  cli_xml_text(f, title);
  fputs("</button></th>", f);
}

static void print_table_row(FILE *f, const cli_report_data *r, const cli_bench_row *row) {
  const cli_report_column *c;
  fprintf(f, "<tr%s><td class=\"left\">", row->place < 0 ? " class=\"reference\"" : "");
  cli_xml_text(f, r->run.matrices[row->matrix].name);
  fputs("</td>", f);
  for (int i = 0; (c = cli_report_column_at(i)); i++) {
    double v;
    const cli_report_name text = cli_report_cell(r, row, c, &v);
    if (is_column_optional(c->cell) && !cli_report_column_shown(r, -1, c)) continue;
    fprintf(f, "<td%s", c->left ? " class=\"left\"" : "");
    if (isfinite(v)) fprintf(f, " data-v=\"%.17g\"", v);
    fputc('>', f);
    cli_xml_text(f, text.s);
    fputs("</td>", f);
  }
  fputs("</tr>\n", f);
}

void cli_report_table(FILE *f, const cli_report_data *r) {
  int count;
  const cli_report_column *c;
  int *rows = cli_report_rows(r, -1, &count);
  fputs("<div class=\"wide\"><table class=\"sortable\"><thead><tr>", f);
  print_column_head(f, "matrix", "short name", true);
  for (int i = 0; (c = cli_report_column_at(i)); i++)
    if (!is_column_optional(c->cell) || cli_report_column_shown(r, -1, c))
      print_column_head(f, c->title, c->long_title, c->left);
  fputs("</tr></thead><tbody>\n", f);
  for (int i = 0; rows && i < count; i++) print_table_row(f, r, &r->run.rows[rows[i]]);
  fputs("</tbody></table></div>\n", f);
  free(rows);
}

bool cli_report_column_shown(const cli_report_data *r, int matrix, const cli_report_column *c) {
  const bool always = c->cell == CLI_BENCH_FORMAT || !c->left;
  bool iterates = false, many = false, carried = false;
  for (int i = 0; i < r->run.row_count; i++) {
    const cli_bench_row *row = &r->run.rows[i];
    if (row->state != CLI_BENCH_OK || row->place < 0 || (matrix >= 0 && row->matrix != matrix))
      continue;
    iterates |= !cli_bench_alone(row), many |= row->nrhs > 1, carried |= row->transfer.count > 0;
  }
  if (c->cell == CLI_BENCH_ITERATION) return iterates;
  if (c->cell == CLI_BENCH_PER_RHS) return many;
  if (is_column_optional(c->cell)) return carried;
  return always || report_column_varies(r, matrix, c);
}
