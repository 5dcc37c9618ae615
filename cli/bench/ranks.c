/* krylocl bench --devices: y = A x on several ranks, each with a device of its own, beside the same product on each of these
 * devices alone (Kuresson 2012, table 14). Rank 0 reads the matrices and reports; all ranks take the same steps. A product is
 * checked before it is timed. */
#include "cli/bench/bench.h"
#include "cli/ranks/files.h"
#include "cli/ranks/launch.h"
#include "cli/ranks/product.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/csv.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"

typedef struct shared_row { /* a product in one format */
  char matrix[96], format[32];
  kcl_type type;
  int64_t rows, cols, nonzeros;
  char why[400];                      /* the reason of a refusal, or "" */
  bool passed;                        /* the check */
  double sample[CLI_PRODUCT_SAMPLES]; /* ascending: seconds per product of all ranks */
  double median;
  cli_product_part *parts; /* [ranks]; NULL: not timed */
} shared_row;

typedef struct sharing {
  kcl_context *ctx;
  const cli_options *o;
  kcl_bench_plan plan;
  cli_problem p; /* the matrix at work, in the precision at work */
  kcl_dense *y;
  shared_row *rows; /* [count] */
  int count, measured;
} sharing;

/* ---------------------------------------------------------------- figures */

static double shared_rate(const shared_row *r, double seconds) {
  return (double)r->nonzeros / seconds * 1e-6;
}

static double seconds_of_fastest(const shared_row *r) {
  return r->parts ? cli_product_alone(r->parts) : NAN;
}

static void shared_status(const shared_row *r, char *text, size_t capacity) {
  if (*r->why)
    snprintf(text, capacity, "refused: %s", r->why);
  else
    snprintf(text, capacity, "%s",
             r->passed ? "ok" : "failed: the product differs from the reference");
}

/* ---------------------------------------------------------------- a row */

/* Rank 0 compares y with A x; all ranks learn the result. */
static int check_shared_row(sharing *s, kcl_operator *op, shared_row *r) {
  const cli_product_call call = {
      .op = op, .precision = r->type, .columns = 1, .x = s->p.x, .y = s->y, .alpha = {1, 0}};
  kcl_product_error error = {0};
  double seconds;
  int rc = 0;
  CLI_CALL(cli_product_apply(s->ctx, &call, &seconds));
  if (!cli_rank())
    rc = cli_lib(kcl_product_check(s->ctx, s->p.A, r->type, s->p.x->val, s->y->val, &error));
  CLI_CALL(cli_ranks_agreed(s->ctx, rc));
  r->passed = cli_ranks_tell(error.ratio <= 1);
  return 0;
}

static int time_shared_row(sharing *s, const kcl_operator_options *asked, kcl_operator *op,
                           shared_row *r) {
  CLI_CALL(cli_product_time(op, false, 1, &s->plan, r->sample));
  r->median = cli_median(r->sample, s->plan.samples);
  CLI_CALL(cli_product_parts(s->ctx, s->p.A, asked, op, &s->plan, &r->parts));
  s->measured++;
  return 0;
}

static int measure_shared_row(sharing *s, shared_row *r) {
  const kcl_operator_options asked = {.format = r->format, .precision = r->type, .nrhs = 1};
  CLI_OWNED_BY(kcl_operator_free) kcl_operator *op = NULL;
  int rc = cli_product_create(s->ctx, s->p.A, &asked, &op);
  if (rc == KCL_REFUSED || rc == KCL_MEMORY) {
    const char *error = kcl_error(), *reason = strstr(error, "refused: ");
    snprintf(r->why, sizeof r->why, "%s", reason ? reason + strlen("refused: ") : error);
    return 0;
  }
  CLI_CALL(cli_lib(rc));
  CLI_CALL(check_shared_row(s, op, r));
  if (r->passed) CLI_CALL(time_shared_row(s, &asked, op, r));
  return 0;
}

/* ---------------------------------------------------------------- output */

static void say_shared_head(const sharing *s, const char *name) {
  const kcl_csr *A = s->p.A;
  cli_say(s->o, "\nmatrix      %s: %s x %s, %s nonzeros, products in %s\n", name,
          cli_count(A->rows).s, cli_count(A->cols).s, cli_count(A->nnz).s,
          cli_type_words(s->p.precision));
  cli_say(s->o, "  %-13s %12s %12s %9s %12s %10s  %s\n", "format", "Mnnz/s alone", "together",
          "speed-up", "us/product", "us in halo", "rows of the ranks");
}

static void say_rows_of_ranks(const cli_options *o, const cli_product_part *parts) {
  for (int p = 0; p < cli_ranks(); p++)
    cli_say(o, "%s%s", p ? " + " : "  ", cli_count(parts[p].rows).s);
  cli_say(o, "\n");
}

