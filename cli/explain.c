/* krylocl explain: what solving a system would run on the selected device, without running it. */
#include "cli/explain_ranks.h"
#include "cli/input/input.h"
#include "cli/problem/problem.h"
#include "cli/ui/json.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

/* Prints one line per operation. The figures of the stage stand beside the first one. */
static void say_stage(const cli_options *o, int number, const kcl_stage_info *s, double rate) {
  const char *at = s->operations;
  size_t n = strcspn(at, ";");
  cli_say(o, "  %2d  %-34.*s%9s %9s\n", number, (int)n, at, cli_bytes(s->bytes).s,
          cli_seconds(s->bytes / rate).s);
  for (at += n; *at; at += n) {
    at += strspn(at, "; ");
    n = strcspn(at, ";");
    cli_say(o, "      %.*s\n", (int)n, at);
  }
}

typedef struct sum { /* sums over the stages of a phase */
  double bytes;
  int stages, launches;
  bool persistent;
} sum;

static sum say_phase(const cli_options *o, const kcl_solver *s, const char *phase, double rate) {
  sum all = {0};
  for (int i = 0; i < kcl_stage_count(s); i++) {
    kcl_stage_info stage;
    kcl_solver_stage(s, i, &stage);
    if (strcmp(stage.phase, phase)) continue;
    if (!all.stages) cli_say(o, "\n%s\n", phase);
    say_stage(o, ++all.stages, &stage, rate);
    all.bytes += stage.bytes;
    all.launches += stage.launches;
    all.persistent = stage.persistent;
  }
  return all;
}

static void say_launches(const cli_options *o, const sum *loop) {
  if (loop->persistent)
    cli_say(o, "launches    one persistent kernel for many passes over LOOP\n");
  else if (loop->launches)
    cli_say(o, "launches    %d per pass over LOOP\n", loop->launches);
  else
    cli_say(o, "launches    none: threads run the stages\n");
}

static int say_model(kcl_context *ctx, const cli_options *o, const kcl_solver *s) {
  static const char *const after[] = {"REPLACE", "RESUME"};
  kcl_setup_info info;
  double bytes = kcl_bytes_per_iteration(s);
  kcl_stream stream;
  double rate;
  CLI_CALL(cli_lib(kcl_stream_rate(ctx, &rate)));
  CLI_CALL(cli_lib(kcl_stream_get(ctx, &stream)));
  kcl_solver_info(s, &info);
  cli_say(o, "method      %s%s%s\n", info.solver, *info.solver_reason ? ": " : "",
          info.solver_reason);
  cli_say(o, "format      %s: %s\n", info.format, info.format_reason);
  cli_say(o, "kernel      %s\n", info.kernel);
  cli_say(o, "stream rate %s, measured %s\n", cli_stream(&stream).s, cli_age(&stream).s);
  cli_say(o, "\n      %-34s%9s %9s\n", "operations", "bytes", "predicted");
  say_phase(o, s, "START", rate);
  const sum loop = say_phase(o, s, "LOOP", rate);
  for (int i = 0; i < 2; i++) say_phase(o, s, after[i], rate);
  cli_say(o, "\n");
  say_launches(o, &loop);
  cli_say(o, "iteration   %s, %s at the stream rate, %s predicted\n", cli_bytes(bytes).s,
          cli_seconds(bytes / rate).s, cli_seconds(info.seconds_predicted).s);
  return 0;
}

/* Writes the kernel sources below a line that names their device. */
static int write_kernel_source(const cli_options *o, kcl_solver *s, const kcl_device *d) {
  cli_buffer b;
  char *source = NULL;
  CLI_CALL(cli_buffer_open(&b));
  int rc = cli_lib(kcl_solver_source(s, &source));
  fprintf(b.f, "// %s for device %s: %s (%s)%s%s\n%s", cli_base(o->files[0]), cli_device_place(d).s,
          d->name, d->platform_name, o->layout ? ", layout " : "", o->layout ? o->layout : "",
          rc ? "" : source);
  free(source);
  if (!rc) return cli_buffer_write(&b, o->output ? o->output : "-");
  cli_buffer_free(&b);
  return rc;
}

/* ---------------------------------------------------------------- what auto compares */

static const char *seconds_or_dash(double seconds, char text[48]) {
  snprintf(text, 48, "%s", seconds < 0 ? "-" : cli_seconds(seconds).s);
  return text;
}

static void say_candidate(const cli_options *o, const kcl_candidate_info *c) {
  char predicted[48], taken[48], compiled[48], iterations[32] = "-", name[64];
  snprintf(name, sizeof name, "%s %s", c->solver, *c->solver == 'd' ? "" : c->precond);
  if (c->iterations >= 0) snprintf(iterations, sizeof iterations, "%.0f", c->iterations);
  cli_say(o, "  %c %-20s %10s %10s %10s %10s  %s\n", c->begins ? '*' : ' ', name, iterations,
          seconds_or_dash(c->seconds_compile > 0 ? c->seconds_compile : -1, compiled),
          seconds_or_dash(c->seconds, predicted),
          c->failed ? "failed" : seconds_or_dash(c->seconds_taken, taken), c->why);
}

