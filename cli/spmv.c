/* krylocl spmv: y = alpha A x + beta y, or with A^H, in a storage format on a device. Timed, and compared with the
 * host's compensated product. On several ranks y = A x: rank 0 has A, x and y; all ranks take the same steps. */
#include "cli/ranks/files.h"
#include "cli/ranks/product.h"
#include "cli/ranks/ranks.h"
#include "cli/solve/solve.h"
#include "cli/spmv/check.h"
#include "cli/ui/json.h"
#include "cli/ui/terminal.h"

enum { SAMPLES = CLI_PRODUCT_SAMPLES };

typedef struct run_of { /* a run of `krylocl spmv` */
  const cli_options *o;
  cli_problem p;            /* A in the precision of the product, and x */
  kcl_dense *y, *y0;        /* y0: the given y in the precision of the product; NULL: beta is 0 */
  double alpha[2], beta[2]; /* as the product has them */
  kcl_device device;
  kcl_operator_options asked;
  kcl_operator *op;
  kcl_operator_info info;
  cli_product_part *parts; /* [ranks]; NULL: one rank */
  int columns, x_columns;  /* per pass; of x */
  double sample[SAMPLES], median;
  kcl_stream stream;
  kcl_dense *other; /* y of --compare, or NULL */
  cli_product_verdict verdict;
  double seconds_device, seconds_apply, seconds_write;
} run_of;

/* ---------------------------------------------------------------- the product */

static bool in_single(const run_of *r) {
  return r->p.precision == KCL_S || r->p.precision == KCL_C;
}

static int apply_product(kcl_context *ctx, run_of *r) {
  const cli_product_call call = {.op = r->op,
                                 .precision = r->p.precision,
                                 .columns = r->x_columns,
                                 .adjoint = r->o->adjoint,
                                 .x = r->p.x,
                                 .y = r->y,
                                 .alpha = {r->alpha[0], r->alpha[1]},
                                 .beta = {r->beta[0], r->beta[1]}};
  cli_busy(r->o, "multiplying");
  return cli_product_apply(ctx, &call, &r->seconds_apply);
}

static int measure_product(kcl_context *ctx, run_of *r) {
  cli_busy(r->o, "timing");
  CLI_CALL(cli_product_time(r->op, r->o->adjoint, r->columns, &cli_product_plan, r->sample));
  r->median = cli_median(r->sample, SAMPLES);
  if (cli_ranks() > 1) {
    CLI_CALL(cli_ranks_copy_matrix(ctx, &r->p.A));
    return cli_product_parts(ctx, r->p.A, &r->asked, r->op, &cli_product_plan, &r->parts);
  }
  cli_busy(r->o, "measuring the memory rate");
  kcl_stream_get(ctx, &r->stream);
  return 0;
}

/* Rank 0 compares. */
static int check_y(kcl_context *ctx, run_of *r) {
  const cli_product p = {.A = r->p.A,
                         .precision = r->p.precision,
                         .alpha = r->alpha,
                         .beta = r->beta,
                         .x = r->p.x,
                         .y = r->y,
                         .y0 = r->y0,
                         .other = r->other};
  return cli_rank() ? 0 : cli_check_product(ctx, r->o, &p, &r->verdict);
}

/* Sets alpha and beta, and reads y in the precision of the product. */
static int set_factors(kcl_context *ctx, run_of *r) {
  const cli_options *o = r->o;
  const char *given = o->count > 2 ? o->files[2] : NULL;
  const int64_t n = r->y->rows * r->y->cols * (kcl_type_complex(r->y->type) ? 2 : 1);
  r->alpha[0] = cli_given(o, "alpha") ? o->alpha : 1;
  r->beta[0] = cli_given(o, "beta") ? o->beta : given ? 1 : 0;
  if (in_single(r)) r->alpha[0] = (float)r->alpha[0], r->beta[0] = (float)r->beta[0];
  if (!given && r->beta[0] != 0)
    return cli_fail(KCL_USAGE, "--beta %g: y is the third operand, a file, ones or random",
                    o->beta);
  if (!given) return 0;
  CLI_CALL(cli_addend_load(ctx, o, given, &r->p, &r->y0));
  for (int64_t i = 0; i < n; i++)
    r->y->val[i] = r->y0->val[i] = in_single(r) ? (float)r->y0->val[i] : r->y0->val[i];
  return 0;
}

