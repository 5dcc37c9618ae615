/* krylocl solve: reads A and b, solves for every column of b, up to eight at once, and writes x,
 * the report, JSON and the history after the last solve, also after an interrupt. */
#include "cli/draw/plot.h"
#include "cli/input/input.h"
#include "cli/ranks/files.h"
#include "cli/ranks/launch.h"
#include "cli/ranks/ranks.h"
#include "cli/ranks/solve.h"
#include "cli/ui/csv.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"

static kcl_options options_of(const cli_options *o, kcl_type precision) {
  kcl_options a;
  kcl_options_init(&a);
  cli_library_options(o, &a);
  cli_parameters_set(o->parameters, &a); /* checked */
  a.precision = precision;
  if (o->tol < 0) a.tol = kcl_default_tol(precision);
  return a;
}

static int open_solve_device(kcl_context *ctx, cli_run *r) {
  kcl_profile_enable(ctx, r->o->profile);
  CLI_CALL(cli_device(ctx, r->o, &r->device));
  r->opened = r->device;
  return 0;
}

/* Reads the system. Ranks other than 0 take part only if each reads its own rows. */
static int load_problem(kcl_context *ctx, cli_run *r) {
  const cli_options *o = r->o;
  r->p.spread = cli_ranks_tell(cli_ranks_spread(o));
  if (cli_rank() && !r->p.spread) return 0;
  CLI_CALL(cli_problem_load(ctx, o, o->files[0], o->count > 1 ? o->files[1] : NULL, o->x0, &r->p));
  CLI_CALL(cli_near_null_load(ctx, o, &r->p));
  r->results = calloc((size_t)r->p.b->cols, sizeof *r->results);
  return r->results ? 0 : cli_fail(KCL_MEMORY, "out of memory: the results");
}

typedef struct opening {
  kcl_context *ctx;
  cli_run *r;
} opening;

/* The other thread only reads, so the program may end here. */
static int open_or_leave(void *self) {
  const opening *p = self;
  const int rc = open_solve_device(p->ctx, p->r);
  if (rc) cli_leave(rc);
  return rc;
}

/* Drivers of GPUs take a quarter of a second to open a device: a thread does that beside the reading, which has a context of its own. What
 * counts as the device's time is the rest. */
static int load_beside_device(kcl_context *ctx, cli_run *r) {
  CLI_OWNED_BY(kcl_context_free) kcl_context *reader = NULL;
  cli_beside beside;
  if (kcl_context_create(NULL, 0, &reader)) return cli_fail(KCL_MEMORY, "out of memory");
  kcl_context_watch(reader, cli_watch, (void *)r->o);
  cli_beside_begin(&beside, open_or_leave, &(opening){ctx, r});
  const int rc = load_problem(reader, r);
  if (rc) cli_leave(rc); /* the driver may take long */
  r->seconds_device = cli_now();
  cli_beside_end(&beside);
  r->seconds_device = cli_now() - r->seconds_device;
  return 0;
}

/* Ranks agree after each step. */
static int load_after_device(kcl_context *ctx, cli_run *r) {
  r->seconds_device = cli_now();
  CLI_CALL(cli_ranks_agreed(ctx, open_solve_device(ctx, r)));
  r->seconds_device = cli_now() - r->seconds_device;
  return cli_ranks_agreed(ctx, load_problem(ctx, r));
}

static int open_and_load(kcl_context *ctx, cli_run *r) {
  const cli_options *o = r->o;
  const char *word = cli_device_word(o);
  const bool beside = cli_ranks() == 1 && !(word && !strcmp(word, "cpu"));
  CLI_CALL(beside ? load_beside_device(ctx, r) : load_after_device(ctx, r));
  cli_report_device(o, &r->device);
  if (r->p.A) cli_report_matrix(o, o->files[0], &r->p.whole, r->p.seconds_read);
  return 0;
}

static int keep_history(cli_result *s) {
  size_t n = (size_t)s->report.history_size;
  s->history = malloc((n + 1) * sizeof *s->history);
  if (!s->history) return cli_fail(KCL_MEMORY, "out of memory: the residual history");
  if (n) memcpy(s->history, s->report.history, n * sizeof *s->history);
  s->report.history = s->history;
  return 0;
}