static void say_shared_row(const cli_options *o, const shared_row *r) {
  char status[420], rate[32];
  if (!r->parts) {
    shared_status(r, status, sizeof status);
    cli_say(o, "  %-13s %s\n", r->format, status);
    return;
  }
  const double alone = seconds_of_fastest(r);
  if (isnan(alone))
    strcpy(rate, "-");
  else
    snprintf(rate, sizeof rate, "%.1f", shared_rate(r, alone));
  cli_say(o, "  %-13s %12s %12.1f %9s %12s %10s", r->format, rate, shared_rate(r, r->median),
          cli_bench_factor(alone / r->median).s, cli_bench_us(r->median).s,
          cli_bench_us(cli_product_halo(r->parts)).s);
  say_rows_of_ranks(o, r->parts);
}

static void shared_row_json(cJSON *list, const sharing *s, const shared_row *r) {
  char status[420];
  cJSON *o = cli_json_item(list);
  shared_status(r, status, sizeof status);
  cli_json_text(o, "matrix", r->matrix);
  cli_json_count(o, "rows", r->rows), cli_json_count(o, "cols", r->cols),
      cli_json_count(o, "nnz", r->nonzeros);
  cli_json_letter(o, "precision", r->type), cli_json_text(o, "format", r->format);
  cli_json_text(o, "status", status);
  if (!r->parts) return;
  cJSON *t = cJSON_AddObjectToObject(o, "seconds_per_product");
  cli_json_number(t, "median", r->median), cli_json_number(t, "min", r->sample[0]);
  cli_json_number(t, "max", r->sample[s->plan.samples - 1]);
  cli_json_count(t, "samples", s->plan.samples);
  cli_json_number(o, "seconds_alone", seconds_of_fastest(r));
  cli_json_number(o, "mnnz_per_second_alone", shared_rate(r, seconds_of_fastest(r)));
  cli_json_number(o, "mnnz_per_second", shared_rate(r, r->median));
  cli_json_number(o, "speedup_over_one", seconds_of_fastest(r) / r->median);
  cli_json_number(o, "seconds_halo", cli_product_halo(r->parts));
  cli_product_parts_json(o, r->parts, r->nonzeros);
}

static int write_shared_json(const sharing *s) {
  cJSON *all = cJSON_CreateObject();
  cli_json_text(all, "program", "krylocl bench --devices");
  cli_json_text(all, "version", kcl_version());
  cli_json_text(all, "devices", s->o->devices ? s->o->devices : "");
  cli_json_text(all, "shares", s->o->shares ? s->o->shares : "");
  cJSON *list = cJSON_AddArrayToObject(all, "rows");
  for (int i = 0; i < s->count; i++) shared_row_json(list, s, &s->rows[i]);
  return cli_json_finish(s->o->json, all);
}

static void put_shared_row(FILE *f, const sharing *s, const shared_row *r) {
  char status[420], devices[300] = "";
  for (const char *at = s->o->devices; at && *at && strlen(devices) < sizeof devices - 2; at++)
    snprintf(devices + strlen(devices), 2, "%c", *at == ',' ? '+' : *at);
  shared_status(r, status, sizeof status);
  cli_csv_text(f, r->matrix);
  fprintf(f, ",%lld,%lld,%lld,%c,", (long long)r->rows, (long long)r->cols, (long long)r->nonzeros,
          kcl_type_letter(r->type));
  cli_csv_text(f, r->format), fputc(',', f);
  cli_csv_text(f, devices), fputc(',', f);
  cli_csv_text(f, status);
  const double alone = seconds_of_fastest(r), seconds = r->parts ? r->median : NAN;
  cli_csv_number(f, seconds), cli_csv_number(f, alone);
  cli_csv_number(f, shared_rate(r, alone)), cli_csv_number(f, shared_rate(r, seconds));
  cli_csv_number(f, alone / seconds),
      cli_csv_number(f, r->parts ? cli_product_halo(r->parts) : NAN);
  fputc('\n', f);
}

static int write_shared_csv(const sharing *s) {
  cli_buffer b;
  CLI_CALL(cli_buffer_open(&b));
  fputs("matrix,rows,cols,nnz,precision,format,devices,status,seconds_per_product,seconds_alone,"
        "mnnz_per_second_alone,mnnz_per_second,speedup,seconds_halo\n",
        b.f);
  for (int i = 0; i < s->count; i++) put_shared_row(b.f, s, &s->rows[i]);
  return cli_buffer_write(&b, s->o->csv);
}

/* ---------------------------------------------------------------- all rows */

typedef struct shared_matrix {
  sharing *s;
  const char *file;
} shared_matrix;

