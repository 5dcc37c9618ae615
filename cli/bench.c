/* krylocl bench: times of iterations and products, for matrices, storage formats, methods, precisions, devices and numbers
 * of threads. Rows are planned, then measured one after another: predict the bytes (and skip the format if it refuses
 * the matrix), set up, validate the product, time it. An interrupt ends after the row at work, which does not count. */
#include "cli/bench.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double SAVE = 10; /* seconds between two writings of the JSON file */

/* ---------------------------------------------------------------- devices */

static int best_stream(kcl *ctx, double *stream) {
  double now = 0;
  *stream = 0;
  if (kcl_stream_rate(ctx, stream) || kcl_stream_measure(ctx, &now)) return 0;
  if (now > *stream) *stream = now;
  return 0;
}

/* Opens a device with a number of threads, unless it is there already. */
static int open_place(bench_run *r, const char *device, int threads) {
  bench_place p = {.stream = 0};
  const char *layout = getenv("KRYLOCL_LAYOUT");
  int rc = kcl_create(&p.ctx) ? cli_fail(KCL_MEMORY, "out of memory") : 0;
  if (rc) return rc;
  kcl_watch(p.ctx, cli_watch, (void *)r->o);
  TRY(cli_lib(p.ctx, kcl_select(p.ctx, device, threads)));
  TRY(cli_lib(p.ctx, kcl_device_current(p.ctx, &p.device)));
  kcl_allow_padding(p.ctx, r->o->force);
  snprintf(p.place, sizeof p.place, "%s", cli_device_place(&p.device).s);
  if (p.device.platform >= 0 && layout) snprintf(p.layout, sizeof p.layout, "%s", layout);
  for (int i = 0; i < r->place_count; i++)
    if (!strcmp(r->places[i].place, p.place) &&
        r->places[i].device.compute_units == p.device.compute_units)
      goto done;
  cli_busy(r->o, "measuring the memory rate of %s", p.place);
  TRY(best_stream(p.ctx, &p.stream));
  TRY(bench_add_place(r, &p) < 0 ? cli_fail(KCL_MEMORY, "out of memory: the devices") : 0);
  bench_say_place(r->o, &p);
  p.ctx = NULL;
done:
  kcl_destroy(&p.ctx);
  return rc;
}

typedef struct opening {
  bench_run *r;
  const char *device;
} opening;

static int most_threads(void *self, const char *word) {
  int *most = self, n = strcmp(word, "max") ? atoi(word) : 0;
  *most = !n || !*most ? 0 : n > *most ? n : *most;
  return 0;
}

static int open_threads(void *self, const char *word) {
  opening *p = self;
  return open_place(p->r, p->device, strcmp(word, "max") ? atoi(word) : 0);
}

/* Numbers of threads are of the cpu device alone: others are opened once. */
static int open_device(void *self, const char *word) {
  opening *p = self;
  p->device = *word ? word : NULL;
  const char *named = p->device ? p->device : getenv("KRYLOCL_DEVICE");
  const char *threads = p->r->o->threads_list;
  bool native = !named || !*named || !strcmp(named, "cpu") || !strcmp(named, "auto");
  return bench_each(threads && native ? threads : "max", open_threads, p);
}

static int open_all(bench_run *r) {
  kcl *ctx = NULL;
  kcl_device *list = NULL;
  opening p = {.r = r};
  int rc = 0, count = 0;
  r->threads = r->o->threads_list ? 1 : 0;
  bench_each(r->o->threads_list, most_threads, &r->threads);
  kcl_set_threads(r->threads);
  cli_busy(r->o, "opening the devices");
  if (!r->o->device || strcmp(r->o->device, "all"))
    return bench_each(r->o->device ? r->o->device : "", open_device, &p);
  TRY(kcl_create(&ctx) ? cli_fail(KCL_MEMORY, "out of memory") : 0);
  TRY(cli_lib(ctx, kcl_device_list(ctx, &list, &count)));
  for (int i = 0; i < count; i++) TRY(open_device(&p, cli_device_place(&list[i]).s));
done:
  free(list);
  kcl_destroy(&ctx);
  return rc;
}

