/* krylocl info: structure of a matrix, predicted cost of each format, suggested method. */
#include "cli/info.h"
#include "cli/draw/plot.h"
#include "cli/problem/problem.h"
#include "cli/ui/json.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

/* A count as text; counts stop at 65,536 (krylocl.h). */
static cli_text repeat_count(int64_t n) {
  cli_text over = {"over 65,536"};
  return n > 65536 ? over : cli_count(n);
}

static void say_structure(const cli_options *o, const kcl_stats *s) {
  cli_say(o, "rows        %s to %s entries per row, mean %.2f, mean absolute deviation %.1f %%\n",
          cli_count(s->row_min).s, cli_count(s->row_max).s, s->row_mean, s->row_deviation);
  cli_say(o, "bandwidth   %s, entries on %s diagonals\n", cli_count(s->bandwidth).s,
          cli_count(s->diagonals).s);
  cli_say(o, "values      %s, infinity norm %.6g\n", cli_info_symmetry(s), s->norm_inf);
  cli_say(
      o,
      "repeats     %s distinct rows of (column - row, value) pairs in %s runs, %s distinct pairs, "
      "%s distinct values%s\n",
      repeat_count(s->row_patterns).s,
      s->row_patterns > 65536 ? "many" : cli_count(s->pattern_runs).s,
      repeat_count(s->distinct_pairs).s, repeat_count(s->distinct_values).s,
      s->values_fit_float ? ", all exact in single precision" : "");
  cli_say(o, "diagonal    %s, dominant in %.1f %% of the rows\n",
          s->positive_diagonal ? "positive" : "not everywhere positive", 100 * s->dominant_rows);
}

/* Prints properties of A that cause trouble. */
static void say_warnings(const cli_options *o, const kcl_stats *s) {
  char text[160];
  const char *singular = s->rows == s->cols ? ": the matrix is singular" : "";
  cli_zeros(text, sizeof text, "row", s->zero_rows, s->first_zero_row);
  if (s->zero_rows) cli_say(o, "warning     %s%s\n", text, singular);
  cli_zeros(text, sizeof text, "column", s->zero_cols, s->first_zero_col);
  if (s->zero_cols) cli_say(o, "warning     %s%s\n", text, singular);
  if (s->zero_diagonal && s->rows == s->cols)
    cli_say(o, "warning     %s rows with a zero or absent diagonal entry: jacobi is not possible\n",
            cli_count(s->zero_diagonal).s);
  if (s->explicit_zeros)
    cli_say(o, "warning     %s explicit zeros: stored and multiplied like other entries\n",
            cli_count(s->explicit_zeros).s);
}

/* Prints the method that --solver auto begins with. */
static void say_solver(const cli_options *o, const kcl_stats *s) {
  const char *name = kcl_auto_solver(s);
  if (s->rows != s->cols)
    cli_say(o, "solver      %s: the matrix is not square\n", name);
  else if (!strcmp(name, "cg"))
    cli_say(o, "solver      cg%s\n",
            s->dominant_rows >= 1 ? ": diagonally dominant, so positive semidefinite" : "");
  else
    cli_say(o, "solver      %s (cg needs a Hermitian positive definite matrix)\n", name);
}

static int say_formats(kcl_context *ctx, const cli_options *o, const cli_info_facts *f) {
  cli_say(o, "\nformat           %10s  %11s   bytes in %s\n", "stored", "per product",
          cli_type_words(f->precision));
  for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++) {
    kcl_cost c;
    const char *name = kcl_list(KCL_FORMATS, i).name;
    CLI_CALL(cli_lib(kcl_format_cost(ctx, &f->s, f->precision, name, &c)));
    cli_say(o, "%-15s  %10s  %11s   %s%s\n", name, cli_bytes(c.bytes_stored).s,
            cli_bytes(c.bytes_product).s, c.refusal ? "refused: " : "", c.refusal ? c.refusal : "");
  }
  return 0;
}

