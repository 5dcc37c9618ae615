/* krylocl bench: what an iteration costs in each storage format. For each format: predict its
 * bytes (and leave it when refused), build it, check its product, then time the solver's loop with
 * the stop tests off. Up to 11 samples in about three seconds a format; medians are reported. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 11 };
static const double budget = 3; /* seconds a format, after a first sample that warms up */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, ascending);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The first sample tells how many fit in the budget, and counts only when none does. */
static int sample(kcl_solver *s, const cli_options *o, cli_row *r) {
  double iteration[SAMPLES], product[SAMPLES], begin = cli_now();
  int n = 1, rc = kcl_bench(s, (int)o->iterations, 1, iteration, product, &r->validated);
  double took = cli_now() - begin;
  if (rc || !r->validated) return rc;
  if (took < budget / 2) {
    double fit = budget / (took > 1e-6 ? took : 1e-6);
    n = fit > SAMPLES ? SAMPLES : fit > 3 ? (int)fit : 3;
    rc = kcl_bench(s, (int)o->iterations, n, iteration, product, &r->validated);
    if (rc || !r->validated) return rc;
  }
  r->median = median(iteration, n), r->min = iteration[0], r->max = iteration[n - 1];
  r->product = median(product, n);
  return KCL_OK;
}

static void status(cli_row *r, const char *word, const char *why) {
  snprintf(r->status, sizeof r->status, "%s: %s", word, why);
}

/* What went wrong is told in the row; the exit code is returned for the end. */
static int measure(kcl *ctx, const cli_options *o, const kcl_csr *A, const kcl_stats *stats,
                   const cli_table *t, cli_row *r) {
  kcl_cost cost;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  kcl_options asked = kcl_defaults;
  asked.solver = t->solver, asked.format = r->format, asked.precision = t->precision;
  asked.restart = (int)o->restart, asked.columns = (int)t->columns;
  if (o->precond) asked.precond = o->precond;
  int rc = kcl_format_cost(ctx, stats, t->precision, r->format, &cost);
  if (!rc && cost.refusal) {
    r->bytes_stored = cost.bytes_stored;
    status(r, "refused", cost.refusal);
    return KCL_MEMORY;
  }
  if (!rc) rc = kcl_setup(ctx, A, &asked, &s);
  if (rc) {
    status(r, rc == KCL_MEMORY ? "refused" : "failed", kcl_error(ctx));
    return rc;
  }
  kcl_solver_info(s, &info);
  snprintf(r->kernel, sizeof r->kernel, "%s", info.kernel);
  r->columns = info.columns;
  r->bytes_stored = info.bytes_stored, r->bytes_per_iteration = kcl_bytes_per_iteration(s);
  rc = sample(s, o, r);
  r->ok = !rc && r->validated;
  if (r->ok)
    strcpy(r->status, "ok");
  else if (rc)
    status(r, "failed", kcl_error(ctx));
  else
    status(r, "failed", "the product differs from the reference by more than rounding explains");
  kcl_solver_free(&s);
  return rc ? rc : r->ok ? 0 : CLI_CHECK_FAILED;
}

/* The rows to fill: "all" or the names asked for, in their order. */
static void name_rows(const char *list, cli_table *t) {
  const int most = (int)(sizeof t->row / sizeof *t->row);
  if (!list || strcmp(list, "all") == 0) {
    for (int i = 0; i < kcl_list_size(KCL_FORMATS) && t->count < most; i++)
      snprintf(t->row[t->count++].format, sizeof t->row->format, "%s",
               kcl_list(KCL_FORMATS, i).name);
    return;
  }
  for (const char *s = list; t->count < most; s++) {
    size_t n = strcspn(s, ",");
    snprintf(t->row[t->count++].format, sizeof t->row->format, "%.*s", (int)n, s);
    if (!*(s += n)) return;
  }
}