/* ---------------------------------------------------------------- matrices */

typedef struct loaded { /* a matrix on the host, in type D or Z as rows need it */
  kcl_csr *A, *complex_A;
  kcl_stats stats;
} loaded;

static void unload(loaded *m) { kcl_csr_free(&m->A), kcl_csr_free(&m->complex_A); }

/* A generated system such as poisson2d:300, where there is no such file. */
static bool generated(const char *name) {
  size_t kind = strcspn(name, ":");
  FILE *f = name[kind] ? fopen(name, "r") : NULL;
  if (f) fclose(f);
  for (int i = 0; name[kind] && !f && i < kcl_list_size(KCL_GENERATORS); i++)
    if (!strncmp(kcl_list(KCL_GENERATORS, i).name, name, kind) &&
        !kcl_list(KCL_GENERATORS, i).name[kind])
      return true;
  return false;
}

static void describe(const loaded *m, double seconds, bench_matrix *out) {
  const kcl_stats *s = &m->stats;
  out->known = true, out->seconds_read = seconds;
  out->rows = s->rows, out->cols = s->cols, out->nnz = s->nnz, out->stored = m->A->stored;
  out->row_min = s->row_min, out->row_max = s->row_max, out->row_mean = s->row_mean;
  out->row_deviation = s->row_deviation, out->bandwidth = s->bandwidth;
  out->diagonals = s->diagonals;
  snprintf(out->symmetry, sizeof out->symmetry, "%s", kcl_symmetry_name(m->A->symmetry));
  snprintf(out->field, sizeof out->field, "%s", kcl_field_name(m->A->field));
  snprintf(out->solver, sizeof out->solver, "%s", kcl_auto_solver(s));
}

static int load(kcl *ctx, const cli_options *o, bench_matrix *matrix, loaded *m) {
  double begin = cli_now();
  int rc = 0;
  cli_busy(o, "reading %s", matrix->name);
  if (generated(matrix->file))
    TRY(cli_lib(ctx, kcl_generate(ctx, matrix->file, &m->A, NULL)));
  else
    TRY(cli_read(ctx, o, matrix->file, &m->A, NULL, NULL));
  double seconds = cli_now() - begin;
  cli_busy(o, "counting");
  TRY(cli_lib(ctx, kcl_csr_stats(ctx, m->A, &m->stats)));
  describe(m, seconds, matrix);
done:
  return rc;
}

/* The matrix in the type of a row's host data: complex for c and z. */
static int matrix_for(kcl *ctx, loaded *m, kcl_type type, const kcl_csr **out) {
  int rc = 0;
  *out = m->A;
  if (!kcl_type_complex(type) || kcl_type_complex(m->A->type)) return 0;
  if (!m->complex_A) rc = kcl_csr_convert(ctx, m->A, KCL_Z, &m->complex_A);
  *out = m->complex_A;
  return rc;
}

/* ---------------------------------------------------------------- a row */

static void decide(bench_row *r, bench_state state, const char *why) {
  r->state = state;
  snprintf(r->why, sizeof r->why, "%s", why);
}

static int stop(void *unused) { return (void)unused, cli_interrupted(); }

/* An earlier row that is the same loop on this device. */
static const bench_row *same_as(const bench_run *b, const bench_row *r, const kcl_stats *stats,
                                const kcl_cost *cost) {
  const char *mine = cost->same_as ? cost->same_as : r->format;
  if (r->nrhs > 1) return NULL; /* which not all variants share a pass for */
  for (int i = 0; i < b->row_count && &b->rows[i] != r; i++) {
    const bench_row *s = &b->rows[i];
    kcl_cost other;
    if (!bench_same_group(s, r) || s->state != BENCH_OK) continue;
    if (kcl_format_cost(b->places[r->place].ctx, stats, r->type, s->format, &other)) continue;
    if (!strcmp(other.same_as ? other.same_as : s->format, mine)) return s;
  }
  return NULL;
}