/* Copies history and changes, which the solver overwrites in its next solve. */
static int keep_texts(cli_result *s) {
  int rc = keep_history(s);
  s->changes = rc ? NULL : strdup(s->report.changes);
  s->report.changes = s->changes;
  if (!rc && !s->changes) rc = cli_fail(KCL_MEMORY, "out of memory: the report");
  return rc;
}

/* True if p counts as solved. A least-squares solution does for a rectangular A, or if a method was named. */
static bool is_answered(const cli_run *r, const kcl_report *p) {
  bool wanted = r->p.whole.rows != r->p.whole.cols || strcmp(r->asked.solver, "auto") != 0;
  return p->converged || (p->least_squares && wanted);
}

static bool is_worse(const cli_run *r, const kcl_report *a, const kcl_report *b) {
  if (is_answered(r, a) != is_answered(r, b)) return is_answered(r, b);
  return !(a->true_relative_residual <= b->true_relative_residual);
}

/* Largest |x_i - 1| if b = A*1 determines x, else -1. */
static double forward_error(const cli_run *r, int64_t j) {
  if (!r->p.ones || r->p.whole.rows < r->p.whole.cols) return -1;
  const double own = cli_error_from_ones(r->p.x, j);
  return r->p.spread ? cli_ranks_largest(own) : own;
}

static int keep_result(cli_run *r, int64_t j, const kcl_report *report) {
  cli_result *s = &r->results[j];
  s->report = *report;
  CLI_CALL(keep_texts(s));
  s->forward_error = forward_error(r, j);
  r->seconds_upload += s->report.seconds_upload, r->seconds_solve += s->report.seconds_solve;
  r->seconds_download += s->report.seconds_download;
  r->seconds_certify += s->report.seconds_certify;
  r->solved = j + 1;
  if (s->report.reason == KCL_INTERRUPTED && !cli_rank()) cli_interrupt_noted();
  if (is_worse(r, &s->report, &r->results[r->worst].report)) r->worst = j;
  return 0;
}

static int solve_block(kcl_context *ctx, cli_run *r, int64_t j) {
  kcl_report report[KCL_MAX_NRHS];
  int64_t left = r->p.b->cols - j, count = left < r->setup.nrhs ? left : r->setup.nrhs;
  int rc = cli_lib(cli_solve_columns(ctx, r, j, count, report));
  for (int64_t i = 0; i < count && !rc; i++) rc = keep_result(r, j + i, &report[i]);
  return rc;
}

/* Number of right-hand sides to solve at once: the one asked for, else as many as exist, up to the limit. */
static int nrhs_at_once(const cli_run *r) {
  int64_t cols = r->p.b->cols;
  if (r->o->nrhs) return (int)r->o->nrhs;
  return cols < KCL_MAX_NRHS ? (int)cols : KCL_MAX_NRHS;
}

static int solve_all_blocks(kcl_context *ctx, cli_run *r) {
  cli_progress progress = cli_progress_begin(r->o);
  cli_interrupt_begin(r->o);
  cli_checkpoint_begin(r->o);
  if (cli_ranks() > 1) cli_launched(r->o->checkpoint != NULL);
  r->asked.progress = cli_progress_show, r->asked.user = &progress;
  r->asked.nrhs = nrhs_at_once(r);
  cli_busy(r->o, "setting up");
  CLI_CALL(cli_lib(cli_setup(ctx, r)));
  /* It is the CPU where a driver fails its self-test. */
  CLI_CALL(cli_lib(kcl_device_current(ctx, &r->device)));
  CLI_CALL(cli_lib(cli_checkpoint_use(r)));
  cli_describe(r);
  CLI_CALL(cli_lib(kcl_profile_take(ctx, &r->profile.setup)));
  cli_report_method(r);
  cli_interrupt_computing();
  cli_busy(r->o, "solving");
  for (int64_t j = 0; j < r->p.b->cols && !cli_interrupted(); j += r->setup.nrhs)
    CLI_CALL(solve_block(ctx, r, j));
  CLI_CALL(cli_lib(kcl_profile_take(ctx, &r->profile.solve)));
  CLI_CALL(cli_solves_end(ctx, r));
  cli_describe(r); /* "auto" may have changed the choice */
  return 0;
}

typedef struct checking {
  kcl_context *ctx;
  cli_run *r;
} checking;

