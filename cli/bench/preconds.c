/* krylocl bench --preconds: whole solves with each preconditioner. Reports set-up, set-up for new values,
 * iterations, time, memory, and the number of solves after which the set-up pays, compared with no preconditioner.
 * Kernels are compiled before anything is timed. */
#include "cli/bench/bench.h"
#include "cli/input/input.h"
#include "cli/problem/problem.h"
#include "cli/ui/csv.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"

typedef struct row {
  char matrix[120], precond[32], why[400]; /* why it was not solved, or empty */
  int64_t iterations;
  double setup, update; /* seconds to set up the preconditioner, and of an update */
  double solve;         /* seconds of a solve: median */
  double bytes;         /* bytes of its vectors and matrices */
  double pays;          /* from this number of solves on; INFINITY: never; NAN: not known */
  bool solved;
} row;

typedef struct comparing {
  kcl_context *ctx;
  const cli_options *o;
  cli_problem p;
  char matrix[120], method[32];
  double began;     /* the solve at work */
  row *rows;        /* [count] */
  int count, first; /* the row of this matrix without a preconditioner */
} comparing;

/* ---------------------------------------------------------------- one preconditioner */

static int check_time_limit(void *user, const kcl_progress *p) {
  const comparing *c = user;
  (void)p;
  return cli_interrupted() || cli_now() - c->began > c->o->time_limit;
}

/* Times up to --samples solves within --time-limit, at least one, after a warm-up solve. */
static int time_precond_solves(comparing *c, kcl_solver *s, row *r, double *x) {
  enum { MOST = 100 };
  double sample[MOST], begin = cli_now();
  const int most = c->o->samples < MOST ? (int)c->o->samples : MOST;
  kcl_report report = {0};
  kcl_summary all;
  int n = 0;
  for (int i = -1; i < most && (i < 1 || cli_now() - begin < c->o->time_limit); i++) {
    memset(x, 0, (size_t)c->p.A->cols * sizeof *x * (kcl_type_complex(c->p.A->type) ? 2 : 1));
    c->began = cli_now();
    CLI_CALL(cli_lib(cli_solver_solve(s, 1, c->p.b->val, x, &report)));
    if (i >= 0) sample[n++] = report.seconds_solve;
    if (!report.converged) break;
  }
  r->iterations = report.iterations, r->solved = report.converged && n > 0;
  if (!r->solved)
    snprintf(r->why, sizeof r->why, "%s",
             report.reason == KCL_INTERRUPTED ? "not within --time-limit"
                                              : kcl_reason_text(report.reason));
  if (r->solved && !kcl_summarise(sample, n, &all)) r->solve = all.median;
  return 0;
}

static int measure_precond(comparing *c, row *r) {
  kcl_options o;
  kcl_options_init(&o);
  CLI_OWNED_BY(kcl_solver_free) kcl_solver *s = NULL;
  kcl_setup_info u;
  CLI_OWNED double *x = calloc((size_t)c->p.A->cols * 2 + 1, sizeof *x);
  int rc = x ? 0 : cli_fail(KCL_MEMORY, "out of memory: x");
  o.solver = c->method;
  o.precond = r->precond;
  o.precision = c->p.precision;
  o.format = c->o->formats && strcmp(c->o->formats, "all") ? c->o->formats : "model";
  o.progress = check_time_limit;
  o.user = c;
  o.restart = (int)c->o->restart;
  if (!rc && (rc = cli_solver_create(c->ctx, c->p.A, &o, &s))) {
    snprintf(r->why, sizeof r->why, "%s", kcl_error());
    rc = rc == KCL_USAGE || rc == KCL_MEMORY || rc == KCL_REFUSED ? 0 : rc;
  } else if (!rc) {
    kcl_solver_info(s, &u);
    r->setup = u.seconds_precond, r->bytes = u.bytes_precond;
    rc = time_precond_solves(c, s, r, x);
    if (!rc && !cli_solver_update(c->ctx, s, c->p.A)) {
      kcl_solver_info(s, &u);
      r->update = u.seconds_precond;
    }
  }
  return rc;
}

static double pays_after(const row *r, const row *none) {
  if (!none->solved) return NAN;
  const double gain = none->solve - r->solve;
  return gain > 0 ? ceil(r->setup / gain) : INFINITY;
}

/* ---------------------------------------------------------------- what is printed and written */

static void say_precond_row(const cli_options *o, const row *r) {
  char pays[40] = "-";
  if (!r->solved) { /* of a refusal the first part, without the suggestion */
    cli_say(o, "  %-16s %.*s\n", r->precond, (int)strcspn(r->why, ";"), r->why);
    return;
  }
  if (r->pays == INFINITY) snprintf(pays, sizeof pays, "never");
  if (r->pays < INFINITY) snprintf(pays, sizeof pays, "%.0f", r->pays);
  cli_say(o, "  %-16s %10lld %10s %10s %10s %10s %10s\n", r->precond, (long long)r->iterations,
          cli_seconds(r->setup).s, cli_seconds(r->update).s, cli_seconds(r->solve).s,
          cli_bytes(r->bytes).s, pays);
}

