/* The times that old and new runs have in common, with their ratios. */
#include "cli/report/compare.h"
#include "cli/ui/say.h"

static const kcl_samples *row_samples(const cli_bench_row *row, bool product) {
  return product ? &row->measured.product : &row->measured.iteration;
}

static bool equal_places(const cli_report_data *a, const cli_bench_row *x, const cli_report_data *b,
                         const cli_bench_row *y) {
  if (x->place < 0 || y->place < 0) return x->place < 0 && y->place < 0;
  return cli_bench_same_place(&a->run.places[x->place], &b->run.places[y->place]);
}

static bool same_row(const cli_report_data *a, const cli_bench_row *x, const cli_report_data *b,
                     const cli_bench_row *y) {
  return cli_bench_same_matrix(&a->run.matrices[x->matrix], &b->run.matrices[y->matrix]) &&
         x->type == y->type && x->nrhs == y->nrhs && !strcmp(x->method, y->method) &&
         cli_bench_alone(x) == cli_bench_alone(y) && !strcmp(x->precond, y->precond) &&
         !strcmp(x->format, y->format) && equal_places(a, x, b, y);
}

/* Finds the row in every file. False: a file lacks it or could not measure it. broken: it failed in a new file. */
static bool find_in_files(const cli_comparison *c, const cli_bench_row *row,
                          const cli_bench_row **found, bool *broken) {
  bool whole = true;
  for (int f = 0; f < 2 * c->runs; f++) {
    const cli_report_data *r = &c->file[f];
    found[f] = NULL;
    for (int i = 0; i < r->run.row_count && !found[f]; i++)
      if (same_row(&c->file[0], row, r, &r->run.rows[i])) found[f] = &r->run.rows[i];
    *broken |= found[f] && f >= c->runs && found[f]->state == CLI_BENCH_FAILED;
    whole = whole && found[f] && found[f]->state == CLI_BENCH_OK;
  }
  return whole;
}

static double least_sample(const kcl_samples *s) {
  double v = INFINITY;
  for (int i = 0; i < s->count; i++) v = fmin(v, s->seconds[i]);
  return v;
}

static double row_median(const cli_bench_row *row, bool product) {
  return (product ? &row->product : &row->iteration)->median;
}

static int by_samples(const kcl_samples *x, const kcl_samples *y, cli_report_pair *p) {
  const double ratio = least_sample(y) / least_sample(x);
  p->least = (cli_rank_test){1, ratio, ratio, ratio, 0};
  return cli_rank_compare(x->seconds, x->count, y->seconds, y->count, &p->typical);
}

static int by_runs(const cli_comparison *c, const cli_bench_row *const *found, cli_report_pair *p) {
  const int n = c->runs;
  CLI_OWNED double *typical = calloc(4 * (size_t)n, sizeof *typical);
  double *least = typical ? typical + 2 * n : NULL;
  int rc = typical ? 0 : KCL_MEMORY;
  for (int f = 0; f < 2 * n && !rc; f++)
    typical[f] = row_median(found[f], p->product),
    least[f] = least_sample(row_samples(found[f], p->product));
  if (!rc) rc = cli_rank_compare(typical, n, typical + n, n, &p->typical);
  if (!rc) rc = cli_rank_compare(least, n, least + n, n, &p->least);
  if (!rc) p->old = cli_median(typical, n), p->new = cli_median(typical + n, n);
  return rc;
}

static int compare_pair(const cli_comparison *c, const cli_bench_row *const *found, bool product,
                        cli_report_pair *p) {
  const cli_bench_row *old = found[0], *new = found[c->runs];
  *p = (cli_report_pair){.row = old,
                         .product = product,
                         .drift = 1,
                         .samples = row_samples(old, product)->count,
                         .old = row_median(old, product),
                         .new = row_median(new, product)};
  for (int f = 0; f < 2 * c->runs; f++)
    if (row_samples(found[f], product)->count < p->samples)
      p->samples = row_samples(found[f], product)->count;
  int rc = p->samples == 0 ? 0
           : c->runs > 1   ? by_runs(c, found, p)
                           : by_samples(row_samples(old, product), row_samples(new, product), p);
  return rc ? cli_fail(rc, "out of memory: the samples") : 0;
}

/* Sets drift to the ratio of the least samples of the reference of the same matrix and type, if the test finds them
 * different. */
static int drift_of(const cli_comparison *c, const cli_bench_row *row, const cli_bench_row **found,
                    double *drift) {
  const cli_bench_run *b = &c->file[0].run;
  bool broken = false;
  cli_report_pair reference;
  for (int i = 0; i < b->row_count; i++) {
    const cli_bench_row *r = &b->rows[i];
    if (r->place >= 0 || r->matrix != row->matrix || r->type != row->type ||
        !find_in_files(c, r, found, &broken))
      continue;
    int rc = compare_pair(c, found, true, &reference);
    if (!rc && (reference.typical.low > 1 || reference.typical.high < 1))
      *drift = reference.least.ratio;
    return rc;
  }
  return 0;
}

/* Adds the pairs of a row: two if both its product and its iteration are timed. */
static int add_pairs(cli_comparison *c, const cli_bench_row *row, const cli_bench_row **found) {
  bool broken = false;
  double drift = 1;
  if (row->state != CLI_BENCH_OK || row->place < 0) return 0;
  const bool whole = find_in_files(c, row, found, &broken);
  c->broken += broken, c->alone += !whole && !broken;
  const int first = c->count;
  for (int product = 0; product < 2 && whole; product++) {
    cli_report_pair *p = &c->list[c->count];
    CLI_CALL(compare_pair(c, found, product, p));
    c->count += p->samples > 0;
  }
  int rc = whole ? drift_of(c, row, found, &drift) : 0;
  for (int i = first; i < c->count; i++) c->list[i].drift = drift;
  return rc;
}

int cli_report_pairs(cli_comparison *c) {
  const cli_bench_run *b = &c->file[0].run;
  CLI_OWNED const cli_bench_row **found = calloc(2 * (size_t)c->runs, sizeof *found);
  c->list = calloc(2 * (size_t)b->row_count + 2, sizeof *c->list);
  CLI_CALL(c->list && found ? 0 : cli_fail(KCL_MEMORY, "out of memory: the rows"));
  for (int i = 0; i < b->row_count; i++) CLI_CALL(add_pairs(c, &b->rows[i], found));
  return 0;
}