/* True if the row is decided without measuring. */
static bool decided(const bench_run *b, bench_row *r, const kcl_stats *stats) {
  kcl_cost cost;
  kcl *ctx = b->places[r->place].ctx;
  if (kcl_format_cost(ctx, stats, r->type, r->format, &cost)) return false;
  r->measured.bytes_stored = cost.bytes_stored;
  const bench_row *same = cost.refusal ? NULL : same_as(b, r, stats, &cost);
  if (cost.refusal) decide(r, BENCH_REFUSED, cost.refusal);
  if (same) decide(r, BENCH_SAME, same->format);
  return cost.refusal || same;
}

static int measure(const bench_run *b, bench_row *r, kcl *ctx, const kcl_csr *A) {
  const cli_options *o = b->o;
  const kcl_bench_plan plan = {.iterations = (int)o->iterations,
                               .samples = (int)o->samples,
                               .seconds = o->time_limit,
                               .noise = BENCH_NOISE,
                               .stop = stop};
  kcl_options asked = kcl_defaults;
  asked.solver = r->method, asked.precond = r->precond, asked.format = r->format;
  asked.precision = r->type, asked.nrhs = r->nrhs, asked.restart = (int)o->restart;
  if (r->place < 0) return kcl_bench_sequential(ctx, A, r->type, &plan, &r->measured);
  return (bench_alone(r) ? kcl_bench_product : kcl_bench_method)(ctx, A, &asked, &plan,
                                                                 &r->measured);
}

static kcl_type type_of(const bench_row *r, const kcl_csr *A) {
  if (r->precision) return (kcl_type)(strchr("sdcz", r->precision) - "sdcz");
  return kcl_type_complex(A->type) ? KCL_Z : KCL_D;
}

/* An error is recorded in the row; the exit code is returned. */
static int bench_one(bench_run *b, bench_row *r, kcl *ctx, loaded *m) {
  const kcl_csr *A;
  double load = 0;
  r->type = type_of(r, m->A);
  if (r->place >= 0) ctx = b->places[r->place].ctx;
  snprintf(r->method, sizeof r->method, "%s",
           strcmp(r->solver, "auto") ? r->solver : b->matrices[r->matrix].solver);
  if (r->place >= 0 && decided(b, r, &m->stats)) return r->state == BENCH_REFUSED ? KCL_MEMORY : 0;
  int rc = matrix_for(ctx, m, r->type, &A);
  const kcl_device *native = r->place < 0 ? NULL : &b->places[r->place].device;
  if (native && native->platform < 0) kcl_set_threads(native->compute_units);
  if (!rc) rc = measure(b, r, ctx, A);
  kcl_set_threads(b->threads);
  if (cli_interrupted()) return kcl_bench_free(&r->measured), 0; /* not whole */
  if (getloadavg(&load, 1) == 1) r->load = load;
  bench_date(r->date, sizeof r->date);
  if (rc) return decide(r, rc == KCL_MEMORY ? BENCH_REFUSED : BENCH_FAILED, kcl_error(ctx)), rc;
  decide(r, r->measured.validated ? BENCH_OK : BENCH_FAILED,
         r->measured.validated
             ? ""
             : "the product differs from the reference by more than rounding explains");
  bench_summarise(r);
  return r->state == BENCH_OK ? 0 : CLI_CHECK_FAILED;
}

/* ---------------------------------------------------------------- all rows */

typedef struct progress {
  bench_run *b;
  int total, done;      /* rows to measure, and measured */
  double begin, saved;  /* the first row; the last writing of the JSON file */
  int failed, measured; /* the first exit code of a row that failed; rows that did not */
} progress;

/* A bar over the whole run, the row at work, and the time left at the mean of those before. */
static void show(const progress *p, const bench_row *r) {
  enum { BAR = 20 };
  cli_status s = {.timed = true};
  int full = p->total ? BAR * p->done / p->total : 0;
  double seconds = cli_now() - p->begin;
  snprintf(s.part[0], sizeof s.part[0], "[%.*s%.*s] %d of %d, %s", full, "####################",
           BAR - full, "....................", p->done + 1, p->total, r->format);
  if (p->done)
    snprintf(s.part[1], sizeof s.part[1], "about %s left",
             cli_seconds(seconds / p->done * (p->total - p->done)).s);
  else
    snprintf(s.part[1], sizeof s.part[1], "first row");
  snprintf(s.part[2], sizeof s.part[2], "%s", p->b->matrices[r->matrix].name);
  snprintf(s.part[3], sizeof s.part[3], "%s, %s",
           r->place < 0 ? "cpu" : p->b->places[r->place].place,
           bench_alone(r) ? "product" : r->solver);
  cli_show(p->b->o, &s);
}