static int check_solved_columns(void *self) {
  const checking *c = self;
  cli_run *r = c->r;
  const kcl_check_plan plan = cli_check_plan(r->o, r->asked.tol);
  for (int64_t j = 0; j < r->solved; j++) {
    cli_result *s = &r->results[j];
    CLI_CALL(
        cli_lib(kcl_solution_check(c->ctx, r->p.A, cli_column(r->p.b, j), cli_column(r->p.x, j),
                                   &plan, cli_column(r->direct, j), &s->check)));
    s->checked = true;
  }
  return 0;
}

/* Compares with direct solutions if asked for. A factorisation cannot be interrupted, so it is abandoned. */
static int check_solutions(kcl_context *ctx, cli_run *r) {
  static checking c;
  if (!r->o->check || strcmp(r->o->check, "none") == 0) return 0;
  CLI_CALL(cli_lib(kcl_dense_create(ctx, r->p.A->cols, r->p.b->cols, r->p.A->type, &r->direct)));
  fflush(stdout); /* a second interrupt ends the program here */
  c = (checking){ctx, r};
  cli_busy(r->o, "solving directly");
  int rc = cli_abandonable(check_solved_columns, &c);
  if (!rc && r->o->check_output)
    rc = cli_lib(kcl_dense_write(ctx, r->o->check_output, r->direct)), r->wrote_direct = !rc;
  return rc;
}

static int write_history(const cli_run *r) {
  cli_buffer b;
  CLI_CALL(cli_buffer_open(&b));
  FILE *f = b.f;
  bool many = r->p.b->cols > 1;
  bool tested = cli_tests_another(r, &r->results[r->worst].report);
  fprintf(f, "%siteration,%s_residual\n", many ? "column," : "", tested ? "tested" : "relative");
  for (int64_t j = 0; j < r->solved; j++)
    for (int64_t i = 0; i < r->results[j].report.history_size; i++) {
      if (many) fprintf(f, "%lld,", (long long)j + 1);
      fprintf(f, "%lld", (long long)i);
      cli_csv_number(f, r->results[j].history[i]);
      fputc('\n', f);
    }
  return cli_buffer_write(&b, r->o->history);
}

static int draw_history(const cli_run *r) {
  char title[256];
  CLI_OWNED cli_curve *curves = calloc((size_t)r->solved, sizeof *curves);
  if (!curves) return cli_fail(KCL_MEMORY, "out of memory: the picture");
  for (int64_t j = 0; j < r->solved; j++) {
    const kcl_report *s = &r->results[j].report;
    curves[j] = (cli_curve){s->history, s->history_size, s->true_relative_residual};
  }
  const kcl_report *w = &r->results[r->worst].report;
  bool plain = strcmp(r->setup.precond, "none") == 0;
  snprintf(title, sizeof title, "%s: %s%s%s, %s, %s iterations, %s", cli_base(r->o->files[0]),
           r->setup.solver, plain ? "" : " + ", plain ? "" : r->setup.precond, r->setup.format,
           cli_count(w->iterations).s, kcl_reason_text(w->reason));
  return cli_plot_history(r->o->plot, title, curves, r->solved, r->asked.tol);
}

/* Checks that x has not changed since it was certified. */
static int x_unchanged(const cli_run *r) {
  size_t size = (size_t)r->p.x->rows * kcl_type_size(r->p.x->type);
  for (int64_t j = 0; j < r->solved; j++)
    if (kcl_checksum(cli_column(r->p.x, j), size) != r->results[j].report.x_sum)
      return cli_fail(KCL_CHANGED,
                      "x changed in memory after it was certified: is the memory faulty?");
  return 0;
}

static int write_x(kcl_context *ctx, const cli_run *r) {
  const char *path = r->o->output;
  int rc = x_unchanged(r);
  if (r->p.spread) rc = cli_ranks_agreed(ctx, rc);
  if (rc || !path) return rc;
  cli_busy(r->o, "writing %s", cli_base(path));
  if (r->p.spread) return cli_ranks_dense_write(ctx, path, r->p.x);
  return cli_lib(kcl_dense_write(ctx, path, r->p.x));
}

/* Writes all that can be written and returns the first failure. */
static int write_solve_files(kcl_context *ctx, cli_run *r) {
  const cli_options *o = r->o;
  int rc = write_x(ctx, r), failed = 0;
  r->wrote_x = !rc;
  if (o->history && (failed = write_history(r)) && !rc) rc = failed;
  r->wrote_history = !failed;
  if (o->plot && (failed = draw_history(r)) && !rc) rc = failed;
  return rc;
}

