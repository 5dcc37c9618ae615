/* krylocl bench --mixed: whole solves of A x = A*1 to 1e-8 in double and in mixed precision,
 * alternating, in the fastest format; medians of up to 5 solves, as many as fit in half a
 * minute. */
#include "cli/bench/bench.h"
#include "cli/input/input.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

enum { RUNS = 5 };
static const double budget = 30, tolerance = 1e-8;

static int time_solve(kcl_solver *s, const kcl_dense *b, kcl_dense *x, cli_timed_solve *e) {
  kcl_report p;
  size_t size = (size_t)x->rows * kcl_type_size(x->type);
  memset(x->val, 0, size);
  CLI_CALL(cli_lib(cli_solver_solve(s, 1, b->val, x->val, &p)));
  e->iterations = p.iterations, e->corrections = p.outer_iterations;
  e->residual = p.true_relative_residual, e->bytes_per_iteration = p.bytes_per_iteration;
  e->converged = p.converged;
  snprintf(e->note, sizeof e->note, "%s", p.mixed ? p.mixed_end : "");
  e->sample[e->samples++] = p.seconds_solve;
  return 0;
}

/* Sets up both solvers: [0] in double, [1] mixed. */
static int set_up_both(kcl_context *ctx, const cli_options *o, const kcl_csr *A,
                       const cli_bench_row *r, kcl_solver *s[2]) {
  int rc = 0;
  for (int i = 0; i < 2 && !rc; i++) {
    kcl_options asked;
    kcl_options_init(&asked);
    asked.solver = r->method;
    asked.format = r->format;
    asked.precision = r->type;
    asked.restart = (int)o->restart;
    asked.tol = tolerance;
    asked.mixed = i;
    asked.precond = r->precond;
    rc = cli_lib(cli_solver_create(ctx, A, &asked, &s[i]));
  }
  return rc;
}

static void free_both(kcl_solver *(*s)[2]) { kcl_solver_free(&(*s)[0]), kcl_solver_free(&(*s)[1]); }

int cli_bench_mixed(kcl_context *ctx, const cli_options *o, const kcl_csr *A, cli_bench_row *r) {
  CLI_OWNED_BY(free_both) kcl_solver *s[2] = {NULL, NULL};
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL, *x = NULL;
  double begin = cli_now();
  CLI_CALL(set_up_both(ctx, o, A, r, s));
  CLI_CALL(cli_lib(kcl_dense_create(ctx, A->rows, 1, A->type, &b)));
  CLI_CALL(cli_lib(kcl_dense_create(ctx, A->cols, 1, A->type, &x)));
  for (int64_t i = 0; i < x->rows; i++) x->val[x->type == KCL_Z ? 2 * i : i] = 1;
  kcl_csr_product(A, x->val, NULL, b->val);
  for (int i = 0; i < RUNS && !cli_interrupted() && (i == 0 || cli_now() - begin < budget); i++)
    for (int j = 0; j < 2; j++) CLI_CALL(time_solve(s[j], b, x, &r->timed[j]));
  for (int j = 0; j < 2; j++) {
    cli_timed_solve *e = &r->timed[j];
    if (e->samples) e->seconds = cli_median(e->sample, e->samples);
  }
  r->compared = r->timed[1].samples > 0;
  return 0;
}

void cli_bench_mixed_say(const cli_options *o, const cli_bench_row *r) {
  static const char *const word[] = {"double", "mixed"};
  const cli_timed_solve *e = r->timed;
  cli_say(o, "to %.0e in %s, A x = A*1:\n  %-8s %11s %11s %11s %11s %11s %11s\n", tolerance,
          r->format, "", "iterations", "corrections", "residual", "MB/iter", "us/iter", "solve");
  for (int j = 0; j < 2; j++)
    cli_say(o, "  %-8s %11s %11d %11.2e %11.4g %11.4g %11s%s\n", word[j],
            cli_count(e[j].iterations).s, e[j].corrections, e[j].residual,
            e[j].bytes_per_iteration * 1e-6,
            e[j].seconds / (double)(e[j].iterations ? e[j].iterations : 1) * 1e6,
            cli_seconds(e[j].seconds).s, e[j].converged ? "" : "  NOT CONVERGED");
  if (e[1].note[0]) cli_say(o, "  %s\n", e[1].note);
  cli_say(o, "  mixed takes %.2f times the iterations and %.2f times the time\n",
          (double)e[1].iterations / (double)(e[0].iterations ? e[0].iterations : 1),
          e[1].seconds / e[0].seconds);
}

static void timed_json(cJSON *o, const cli_timed_solve *e) {
  cli_json_bool(o, "converged", e->converged);
  cli_json_count(o, "iterations", e->iterations);
  cli_json_count(o, "outer_iterations", e->corrections);
  cli_json_number(o, "true_relative_residual", e->residual);
  cli_json_number(o, "bytes_per_iteration", e->bytes_per_iteration);
  cli_json_number(o, "seconds_solve", e->seconds);
}

void cli_bench_mixed_json(cJSON *row, const cli_bench_row *r) {
  if (!r->compared) return;
  timed_json(cJSON_AddObjectToObject(row, "in_double"), &r->timed[0]);
  timed_json(cJSON_AddObjectToObject(row, "in_mixed"), &r->timed[1]);
}

static void timed_read(const cJSON *o, cli_timed_solve *e) {
  e->converged = cli_get_bool(o, "converged");
  e->iterations = cli_get_count(o, "iterations");
  e->corrections = cli_get_int(o, "outer_iterations");
  e->residual = cli_get_or(o, "true_relative_residual", 0);
  e->bytes_per_iteration = cli_get_or(o, "bytes_per_iteration", 0);
  e->seconds = cli_get_or(o, "seconds_solve", 0);
}

void cli_bench_mixed_read(const cJSON *o, cli_bench_row *r) {
  const cJSON *wide = cli_field(o, "in_double"), *mixed = cli_field(o, "in_mixed");
  r->compared = wide && mixed;
  if (r->compared) timed_read(wide, &r->timed[0]), timed_read(mixed, &r->timed[1]);
}