/* So that little is lost with the power. */
static int save(progress *p) {
  const char *path = p->b->o->json;
  if (!path || !strcmp(path, "-") || cli_now() - p->saved < SAVE) return 0;
  p->saved = cli_now();
  return bench_json(p->b, path);
}

static bool todo(const bench_run *b, int matrix) {
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].matrix == matrix && b->rows[i].state == BENCH_TODO) return true;
  return false;
}

static int bench_rows(progress *p, kcl *ctx, int matrix, loaded *m) {
  bench_run *b = p->b;
  int rc = 0;
  for (int i = 0; i < b->row_count && !cli_interrupted(); i++) {
    bench_row *r = &b->rows[i];
    if (r->matrix != matrix || r->state != BENCH_TODO) continue;
    show(p, r);
    rc = bench_one(b, r, ctx, m);
    if (r->state == BENCH_TODO) break;
    if (rc && rc != KCL_MEMORY && !p->failed) p->failed = rc;
    p->done++;
    bench_say_row(b, r);
    if ((rc = save(p))) return rc;
  }
  return 0;
}

/* --mixed: the fastest row of each device that has a mixed form. */
static int mixed_rows(const bench_run *b, int matrix, loaded *m) {
  int rc = 0;
  for (int i = 0; b->o->mixed && i < b->place_count && !rc && !cli_interrupted(); i++) {
    bench_row *r = bench_fastest(b, matrix, i, false);
    const kcl_csr *A;
    if (!r || r->compared || !b->places[i].ctx) continue;
    rc = matrix_for(b->places[i].ctx, m, r->type, &A);
    if (!rc) rc = bench_mixed(b->places[i].ctx, b->o, A, r);
  }
  return rc;
}

static void mixed_say(const bench_run *b, int matrix) {
  for (int i = 0; i < b->place_count; i++) {
    const bench_row *r = bench_fastest(b, matrix, i, false);
    if (r && r->compared) bench_mixed_say(b->o, r);
  }
}

static int bench_matrix_rows(progress *p, kcl *ctx, int matrix) {
  bench_run *b = p->b;
  loaded m = {0};
  int rc = 0;
  if (todo(b, matrix)) {
    if (!p->begin) p->begin = cli_now();
    TRY(load(ctx, b->o, &b->matrices[matrix], &m));
    TRY(bench_rows(p, ctx, matrix, &m));
    TRY(mixed_rows(b, matrix, &m));
  }
done:
  unload(&m);
  p->measured += bench_fastest(b, matrix, -1, false) || bench_fastest(b, matrix, -1, true);
  if (b->matrices[matrix].known) bench_say_matrix(b, matrix), mixed_say(b, matrix);
  return rc;
}

/* A file that cannot be read does not stop the others. Refused formats are not a failure if any was measured. */
static int measure_all(bench_run *b, kcl *ctx) {
  progress p = {.b = b, .saved = cli_now()};
  int rc, first = 0;
  for (int i = 0; i < b->row_count; i++) p.total += b->rows[i].state == BENCH_TODO;
  for (int i = 0; i < b->matrix_count && !cli_interrupted(); i++)
    if ((rc = bench_matrix_rows(&p, ctx, i)) && !first) first = rc;
  cli_idle();
  bench_say_end(b);
  if (cli_interrupted()) return CLI_INTERRUPTED;
  return first ? first : p.failed ? p.failed : p.measured ? 0 : KCL_MEMORY;
}

/* ---------------------------------------------------------------- the run */

static void note_time(bench_run *b) {
  struct timespec tick = {0};
  char source[40] = "";
  FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
  if (f && fscanf(f, "%39s", source) != 1) source[0] = 0;
  if (f) fclose(f);
  clock_getres(CLOCK_MONOTONIC, &tick);
  snprintf(b->clock, sizeof b->clock, "CLOCK_MONOTONIC, %s%sresolution %ld ns", source,
           *source ? ", " : "", tick.tv_nsec);
  bench_date(b->date, sizeof b->date);
  b->begin = cli_now();
  if (getloadavg(&b->load, 1) != 1) b->load = 0;
}

