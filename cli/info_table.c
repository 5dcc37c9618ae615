/* krylocl info of several matrices: a line of a table per matrix, and the CSV with a line per matrix. */
#include "cli/info.h"
#include "cli/ui/csv.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"

const char *cli_info_symmetry(const kcl_stats *s) {
  if (s->hermitian) return s->symmetric ? "symmetric" : "Hermitian";
  if (s->symmetric) return "complex symmetric";
  if (s->asymmetry <= KCL_MAX_ASYMMETRY) return "Hermitian up to rounding";
  if (!s->shifted_skew) return "not symmetric";
  return s->zero_diagonal == s->rows ? "skew-Hermitian" : "skew-Hermitian but for its diagonal";
}

void cli_info_table_head(const cli_options *o) {
  cli_say(o, "%-22s %11s %11s %13s %7s %8s %7s %7s %11s %9s  %s\n", "matrix", "rows", "columns",
          "nonzeros", "min/row", "mean", "max/row", "dev. %", "bandwidth", "diagonals", "values");
}

void cli_info_table_line(const cli_options *o, const cli_info_facts *f) {
  const kcl_stats *s = &f->s;
  cli_say(o, "%-22s %11s %11s %13s %7s %8.2f %7s %7.1f %11s %9s  %s %s\n", cli_base(f->path),
          cli_count(s->rows).s, cli_count(s->cols).s, cli_count(s->nnz).s, cli_count(s->row_min).s,
          s->row_mean, cli_count(s->row_max).s, s->row_deviation, cli_count(s->bandwidth).s,
          cli_count(s->diagonals).s, kcl_field_name(f->A->field), cli_info_symmetry(s));
}

static const char counts[] =
    "rows,cols,nnz,stored,row_min,row_max,empty_rows,explicit_zeros,zero_diagonal,bandwidth,"
    "diagonals,row_patterns,distinct_pairs,distinct_values,zero_rows,zero_columns";
static const char numbers[] =
    "row_mean,row_deviation_percent,diagonal_ratio,dominant_rows,norm_inf";

void cli_info_csv_head(FILE *f) {
  fprintf(f, "matrix,field,symmetry,solver,precision,%s,%s", counts, numbers);
  for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++)
    fprintf(f, ",bytes_%s", kcl_list(KCL_FORMATS, i).name);
  fputc('\n', f);
}

static void csv_structure(FILE *f, const cli_info_facts *x) {
  const kcl_stats *s = &x->s;
  const int64_t whole[] = {s->rows,
                           s->cols,
                           s->nnz,
                           s->stored,
                           s->row_min,
                           s->row_max,
                           s->empty_rows,
                           s->explicit_zeros,
                           s->zero_diagonal,
                           s->bandwidth,
                           s->diagonals,
                           s->row_patterns,
                           s->distinct_pairs,
                           s->distinct_values,
                           s->zero_rows,
                           s->zero_cols};
  const double real[] = {s->row_mean, s->row_deviation, s->diagonal_ratio, s->dominant_rows,
                         s->norm_inf};
  cli_csv_text(f, x->path);
  fprintf(f, ",%s,", kcl_field_name(x->A->field));
  cli_csv_text(f, cli_info_symmetry(s));
  fprintf(f, ",%s,%c", kcl_auto_solver(s), kcl_type_letter(x->precision));
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    fprintf(f, ",%lld", (long long)whole[i]);
  for (size_t i = 0; i < sizeof real / sizeof *real; i++) cli_csv_number(f, real[i]);
}

/* The field of a format that refuses the matrix is empty. */
int cli_info_csv_line(kcl_context *ctx, FILE *f, const cli_info_facts *x) {
  int rc = 0;
  csv_structure(f, x);
  for (int i = 0; i < kcl_list_size(KCL_FORMATS) && !rc; i++) {
    kcl_cost c;
    rc = cli_lib(kcl_format_cost(ctx, &x->s, x->precision, kcl_list(KCL_FORMATS, i).name, &c));
    cli_csv_number(f, rc || c.refusal ? NAN : c.bytes_stored);
  }
  fputc('\n', f);
  return rc;
}
