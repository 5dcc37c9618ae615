/* The cells of the tables of krylocl bench. */
#include "cli/bench/bench.h"

cli_text cli_bench_us(double seconds) {
  cli_text t = {"-"};
  double v = seconds * 1e6;
  if (!(v > 0)) return t;
  if (v >= 999.5) return cli_whole(v + 0.5);
  snprintf(t.s, sizeof t.s, "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
  return t;
}

/* Longer side of the interval around the median, in percent; ~: noisy. */
cli_text cli_bench_spread(const cli_bench_row *r) {
  const kcl_summary *t = cli_bench_time(r);
  const double half = 100 * fmax(t->high - t->median, t->median - t->low) / t->median;
  cli_text s;
  if (t->confidence < 0.95)
    snprintf(s.s, sizeof s.s, "%d sample%s", t->count, t->count == 1 ? "" : "s");
  else
    snprintf(s.s, sizeof s.s, "%s%.*f %%", cli_bench_noisy(r) ? "~" : "", half < 9.95 ? 1 : 0,
             half);
  return s;
}

static cli_text fraction_cell(const cli_bench_run *b, const cli_bench_row *r) {
  cli_text t = {"-"};
  double f = cli_bench_fraction(b, r);
  if (f > 1)
    strcpy(t.s, "in cache");
  else if (f > 0)
    snprintf(t.s, sizeof t.s, "%.0f %%", 100 * f);
  return t;
}

static cli_text pays_cell(const cli_bench_run *b, const cli_bench_row *r) {
  cli_text t = {"-"};
  cli_bench_break_even e = cli_bench_pays(b, r);
  if (!e.against) return t;
  if (e.until > 0 && isfinite(e.until))
    snprintf(t.s, sizeof t.s, "up to %.30s", cli_whole(e.until).s);
  else if (isinf(e.after) && !(e.until > 0))
    strcpy(t.s, "never");
  else if (isinf(e.after) || e.after == 0)
    strcpy(t.s, "at once");
  else
    t = e.after < 1e15 ? cli_whole(e.after) : (cli_text){"never"};
  return t;
}

cli_text cli_bench_factor(double v) {
  cli_text t = {"-"};
  if (v > 0) snprintf(t.s, sizeof t.s, "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
  return t;
}

static cli_text threads_cell(const cli_bench_run *b, const cli_bench_row *r) {
  cli_text none = {"-"};
  if (r->place < 0) return cli_count(1);
  const kcl_device *d = &b->places[r->place].device;
  return d->platform < 0 ? cli_count(d->compute_units) : none;
}

/* Time of a product; ! marks one longer than the iteration that contains it. */
static cli_text product_time(const cli_bench_row *r) {
  cli_text t;
  snprintf(t.s, sizeof t.s, "%s%.30s", cli_bench_inconsistent(r) ? "!" : "",
           cli_bench_us(r->product.median).s);
  return t;
}

static cli_text number_cell(const cli_bench_run *b, const cli_bench_row *r, cli_bench_column c) {
  cli_text t = {"-"};
  const bool reference = r->place < 0;
  switch (c) {
  case CLI_BENCH_THREADS: return threads_cell(b, r);
  case CLI_BENCH_ITERATION: return reference ? t : cli_bench_us(r->iteration.median);
  case CLI_BENCH_PER_RHS: return cli_bench_us(cli_bench_per_rhs(r));
  case CLI_BENCH_SPREAD: return cli_bench_spread(r);
  case CLI_BENCH_PRODUCT: return product_time(r);
  case CLI_BENCH_WITH_VECTORS: return cli_bench_us(r->transfer.median);
  case CLI_BENCH_WITH_MATRIX: return r->transfer.count ? cli_bench_us(cli_bench_with_matrix(r)) : t;
  case CLI_BENCH_STREAM: return fraction_cell(b, r);
  case CLI_BENCH_SPEEDUP: return cli_bench_factor(cli_bench_speedup(b, r));
  case CLI_BENCH_SETUP: return reference ? t : cli_bench_us(cli_bench_setup(r) * 1e-3);
  case CLI_BENCH_PAYS: return pays_cell(b, r);
  case CLI_BENCH_GBYTES: snprintf(t.s, sizeof t.s, "%.1f", cli_bench_rate(r) * 1e-9); return t;
  case CLI_BENCH_STORED: return cli_bytes(r->measured.bytes_stored);
  case CLI_BENCH_GFLOPS: return cli_bench_factor(cli_bench_gflops(b, r));
  default: return t;
  }
}

const char *cli_bench_cell(const cli_bench_run *b, const cli_bench_row *r, cli_bench_column c,
                           cli_text *buffer) {
  const bool reference = r->place < 0;
  switch (c) {
  case CLI_BENCH_FORMAT: return r->format;
  case CLI_BENCH_PLACE: return reference ? "cpu" : b->places[r->place].place;
  case CLI_BENCH_PRECISION: *buffer = (cli_text){{kcl_type_letter(r->type)}}; return buffer->s;
  case CLI_BENCH_METHOD: return cli_bench_alone(r) ? "-" : r->method;
  case CLI_BENCH_KERNEL: return r->measured.kernel;
  default: *buffer = number_cell(b, r, c); return buffer->s;
  }
}