static void say_precond_head(const comparing *c) {
  const kcl_csr *A = c->p.A;
  cli_say(c->o, "%s: %lld rows, %lld nonzeros, %s\n", c->matrix, (long long)A->rows,
          (long long)A->nnz, c->method);
  cli_say(c->o, "  %-16s %10s %10s %10s %10s %10s %10s\n", "precond", "iterations", "set-up",
          "update", "solve", "memory", "pays after");
}

static int write_preconds_json(const comparing *c) {
  cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "preconds");
  kcl_device d;
  if (!kcl_device_current(c->ctx, &d)) cli_json_device(o, &d);
  for (int i = 0; i < c->count; i++) {
    const row *r = &c->rows[i];
    cJSON *at = cli_json_item(list);
    cli_json_text(at, "matrix", r->matrix), cli_json_text(at, "precond", r->precond);
    cli_json_bool(at, "converged", r->solved);
    if (!r->solved) cli_json_text(at, "reason", r->why);
    cli_json_count(at, "iterations", r->iterations);
    cli_json_number(at, "seconds_setup", r->setup);
    cli_json_number(at, "seconds_update", r->update),
        cli_json_number(at, "seconds_solve", r->solve);
    cli_json_number(at, "bytes", r->bytes);
    if (r->solved && r->pays < INFINITY) cli_json_number(at, "pays_after", r->pays);
  }
  return cli_json_finish(c->o->json, o);
}

static int write_csv(const comparing *c) {
  cli_buffer b;
  CLI_CALL(cli_buffer_open(&b));
  fputs("matrix,precond,converged,iterations,seconds_setup,seconds_update,seconds_solve,bytes,"
        "pays_after,reason\n",
        b.f);
  for (int i = 0; i < c->count; i++) {
    const row *r = &c->rows[i];
    cli_csv_text(b.f, r->matrix);
    fputc(',', b.f);
    cli_csv_text(b.f, r->precond);
    fprintf(b.f, ",%s,%lld", r->solved ? "true" : "false", (long long)r->iterations);
    cli_csv_number(b.f, r->solved ? r->setup : NAN),
        cli_csv_number(b.f, r->solved ? r->update : NAN);
    cli_csv_number(b.f, r->solved ? r->solve : NAN);
    cli_csv_number(b.f, r->solved ? r->bytes : NAN), cli_csv_number(b.f, r->solved ? r->pays : NAN);
    fputc(',', b.f);
    cli_csv_text(b.f, r->why);
    fputc('\n', b.f);
  }
  return cli_buffer_write(&b, c->o->csv);
}

/* ---------------------------------------------------------------- all of them */

static int check_name(void *self, const char *word) {
  static const char *const all[] = {"all", NULL};
  return (void)self, cli_known("preconditioner", word, KCL_PRECONDS, all);
}

static int add_precond_row(void *self, const char *precond) {
  comparing *c = self;
  if (cli_interrupted()) return CLI_INTERRUPTED;
  if (c->count > c->first && !strcmp(precond, "none")) return 0; /* it is there */
  row *more = realloc(c->rows, (size_t)(c->count + 1) * sizeof *more);
  if (!more) return cli_fail(KCL_MEMORY, "out of memory: the rows");
  c->rows = more;
  row *r = &more[c->count];
  *r = (row){.pays = NAN};
  snprintf(r->matrix, sizeof r->matrix, "%s", c->matrix);
  snprintf(r->precond, sizeof r->precond, "%s", precond);
  cli_busy(c->o, "%s", r->precond);
  int rc = measure_precond(c, r);
  cli_idle();
  if (rc) return rc;
  c->count++;
  if (r->solved && c->count - 1 > c->first) r->pays = pays_after(r, &c->rows[c->first]);
  say_precond_row(c->o, r);
  return 0;
}

/* The method of --solver, or the one that auto begins with. */
static int choose_method(comparing *c) {
  kcl_stats s;
  int rc = c->o->solver ? 0 : cli_lib(kcl_csr_stats(c->ctx, c->p.A, &s));
  if (!rc)
    snprintf(c->method, sizeof c->method, "%s", c->o->solver ? c->o->solver : kcl_auto_solver(&s));
  return rc;
}

static int compare_on(comparing *c, const char *file) {
  int rc;
  c->first = c->count;
  cli_bench_short_name(file, c->matrix, sizeof c->matrix);
  CLI_TRY(cli_problem_load(c->ctx, c->o, file, NULL, NULL, &c->p));
  CLI_TRY(choose_method(c));
  say_precond_head(c);
  CLI_TRY(add_precond_row(c, "none"));
  rc = cli_bench_each_of(KCL_PRECONDS, c->o->preconds, add_precond_row, c);
  cli_say(c->o, "\n");
done:
  cli_problem_free(&c->p), c->p = (cli_problem){0};
  return rc;
}

int cli_bench_preconds(kcl_context *ctx, const cli_options *o) {
  comparing c = {.ctx = ctx, .o = o};
  kcl_device d;
  int rc = 0, written = 0;
  CLI_CALL(cli_each_word(o->preconds, check_name, NULL));
  CLI_CALL(cli_device(ctx, o, &d));
  cli_say(o, "device      %s\n\n", d.name);
  for (int i = 0; i < o->count && !rc; i++) rc = compare_on(&c, o->files[i]);
  if (o->json) written = write_preconds_json(&c);
  if (o->csv && !written) written = write_csv(&c);
  free(c.rows);
  return rc ? rc : written;
}
