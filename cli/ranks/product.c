/* A product on one rank or several: created, applied, timed together, and timed on the device of each rank alone while the others wait. */
#include "cli/ranks/product.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

const kcl_bench_plan cli_product_plan = {
    .iterations = 1000, .samples = CLI_PRODUCT_SAMPLES, .seconds = 0.14};

/* ---------------------------------------------------------------- applying */

static int64_t count_parts(const kcl_dense *v) {
  return v->rows * v->cols * (kcl_type_complex(v->type) ? 2 : 1);
}

/* Copies v to floats and rounds v itself likewise. NULL: out of memory. */
static float *as_floats(const kcl_dense *v) {
  const int64_t n = count_parts(v);
  float *f = malloc((size_t)(n + 1) * sizeof *f);
  for (int64_t i = 0; f && i < n; i++) f[i] = (float)v->val[i], v->val[i] = (double)f[i];
  return f;
}

static int time_apply(const cli_product_call *c, const kcl_product *p, double *seconds) {
  const double begin = cli_now();
  const int rc = cli_lib(kcl_operator_apply(c->op, p));
  *seconds = cli_now() - begin;
  return rc;
}

int cli_product_apply(kcl_context *ctx, const cli_product_call *c, double *seconds) {
  const bool narrow = c->precision == KCL_S || c->precision == KCL_C, floats = narrow && c->x;
  const float alpha[2] = {(float)c->alpha[0], 0}, beta[2] = {(float)c->beta[0], 0};
  CLI_OWNED float *x = floats ? as_floats(c->x) : NULL, *y = floats ? as_floats(c->y) : NULL;
  kcl_product p = {.cols = c->columns, .adjoint = c->adjoint};
  CLI_CALL(cli_ranks_agreed(
      ctx, floats && !(x && y) ? cli_fail(KCL_MEMORY, "out of memory: x and y as floats") : 0));
  if (c->x) p.x = x ? (const void *)x : c->x->val, p.y = y ? (void *)y : c->y->val;
  if (cli_ranks() == 1) {
    p.alpha = floats ? (const void *)alpha : c->alpha;
    p.beta = floats ? (const void *)beta : c->beta;
  }
  CLI_CALL(time_apply(c, &p, seconds));
  for (int64_t i = 0; y && i < count_parts(c->y); i++) c->y->val[i] = (double)y[i];
  return 0;
}

/* ---------------------------------------------------------------- timing */

/* The time of a first product gives the number of products per sample, the same on all ranks. */
int cli_product_time(kcl_operator *op, bool adjoint, int columns, const kcl_bench_plan *plan,
                     double sample[CLI_PRODUCT_SAMPLES]) {
  double once;
  CLI_CALL(cli_lib(kcl_operator_time(op, adjoint, columns, 1, 1, &once)));
  const double fit = plan->seconds / plan->samples / fmax(once, 1e-9),
               products = fmin(fmax(fit, 1), plan->iterations);
  return cli_lib(kcl_operator_time(op, adjoint, columns, (int)products, plan->samples, sample));
}

/* A device that refuses the whole matrix has no time. */
static int time_whole_matrix(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                             const kcl_bench_plan *plan, double *seconds) {
  CLI_OWNED_BY(kcl_operator_free) kcl_operator *op = NULL;
  double sample[CLI_PRODUCT_SAMPLES];
  int rc = kcl_operator_create(ctx, A, o, &op);
  *seconds = NAN;
  if (rc == KCL_REFUSED || rc == KCL_MEMORY) return 0;
  CLI_CALL(cli_lib(rc));
  CLI_CALL(cli_product_time(op, false, 1, plan, sample));
  *seconds = cli_median(sample, plan->samples);
  return 0;
}

double cli_product_alone(const cli_product_part *list) {
  double least = INFINITY;
  for (int p = 0; p < cli_ranks(); p++) least = fmin(least, list[p].seconds_alone);
  return isinf(least) ? NAN : least;
}

double cli_product_halo(const cli_product_part *list) {
  double most = 0;
  for (int p = 0; p < cli_ranks(); p++) most = fmax(most, list[p].seconds_halo);
  return most;
}

void cli_product_parts_json(cJSON *o, const cli_product_part *parts, int64_t nonzeros) {
  cJSON *list = cJSON_AddArrayToObject(o, "ranks");
  for (int p = 0; p < cli_ranks(); p++) {
    const cli_product_part *s = &parts[p];
    cJSON *one = cli_json_item(list);
    cli_json_count(one, "rank", p);
    cli_json_text(one, "device", s->device), cli_json_text(one, "format", s->format);
    cli_json_count(one, "rows", s->rows), cli_json_count(one, "nonzeros", s->nonzeros);
    cli_json_count(one, "halo", s->halo);
    cli_json_number(one, "seconds_halo", s->seconds_halo);
    cli_json_number(one, "seconds_alone", s->seconds_alone);
    cli_json_number(one, "mnnz_per_second_alone", (double)nonzeros / s->seconds_alone * 1e-6);
  }
}

#ifdef HAVE_MPI
#include "krylocl_mpi.h"

int cli_product_create(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                       kcl_operator **op) {
  if (cli_ranks() == 1) return kcl_operator_create(ctx, A, o, op);
  return kcl_mpi_operator_create(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROOT, o, op);
}

/* ---------------------------------------------------------------- parts */

static int list_parts(kcl_context *ctx, kcl_operator *op, cli_product_part **list) {
  kcl_mpi_share *shares = NULL;
  int count, rc = cli_lib(kcl_mpi_operator_shares(op, &shares, &count));
  kcl_operator_info info;
  if (rc) return rc;
  kcl_operator_describe(op, &info);
  *list = calloc((size_t)count, sizeof **list);
  rc = cli_ranks_agreed(ctx, *list ? 0 : cli_fail(KCL_MEMORY, "out of memory: the ranks"));
  for (int p = 0; p < count && !rc; p++) {
    const kcl_mpi_share *s = &shares[p];
    cli_product_part *part = &(*list)[p];
    *part = (cli_product_part){.rows = s->rows,
                               .nonzeros = s->nonzeros,
                               .halo = s->halo,
                               .seconds_halo = s->seconds_halo / (double)info.products_timed};
    snprintf(part->format, sizeof part->format, "%s", s->format);
    snprintf(part->device, sizeof part->device, "%s", s->device);
  }
  free(shares);
  return rc;
}

int cli_product_parts(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                      kcl_operator *op, const kcl_bench_plan *plan, cli_product_part **list) {
  int rc;
  CLI_CALL(list_parts(ctx, op, list));
  for (int p = 0; p < cli_ranks(); p++) {
    double seconds = NAN;
    rc = p == cli_rank() ? time_whole_matrix(ctx, A, o, plan, &seconds) : 0;
    CLI_CALL(cli_ranks_agreed(ctx, rc));
    cli_ranks_share_from(p, &seconds, sizeof seconds);
    (*list)[p].seconds_alone = seconds;
  }
  return 0;
}

#else /* built without MPI */

int cli_product_create(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                       kcl_operator **op) {
  return kcl_operator_create(ctx, A, o, op);
}
int cli_product_parts(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                      kcl_operator *op, const kcl_bench_plan *plan, cli_product_part **list) {
  return (void)op, (void)list, time_whole_matrix(ctx, A, o, plan, &(double){0});
}

#endif
