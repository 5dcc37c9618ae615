/* Break-even: the iterations after which a format's set-up pays, and the products after which a device repays the upload
 * of the matrix against the native CPU. */
#include "cli/bench/bench.h"
#include "cli/ui/terminal.h"

double cli_bench_setup(const cli_bench_row *r) {
  const kcl_bench_row *m = &r->measured;
  return m->seconds_convert + m->seconds_upload + m->seconds_compile;
}

/* Seconds of set-up without the first compilation: the next run finds its programs in the cache. */
static double repeated_setup(const cli_bench_row *r) {
  return cli_bench_setup(r) - (r->measured.compiled ? r->measured.seconds_compile : 0);
}

bool cli_bench_same_group(const cli_bench_row *a, const cli_bench_row *b) {
  return a->matrix == b->matrix && a->place == b->place && a->precision == b->precision &&
         a->nrhs == b->nrhs && !strcmp(a->solver, b->solver) && !strcmp(a->precond, b->precond);
}

/* True for a measured row of a format that stores the arrays of CSR unchanged. */
static bool is_plain_csr(const cli_bench_row *r) {
  static const char *const names[] = {"csr-scalar", "csr-vector", "csr-unrolled", "csr-group",
                                      "csr-lanes"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(r->format, names[i])) return r->state == CLI_BENCH_OK;
  return false;
}

/* The number N of iterations from which set-up and N iterations cost less than those of the fastest plain CSR. */
cli_bench_break_even cli_bench_pays(const cli_bench_run *b, const cli_bench_row *r) {
  cli_bench_break_even e = {.after = INFINITY};
  for (int i = 0; i < b->row_count && r->place >= 0; i++) {
    const cli_bench_row *c = &b->rows[i];
    if (!is_plain_csr(c) || !cli_bench_same_group(c, r)) continue;
    if (!e.against || cli_bench_per_rhs(c) < cli_bench_per_rhs(e.against)) e.against = c;
  }
  if (e.against == r) e.against = NULL;
  if (!e.against) return e;
  double more = repeated_setup(r) - repeated_setup(e.against),
         gain = (cli_bench_per_rhs(e.against) - cli_bench_per_rhs(r)) * r->nrhs;
  if (gain > 0)
    e.after = more > 0 ? ceil(more / gain) : 0;
  else if (more < 0)
    e.until = gain < 0 ? floor(more / gain) : INFINITY;
  return e;
}

static bool is_native(const cli_bench_run *b, const cli_bench_row *r) {
  return r->place >= 0 && b->places[r->place].device.platform < 0;
}

/* The fastest product of the native CPU with the matrix, precision and right-hand sides of r; NULL: none was measured. */
static const cli_bench_row *find_native_product(const cli_bench_run *b, const cli_bench_row *r) {
  const cli_bench_row *best = NULL;
  for (int i = 0; i < b->row_count; i++) {
    const cli_bench_row *c = &b->rows[i];
    if (!is_native(b, c) || c->state != CLI_BENCH_OK || c->matrix != r->matrix ||
        c->type != r->type || c->measured.nrhs != r->measured.nrhs)
      continue;
    if (!best || c->product.median < best->product.median) best = c;
  }
  return best;
}

/* The least number of products that gain `once` seconds; infinite: they gain nothing. */
static double count_repaying_products(double once, double gain) {
  return gain > 0 ? fmax(1, ceil(once / gain)) : INFINITY;
}

cli_bench_upload_repaid cli_bench_repays_upload(const cli_bench_run *b, const cli_bench_row *r) {
  cli_bench_upload_repaid e = {.staying = INFINITY, .moving = INFINITY};
  if (!r->transfer.count || r->state != CLI_BENCH_OK || is_native(b, r)) return e;
  e.against = find_native_product(b, r);
  if (!e.against) return e;
  const double upload = r->measured.seconds_upload, product = r->product.median,
               vectors = fmax(r->transfer.median - product, 0), cpu = e.against->product.median;
  e.staying = count_repaying_products(upload + vectors, cpu - product);
  e.moving = count_repaying_products(upload, cpu - product - vectors);
  return e;
}

/* The row of a matrix on a place whose upload is repaid first; NULL: none of them can tell. */
static const cli_bench_row *find_first_repaid(const cli_bench_run *b, int matrix, int place) {
  const cli_bench_row *best = NULL;
  double least = INFINITY;
  for (int i = 0; i < b->row_count; i++) {
    const cli_bench_row *r = &b->rows[i];
    if (r->matrix != matrix || r->place != place) continue;
    const cli_bench_upload_repaid e = cli_bench_repays_upload(b, r);
    if (!e.against || (best && e.staying >= least)) continue;
    best = r, least = e.staying;
  }
  return best;
}

/* "after 51 products", or "never". */
static void write_products(double n, char *text, size_t capacity) {
  if (isfinite(n))
    snprintf(text, capacity, "after %s product%s", cli_whole(n).s, n > 1 ? "s" : "");
  else
    snprintf(text, capacity, "never");
}

void cli_bench_say_uploads(const cli_bench_run *b, int matrix) {
  for (int p = 0; p < b->place_count; p++) {
    const cli_bench_row *r = find_first_repaid(b, matrix, p);
    char line[400], staying[64], moving[64];
    if (!r) continue;
    const cli_bench_upload_repaid e = cli_bench_repays_upload(b, r);
    write_products(e.staying, staying, sizeof staying);
    write_products(e.moving, moving, sizeof moving);
    const int n = snprintf(line, sizeof line,
                           "break-even of %s (%s) against the CPU (%s): %s if x and y stay on the "
                           "device, %s if they move in each product",
                           b->places[p].place, r->format, e.against->format, staying, moving);
    cli_output_begin();
    cli_wrap(cli_out(b->o), 0, 0, line, n);
    cli_output_end();
  }
}