static int outputs(const bench_run *b) {
  int rc = b->o->json ? bench_json(b, b->o->json) : 0, failed = 0;
  if (b->o->csv) failed = bench_csv(b, b->o->csv);
  return rc ? rc : failed;
}

static void close_all(bench_run *b) {
  for (int i = 0; i < b->row_count; i++) kcl_bench_free(&b->rows[i].measured);
  for (int i = 0; i < b->place_count; i++) kcl_destroy(&b->places[i].ctx);
  free(b->rows), free(b->places), free(b->matrices);
}

static int run(kcl *ctx, const cli_options *given) {
  cli_options o = *given;
  bench_run b = {.o = &o};
  cJSON *earlier = NULL;
  int rc = 0, written;
  note_time(&b);
  if (o.resume) TRY(bench_resume_read(o.resume, &earlier));
  if (o.resume && !o.count) TRY(bench_resume_options(earlier, &o));
  if (o.resume && !o.json) o.json = o.resume;
  if (o.layout) setenv("KRYLOCL_LAYOUT", o.layout, 1);
  cli_interrupt_begin(&o);
  cli_interrupt_computing();
  TRY(open_all(&b));
  TRY(bench_plan(&b));
  if (earlier) TRY(bench_resume_rows(earlier, &b));
  rc = measure_all(&b, ctx);
  written = outputs(&b);
  rc = rc ? rc : written;
done:
  close_all(&b);
  if (o.files != given->files) free(o.files);
  cJSON_Delete(earlier);
  return rc;
}

const cli_command cli_bench = {
    .name = "bench",
    .operands = "A.mtx|poisson2d:300...",
    .summary = "compare storage formats, methods and devices by measured times",
    .options = "formats solver device threads precision json csv quiet | samples time-limit "
               "iterations resume layout force precond nrhs restart mixed verbose cache",

    .min = 1,
    .max = 1 << 20,
    .lists = true,
    .many = true,
    .reads = true,
    .run = run,
    .notes =
        "Measures every matrix (files, names of the collection, generated systems) in every format "
        "by every method, in every precision, on every device with every number of threads: "
        "--formats, --solver, --precision, --device and --threads take lists. --device all is "
        "every device; --solver none measures products alone, of rectangular matrices too; without "
        "--solver the method is the one that --solver auto begins with.\n"
        "\n"
        "A row is set up, its product is compared with a reference within a derived bound, and "
        "then it is timed with the convergence tests off: up to --samples samples, each the mean "
        "of up to --iterations iterations, as many as fit in --time-limit seconds. us/iter and "
        "us/product are medians; +/- is how far the interval that contains the true median with "
        "95 % probability reaches. Where it is wider than 10 % the row is measured once more, and "
        "is marked noisy if that does not help.\n"
        "\n"
        "of stream: bytes moved per second by the best known stream rate of the device; in cache: "
        "more than that. speed-up: of the product, over sequential C code. set-up: conversion, "
        "upload, compilation. pays after: iterations that repay the set-up of a format, against "
        "the fastest plain CSR; a first compilation is not counted, for it is cached.\n"
        "\n"
        "An interrupt writes what is there; --resume FILE.json goes on, with the options of that "
        "run if no matrix is named. A format that refuses the matrix is listed with the reason; "
        "--force allows padding for formats that are named. --layout gpu runs the variants for "
        "GPUs as what they are on a CPU device of OpenCL, where they are otherwise the same.\n"
        "\n"
        "--nrhs K: K right-hand sides at once; us/iter is for all of them, us/rhs is us/iter by K. "
        "--mixed adds whole solves in the fastest format, in double and in mixed precision.\n"
        "\n"
        "The exit code is 5 only if every format refuses. A file that cannot be read does not stop "
        "the others.\n"
        "\n"
        "--json: one object, with all samples: docs/bench.md. --csv: a line per row.\n"};
