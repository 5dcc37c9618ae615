/* krylocl tune: finds the fastest tunables, format and method for a matrix on the selected device.
 * Tunables are tried one after another, each with the format it applies to (or the one of least
 * bytes), then formats and, with --solver auto, methods. Tunables are written to the device's file,
 * the rest to the record of "auto". */
#include "cli/confirm.h"
#include "cli/input/input.h"
#include "cli/problem/problem.h"
#include "cli/tune/kernels.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"
#include "krylocl/bench.h"
#include <stdarg.h>

/* Measures iterations and products, in samples of 0.02 s. */
static const kcl_bench_plan plan = {.iterations = 1000, .samples = 5, .seconds = 0.2, .noise = -1};
/* A new time must be below this share of the old one; above it is noise. */
static const double GAIN = 0.97;
static const double SHARE = 0.7; /* share of --seconds for trials */

typedef struct tuning {
  kcl_context *ctx;
  const cli_options *o;
  const kcl_csr *A;
  kcl_options asked;
  double begin, seconds;
  char base[32];     /* the format of least bytes */
  char remark[1024]; /* for the head of the file */
} tuning;

static double seconds_left(const tuning *t) { return t->begin + t->seconds - cli_now(); }

/* Seconds per iteration in this format with the current tunables. Validates the product; infinite if that fails. */
static double measure_format(const tuning *t, const char *format) {
  kcl_options a = t->asked;
  kcl_bench_row row = {0};
  double best = INFINITY;
  a.format = format;
  if (!kcl_bench_method(t->ctx, t->A, &a, &plan, &row) && row.validated)
    for (int i = 0; i < row.iteration.count; i++) best = fmin(best, row.iteration.seconds[i]);
  kcl_bench_free(&row);
  return best;
}

static void note_result(tuning *t, const char *format, ...) CLI_PRINTF(2, 3);
static void note_result(tuning *t, const char *format, ...) {
  char line[160];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  cli_say(t->o, "%s\n", line);
  cli_append(t->remark, sizeof t->remark, "%s\n", line);
}

typedef struct search { /* of one tunable */
  const kcl_tunable *u;
  const char *format;
  double until, time; /* deadline; seconds per iteration of the best value */
  int best;           /* the best value so far */
  char tried[800];    /* values and times, for the report */
} search;

static int try_value(tuning *t, search *f, int v, double *time) {
  CLI_CALL(cli_lib(kcl_tunable_set(t->ctx, f->u->name, v)));
  cli_busy(t->o, "tuning %s: %d", f->u->name, v);
  *time = measure_format(t, f->format);
  cli_append(f->tried, sizeof f->tried, "%s %d: %s", *f->tried ? "," : "", v,
             isfinite(*time) ? cli_seconds(*time).s : "not possible");
  if (*time < f->time) f->best = v, f->time = *time;
  return 0;
}

/* Tries values from the default up and down as long as each is faster; all values if there is no default. */
static int walk_values(tuning *t, search *f) {
  const kcl_tunable *u = f->u;
  double time;
  int rc = 0;
  for (int v = u->min; !u->default_value && v <= u->max && !rc && cli_now() < f->until; v *= 2)
    rc = try_value(t, f, v, &time);
  for (int up = 1; u->default_value && up >= 0; up--)
    for (int v = u->default_value; !rc && cli_now() < f->until;) {
      v = up ? 2 * v : v / 2;
      if (v < u->min || v > u->max) break;
      rc = try_value(t, f, v, &time);
      if (f->best != v) break;
    }
  return rc;
}

static int measure_with(tuning *t, const search *f, int value, double *seconds) {
  CLI_CALL(cli_lib(kcl_tunable_set(t->ctx, f->u->name, value)));
  *seconds = measure_format(t, f->format);
  return 0;
}

/* Times the best value against the current one in pairs and returns whether it is faster. f->time and *before
 * become their medians. */
