/* krylocl bench: times of iterations and products, for matrices, storage formats, methods, precisions, devices and numbers
 * of threads. Rows are planned, then measured one after another: predict the bytes (and skip the format if it refuses
 * the matrix), set up, validate the product, time it. An interrupt ends after the row at work, which does not count. */
#include "cli/bench/bench.h"
#include "cli/ranks/ranks.h"
#include "cli/report.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/terminal.h"
#include <cjson/cJSON.h>
#include <time.h>

static const double SAVE = 10; /* seconds between two writings of the JSON file */

/* ---------------------------------------------------------------- all rows */

typedef struct progress {
  cli_bench_run *b;
  int total, done;     /* rows in all, and rows done */
  double begin, saved; /* times of the first row and of the last writing of the JSON file */
  int failed,
      measured; /* failed: exit code of the first row that failed; measured: matrices with a measured row */
} progress;

/* Shows a bar over the whole run, the present row, and the time left at the mean time of the rows so far. */
static void show_bench_progress(const progress *p, const cli_bench_row *r) {
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
           cli_bench_alone(r) ? "product" : r->solver);
  cli_show(p->b->o, &s);
}

/* Writes the JSON file every SAVE seconds, so that a power failure loses little. */
static int save_bench_json(progress *p) {
  const char *path = p->b->o->json;
  if (!path || !strcmp(path, "-") || cli_now() - p->saved < SAVE) return 0;
  p->saved = cli_now();
  return cli_bench_json(p->b, path);
}

static bool has_todo(const cli_bench_run *b, int matrix) {
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].matrix == matrix && b->rows[i].state == CLI_BENCH_TODO) return true;
  return false;
}

/* One round over the rows of a matrix: the first decides and measures, further ones add samples. */
static int bench_round(progress *p, kcl_context *ctx, int matrix, cli_bench_loaded *m, int round) {
  cli_bench_run *b = p->b;
  int rc = 0;
  for (int i = 0; i < b->row_count && !cli_interrupted(); i++) {
    cli_bench_row *r = &b->rows[i];
    if (r->matrix != matrix || (round ? r->rounds != round : r->state != CLI_BENCH_TODO)) continue;
    show_bench_progress(p, r);
    if (round)
      cli_bench_again(b, r, ctx, m);
    else
      rc = cli_bench_one(b, r, ctx, m);
    if (r->state == CLI_BENCH_TODO) break;
    if (rc && rc != KCL_REFUSED && !p->failed) p->failed = rc;
    p->done++;
    cli_bench_say_row(b, r);
    CLI_CALL(save_bench_json(p));
  }
  return 0;
}

static int measure_rounds(progress *p, kcl_context *ctx, int matrix, cli_bench_loaded *m) {
  int rc = 0;
  for (int round = 0; round < p->b->o->rounds && !rc && !cli_interrupted(); round++)
    rc = bench_round(p, ctx, matrix, m, round);
  return rc;
}

/* --mixed: times mixed precision in the fastest row of each device. */
static int mixed_rows(const cli_bench_run *b, int matrix, cli_bench_loaded *m) {
  int rc = 0;
  for (int i = 0; b->o->mixed && i < b->place_count && !rc && !cli_interrupted(); i++) {
    cli_bench_row *r = cli_bench_fastest(b, matrix, i, false);
    const kcl_csr *A;
    if (!r || r->compared || !b->places[i].ctx) continue;
    rc = cli_bench_matrix_for(b->places[i].ctx, m, r->type, &A);
    if (!rc) rc = cli_bench_mixed(b->places[i].ctx, b->o, A, r);
  }
  return rc;
}

static void mixed_say(const cli_bench_run *b, int matrix) {
  for (int i = 0; i < b->place_count; i++) {
    const cli_bench_row *r = cli_bench_fastest(b, matrix, i, false);
    if (r && r->compared) cli_bench_mixed_say(b->o, r);
  }
}

static int bench_matrix_rows(progress *p, kcl_context *ctx, int matrix) {
  cli_bench_run *b = p->b;
  cli_bench_loaded m = {0};
  int rc = 0;
  if (has_todo(b, matrix)) {
    if (!p->begin) p->begin = cli_now();
    CLI_TRY(cli_bench_load(ctx, b->o, &b->matrices[matrix], &m));
    CLI_TRY(measure_rounds(p, ctx, matrix, &m));
    for (int i = 0; i < b->place_count; i++)
      if (b->places[i].ctx) cli_bench_stream(b->o, &b->places[i]);
    CLI_TRY(mixed_rows(b, matrix, &m));
  }
done:
  cli_bench_unload(&m);
  p->measured += cli_bench_fastest(b, matrix, -1, false) || cli_bench_fastest(b, matrix, -1, true);
  if (b->matrices[matrix].known) {
    cli_bench_say_matrix(b, matrix);
    cli_bench_profiles_say(b, matrix);
    mixed_say(b, matrix);
  }
  return rc;
}

/* Measures all matrices. A file that cannot be read does not stop the others. Refused formats are no failure if
 * any format was measured. */
static int measure_all(cli_bench_run *b, kcl_context *ctx) {
  progress p = {.b = b, .saved = cli_now()};
  int rc, first = 0;
  for (int i = 0; i < b->row_count; i++) p.total += b->rows[i].state == CLI_BENCH_TODO;
  p.total *= (int)b->o->rounds;
  for (int i = 0; i < b->matrix_count && !cli_interrupted(); i++)
    if ((rc = bench_matrix_rows(&p, ctx, i)) && !first) first = rc;
  cli_idle();
  cli_bench_say_end(b);
  if (cli_interrupted()) return CLI_INTERRUPTED;
  if (first) return first;
  if (p.failed) return p.failed;
  return p.measured ? 0 : KCL_REFUSED;
}

