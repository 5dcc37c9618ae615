/* krylocl bench: time per iteration in each storage format. For each format: predict its bytes (and
 * skip it if it refuses the matrix), build it, validate its product, then time the solver's loop
 * with the convergence tests off. Up to 11 samples in about three seconds per format; medians are
 * reported. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 11 };
static const double budget = 3; /* seconds per format, after a first sample as warm-up */

/* The first sample determines how many fit in the budget, and is used only if no other does. */
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
  r->median = cli_median(iteration, n), r->min = iteration[0], r->max = iteration[n - 1];
  r->product = cli_median(product, n), r->samples = n;
  return KCL_OK;
}

static void status(cli_row *r, const char *word, const char *why) {
  snprintf(r->status, sizeof r->status, "%s: %s", word, why);
}

/* An error is recorded in the row; the exit code is returned. */
static int measure(kcl *ctx, const cli_options *o, const kcl_csr *A, const kcl_stats *stats,
                   const cli_table *t, cli_row *r) {
  kcl_cost cost;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  kcl_options asked = kcl_defaults;
  asked.solver = t->solver, asked.format = r->format, asked.precision = t->precision;
  asked.restart = (int)o->restart, asked.nrhs = (int)t->nrhs;
  asked.precond = o->precond ? o->precond : "none";
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
  r->nrhs = info.nrhs;
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

/* One row per format: all, or those named, in their order. */
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

/* The row at work, and the time left at the mean of those before. */
static void show(const cli_options *o, const cli_table *t, int i, double seconds) {
  cli_status s = {.timed = true};
  double left = i ? seconds / i * (t->count - i) : 0;
  snprintf(s.part[0], sizeof s.part[0], "%s, %d of %d", t->row[i].format, i + 1, t->count);
  if (i) snprintf(s.part[1], sizeof s.part[1], "about %s left", cli_seconds(left).s);
  cli_show(o, &s);
}

/* Refused formats are not a failure if at least one was measured. */
static int measure_all(kcl *ctx, const cli_options *o, const kcl_csr *A, const kcl_stats *stats,
                       cli_table *t) {
  int failed = 0, measured = 0;
  double begin = cli_now();
  for (int i = 0; i < t->count; i++) {
    show(o, t, i, cli_now() - begin);
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
  t->file = path, t->solver = o->solver ? o->solver : kcl_auto_solver(&stats);
  t->rows = A->rows, t->cols = A->cols, t->nnz = A->nnz, t->nrhs = o->nrhs ? o->nrhs : 1;
  name_rows(o->formats, t);
  cli_busy(o, "measuring the memory rate");
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
  if (count && o->json && (rc = bench_json(o, tables, count))) first = rc;
  if (count && o->csv && (rc = bench_csv(o, tables, count))) first = rc;
  rc = first;
done:
  free(tables);
  return rc;
}

const cli_command cli_bench = {
    .name = "bench",
    .operands = "A.mtx...",
    .summary = "time per iteration in every storage format",
    .options = "formats solver precond precision iterations device json csv quiet | nrhs restart "
               "mixed threads cache",

    .min = 1,
    .max = 1 << 20,
    .lists = true,
    .reads = true,
    .run = run,
    .notes =
        "Without --solver the method is that of --solver auto. Times are medians of up to 11 "
        "samples, each the mean of --iterations iterations with the convergence tests off; where "
        "one takes more than a second there is only that one, and the row says so. A format is "
        "timed only if its product agrees with a reference within a derived bound.\n"
        "\n"
        "us/iter: time per iteration; GB/s: bytes moved per iteration (predicted) by that time; of "
        "stream: GB/s by the measured stream rate of the device; Mnnz/s and GFlop/s: the product "
        "alone, 2 operations per entry, 8 if complex.\n"
        "\n"
        "--nrhs K: K right-hand sides at once; us/iter is for all of them, us/rhs is us/iter by K. "
        "A format that cannot share a pass over the matrix iterates one, and both are equal. "
        "--mixed adds whole solves in the fastest format, in double and in mixed precision.\n"
        "\n"
        "A format that refuses the matrix is listed with the reason; the exit code is 5 only if "
        "all of them do. A file that cannot be read does not stop the others.\n"
        "\n"
        "--json: a list with one object per matrix and format:\n"
        "  matrix rows cols nnz format kernel solver precision [nrhs seconds_per_rhs] device "
        "device_place device_kind status bytes_stored validated\n"
        "  and if it was timed: seconds_per_iteration {median min max samples} seconds_per_product "
        "bytes_per_iteration gbytes_per_second stream_gbytes_per_second stream_fraction "
        "mnnz_per_second gflops [in_double in_mixed {converged iterations outer_iterations "
        "true_relative_residual bytes_per_iteration seconds_solve}]\n"};