static void json_structure(cJSON *o, const kcl_stats *s) {
  cJSON *r = cJSON_AddObjectToObject(o, "row_length");
  cli_json_count(r, "min", s->row_min);
  cli_json_count(r, "max", s->row_max);
  cli_json_number(r, "mean", s->row_mean);
  cli_json_number(r, "deviation_percent", s->row_deviation);
  cli_json_count(o, "empty_rows", s->empty_rows);
  cli_json_zeros(o, s->zero_rows, s->first_zero_row, s->zero_cols, s->first_zero_col);
  cli_json_count(o, "explicit_zeros", s->explicit_zeros);
  cli_json_count(o, "zero_diagonal", s->zero_diagonal);
  cli_json_count(o, "bandwidth", s->bandwidth);
  cli_json_count(o, "diagonals", s->diagonals);
  cli_json_count(o, "row_patterns", s->row_patterns);
  cli_json_count(o, "distinct_pairs", s->distinct_pairs);
  cli_json_count(o, "distinct_values", s->distinct_values);
  cli_json_bool(o, "values_fit_float", s->values_fit_float);
  cli_json_bool(o, "hermitian", s->hermitian);
  cli_json_bool(o, "symmetric", s->symmetric);
  cli_json_bool(o, "shifted_skew", s->shifted_skew);
  cli_json_number(o, "asymmetry", s->asymmetry);
  cli_json_bool(o, "positive_diagonal", s->positive_diagonal);
  cli_json_number(o, "diagonal_ratio", s->diagonal_ratio);
  cli_json_number(o, "row_ratio", s->row_ratio);
  cli_json_number(o, "dominant_rows", s->dominant_rows);
  cli_json_number(o, "norm_inf", s->norm_inf);
}

static int json_formats(kcl_context *ctx, cJSON *o, const cli_info_facts *f) {
  cli_json_letter(o, "precision", f->precision);
  cJSON *list = cJSON_AddArrayToObject(o, "formats");
  for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++) {
    kcl_cost c;
    const char *name = kcl_list(KCL_FORMATS, i).name;
    CLI_CALL(cli_lib(kcl_format_cost(ctx, &f->s, f->precision, name, &c)));
    cJSON *one = cli_json_item(list);
    cli_json_text(one, "format", name);
    cli_json_number(one, "bytes_stored", c.bytes_stored);
    cli_json_number(one, "bytes_per_product", c.bytes_product);
    if (c.refusal) cli_json_text(one, "refused", c.refusal);
  }
  return 0;
}

static int describe_json(kcl_context *ctx, cJSON *o, const cli_info_facts *f) {
  cli_json_matrix(o, f->path, f->A);
  json_structure(o, &f->s);
  return json_formats(ctx, o, f);
}

static int draw_info(const cli_options *o, const cli_info_facts *f) {
  char title[256];
  snprintf(title, sizeof title, "%s: %s x %s, %s nonzeros", cli_base(f->path),
           cli_count(f->A->rows).s, cli_count(f->A->cols).s, cli_count(f->A->nnz).s);
  return cli_plot_structure(o->plot, title, f->A);
}

static int say_all(kcl_context *ctx, const cli_options *o, const cli_info_facts *f,
                   double seconds) {
  cli_report_matrix(o, f->path, f->A, seconds);
  say_structure(o, &f->s);
  say_warnings(o, &f->s);
  say_solver(o, &f->s);
  return say_formats(ctx, o, f);
}

typedef struct results { /* of all matrices */
  cJSON *list;
  cli_buffer csv;
} results;

/* Shows the arrays of a matrix instead of the rest. */
static int show_stored(kcl_context *ctx, const cli_options *o, const cli_info_facts *f,
                       double seconds, cJSON *out) {
  cli_report_matrix(o, f->path, f->A, seconds);
  cli_json_matrix(out, f->path, f->A);
  return cli_info_show_arrays(ctx, o, f, out);
}

static int show_facts(kcl_context *ctx, const cli_options *o, const cli_info_facts *f,
                      double seconds, cJSON *out, FILE *csv) {
  int rc = describe_json(ctx, out, f);
  if (!rc && o->csv) rc = cli_info_csv_line(ctx, csv, f);
  if (!rc && o->count > 1)
    cli_info_table_line(o, f);
  else if (!rc)
    rc = say_all(ctx, o, f, seconds);
  return rc || !o->plot ? rc : draw_info(o, f);
}