static int exit_verdict(const cli_run *r) {
  const kcl_report *w = &r->results[r->worst].report;
  if (r->solved < r->p.b->cols || w->reason == KCL_INTERRUPTED) return CLI_INTERRUPTED;
  if (w->reason == KCL_DEVICE_LOST) return cli_fail(KCL_DEVICE, "%s", w->lost_why);
  if (!is_answered(r, w)) {
    if (r->o->quiet) cli_fail(CLI_NOT_CONVERGED, "not converged: %s", kcl_reason_text(w->reason));
    return CLI_NOT_CONVERGED;
  }
  int64_t worst = -1; /* a column that failed, or else one that is undecided */
  for (int64_t j = 0; j < r->solved; j++) {
    const cli_result *s = &r->results[j];
    if (!s->checked || s->check.verdict == KCL_PASSED) continue;
    if (worst < 0 || r->results[worst].check.verdict != KCL_FAILED) worst = j;
  }
  return worst < 0 ? 0 : cli_compare_code(&r->results[worst].check);
}

/* The counterpart of solve_all_blocks and write_x on ranks other than 0. Rank 0 announces how many columns to
 * solve next. */
static int serve_rank_0(kcl_context *ctx, cli_run *r) {
  if (r->p.spread) r->asked.nrhs = nrhs_at_once(r);
  cli_checkpoint_serve(r->o);
  CLI_CALL(cli_setup(ctx, r));
  CLI_CALL(cli_checkpoint_use(r));
  cli_describe(r);
  for (int columns; (columns = cli_ranks_tell(0));)
    CLI_CALL(r->p.spread ? solve_block(ctx, r, r->solved)
                         : cli_solve_columns(ctx, r, 0, columns, NULL));
  CLI_CALL(cli_solves_end(ctx, r));
  const int rc = r->solved ? write_x(ctx, r) : 0;
  if (cli_ranks_tell(0)) cli_leave(cli_ranks_end(rc));
  return rc;
}

static void free_run(cli_run *r) {
  cli_checkpoint_end();
  for (int64_t j = 0; r->results && j < r->p.b->cols; j++)
    free(r->results[j].history), free(r->results[j].changes);
  free(r->results);
  cli_setup_free(r);
  cli_profile_free(&r->profile);
  kcl_dense_free(&r->direct);
  cli_problem_free(&r->p);
}

/* Its driver may not answer, not even at the end of the process. */
static bool device_was_lost(const cli_run *r) {
  for (int64_t j = 0; j < r->solved; j++)
    if (r->results[j].report.lost_why[0]) return true;
  return false;
}

/* Writes files, checks and reports. Returns the exit code. */
static int write_and_report(kcl_context *ctx, cli_run *r, double begin) {
  const cli_options *o = r->o;
  int rc;
  r->seconds_write = cli_now();
  int written = write_solve_files(ctx, r); /* before anything that may fail or take long */
  r->seconds_write = cli_now() - r->seconds_write;
  r->seconds_total = cli_now() - begin;
  const bool rate = (!o->quiet || o->json) && !cli_interrupted() && !device_was_lost(r);
  if (rate) cli_busy(o, "measuring the memory rate");
  if (rate) kcl_stream_get(ctx, &r->stream);
  const int checked = check_solutions(ctx, r);
  r->check_interrupted = checked == CLI_INTERRUPTED;
  rc = o->json ? cli_solve_json(r) : 0;
  if (!written) written = rc;
  r->wrote_json = !rc;
  cli_idle();
  cli_report_results(r);
  rc = written ? written : exit_verdict(r);
  if (rc) return rc;
  return cli_interrupted() ? CLI_INTERRUPTED : checked;
}

static int run_solve(kcl_context *ctx, const cli_options *o) {
  const double begin = cli_now();
  CLI_OWNED_BY(free_run) cli_run r = {.o = o};
  CLI_CALL(cli_checkpoint_check(o));
  CLI_CALL(open_and_load(ctx, &r));
  r.asked = options_of(o, (kcl_type)cli_ranks_tell((int)r.p.precision));
  if (cli_rank()) return serve_rank_0(ctx, &r);
  r.asked.near_null = r.p.near_null;
  int rc = solve_all_blocks(ctx, &r);
  cli_idle();
  CLI_CALL(rc);
  rc = r.solved ? write_and_report(ctx, &r, begin)
                : cli_fail(CLI_INTERRUPTED, "interrupted before the first iteration");
  /* A thread that was abandoned may still compute, so nothing is freed, on no rank: the others would wait for this one. */
  if (cli_ranks_tell(cli_interrupted() || device_was_lost(&r)))
    cli_leave(cli_ranks_end(cli_exit_code(rc)));
  return rc;
}

