/* The JSON of krylocl bench, described in docs/bench.md. All rates and the last five objects of a row follow from
 * the samples: --resume computes them again. */
#include "cli/bench/bench.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

extern const char cli_commit[]; /* BUILD/commit.c */

void cli_bench_date(char *text, size_t capacity) {
  time_t now = time(NULL);
  struct tm utc;
  strftime(text, capacity, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

/* ---------------------------------------------------------------- a row */

static void add_numbers(cJSON *o, const char *key, const double *v, int n) {
  cJSON *list = cJSON_AddArrayToObject(o, key);
  for (int i = 0; i < n; i++) {
    char text[40];
    snprintf(text, sizeof text, "%.9g", v[i]);
    cJSON_AddItemToArray(list, cJSON_CreateRaw(text));
  }
}

static void add_sample_times(cJSON *o, const char *key, const kcl_samples *s,
                             const kcl_summary *m) {
  if (!s->count) return;
  cJSON *t = cJSON_AddObjectToObject(o, key);
  cli_json_number(t, "median", m->median);
  cli_json_number(t, "low", m->confidence > 0 ? m->low : NAN); /* one sample has no interval */
  cli_json_number(t, "high", m->confidence > 0 ? m->high : NAN);
  cli_json_number(t, "confidence", m->confidence);
  cli_json_number(t, "min", m->min);
  cli_json_number(t, "max", m->max);
  cli_json_count(t, "iterations_per_sample", s->iterations);
  if (s->threads) cli_json_count(t, "threads", s->threads);
  add_numbers(t, "samples", s->seconds, s->count);
  if (s->replaced_count) add_numbers(t, "replaced_samples", s->replaced, s->replaced_count);
}

static void add_setup_times(cJSON *o, const kcl_bench_row *m) {
  cJSON *s = cJSON_AddObjectToObject(o, "seconds_setup");
  cli_json_number(s, "convert", m->seconds_convert);
  cli_json_number(s, "upload", m->seconds_upload);
  cli_json_number(s, "compile", m->seconds_compile);
  cli_json_number(s, "total", m->seconds_convert + m->seconds_upload + m->seconds_compile);
  cli_json_count(o, "programs_compiled", m->compiled);
}

static void break_even(cJSON *o, const cli_bench_run *b, const cli_bench_row *r) {
  cli_bench_break_even e = cli_bench_pays(b, r);
  if (!e.against) return;
  cJSON *p = cJSON_AddObjectToObject(o, "break_even");
  cli_json_text(p, "against", e.against->format);
  cli_json_number(p, "after", e.after);
  if (e.until > 0) cli_json_number(p, "until", e.until);
}

static void add_rates(cJSON *o, const cli_bench_run *b, const cli_bench_row *r) {
  cli_json_number(o, "gbytes_per_second", cli_bench_rate(r) * 1e-9);
  if (cli_bench_fraction(b, r) > 0) {
    cli_json_number(o, "stream_gbytes_per_second", b->places[r->place].stream.rate * 1e-9);
    cli_json_number(o, "stream_fraction", cli_bench_fraction(b, r));
    cli_json_bool(o, "in_cache", cli_bench_fraction(b, r) > 1);
  }
  cli_json_number(o, "mnnz_per_second", cli_bench_mnnz(b, r));
  cli_json_number(o, "gflops", cli_bench_gflops(b, r));
  if (cli_bench_speedup(b, r) > 0) cli_json_number(o, "speedup", cli_bench_speedup(b, r));
}

static void add_upload_repaid(cJSON *o, const cli_bench_run *b, const cli_bench_row *r) {
  const cli_bench_upload_repaid e = cli_bench_repays_upload(b, r);
  if (!e.against) return;
  cJSON *repaid = cJSON_AddObjectToObject(o, "upload_repaid");
  cli_json_text(repaid, "against", e.against->format);
  cli_json_number(repaid, "products", e.staying);
  cli_json_number(repaid, "products_with_vectors", e.moving);
}

static void add_measured(cJSON *o, const cli_bench_run *b, const cli_bench_row *r) {
  const kcl_bench_row *m = &r->measured;
  cli_json_number(o, "bytes_stored", m->bytes_stored);
  cli_json_bool(o, "validated", m->validated);
  if (r->state != CLI_BENCH_OK) return;
  cli_json_number(o, "bytes_per_product", m->bytes_product);
  if (!cli_bench_alone(r)) cli_json_number(o, "bytes_per_iteration", m->bytes_iteration);
  add_sample_times(o, "seconds_per_iteration", &m->iteration, &r->iteration);
  add_sample_times(o, "seconds_per_product", &m->product, &r->product);
  add_sample_times(o, "seconds_with_vectors", &m->transfer, &r->transfer);
  if (m->transfer.count) cli_json_number(o, "seconds_with_matrix", cli_bench_with_matrix(r));
  cli_json_bool(o, "noisy", cli_bench_noisy(r));
  if (!cli_bench_alone(r)) cli_json_bool(o, "inconsistent", cli_bench_inconsistent(r));
  cli_json_text(o, "date", r->date);
  cli_json_number(o, "load", r->load);
  if (m->nrhs > 1 || r->nrhs > 1) cli_json_number(o, "seconds_per_rhs", cli_bench_per_rhs(r));
  add_setup_times(o, m);
  add_rates(o, b, r);
  break_even(o, b, r);
  add_upload_repaid(o, b, r);
  cli_bench_mixed_json(o, r);
  cli_bench_profile_json(o, r);
}

static void bench_row_json(cJSON *list, const cli_bench_run *b, const cli_bench_row *r) {
  const cli_bench_matrix *A = &b->matrices[r->matrix];
  char asked[2] = {r->precision, 0}, status[640];
  cJSON *o = cli_json_item(list);
  cli_json_text(o, "matrix", A->name);
  cli_json_count(o, "rows", A->rows);
  cli_json_count(o, "cols", A->cols);
  cli_json_count(o, "nnz", A->nnz);
  if (r->place >= 0) {
    const cli_bench_place *p = &b->places[r->place];
    cli_json_device(o, &p->device);
    cli_json_count(o, "threads", p->device.platform < 0 ? p->device.compute_units : 0);
    cli_json_text(o, "layout", p->layout);
  }
  cli_json_letter(o, "precision", r->type);
  cli_json_text(o, "precision_asked", *asked ? asked : "auto");
  cli_json_text(o, "solver", r->method);
  cli_json_text(o, "solver_asked", r->solver);
  cli_json_text(o, "precond", r->precond);
  cli_json_text(o, "format", r->format);
  cli_json_text(o, "kernel", r->measured.kernel);
  cli_json_count(o, "nrhs_asked", r->nrhs);
  cli_json_count(o, "nrhs", r->measured.nrhs);
  cli_bench_status(r, status, sizeof status);
  cli_json_text(o, "status", status);
  add_measured(o, b, r);
}

/* ---------------------------------------------------------------- what they share */

static void bench_matrix_json(cJSON *list, const cli_bench_matrix *A) {
  cJSON *o = cli_json_item(list);
  cli_json_text(o, "name", A->name);
  cli_json_text(o, "file", A->file);
  cli_json_count(o, "rows", A->rows);
  cli_json_count(o, "cols", A->cols);
  cli_json_count(o, "nnz", A->nnz);
  cli_json_count(o, "stored", A->stored);
  cli_json_text(o, "symmetry", A->symmetry);
  cli_json_text(o, "field", A->field);
  cli_json_text(o, "solver", A->solver);
  cJSON *l = cJSON_AddObjectToObject(o, "row_length");
  cli_json_count(l, "min", A->row_min);
  cli_json_count(l, "max", A->row_max);
  cli_json_number(l, "mean", A->row_mean);
  cli_json_number(l, "deviation_percent", A->row_deviation);
  cli_json_count(o, "bandwidth", A->bandwidth);
  cli_json_count(o, "diagonals", A->diagonals);
  cli_json_number(o, "seconds_read", A->seconds_read);
  cli_bench_picture_json(o, l, A);
}

static void place_json(cJSON *list, const cli_bench_place *p) {
  const kcl_device *d = &p->device;
  cJSON *o = cli_json_item(list);
  cli_json_text(o, "place", p->place);
  cli_json_text(o, "layout", p->layout);
  cli_json_text(o, "name", d->name);
  cli_json_text(o, "kind", d->kind);
  cli_json_text(o, "platform", d->platform_name);
  cli_json_text(o, "driver", d->driver);
  cli_json_text(o, "version", d->version);
  cli_json_count(o, "threads", d->platform < 0 ? d->compute_units : 0);
  cli_json_count(o, "compute_units", d->compute_units);
  cli_json_count(o, "memory_bytes", (int64_t)d->memory);
  cli_json_number(o, "stream_bytes_per_second", p->stream.rate > 0 ? p->stream.rate : NAN);
  cli_json_stream(o, &p->stream);
}

static void add_host(cJSON *all, const cli_bench_run *b) {
  struct utsname u;
  cJSON *o = cJSON_AddObjectToObject(all, "host");
  double load = 0;
  if (uname(&u) == 0) cli_json_text(o, "system", u.sysname), cli_json_text(o, "release", u.release);
  if (uname(&u) == 0) cli_json_text(o, "machine", u.machine);
  cli_json_count(o, "processors", sysconf(_SC_NPROCESSORS_ONLN));
  cli_json_number(o, "load_begin", b->load);
  if (getloadavg(&load, 1) == 1) cli_json_number(o, "load_end", load);
  cli_json_text(o, "clock", b->clock);
}

/* Adds the options that --resume needs. */
static void add_arguments(cJSON *all, const cli_bench_run *b) {
  const cli_options *o = b->o;
  cJSON *a = cJSON_AddObjectToObject(all, "arguments"),
        *files = cJSON_AddArrayToObject(a, "operands");
  const struct {
    const char *name, *value;
  } text[] = {{"formats", o->formats}, {"solver", o->solver},        {"precond", o->precond},
              {"device", o->device},   {"threads", o->threads_list}, {"precision", o->precision},
              {"layout", o->layout}};
  for (int i = 0; i < o->count; i++) cJSON_AddItemToArray(files, cJSON_CreateString(o->files[i]));
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    if (text[i].value) cli_json_text(a, text[i].name, text[i].value);
  cli_json_count(a, "iterations", o->iterations);
  cli_json_count(a, "samples", o->samples);
  cli_json_count(a, "rounds", o->rounds);
  cli_json_number(a, "time-limit", o->time_limit);
  cli_json_count(a, "nrhs", o->nrhs);
  cli_json_count(a, "restart", o->restart);
  cli_json_bool(a, "mixed", o->mixed);
  cli_json_bool(a, "force", o->force);
  cli_json_bool(a, "profile", o->profile);
  cli_json_bool(a, "with-transfer", o->with_transfer);
}

static bool is_complete(const cli_bench_run *b) {
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].state == CLI_BENCH_TODO) return false;
  return true;
}