static int describe_matrix(kcl_context *ctx, const cli_options *o, const char *path, results *all) {
  int rc;
  cli_info_facts f = {.path = path};
  double begin = cli_now();
  CLI_TRY(cli_matrix_load(ctx, o, path, &f.A, &f.precision));
  double seconds = cli_now() - begin;
  cli_busy(o, "counting");
  CLI_TRY(cli_lib(kcl_csr_stats(ctx, f.A, &f.s)));
  cJSON *one = cli_json_item(all->list);
  if (o->arrays)
    rc = show_stored(ctx, o, &f, seconds, one);
  else
    rc = show_facts(ctx, o, &f, seconds, one, all->csv.f);
done:
  kcl_csr_free(&f.A);
  return rc;
}

/* Writes the CSV and the JSON: an object for one matrix, a list for several. */
static int write_info_files(const cli_options *o, results *all) {
  int rc = cli_json_write(o->json, o->count > 1 ? all->list : cJSON_GetArrayItem(all->list, 0));
  if (o->csv && !rc) rc = cli_buffer_write(&all->csv, o->csv);
  return rc;
}

/* Describes all matrices. A file that cannot be read does not stop the others. */
static int run_info(kcl_context *ctx, const cli_options *o) {
  int rc, first = 0;
  results all = {.list = cJSON_CreateArray()};
  kcl_device d;
  if (o->plot && o->count > 1) CLI_TRY(cli_fail(KCL_USAGE, "--plot draws one matrix"));
  CLI_TRY(cli_info_check_arrays(o));
  if (o->layout) setenv("KRYLOCL_LAYOUT", o->layout, 1);
  CLI_TRY(cli_device(ctx, o, &d));
  if (o->csv) CLI_TRY(cli_buffer_open(&all.csv));
  if (o->csv) cli_info_csv_head(all.csv.f);
  if (o->count > 1) cli_info_table_head(o);
  for (int i = 0; i < o->count; i++)
    if ((rc = describe_matrix(ctx, o, o->files[i], &all)) && !first) first = rc;
  if (cJSON_GetArraySize(all.list)) rc = write_info_files(o, &all);
  rc = first ? first : rc;
done:
  cli_buffer_free(&all.csv);
  cJSON_Delete(all.list);
  return rc;
}

const cli_command cli_info = {
    .name = "info",
    .operands = "A.mtx|poisson2d:300...",
    .summary = "structure, symmetry, and the predicted bytes of each format",
    .options = "precision device arrays formats json csv plot quiet | layout threads cache "
               "index-base durable",
    .min = 1,
    .max = 1 << 20,
    .reads = true,
    .run = run_info,
    .notes =
        "Bytes are predicted for --precision on --device, whose memory limits the formats. --plot "
        "draws the non-zero structure: darker where a cell of the raster has more entries.\n"
        "\n"
        "Several matrices: a table with a line for each. --csv: the same with all counts, and the "
        "stored bytes of every format, empty where it refuses the matrix. A file that cannot be "
        "read does not stop the others.\n"
        "\n"
        "--arrays prints instead the arrays of a small matrix in all formats, or in those of "
        "--format, element by element as the kernels read them. A line begins with the number of "
        "its first element; \"26 x 0\": so much padding in place of absent rows. Rows and columns "
        "count from 0 there. --plot FILE.svg draws the arrays of one format, elements in the "
        "colour of their row. --layout gpu: as for GPUs, on any OpenCL device.\n"
        "\n"
        "--json: one object, of several matrices a list of them:\n"
        "  matrix {file rows cols nnz stored symmetry field} row_length {min max mean "
        "deviation_percent} empty_rows zero_rows [first_zero_row (from 1)] zero_columns "
        "[first_zero_column] explicit_zeros zero_diagonal bandwidth diagonals row_patterns "
        "distinct_pairs distinct_values (65,537: more than 65,536) values_fit_float hermitian "
        "symmetric shifted_skew asymmetry positive_diagonal diagonal_ratio row_ratio dominant_rows "
        "norm_inf precision, and formats: a list of {format bytes_stored bytes_per_product "
        "[refused]}\n"
        "  with --arrays: matrix, and storage: a list of {format [refused] integers {...} "
        "arrays: a list of {name type count [values]}}, complex values as pairs of numbers\n"};