static int confirm_value(tuning *t, search *f, double *before, bool *faster) {
  double old[CLI_PAIRS] = {0}, new[CLI_PAIRS] = {0};
  cli_pairs pairs = {.count = 0};
  int n = 0;
  for (bool more = true; more; n++) {
    const int now = n;
    cli_busy(t->o, "comparing %s: %d with %d, pair %d of %d", f->u->name, f->best, f->u->value,
             n + 1, CLI_PAIRS);
    if (n % 2 == 0) CLI_CALL(measure_with(t, f, f->u->value, &old[now]));
    CLI_CALL(measure_with(t, f, f->best, &new[now]));
    if (n % 2) CLI_CALL(measure_with(t, f, f->u->value, &old[now]));
    more = cli_pairs_add(&pairs, old[now], new[now]);
  }
  *before = cli_median(old, n), f->time = cli_median(new, n);
  *faster = cli_pairs_faster(&pairs, GAIN);
  return 0;
}

static int tune_one(tuning *t, const kcl_tunable *u, double until) {
  search f = {.u = u, .format = u->format ? u->format : t->base, .until = until, .best = u->value};
  cli_busy(t->o, "tuning %s", u->name);
  double before = measure_format(t, f.format);
  bool faster = false;
  if (!isfinite(before)) {
    cli_say(t->o, "  %-17s skipped: the matrix does not fit %s\n", u->name, f.format);
    return 0;
  }
  f.time = GAIN * before;
  const cli_text first = cli_seconds(before);
  CLI_CALL(walk_values(t, &f));
  const int tried = f.best;
  if (tried != u->value) CLI_CALL(confirm_value(t, &f, &before, &faster));
  if (!faster) f.best = u->value;
  CLI_CALL(cli_lib(kcl_tunable_set(t->ctx, u->name, f.best)));
  cli_say(t->o, "  %-17s %s, before %s;%s\n", u->name, f.format, first.s, f.tried);
  if (faster)
    note_result(t, "  %s = %d: %s per iteration of %s, before %s, in %d pairs of %d", u->name,
                f.best, cli_seconds(f.time).s, f.format, cli_seconds(before).s, CLI_PAIRS,
                CLI_PAIRS);
  else if (tried != u->value)
    cli_say(t->o, "  %-17s %d was not faster each time: left at %d\n", "", tried, u->value);
  return 0;
}

static int tune_all(tuning *t) {
  int todo = 0;
  kcl_tunable u;
  for (int i = 0; i < kcl_tunable_count(); i++) {
    CLI_CALL(cli_lib(kcl_tunable_get(t->ctx, i, &u)));
    todo += u.applies;
  }
  for (int i = 0; i < kcl_tunable_count(); i++) {
    CLI_CALL(cli_lib(kcl_tunable_get(t->ctx, i, &u)));
    if (!u.applies) continue;
    double share = (seconds_left(t) - (1 - SHARE) * t->seconds) / todo--;
    if (share <= 0)
      cli_say(t->o, "  %-17s skipped: no time left, see --seconds\n", u.name);
    else
      CLI_CALL(tune_one(t, &u, cli_now() + share));
  }
  return 0;
}

static int write_tunables(tuning *t) {
  char path[4096];
  const char *to = t->o->output;
  if (!to && kcl_tune_path(t->ctx, path, sizeof path) == 0) to = path;
  if (!to)
    return cli_fail(KCL_INPUT, "there is no cache folder for the tunables: name a file by -o FILE");
  CLI_CALL(cli_lib(kcl_tune_write(t->ctx, to, t->remark)));
  if (strcmp(to, "-")) cli_say(t->o, "wrote       the tunables to %s\n", to);
  if (to == path)
    cli_say(t->o, "undo        delete that file: built-in values return. One run without it: set "
                  "KRYLOCL_TUNE to nothing\n");
  return 0;
}

