/* krylocl bench for one matrix and one row: load, decide whether there is anything to measure, measure. */
#include "cli/bench/bench.h"
#include "cli/input/input.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/terminal.h"

/* ---------------------------------------------------------------- matrices */

void cli_bench_unload(cli_bench_loaded *m) { kcl_csr_free(&m->A), kcl_csr_free(&m->complex_A); }

static void describe_bench_matrix(const cli_bench_loaded *m, double seconds,
                                  cli_bench_matrix *out) {
  const kcl_stats *s = &m->stats;
  out->known = true, out->seconds_read = seconds;
  out->rows = s->rows;
  out->cols = s->cols;
  out->nnz = s->nnz;
  out->stored = m->A->stored;
  out->row_min = s->row_min;
  out->row_max = s->row_max;
  out->row_mean = s->row_mean;
  out->row_deviation = s->row_deviation, out->bandwidth = s->bandwidth;
  out->diagonals = s->diagonals;
  snprintf(out->symmetry, sizeof out->symmetry, "%s", kcl_symmetry_name(m->A->symmetry));
  snprintf(out->field, sizeof out->field, "%s", kcl_field_name(m->A->field));
  snprintf(out->solver, sizeof out->solver, "%s", kcl_auto_solver(s));
}

int cli_bench_load(kcl_context *ctx, const cli_options *o, cli_bench_matrix *matrix,
                   cli_bench_loaded *m) {
  double begin = cli_now();
  CLI_CALL(cli_read(ctx, o, matrix->file, &m->A, NULL, NULL));
  double seconds = cli_now() - begin;
  cli_busy(o, "counting");
  CLI_CALL(cli_lib(kcl_csr_stats(ctx, m->A, &m->stats)));
  describe_bench_matrix(m, seconds, matrix);
  return cli_bench_picture(m->A, matrix);
}

int cli_bench_matrix_for(kcl_context *ctx, cli_bench_loaded *m, kcl_type type,
                         const kcl_csr **out) {
  int rc = 0;
  *out = m->A;
  if (!kcl_type_complex(type) || kcl_type_complex(m->A->type)) return 0;
  if (!m->complex_A) rc = kcl_csr_convert(ctx, m->A, KCL_Z, &m->complex_A);
  *out = m->complex_A;
  return rc;
}

/* ---------------------------------------------------------------- a row */

static void decide_row(cli_bench_row *r, cli_bench_state state, const char *why) {
  r->state = state;
  snprintf(r->why, sizeof r->why, "%s", why);
}

static int stop_on_interrupt(void *unused) { return (void)unused, cli_interrupted(); }

/* An earlier row that runs the same kernel on this device, or NULL. */
static const cli_bench_row *find_same_loop(const cli_bench_run *b, const cli_bench_row *r,
                                           const kcl_stats *stats, const kcl_cost *cost) {
  const char *mine = cost->same_as ? cost->same_as : r->format;
  if (r->nrhs > 1) return NULL; /* several right-hand sides share a pass in some variants only */
  for (int i = 0; i < b->row_count && &b->rows[i] != r; i++) {
    const cli_bench_row *s = &b->rows[i];
    kcl_cost other;
    if (!cli_bench_same_group(s, r) || s->state != CLI_BENCH_OK) continue;
    if (kcl_format_cost(b->places[r->place].ctx, stats, r->type, s->format, &other)) continue;
    if (!strcmp(other.same_as ? other.same_as : s->format, mine)) return s;
  }
  return NULL;
}

/* True if the row is decided without measuring: refused, or the same as another row. */
static bool is_decided(const cli_bench_run *b, cli_bench_row *r, const kcl_stats *stats) {
  kcl_cost cost;
  kcl_context *ctx = b->places[r->place].ctx;
  if (kcl_format_cost(ctx, stats, r->type, r->format, &cost)) return false;
  r->measured.bytes_stored = cost.bytes_stored;
  const cli_bench_row *same = cost.refusal ? NULL : find_same_loop(b, r, stats, &cost);
  if (cost.refusal) decide_row(r, CLI_BENCH_REFUSED, cost.refusal);
  if (same) decide_row(r, CLI_BENCH_SAME, same->format);
  return cost.refusal || same;
}

/* The dense loop is the base of rows in full storage; without one it is not measured. */
static bool is_reference_needed(const cli_bench_run *b, const cli_bench_row *reference) {
  for (int i = 0; i < b->row_count; i++) {
    const cli_bench_row *r = &b->rows[i];
    if (r->place >= 0 && r->state == CLI_BENCH_OK && cli_bench_base_of(reference, r)) return true;
  }
  return !cli_bench_dense(reference);
}

static kcl_options asked_for(const cli_bench_run *b, const cli_bench_row *r) {
  kcl_options asked;
  kcl_options_init(&asked);
  asked.solver = r->method;
  asked.precond = r->precond;
  asked.format = r->format;
  asked.precision = r->type;
  asked.nrhs = r->nrhs;
  asked.restart = (int)b->o->restart;
  return asked;
}