const cli_command cli_solve = {
    .name = "solve",
    .operands = "A.mtx|poisson2d:300 [b.rhs|ones|random]",
    .summary = "solve A x = b; without b, that of A's file or generator, else A*1",
    .options =
        "output solver precond format device tol max-iter x0 check json history plot quiet "
        "| checkpoint every resume devices shares partition reproducible check-tol "
        "check-output threads precision symmetry scale no-direct mixed guard fallback atol "
        "restart nrhs parameters near-null coordinates profile verbose cache index-base durable",
    .min = 1,
    .max = 2,
    .lists = true,
    .reads = true,
    .ranks = true,
    .run = run_solve,
    .notes =
        "Method: stops at |b - A x|_2 <= max(tol |b|_2, atol), verified with a recomputed "
        "residual. cgls and lsqr take rectangular matrices, minimise |r|_2, r = b - A x, and also "
        "stop at |A^H r| <= tol |A^H b| and |A^H r| <= tol |A|_F |r|: x is then a least-squares "
        "solution.\n"
        "\n"
        "Format: auto takes the fastest on record for this device and structure, else the one with "
        "the least predicted time, and a long solve times others on the way; measure times them "
        "first; model takes the least predicted time. With --mixed, auto uses float only where it "
        "gains a fifth.\n"
        "\n"
        "Several devices: --devices gpu:0,gpu:1 or gpu,cpu starts a rank for each by mpiexec, and "
        "gives it a block of rows: equal ones where the devices are alike, else by their measured "
        "rates. mpirun -n 2 krylocl solve ... does it by hand. Every rank reads and writes its "
        "rows, rank 0 reports. What cannot run so is refused (docs/distributed.md).\n"
        "\n"
        "Scaling: where the rows of A differ so much that |b - A x|_2 <= tol |b|_2 would hide "
        "errors of 1 % in the small ones, rows and columns are scaled by powers of two, R A C y = "
        "R b, x = C y, and the solve stops when |R r|_2 <= tol |R b|_2 holds too. All that is "
        "reported is of the system as given, but for the tested residual and the history. --scale "
        "none leaves it out.\n"
        "\n"
        "Right-hand sides: up to eight columns of b are solved at once and share each pass over "
        "the matrix; each converges on its own. --nrhs 1 solves one after another.\n"
        "\n"
        "Output: -o writes x even if the solve did not converge or was interrupted. The first "
        "interrupt ends the iteration or the check, and all that is known is written; a second one "
        "ends the program at once. Files appear under their names when they are complete.\n"
        "\n"
        "Checkpoints: --checkpoint FILE keeps what the solve needs to go on, at --every, when it "
        "is interrupted (SIGTERM before a time limit), and on SIGUSR1, after which it goes on. "
        "--resume FILE goes on with the same A, b and options, with the same bits of x on the same "
        "device and format, else from x; a file that is damaged or missing is replaced by FILE.1. "
        "A job that is started again by the same line has both: --checkpoint x.kck --resume x.kck "
        "begins anew while there is no x.kck. Several ranks have one file, which rank 0 writes; a "
        "signal to any of them is enough, and another number of ranks goes on from x.\n"
        "\n"
        "--guard: checksums of A and of the preconditioner, and the residual, are checked from "
        "time to time during the solve, about a fiftieth of it. After an error in memory the "
        "solve goes on from the last state that passed.\n"
        "\n"
        "--fallback cpu: where the OpenCL device is lost during the solve, because a call of its "
        "driver fails or it does not answer for 100 times as long as it should and 30 s "
        "(KRYLOCL_WATCHDOG=seconds), the solve continues on the CPU from the last x that was read "
        "back. Otherwise that x is written, and the exit code is 4.\n"
        "\n"
        "--check compares x with a direct solution y that is refined with compensated residuals: d "
        "= |x - y|_inf / |y|_inf. The error of y is at most e = | |A^-1| w |_inf / |y|_inf, w = |b "
        "- A y| + u (|A| |y| + |b|), estimated with the same factors, so that of x is between d - "
        "e and d + e. Allowed are 10 max(tol, K ex), but at most 0.1, one correct digit: K is the "
        "estimated condition number, ex the backward error of x. Or what --check-tol says.\n"
        "  passed (exit code 0): d <= allowed and d + e <= 0.1; with --check-tol d + e <= allowed\n"
        "  failed (6): d - e > allowed, or x did not converge (1)\n"
        "  undecided (7): the direct solution is not certain enough\n"
        "--check direct takes CHOLMOD, UMFPACK where A is not Hermitian positive definite, "
        "SuiteSparseQR where it is rectangular or singular. cholmod, umfpack and spqr name the "
        "first to try. For least squares normal residuals replace backward errors, norms are "
        "2-norms, and A x and A y are compared if the solution is not unique. --check-output "
        "writes y.\n"
        "\n"
        "Residuals: relative is |r|_2 / |b|_2; normal is max(|A^H r| / |A^H b|, |A^H r| / (|A|_F "
        "|r|)); tested is what the solve stops by: of cgls and lsqr the smaller of the two, of a "
        "scaled system |R r|_2 / |R b|_2. They are by the recurrence of the last iteration; true_ "
        "ones and normal are recomputed from x. relative_residual is null where another one is "
        "tested, and for direct solutions.\n"
        "\n"
        "--profile: sums of event times on an OpenCL device (without --device the first, where "
        "that is the cpu otherwise), of the set-up and of the solve: kernels by name with their "
        "attributes, transfers with their bytes, and gaps. Recording costs time: seconds per "
        "iteration are higher with it.\n"
        "\n"
        "--json: one object. Fields:\n"
        "  krylocl (version), matrix {file rows cols nnz stored symmetry field}, device "
        "device_place device_kind precision solver solver_reason solver_remembered precond "
        "[parameters (as given)] [precond_bytes precond_note precond_levels precond_rows "
        "precond_nonzeros precond_complexity] format format_reason scaled scale_reason [scale_rows "
        "scale_columns (least and largest exponent of two)] zero_rows [first_zero_row (from 1)] "
        "zero_columns [first_zero_column] [put_aside (kernels that fail the driver's self-test)] "
        "kernel bytes_stored stages tol atol expected_iterations, timed: a list of {solver format "
        "seconds_setup seconds_per_iteration}; with --mixed: mixed_reason bytes_float\n"
        "  converged reason iterations residual_restarts changes mixed [inner_iterations "
        "outer_iterations mixed_end] relative_residual true_relative_residual [x_checksum (of its "
        "bytes; not where each rank has a part)] backward_error rowwise_error componentwise_error "
        "[tested_residual true_tested_residual] [least_squares normal_residual] not_unique "
        "least_norm (x is the smallest of those that solve as well) condition_estimate (a lower "
        "bound) [ritz_min ritz_max] [forward_error] [guard_checks guard_errors guard_rollbacks] "
        "[checkpoints bytes_checkpoint seconds_checkpoint] [resumed_at (iteration)] [fallback "
        "{from (device) to (cpu, or null: the solve ended) at_iteration why}] history: pairs of an "
        "iteration and the residual after it, at most about 1,000\n"
        "  [check {method verdict reason relative_difference (d) direct_error (e) "
        "allowed_difference compared condition relative_residual backward_error "
        "direct_relative_residual direct_backward_error direct_seconds direct_corrections, and for "
        "least squares rank norm_x normal_residual direct_norm_x direct_normal_residual}]\n"
        "  seconds {device read check statistics convert precondition compile measure upload solve "
        "download certify write other total}, seconds_per_iteration bytes_per_iteration "
        "gbytes_per_second stream_gbytes_per_second stream_fraction stream\n"
        "  nrhs, and if b has several columns: nrhs_at_once worst_column, and solves: a list with "
        "the results of every column; those on top are of the worst, seconds.solve is the sum\n"
        "  on several ranks: ranks, a list of {rank device threads format first_row rows "
        "first_column columns nonzeros share boundary_rows neighbours halo sends seconds_partition "
        "seconds_solve seconds_halo seconds_sum [seconds_alone]}, partition, communication_volume "
        "(elements of x sent per product), imbalance (the most nonzeros of a rank over its share "
        "of all), seconds_per_iteration_alone (predicted, of the fastest GPU alone)\n"
        "  with --profile: profile {setup solve}, each {seconds gaps commands}, a list of {kind "
        "[name] count seconds}, with bytes, or of kernels group largest_group preferred_multiple "
        "private_bytes local_bytes\n"};
