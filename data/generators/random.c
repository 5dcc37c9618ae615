/* Random matrices of given row lengths: N rows and columns, MEAN entries per row, standard deviation DEVIATION.
 *
 *   random-uniform    lengths uniform in MEAN +- sqrt(3) DEVIATION
 *   random-normal     lengths normal (Box & Muller 1958)
 *   random-lognormal  lengths log-normal: a few long rows
 *
 * Lengths are rounded and cut to 0 .. N, which moves both statistics where DEVIATION is not small beside MEAN; what came
 * out is in krylocl info. Columns: one in each of as many equal parts of the row, so sorted and without duplicates. Values
 * and b: uniform in [-1, 1). Fixed seeds: the same matrix on every machine, up to rounding of log, exp, sine and cosine. */
#include "data/generators/generate.h"

typedef enum random_kind { UNIFORM, NORMAL, LOGNORMAL } random_kind;
static const char *const names[] = {"random-uniform", "random-normal", "random-lognormal"};

typedef struct length_distribution {
  random_kind kind;
  int64_t n;
  double mean, deviation;
} length_distribution;

/* Number k of stream s, uniform in [0, 1). */
static double draw_uniform(uint64_t s, uint64_t k) {
  return kcl_uniform(kcl_splitmix64(s << 56) + k);
}

static double normal(uint64_t i) {
  return sqrt(-2 * log(1 - draw_uniform(1, i))) * cos(6.283185307179586 * draw_uniform(2, i));
}

static int64_t draw_length(const length_distribution *l, int64_t i) {
  const uint64_t k = (uint64_t)i;
  const double spread = log1p(l->deviation * l->deviation / (l->mean * l->mean));
  double v = l->mean;
  switch (l->kind) {
  case UNIFORM: v += l->deviation * sqrt(3) * (2 * draw_uniform(1, k) - 1); break;
  case NORMAL: v += l->deviation * normal(k); break;
  default: v *= exp(sqrt(spread) * normal(k) - spread / 2);
  }
  v = floor(v + 0.5);
  return v < 0 ? 0 : v > (double)l->n ? l->n : (int64_t)v;
}

static int random_row(const void *self, int64_t i, int32_t *col, double *val) {
  const length_distribution *l = self;
  const int64_t count = draw_length(l, i);
  for (int64_t k = 0; col && k < count; k++) {
    const int64_t from = k * l->n / count, to = (k + 1) * l->n / count;
    const uint64_t entry = (uint64_t)i << 31 | (uint64_t)k;
    col[k] = (int32_t)(from + (int64_t)(draw_uniform(3, entry) * (double)(to - from)));
    val[k] = 2 * draw_uniform(4, entry) - 1;
  }
  return (int)count;
}

static void rhs(const void *self, int64_t i, double *b) {
  (void)self;
  *b = 2 * draw_uniform(5, (uint64_t)i) - 1;
}

static int random_describe(kcl_context *ctx, random_kind kind, const int64_t *size, int n_sizes,
                           kcl_formula *out) {
  const length_distribution l = {kind, size[0], n_sizes > 1 ? (double)size[1] : 0,
                                 n_sizes > 2 ? (double)size[2] : 0};
  if (n_sizes < 2 || size[1] > size[0])
    return kcl_fail(
        ctx, KCL_USAGE,
        "%s takes at least N rows x MEAN entries per row, at most N, and x their standard "
        "deviation (0): %s:100000x12x5",
        names[kind], names[kind]);
  *out = (kcl_formula){{l.n, KCL_D, KCL_GENERAL, KCL_REAL, random_row, NULL}, rhs};
  return kcl_formula_self(ctx, &l, sizeof l, out);
}

static int uniform(kcl_context *ctx, const int64_t *size, int n, kcl_formula *out) {
  return random_describe(ctx, UNIFORM, size, n, out);
}
static int normally(kcl_context *ctx, const int64_t *size, int n, kcl_formula *out) {
  return random_describe(ctx, NORMAL, size, n, out);
}
static int lognormal(kcl_context *ctx, const int64_t *size, int n, kcl_formula *out) {
  return random_describe(ctx, LOGNORMAL, size, n, out);
}

const kcl_generator kcl_gen_random_uniform = {
    .name = "random-uniform",
    .example = "random-uniform:10000x12x3",
    .summary = "random, N x MEAN x DEVIATION: rows, mean and deviation of uniform row lengths",
    .describe = uniform};
const kcl_generator kcl_gen_random_normal = {.name = "random-normal",
                                             .example = "random-normal:10000x12x3",
                                             .summary =
                                                 "the same, row lengths of the normal distribution",
                                             .describe = normally};
const kcl_generator kcl_gen_random_lognormal = {
    .name = "random-lognormal",
    .example = "random-lognormal:10000x12x20",
    .summary = "the same, row lengths of the log-normal distribution: a few long rows",
    .describe = lognormal};