/* Rank 0: y, and that of --compare. */
static int create_y(kcl_context *ctx, run_of *r) {
  if (cli_rank()) return 0;
  const int64_t rows = r->o->adjoint ? r->p.A->cols : r->p.A->rows;
  int rc = cli_lib(kcl_dense_create(ctx, rows, r->x_columns, r->p.x->type, &r->y));
  if (!rc) rc = set_factors(ctx, r);
  if (!rc && r->o->other) rc = cli_addend_load(ctx, r->o, r->o->other, &r->p, &r->other);
  return rc;
}

static int set_up_product(kcl_context *ctx, run_of *r) {
  r->x_columns = cli_ranks_tell(r->p.x ? (int)r->p.x->cols : 0);
  r->p.precision = (kcl_type)cli_ranks_tell((int)r->p.precision);
  r->asked =
      (kcl_operator_options){.format = r->o->format,
                             .precision = r->p.precision,
                             .products = r->o->adjoint ? KCL_PRODUCTS_ADJOINT : KCL_PRODUCTS_PLAIN,
                             .nrhs = r->x_columns < KCL_MAX_NRHS ? r->x_columns : KCL_MAX_NRHS};
  cli_busy(r->o, "setting up");
  CLI_CALL(cli_lib(cli_product_create(ctx, r->p.A, &r->asked, &r->op)));
  kcl_operator_describe(r->op, &r->info);
  r->columns = r->info.nrhs;
  return cli_ranks_agreed(ctx, create_y(ctx, r));
}

/* ---------------------------------------------------------------- reports */

/* Bytes per product: the matrix once, x and y for every column. */
static double spmv_bytes(const run_of *r) {
  const double vectors =
      (double)(r->info.rows + r->info.cols) * (double)kcl_type_size(r->p.precision);
  return r->info.bytes_product + (r->columns - 1) * vectors;
}

static double product_gflops(const run_of *r) {
  const double each = kcl_type_complex(r->p.precision) ? 8 : 2;
  return each * (double)r->p.A->nnz * r->columns / r->median * 1e-9;
}

static void say_set_up(const run_of *r) {
  const cli_options *o = r->o;
  const kcl_operator_info *i = &r->info;
  char beta[60] = "";
  if (r->beta[0] != 0) snprintf(beta, sizeof beta, " %+g y", r->beta[0]);
  cli_say(o, "product     y = ");
  if (r->alpha[0] != 1) cli_say(o, "%g ", r->alpha[0]);
  cli_say(o, "%s x%s, %s, x %s, %s column%s\n", o->adjoint ? "A^H" : "A", beta,
          cli_type_words(r->p.precision), o->count > 1 ? cli_base(o->files[1]) : "ones",
          cli_count(r->p.x->cols).s, r->p.x->cols == 1 ? "" : "s");
  cli_say(o, "format      %s (%s), %s: %s\n", i->format, i->kernel, cli_bytes(i->bytes_stored).s,
          i->format_reason);
  cli_say(o, "set-up      statistics %s, convert %s, upload %s, compile %s\n",
          cli_seconds(i->seconds_stats).s, cli_seconds(i->seconds_convert).s,
          cli_seconds(i->seconds_upload).s, cli_seconds(i->seconds_compile).s);
}