static int report_tuning(tuning *t, kcl_solver *s) {
  kcl_setup_info info;
  kcl_setup_timing m;
  char list[2000] = "";
  kcl_solver_info(s, &info);
  for (int i = 0; i < info.timings; i++) {
    kcl_solver_timing(s, i, &m);
    cli_append(list, sizeof list, "%s%s in %s %s", i ? ", " : "", m.solver, m.format,
               cli_seconds(m.seconds_per_iteration).s);
  }
  cli_say(t->o, "formats     %s\n", *list ? list : "no other candidate by predicted bytes");
  cli_say(t->o, "chosen      %s in %s (%s): %s\n", info.solver, info.format, info.kernel,
          info.format_reason);
  return 0;
}

static int prepare_tuning(tuning *t) {
  CLI_OWNED_BY(kcl_solver_free) kcl_solver *s = NULL;
  kcl_setup_info info;
  double rate;
  cli_busy(t->o, "measuring the stream rate");
  CLI_CALL(cli_lib(kcl_stream_measure(t->ctx, &rate)));
  cli_say(t->o, "stream      %.1f GB/s\n", 1e-9 * rate);
  t->asked.format = "model";
  if (t->o->solver) t->asked.solver = t->o->solver;
  if (t->o->precond) t->asked.precond = t->o->precond;
  cli_busy(t->o, "setting up");
  CLI_CALL(cli_lib(cli_solver_create(t->ctx, t->A, &t->asked, &s)));
  kcl_solver_info(s, &info);
  snprintf(t->base, sizeof t->base, "%s", info.format);
  note_result(t, "method      %s, %s, on %s", info.solver, cli_type_words(t->asked.precision),
              cli_base(t->o->files[0]));
  return 0;
}

static int run_tune(kcl_context *ctx, const cli_options *o) {
  if (o->kernels) return cli_compile_kernels(ctx, o);
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_solver_free) kcl_solver *s = NULL;
  kcl_device device;
  tuning t = {.ctx = ctx, .o = o, .seconds = (double)o->seconds};
  kcl_options_init(&t.asked);
  double begin = cli_now();
  CLI_CALL(cli_device(ctx, o, &device));
  cli_report_device(o, &device);
  CLI_CALL(cli_matrix_load(ctx, o, o->files[0], &A, &t.asked.precision));
  cli_report_matrix(o, o->files[0], A, cli_now() - begin);
  t.A = A, t.begin = cli_now();
  CLI_CALL(prepare_tuning(&t));
  CLI_CALL(tune_all(&t));
  CLI_CALL(write_tunables(&t));
  t.asked.format = "measure";
  cli_busy(o, "timing formats");
  CLI_CALL(cli_lib(cli_solver_create(ctx, A, &t.asked, &s)));
  return report_tuning(&t, s);
}

const cli_command cli_tune = {
    .name = "tune",
    .operands = "A.mtx|poisson2d:300",
    .summary = "find the fastest tunables and format for a matrix, and record them",
    .options = "kernels seconds solver precond format precision device output quiet | threads "
               "cache index-base verbose",
    .min = 1,
    .max = 1,
    .lists = true,
    .reads = true,
    .run = run_tune,
    .notes =
        "Tries the tunables one after another, powers of two up and down, each with a validated "
        "product, and keeps a value that is faster in each of six pairs of timings, old and new "
        "one after another, and gains 3 % or more in their median. Writes them to the device's "
        "file in the cache folder ($KRYLOCL_CACHE, $XDG_CACHE_HOME/krylocl or ~/.cache/krylocl), "
        "or to -o FILE: lines \"name = value\", comments after #. Every run reads the device's "
        "file, or $KRYLOCL_TUNE=FILE instead; if that is set but empty, none. To undo, delete that "
        "file.\n"
        "\n"
        "Then formats are timed and, with --solver auto, the variants of cg; --format auto and "
        "--solver auto choose by this record in later runs. Without --solver the method is the one "
        "that --solver auto begins with.\n"
        "\n"
        "--kernels compiles programs for the device into the cache folder, so that first solves "
        "find them there: for a list of generated systems of several structures and sizes, each in "
        "the format that auto begins with or in --format, with each method and preconditioner that "
        "auto may choose or with --solver and --precond. With an operand, for that system alone. "
        "With --seconds N nothing is begun after N seconds. gmres, which takes longest, is "
        "compiled only if it is named.\n"};