/* ---------------------------------------------------------------- the run */

static void note_time(cli_bench_run *b) {
  struct timespec tick = {0};
  char source[40] = "";
  FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
  if (f && fscanf(f, "%39s", source) != 1) source[0] = 0;
  if (f) fclose(f);
  clock_getres(CLOCK_MONOTONIC, &tick);
  snprintf(b->clock, sizeof b->clock, "CLOCK_MONOTONIC, %s%sresolution %ld ns", source,
           *source ? ", " : "", tick.tv_nsec);
  cli_bench_date(b->date, sizeof b->date);
  b->begin = cli_now();
  if (getloadavg(&b->load, 1) != 1) b->load = 0;
}

static int write_bench_files(const cli_bench_run *b) {
  int rc = cli_bench_results(b, cli_report_text),
      failed = b->o->csv ? cli_bench_csv(b, b->o->csv) : 0;
  return rc ? rc : failed;
}

static int run_bench(kcl_context *ctx, const cli_options *given) {
  cli_options o = *given;
  cli_bench_run b = {.o = &o};
  cJSON *earlier = NULL;
  int rc = 0, written;
  if (o.devices || cli_ranks() > 1) return cli_bench_ranks(ctx, &o);
  note_time(&b);
  if (o.resume) CLI_TRY(cli_bench_resume_read(o.resume, &earlier));
  if (o.resume && !o.count) CLI_TRY(cli_bench_resume_options(earlier, &o));
  if (o.resume && !o.json) o.json = o.resume;
  if (o.layout) setenv("KRYLOCL_LAYOUT", o.layout, 1);
  cli_interrupt_begin(&o);
  cli_interrupt_computing();
  if (o.preconds) return cli_bench_preconds(ctx, &o);
  CLI_TRY(cli_bench_open_places(&b));
  CLI_TRY(cli_bench_plan(&b));
  if (earlier) CLI_TRY(cli_bench_resume_rows(earlier, &b));
  rc = measure_all(&b, ctx);
  written = write_bench_files(&b);
  rc = rc ? rc : written;
done:
  cli_bench_close(&b);
  if (o.files != given->files) free(o.files);
  cJSON_Delete(earlier);
  return rc;
}

const cli_command cli_bench = {
    .name = "bench",
    .operands = "A.mtx|poisson2d:300...",
    .summary = "compare storage formats, methods and devices by measured times",
    .options =
        "formats solver device threads precision json csv report quiet | samples rounds "
        "time-limit iterations resume layout force with-transfer precond preconds nrhs restart "
        "mixed profile devices shares verbose cache index-base durable",
    .min = 1,
    .max = 1 << 20,
    .lists = true,
    .many = true,
    .reads = true,
    .ranks = true,
    .run = run_bench,
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
        "us/product are medians; +/- is how far the interval that contains the true median with 95 "
        "% probability reaches. Where it is wider than 10 % the row is measured once more, and is "
        "marked noisy if that does not help. With --rounds N the samples are taken in N rounds "
        "over all rows of a matrix, so that other work on the machine does not fall on one row "
        "alone: for comparisons of runs.\n"
        "\n"
        "--with-transfer also times the product with x from and y to the host, and reports one "
        "such product with the upload of the matrix: what a device costs that is given a matrix "
        "and a vector. On the cpu device nothing is moved.\n"
        "\n"
        "of stream: bytes moved per second by the best known stream rate of the device; in cache: "
        "more than that. speed-up: of the product, over sequential C code in CSR, of the format "
        "dense over a dense loop. set-up: conversion, upload, compilation. pays after: iterations "
        "that repay the set-up of a format, against the fastest plain CSR; a first compilation is "
        "not counted, for it is cached.\n"
        "\n"
        "An interrupt writes what is there; --resume FILE.json goes on, with the options of that "
        "run if no matrix is named. A format that refuses the matrix is listed with the reason; "
        "--force allows padding for formats that are named. --layout gpu runs the variants for "
        "GPUs as what they are on a CPU device of OpenCL, where they are otherwise the same.\n"
        "\n"
        "--nrhs K: K right-hand sides at once; us/iter is for all of them, us/rhs is us/iter by K. "
        "--mixed adds whole solves in the fastest format, in double and in mixed precision.\n"
        "\n"
        "--profile: after a row, a few more iterations with event times: kernels by name, gaps, "
        "transfers beside the least that the format has to move, kernel attributes; on CPU devices "
        "hardware counters, where the system allows them.\n"
        "\n"
        "--preconds A,B or all: whole solves to 1e-8 with each preconditioner instead, by the "
        "method of --solver: iterations, set-up of the preconditioner, solve, its memory, and the "
        "number of solves after which its set-up pays against none. Each within --time-limit.\n"
        "\n"
        "--devices gpu:0,gpu:1 starts a rank for each device by mpiexec, as spmv does. Products y "
        "= A x in every format, by rows of A: million nonzeros per second of the fastest device "
        "alone, which has the whole matrix, and of all together; speed-up; the longest wait for "
        "elements of x of other ranks. --shares rows gives each device as many rows, nonzeros as "
        "many nonzeros, rates nonzeros by measured memory rates. Up to 7 samples.\n"
        "\n"
        "The exit code is 5 only if every format refuses. A file that cannot be read does not stop "
        "the others.\n"
        "\n"
        "--json: one object, with all samples: docs/bench.md. --csv: a line per row. --report: a "
        "page with figures, as krylocl report makes it of the JSON.\n"};