static cJSON *make_document(const cli_bench_run *b) {
  cJSON *all = cJSON_CreateObject(), *list;
  cli_json_count(all, "schema", CLI_BENCH_SCHEMA);
  cli_json_text(all, "program", "krylocl bench");
  cli_json_text(all, "version", kcl_version());
  if (*cli_commit)
    cli_json_text(all, "commit", cli_commit);
  else
    cJSON_AddNullToObject(all, "commit");
  cli_json_text(all, "date", b->date);
  cli_json_number(all, "seconds", cli_now() - b->begin);
  cli_json_bool(all, "complete", is_complete(b));
  add_host(all, b);
  add_arguments(all, b);
  list = cJSON_AddArrayToObject(all, "devices");
  for (int i = 0; i < b->place_count; i++) place_json(list, &b->places[i]);
  list = cJSON_AddArrayToObject(all, "matrices");
  for (int i = 0; i < b->matrix_count; i++)
    if (b->matrices[i].known) bench_matrix_json(list, &b->matrices[i]);
  cJSON *rows = cJSON_AddArrayToObject(all, "rows"),
        *references = cJSON_AddArrayToObject(all, "references");
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].state != CLI_BENCH_TODO)
      bench_row_json(b->rows[i].place < 0 ? references : rows, b, &b->rows[i]);
  return all;
}

/* Writes the page, which contains the JSON. */
static int write_bench_page(const cli_bench_run *b, const cJSON *all, cli_bench_page *report) {
  const char *path = b->o->json && strcmp(b->o->json, "-") ? b->o->json : "krylocl bench";
  char *text = cJSON_Print(all);
  int rc = text ? report(b->o, path, text) : cli_fail(KCL_MEMORY, "out of memory: the JSON text");
  free(text);
  return rc;
}

int cli_bench_results(const cli_bench_run *b, cli_bench_page *report) {
  cJSON *all = make_document(b);
  int rc = cli_json_write(b->o->json, all),
      failed = b->o->page ? write_bench_page(b, all, report) : 0;
  cJSON_Delete(all);
  return rc ? rc : failed;
}

int cli_bench_json(const cli_bench_run *b, const char *path) {
  return cli_json_finish(path, make_document(b));
}