static int add_shared_row(void *self, const char *format) {
  sharing *s = self;
  if (cli_ranks_tell(cli_interrupted())) return CLI_INTERRUPTED;
  shared_row *more = realloc(s->rows, ((size_t)s->count + 1) * sizeof *more);
  int rc = cli_ranks_agreed(s->ctx, more ? 0 : cli_fail(KCL_MEMORY, "out of memory: the rows"));
  if (more) s->rows = more;
  if (rc) return rc;
  shared_row *r = &s->rows[s->count++];
  const kcl_csr *A = s->p.A;
  *r = (shared_row){.type = s->p.precision, .rows = A->rows, .cols = A->cols, .nonzeros = A->nnz};
  snprintf(r->format, sizeof r->format, "%s", format);
  cli_busy(s->o, "%s", format);
  rc = measure_shared_row(s, r);
  cli_idle();
  if (!rc) say_shared_row(s->o, r);
  return rc;
}

/* Rank 0: A and x in the precision of o, and y. */
static int load_shared_matrix(sharing *s, const cli_options *o, const char *file) {
  if (cli_rank()) return 0;
  CLI_CALL(cli_product_load(s->ctx, o, file, "random", &s->p));
  return cli_lib(kcl_dense_create(s->ctx, s->p.A->rows, 1, s->p.x->type, &s->y));
}

static int share_matrix(void *self, const char *precision) {
  const shared_matrix *m = self;
  sharing *s = m->s;
  cli_options o = *s->o;
  const int first = s->count;
  char name[96];
  int rc;
  o.precision = strcmp(precision, "auto") ? precision : NULL;
  CLI_TRY(cli_ranks_agreed(s->ctx, load_shared_matrix(s, &o, m->file)));
  CLI_TRY(cli_ranks_copy_matrix(s->ctx, &s->p.A));
  s->p.precision = (kcl_type)cli_ranks_tell((int)s->p.precision);
  cli_bench_short_name(m->file, name, sizeof name);
  say_shared_head(s, name);
  rc = cli_bench_each_of(KCL_FORMATS, s->o->formats, add_shared_row, s);
  for (int i = first; i < s->count; i++)
    snprintf(s->rows[i].matrix, sizeof s->rows[i].matrix, "%s", name);
done:
  kcl_dense_free(&s->y);
  cli_problem_free(&s->p), s->p = (cli_problem){0};
  return rc;
}

static int refuse_other_benches(const cli_options *o) {
  static const char *const others[] = {"preconds",      "precond", "profile", "resume", "report",
                                       "with-transfer", "mixed",   "nrhs",    "rounds", "restart"};
  if (cli_ranks() == 1)
    return cli_fail(KCL_USAGE, "--devices %s: two devices at least; one by --device", o->devices);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (cli_given(o, others[i]))
      return cli_fail(KCL_USAGE, "--%s: on several devices bench times products alone", others[i]);
  if (o->solver && strcmp(o->solver, "none"))
    return cli_fail(KCL_USAGE, "--solver %s: on several devices bench times products alone: none",
                    o->solver);
  return 0;
}

static int find_shared_failure(const sharing *s) {
  for (int i = 0; i < s->count; i++)
    if (!*s->rows[i].why && !s->rows[i].passed) return CLI_CHECK_FAILED;
  return s->measured ? 0 : KCL_REFUSED;
}

static kcl_bench_plan plan_of_options(const cli_options *o) {
  return (kcl_bench_plan){.iterations = (int)o->iterations,
                          .samples = (int)fmin((double)o->samples, CLI_PRODUCT_SAMPLES),
                          .seconds = o->time_limit};
}

static void heed_signals(const cli_options *o) {
  cli_interrupt_begin(o);
  cli_launched(false);
  cli_interrupt_computing();
}

/* A file that cannot be read does not stop the others. */
static int share_all(sharing *s) {
  const cli_options *o = s->o;
  int first = 0;
  for (int i = 0; i < o->count && first != CLI_INTERRUPTED; i++) {
    const int rc = cli_each_word(o->precision ? o->precision : "auto", share_matrix,
                                 &(shared_matrix){s, o->files[i]});
    if (!first || rc == CLI_INTERRUPTED) first = rc;
  }
  return first ? first : find_shared_failure(s);
}

static int write_shared_files(const sharing *s) {
  const int rc = s->o->json ? write_shared_json(s) : 0;
  return rc || !s->o->csv ? rc : write_shared_csv(s);
}

int cli_bench_ranks(kcl_context *ctx, const cli_options *o) {
  sharing s = {.ctx = ctx, .o = o, .plan = plan_of_options(o)};
  kcl_device d;
  CLI_CALL(refuse_other_benches(o));
  if (o->layout) setenv("KRYLOCL_LAYOUT", o->layout, 1);
  if (!cli_rank()) heed_signals(o);
  CLI_CALL(cli_ranks_agreed(ctx, cli_device(ctx, o, &d)));
  kcl_allow_padding(ctx, o->force);
  const int rc = share_all(&s), written = cli_rank() ? 0 : write_shared_files(&s);
  for (int i = 0; i < s.count; i++) free(s.rows[i].parts);
  free(s.rows);
  return written ? written : rc;
}