static const char *suited(const cli_options *o, const kcl_stats *s) {
  if (o->solver) return o->solver;
  if (s->rows != s->cols) return "cgls";
  return s->hermitian && s->positive_diagonal ? "cg" : "bicg";
}

/* Refused formats are no failure as long as one could be measured. */
static int measure_all(kcl *ctx, const cli_options *o, const kcl_csr *A, const kcl_stats *stats,
                       cli_table *t) {
  int failed = 0, measured = 0;
  for (int i = 0; i < t->count; i++) {
    int rc = measure(ctx, o, A, stats, t, &t->row[i]);
    measured += t->row[i].ok;
    if (rc && rc != KCL_MEMORY && !failed) failed = rc;
  }
  return failed ? failed : measured ? 0 : KCL_MEMORY;
}

static int bench_file(kcl *ctx, const cli_options *o, const char *path, cli_table *t) {
  int rc;
  kcl_csr *A = NULL;
  kcl_stats stats;
  double begin = cli_now();
  TRY(cli_matrix_load(ctx, o, path, &A, &t->precision));
  report_matrix(o, path, A, cli_now() - begin);
  TRY(cli_lib(ctx, kcl_csr_stats(ctx, A, &stats)));
  t->file = path, t->solver = suited(o, &stats);
  t->rows = A->rows, t->cols = A->cols, t->nnz = A->nnz, t->columns = o->columns ? o->columns : 1;
  name_rows(o->formats, t);
  if (kcl_stream_measure(ctx, &t->stream)) t->stream = 0;
  rc = measure_all(ctx, o, A, &stats, t);
  bench_say(o, t);
  cli_row *best = bench_fastest(t);
  if (o->mixed && best && !rc) rc = bench_mixed(ctx, o, A, t, best);
  if (best && best->compared) bench_mixed_say(o, best);
done:
  kcl_csr_free(&A);
  return rc;
}

static int run(kcl *ctx, const cli_options *o) {
  int rc, first = 0, count = 0;
  kcl_device device;
  cli_table *tables = calloc((size_t)o->count, sizeof *tables);
  TRY(tables ? 0 : cli_fail(KCL_MEMORY, "out of memory: the results"));
  TRY(cli_device(ctx, o, &device));
  report_device(o, &device);
  for (int i = 0; i < o->count; i++) {
    cli_table *t = &tables[count];
    *t = (cli_table){.device = device};
    rc = bench_file(ctx, o, o->files[i], t);
    count += t->count > 0;
    if (rc && !first) first = rc;
  }
  if (count && o->json) TRY(bench_json(o, tables, count));
  if (count && o->csv) TRY(bench_csv(o, tables, count));
  rc = first;
done:
  free(tables);
  return rc;
}

const cli_command cli_bench = {
    .name = "bench",
    .operands = "A.mtx...",
    .summary = "time an iteration in every storage format",
    .options =
        "formats iterations columns solver restart precond precision mixed device threads json "
        "csv quiet cache",
    .min = 1,
    .max = 1 << 20,
    .lists = true,
    .run = run,
    .notes =
        "The solver is cg when the matrix is Hermitian with a positive diagonal, cgls when it is\n"
        "rectangular, else bicg. Times\n"
        "are medians of up to 11 samples of --iterations iterations each, with the stop tests "
        "off,\n"
        "after the product was checked against a reference with a derived bound. GB/s counts the\n"
        "bytes an iteration must move, of stream is the fraction of the device's own rate. Mnnz/s\n"
        "and GFlop/s are of the product alone: 2 operations a nonzero, 8 when complex.\n"
        "--columns K times K right-hand sides at once: us/iter is then an iteration of all, us/col "
        "the\n"
        "share of one. A format that cannot do that shows the time of one column in both.\n"
        "--mixed adds whole solves in the fastest format, in double and in mixed precision.\n"
        "Formats refused for their size are listed with the reason; the exit code is 5 only when\n"
        "none was left. A file that cannot be used does not keep the others from being "
        "measured.\n"};
