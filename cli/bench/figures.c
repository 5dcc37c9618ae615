/* Results from the samples of krylocl bench: medians, rates, speed-up, and the order of the rows. They
 * are computed from the samples and never read from files. */
#include "cli/bench/bench.h"

void cli_bench_summarise(cli_bench_row *r) {
  const kcl_samples *i = &r->measured.iteration, *p = &r->measured.product,
                    *t = &r->measured.transfer;
  r->iteration = r->product = r->transfer = (kcl_summary){0};
  if (i->count) kcl_summarise(i->seconds, i->count, &r->iteration);
  if (p->count) kcl_summarise(p->seconds, p->count, &r->product);
  if (t->count) kcl_summarise(t->seconds, t->count, &r->transfer);
}

static const char *const states[] = {"", "ok", "refused: ", "same as ", "failed: "};

void cli_bench_status(const cli_bench_row *r, char *text, size_t capacity) {
  snprintf(text, capacity, "%s%s", states[r->state], r->why);
}

void cli_bench_read_status(const char *text, cli_bench_row *r) {
  r->state = strcmp(text, "ok") ? CLI_BENCH_TODO : CLI_BENCH_OK;
  for (int i = CLI_BENCH_REFUSED; i <= CLI_BENCH_FAILED && r->state == CLI_BENCH_TODO; i++) {
    size_t n = strlen(states[i]);
    if (strncmp(text, states[i], n)) continue;
    r->state = (cli_bench_state)i;
    snprintf(r->why, sizeof r->why, "%s", text + n);
  }
}

bool cli_bench_alone(const cli_bench_row *r) { return !strcmp(r->solver, "none"); }

const kcl_summary *cli_bench_time(const cli_bench_row *r) {
  return cli_bench_alone(r) ? &r->product : &r->iteration;
}

const kcl_samples *cli_bench_samples(const cli_bench_row *r) {
  return cli_bench_alone(r) ? &r->measured.product : &r->measured.iteration;
}

bool cli_bench_noisy(const cli_bench_row *r) {
  const kcl_summary *t = cli_bench_time(r);
  return t->high - t->low > CLI_BENCH_NOISE * t->median;
}

bool cli_bench_inconsistent(const cli_bench_row *r) {
  return r->state == CLI_BENCH_OK && !cli_bench_alone(r) && r->iteration.count &&
         r->product.median > r->iteration.median;
}

double cli_bench_per_rhs(const cli_bench_row *r) {
  return cli_bench_time(r)->median / r->measured.nrhs;
}

double cli_bench_rate(const cli_bench_row *r) {
  const kcl_bench_row *m = &r->measured;
  return (cli_bench_alone(r) ? m->bytes_product : m->bytes_iteration) / cli_bench_time(r)->median;
}

double cli_bench_fraction(const cli_bench_run *b, const cli_bench_row *r) {
  double stream = r->place < 0 ? 0 : b->places[r->place].stream.rate;
  return stream > 0 ? cli_bench_rate(r) / stream : 0;
}

double cli_bench_mnnz(const cli_bench_run *b, const cli_bench_row *r) {
  return r->measured.nrhs * (double)b->matrices[r->matrix].nnz / r->product.median * 1e-6;
}

double cli_bench_gflops(const cli_bench_run *b, const cli_bench_row *r) {
  return (kcl_type_complex(r->type) ? 8 : 2) * cli_bench_mnnz(b, r) * 1e-3;
}

bool cli_bench_dense(const cli_bench_row *r) {
  return !strcmp(r->format, r->place < 0 ? CLI_BENCH_DENSE : "dense");
}

bool cli_bench_base_of(const cli_bench_row *reference, const cli_bench_row *r) {
  return reference->place < 0 && reference->matrix == r->matrix && reference->type == r->type &&
         reference->origin == r->origin && cli_bench_dense(reference) == cli_bench_dense(r);
}

double cli_bench_speedup(const cli_bench_run *b, const cli_bench_row *r) {
  for (int i = 0; i < b->row_count; i++) {
    const cli_bench_row *s = &b->rows[i];
    if (s->state == CLI_BENCH_OK && cli_bench_base_of(s, r))
      return s->product.median * r->measured.nrhs / r->product.median;
  }
  return 0;
}

double cli_bench_with_matrix(const cli_bench_row *r) {
  return r->transfer.median + r->measured.seconds_upload;
}

cli_bench_row *cli_bench_fastest(const cli_bench_run *b, int matrix, int place, bool alone) {
  cli_bench_row *best = NULL;
  for (int i = 0; i < b->row_count; i++) {
    cli_bench_row *r = &b->rows[i];
    if (r->state != CLI_BENCH_OK || r->matrix != matrix || r->place < 0) continue;
    if (cli_bench_alone(r) != alone || (place >= 0 && r->place != place)) continue;
    if (!best || cli_bench_per_rhs(r) < cli_bench_per_rhs(best)) best = r;
  }
  return best;
}

static struct {
  const cli_bench_run *b;
  bool alone;
} sorting;

/* Orders rows by time. The reference, which has no iteration, follows rows that have one. */
static int compare_row_times(const void *a, const void *b) {
  const int i = *(const int *)a, j = *(const int *)b;
  const cli_bench_row *x = &sorting.b->rows[i], *y = &sorting.b->rows[j];
  bool last = !sorting.alone && x->place < 0, other_last = !sorting.alone && y->place < 0;
  double s = cli_bench_per_rhs(x), t = cli_bench_per_rhs(y);
  if (last != other_last) return last - other_last;
  return s < t ? -1 : s > t ? 1 : i - j;
}

int *cli_bench_sorted(const cli_bench_run *b, int matrix, bool alone, int *count) {
  int *list = malloc(((size_t)b->row_count + 1) * sizeof *list);
  *count = 0;
  for (int i = 0; list && i < b->row_count; i++) {
    const cli_bench_row *r = &b->rows[i];
    if (r->state == CLI_BENCH_OK && r->matrix == matrix &&
        (cli_bench_alone(r) == alone || r->place < 0))
      list[(*count)++] = i;
  }
  sorting.b = b, sorting.alone = alone;
  if (list) qsort(list, (size_t)*count, sizeof *list, compare_row_times);
  return list;
}