/* --profile: profiles rows that were measured and validated, in the first round. */
static int profile_row(cli_bench_run *b, cli_bench_row *r, const kcl_csr *A) {
  const kcl_options asked = asked_for(b, r);
  if (!b->o->profile || r->place < 0 || !r->measured.validated || r->rounds || cli_interrupted())
    return 0;
  return cli_bench_profile(b, r, A, &asked);
}

static int measure_row(const cli_bench_run *b, cli_bench_row *r, kcl_context *ctx,
                       const kcl_csr *A) {
  const cli_options *o = b->o;
  const kcl_bench_plan plan = {.iterations = (int)o->iterations,
                               .samples = (int)((o->samples + o->rounds - 1) / o->rounds),
                               .seconds = o->time_limit / (double)o->rounds,
                               .noise = CLI_BENCH_NOISE,
                               .transfers = o->with_transfer,
                               .stop = stop_on_interrupt};
  const kcl_options asked = asked_for(b, r);
  if (r->place < 0)
    return kcl_bench_sequential(ctx, A, cli_bench_dense(r) ? "dense" : NULL, r->type, &plan,
                                &r->measured);
  return (cli_bench_alone(r) ? kcl_bench_product : kcl_bench_method)(ctx, A, &asked, &plan,
                                                                     &r->measured);
}

static kcl_type row_type(const cli_bench_row *r, const kcl_csr *A) {
  if (r->precision) return (kcl_type)(strchr("sdcz", r->precision) - "sdcz");
  return kcl_type_complex(A->type) ? KCL_Z : KCL_D;
}

/* Measures a row with the threads of its device. */
static int measure_again(cli_bench_run *b, cli_bench_row *r, kcl_context *ctx,
                         cli_bench_loaded *m) {
  const kcl_csr *A;
  int rc = cli_bench_matrix_for(ctx, m, r->type, &A);
  const kcl_device *native = r->place < 0 ? NULL : &b->places[r->place].device;
  if (native && native->platform < 0) kcl_set_threads(native->compute_units);
  if (!rc) rc = measure_row(b, r, ctx, A);
  if (!rc) rc = profile_row(b, r, A);
  kcl_set_threads(b->threads);
  return rc;
}

int cli_bench_one(cli_bench_run *b, cli_bench_row *r, kcl_context *ctx, cli_bench_loaded *m) {
  double load = 0;
  r->type = row_type(r, m->A);
  if (r->place >= 0) ctx = b->places[r->place].ctx;
  snprintf(r->method, sizeof r->method, "%s",
           strcmp(r->solver, "auto") ? r->solver : b->matrices[r->matrix].solver);
  if (r->place >= 0 && is_decided(b, r, &m->stats))
    return r->state == CLI_BENCH_REFUSED ? KCL_REFUSED : 0;
  if (r->place < 0 && !is_reference_needed(b, r)) {
    decide_row(r, CLI_BENCH_REFUSED, "no row in full storage was measured");
    return 0;
  }
  int rc = measure_again(b, r, ctx, m);
  if (cli_interrupted()) { /* the row is incomplete */
    cli_bench_profile_free(r);
    kcl_bench_free(&r->measured);
    return 0;
  }
  if (getloadavg(&load, 1) == 1) r->load = load;
  cli_bench_date(r->date, sizeof r->date);
  if (rc == KCL_MEMORY) rc = KCL_REFUSED; /* of the device: other rows may fit */
  if (rc) {
    decide_row(r, rc == KCL_REFUSED ? CLI_BENCH_REFUSED : CLI_BENCH_FAILED, kcl_error());
    return rc;
  }
  decide_row(r, r->measured.validated ? CLI_BENCH_OK : CLI_BENCH_FAILED,
             r->measured.validated
                 ? ""
                 : "the product differs from the reference by more than rounding explains");
  cli_bench_summarise(r), r->rounds = 1;
  return r->state == CLI_BENCH_OK ? 0 : CLI_CHECK_FAILED;
}

/* ---------------------------------------------------------------- further rounds */

/* Appends more [n] to list; leaves it unchanged if memory is short. */
static void append_samples(double **list, int *count, const double *more, int n) {
  double *both = n ? realloc(*list, ((size_t)*count + (size_t)n) * sizeof *both) : NULL;
  if (!both) return;
  memcpy(both + *count, more, (size_t)n * sizeof *both);
  *list = both, *count += n;
}

static void join_samples(kcl_samples *s, const kcl_samples *more) {
  append_samples(&s->seconds, &s->count, more->seconds, more->count);
  append_samples(&s->replaced, &s->replaced_count, more->replaced, more->replaced_count);
}

void cli_bench_again(cli_bench_run *b, cli_bench_row *r, kcl_context *ctx, cli_bench_loaded *m) {
  cli_bench_row more = *r;
  more.measured = (kcl_bench_row){0}, more.state = CLI_BENCH_TODO;
  if (r->place >= 0) ctx = b->places[r->place].ctx;
  int rc = measure_again(b, &more, ctx, m);
  if (!rc && !cli_interrupted() && more.measured.validated) {
    join_samples(&r->measured.iteration, &more.measured.iteration);
    join_samples(&r->measured.product, &more.measured.product);
    join_samples(&r->measured.transfer, &more.measured.transfer);
    cli_bench_summarise(r), r->rounds++;
  }
  kcl_bench_free(&more.measured);
}