static void say_speed(const run_of *r) {
  const cli_options *o = r->o;
  const double rate = spmv_bytes(r) / r->median;
  cli_say(o, "speed       %s per product", cli_seconds(r->median).s);
  if (r->columns > 1) cli_say(o, " of %d columns", r->columns);
  cli_say(o, " (%s to %s), %s moved, %.1f GFlop/s, %.1f GB/s", cli_seconds(r->sample[0]).s,
          cli_seconds(r->sample[SAMPLES - 1]).s, cli_bytes(spmv_bytes(r)).s, product_gflops(r),
          rate * 1e-9);
  if (!r->parts) cli_say_stream(o, rate, &r->stream);
  cli_say(o, "\n            %s with x from and y to the host\n", cli_seconds(r->seconds_apply).s);
}

/* Million nonzeros of A per second. */
static double mnnz(const run_of *r, double seconds) { return (double)r->p.A->nnz / seconds * 1e-6; }

static void say_ranks(const run_of *r) {
  const double alone = r->parts ? cli_product_alone(r->parts) : NAN;
  for (int p = 0; r->parts && p < cli_ranks(); p++) {
    const cli_product_part *s = &r->parts[p];
    cli_say(r->o, "rank %-6d %s rows, %s nonzeros, %s, %s elements of x from others, %s\n", p,
            cli_count(s->rows).s, cli_count(s->nonzeros).s, s->format, cli_count(s->halo).s,
            s->device);
    if (isnan(s->seconds_alone))
      cli_say(r->o, "            alone: the matrix does not fit this device\n");
    else
      cli_say(r->o, "            alone: %s per product, %.1f million nonzeros/s\n",
              cli_seconds(s->seconds_alone).s, mnnz(r, s->seconds_alone));
  }
  if (!r->parts) return;
  cli_say(r->o, "together    %.1f million nonzeros/s, %s waiting for the halo", mnnz(r, r->median),
          cli_seconds(cli_product_halo(r->parts)).s);
  if (!isnan(alone))
    cli_say(r->o, ", speed-up %.2f over the fastest device alone", alone / r->median);
  cli_say(r->o, "\n");
}

static void seconds_json(cJSON *o, const run_of *r) {
  const cli_time list[] = {
      {"device", r->seconds_device},        {"read", r->p.seconds_read},
      {"check", r->info.seconds_check},     {"statistics", r->info.seconds_stats},
      {"convert", r->info.seconds_convert}, {"upload", r->info.seconds_upload},
      {"compile", r->info.seconds_compile}, {"apply", r->seconds_apply},
      {"write", r->seconds_write}};
  cJSON *t = cJSON_AddObjectToObject(o, "seconds");
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    cli_json_number(t, list[i].name, list[i].seconds);
}

static void speed_json(cJSON *o, const run_of *r) {
  const double rate = spmv_bytes(r) / r->median;
  cJSON *s = cJSON_AddObjectToObject(o, "seconds_per_product");
  cli_json_number(s, "median", r->median);
  cli_json_number(s, "min", r->sample[0]);
  cli_json_number(s, "max", r->sample[SAMPLES - 1]);
  cli_json_count(s, "samples", SAMPLES);
  cli_json_number(o, "bytes_per_product", spmv_bytes(r));
  cli_json_number(o, "gflops", product_gflops(r));
  cli_json_number(o, "gbytes_per_second", rate * 1e-9);
  if (r->parts) return; /* the stream rate is that of one device */
  cli_json_number(o, "stream_gbytes_per_second", r->stream.rate * 1e-9);
  cli_json_number(o, "stream_fraction", rate / r->stream.rate);
  cli_json_stream(o, &r->stream);
}

static void ranks_json(cJSON *o, const run_of *r) {
  if (r->parts) cli_product_parts_json(o, r->parts, r->p.A->nnz);
  cli_json_number(o, "mnnz_per_second", mnnz(r, r->median));
  if (!r->parts) return;
  cli_json_number(o, "seconds_halo", cli_product_halo(r->parts));
  cli_json_number(o, "speedup_over_one", cli_product_alone(r->parts) / r->median);
}