static void candidate_json(cJSON *list, const kcl_candidate_info *c) {
  cJSON *o = cli_json_item(list);
  cli_json_text(o, "solver", c->solver);
  cli_json_text(o, "precond", c->precond);
  cli_json_number(o, "seconds_setup", c->seconds_setup);
  cli_json_number(o, "seconds_compile", c->seconds_compile);
  if (c->iterations >= 0) cli_json_number(o, "iterations", c->iterations);
  if (c->seconds >= 0) cli_json_number(o, "seconds", c->seconds);
  if (c->seconds_taken >= 0) cli_json_number(o, "seconds_taken", c->seconds_taken);
  cli_json_bool(o, "failed", c->failed);
  cli_json_bool(o, "begins", c->begins);
  cli_json_text(o, "why", c->why);
}

static int write_candidates(const cli_options *o, const kcl_solver *s, const kcl_csr *A,
                            const kcl_candidate_info *list, int count) {
  kcl_setup_info info;
  cJSON *all = cJSON_CreateObject();
  kcl_solver_info(s, &info);
  cli_json_matrix(all, o->files[0], A);
  cli_json_text(all, "solver", info.solver);
  cli_json_text(all, "precond", info.precond);
  cli_json_text(all, "format", info.format);
  cJSON *items = cJSON_AddArrayToObject(all, "candidates");
  for (int i = 0; i < count; i++) candidate_json(items, &list[i]);
  return cli_json_finish(o->json, all);
}

/* Prints the candidates of the solver, and writes them to --json. */
static int explain_candidates(const cli_options *o, kcl_solver *s, const kcl_csr *A) {
  enum { MOST = 12 };
  kcl_candidate_info list[MOST];
  int count, rc = cli_lib(kcl_solver_candidates(s, MOST, list, &count));
  if (rc) return rc;
  if (count)
    cli_say(o, "\n    %-20s %10s %10s %10s %10s  why\n", "candidates", "iterations", "compile",
            "predicted", "taken");
  for (int i = 0; i < count; i++) say_candidate(o, &list[i]);
  return o->json ? write_candidates(o, s, A, list, count) : 0;
}

/* ---------------------------------------------------------------- the subcommand */

static int run_explain(kcl_context *ctx, const cli_options *o) {
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_solver_free) kcl_solver *s = NULL;
  kcl_device device;
  kcl_options asked;
  kcl_options_init(&asked);
  asked.format = "model";
  cli_library_options(o, &asked);
  double begin = cli_now();
  if (o->layout) setenv("KRYLOCL_LAYOUT", o->layout, 1);
  kcl_profile_enable(ctx, o->source); /* drivers then tell what kernels use */
  CLI_CALL(cli_device(ctx, o, &device));
  CLI_CALL(cli_matrix_load(ctx, o, o->files[0], &A, &asked.precision));
  if (!o->source)
    cli_report_device(o, &device), cli_report_matrix(o, o->files[0], A, cli_now() - begin);
  CLI_CALL(cli_parameters_set(o->parameters, &asked));
  cli_busy(o, "setting up");
  CLI_CALL(cli_lib(cli_solver_create(ctx, A, &asked, &s)));
  cli_idle();
  int rc = o->source ? write_kernel_source(o, s, &device) : say_model(ctx, o, s);
  if (!rc && !o->source) rc = explain_candidates(o, s, A);
  if (!rc && o->ranks && !o->source) rc = cli_explain_ranks(o, A, s, &device);
  return rc;
}

const cli_command cli_explain = {
    .name = "explain",
    .operands = "A.mtx|poisson2d:300",
    .summary = "show what a solve would run: stages, launches, bytes, source",
    .options =
        "solver format precond source output precision device json quiet ranks | restart nrhs "
        "parameters threads layout cache index-base durable",
    .min = 1,
    .max = 1,
    .lists = true,
    .reads = true,
    .run = run_explain,
    .notes =
        "Prints the recorded method: the stages of each phase with their operations in the "
        "notation of the method's paper, the bytes that each moves, and the time that takes at "
        "the device's stream rate. START runs once, LOOP is an iteration (or a cycle of "
        "several), REPLACE replaces drifting residuals now and then. Candidates are the ways "
        "that auto compares, with predicted seconds, and those that earlier solves of such a "
        "system took: the next solve begins with the one marked by *, and switches where that "
        "pays (docs/auto.md). --json: matrix solver precond format, candidates: a list of "
        "{solver precond seconds_setup seconds_compile iterations seconds seconds_taken failed "
        "begins why}; compile: of kernels that were not in the cache, a part of predicted. "
        "--source prints the OpenCL C source of the kernels instead, to standard output or -o "
        "FILE: for --device, else, where that is the cpu, for the first OpenCL device; --layout "
        "gpu: as for a GPU. NVIDIA's driver also tells registers, spilled bytes and PTX "
        "instructions of every kernel: comments below its source. Nothing is solved.\n"};