static int write_spmv_json(const run_of *r) {
  if (!r->o->json) return 0;
  cJSON *o = cJSON_CreateObject();
  cli_json_text(o, "krylocl", kcl_version());
  cli_json_matrix(o, r->o->files[0], r->p.A);
  cli_json_device(o, &r->device);
  cli_json_letter(o, "precision", r->p.precision);
  cli_json_bool(o, "adjoint", r->o->adjoint);
  cli_json_text(o, "x", r->o->count > 1 ? r->o->files[1] : "ones");
  if (r->o->count > 2) cli_json_text(o, "y", r->o->files[2]);
  cli_json_number(o, "alpha", r->alpha[0]);
  cli_json_number(o, "beta", r->beta[0]);
  cli_json_count(o, "columns", r->p.x->cols);
  cli_json_count(o, "columns_at_once", r->columns);
  cli_json_text(o, "format", r->info.format);
  cli_json_text(o, "format_reason", r->info.format_reason);
  cli_json_text(o, "kernel", r->info.kernel);
  cli_json_number(o, "bytes_stored", r->info.bytes_stored);
  seconds_json(o, r);
  speed_json(o, r);
  ranks_json(o, r);
  cli_json_product_check(o, r->o, &r->verdict);
  return cli_json_finish(r->o->json, o);
}

/* ---------------------------------------------------------------- the subcommand */

static int write_y(kcl_context *ctx, run_of *r) {
  if (!r->o->output) return 0;
  cli_busy(r->o, "writing %s", cli_base(r->o->output));
  r->seconds_write = cli_now();
  int rc = cli_lib(kcl_dense_write(ctx, r->o->output, r->y));
  r->seconds_write = cli_now() - r->seconds_write;
  return rc;
}

static int refuse_on_several(const cli_options *o) {
  if (cli_ranks() == 1 || !(o->adjoint || o->count > 2 || cli_given(o, "alpha"))) return 0;
  return cli_fail(KCL_USAGE, "on several devices spmv computes y = A x, without --adjoint, --alpha "
                             "and a third operand");
}

/* Rank 0: A and x. */
static int load_operands(kcl_context *ctx, run_of *r) {
  const cli_options *o = r->o;
  if (cli_rank()) return 0;
  int rc = cli_product_load(ctx, o, o->files[0], o->count > 1 ? o->files[1] : "ones", &r->p);
  if (!rc) cli_report_matrix(o, o->files[0], r->p.A, r->p.seconds_read);
  return rc;
}

/* Rank 0: all that is printed and written after the measurement. */
static int report_product(const run_of *r, int written) {
  const cli_options *o = r->o;
  cli_idle();
  say_speed(r), say_ranks(r);
  cli_say_product_check(o, &r->verdict);
  if (o->output && !written && strcmp(o->output, "-"))
    cli_say(o, "wrote       y to %s\n", o->output);
  const int rc = write_spmv_json(r);
  if (rc || written) return rc ? rc : written;
  return cli_product_check_code(o, &r->verdict);
}

/* Products of several ranks are always compared with the reference before their time counts. */
static int run_spmv(kcl_context *ctx, const cli_options *given) {
  cli_options options = *given;
  const cli_options *o = &options;
  run_of r = {.o = o, .seconds_device = cli_now()};
  int rc, written;
  options.verify = given->verify || cli_ranks() > 1;
  if (o->layout) setenv("KRYLOCL_LAYOUT", o->layout, 1);
  CLI_TRY(refuse_on_several(o));
  CLI_TRY(cli_ranks_agreed(ctx, cli_device(ctx, o, &r.device)));
  r.seconds_device = cli_now() - r.seconds_device;
  cli_report_device(o, &r.device);
  CLI_TRY(cli_ranks_agreed(ctx, load_operands(ctx, &r)));
  CLI_TRY(set_up_product(ctx, &r));
  if (!cli_rank()) say_set_up(&r);
  CLI_TRY(apply_product(ctx, &r));
  written = cli_rank() ? 0 : write_y(ctx, &r); /* the report is printed even if that fails */
  CLI_TRY(cli_ranks_agreed(ctx, check_y(ctx, &r)));
  CLI_TRY(measure_product(ctx, &r));
  rc = cli_rank() ? 0 : report_product(&r, written);
done:
  kcl_operator_free(&r.op);
  free(r.parts);
  kcl_dense_free(&r.y), kcl_dense_free(&r.y0), kcl_dense_free(&r.other);
  cli_problem_free(&r.p);
  return rc;
}

const cli_command cli_spmv = {
    .name = "spmv",
    .operands = "A.mtx|poisson2d:300 [x.mtx|ones|random [y.mtx|ones|random]]",
    .summary = "y = alpha A x + beta y in a storage format, timed and checked",
    .options = "output format adjoint alpha beta check device threads precision json quiet | "
               "compare devices shares layout verbose cache index-base durable",
    .min = 1,
    .max = 3,
    .lists = true,
    .reads = true,
    .ranks = true,
    .run = run_spmv,
    .notes =
        "A is a file or a generated system such as poisson2d:300; A may be rectangular. x is a "
        "file of one or several columns, ones (without a second operand too), or random: numbers "
        "in [-1, 1), the same in every run. --adjoint: y = A^H x. With a third operand, of as many "
        "columns as x, or --alpha: y = alpha A x + beta y.\n"
        "\n"
        "Columns: up to eight share a pass over the matrix where the format can. Time per product: "
        "the median of 7 samples, with x and y on the device, for the columns of one pass; of y = "
        "A x, whatever alpha and beta are. --layout gpu runs the variants for GPUs as what they "
        "are on a CPU device of OpenCL.\n"
        "\n"
        "Several devices: --devices gpu:0,gpu:1 or gpu,cpu starts a rank for each by mpiexec, as "
        "mpirun -n 2 krylocl spmv ... does. y = A x is computed together, always checked, and "
        "timed; then each device multiplies by the whole matrix alone. Rates are nonzeros of the "
        "whole matrix per second; speed-up: over the fastest device alone; the halo: elements of x "
        "that ranks wait for. --shares rows gives each device as many rows, --shares nonzeros as "
        "many nonzeros, --shares rates nonzeros by measured memory rates.\n"
        "\n"
        "--check compares every y_i with the product computed by the host in double precision with "
        "compensated sums, from A and x as rounded to the precision: |y_i - z_i| <= (k + 2) c u "
        "(|A| |x|)_i, k entries in row i, u the unit roundoff, c = 1 or, if complex, 2 sqrt(2); "
        "with alpha and beta the bound is |alpha| times that and 2 c u (|alpha z_i| + |beta y_i|). "
        "The exit code is 6 if a row exceeds it. y is written before the check.\n"
        "\n"
        "--compare y.mtx compares y element by element with one that was computed elsewhere, of "
        "another device or format: two products of the same precision differ by at most twice the "
        "bound of --check. Largest difference as a fraction of its bound and in numbers, both with "
        "their rows; exit code 6 if an element exceeds its bound.\n"
        "\n"
        "--json: one object. Fields:\n"
        "  krylocl (version), matrix {file rows cols nnz stored symmetry field}, device "
        "device_place device_kind precision adjoint x y alpha beta columns columns_at_once format "
        "format_reason kernel bytes_stored\n"
        "  seconds {device read check statistics convert upload compile apply write}, "
        "seconds_per_product {median min max samples} bytes_per_product gflops gbytes_per_second "
        "stream_gbytes_per_second stream_fraction stream mnnz_per_second (million nonzeros)\n"
        "  on several ranks: ranks, a list of {rank device format rows nonzeros halo seconds_halo "
        "seconds_alone mnnz_per_second_alone}, seconds_halo (the longest), speedup_over_one\n"
        "  with --check: check {verdict ratio error bound row column}\n"
        "  with --compare: compare {verdict ratio file difference bound row column largest "
        "largest_row largest_column beyond}\n"};
