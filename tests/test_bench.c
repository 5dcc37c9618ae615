/* Rows of a benchmark through the public header: what is filled in for methods, products and the reference, in every
 * scalar type; bounds of a plan; the median and its interval on samples made by hand. */
#include "solver/calls.h"
#include "solver/bench.h"
#include "tests/check.h"
#include <math.h>
#include <string.h>

static kcl_context *ctx;

/* ---------------------------------------------------------------- the median */

static void test_summary(void) {
  double v[2000];
  kcl_summary s;
  for (int i = 0; i < 15; i++) v[i] = (i * 7) % 15 + 1; /* 1 .. 15 in disorder */
  CHECK(!kcl_summarise(v, 15, &s) && s.count == 15 && s.median == 8 && s.min == 1 && s.max == 15);
  /* P(B <= 3) = (1 + 15 + 105 + 455) / 2^15 */
  CHECKF(s.low == 4 && s.high == 12 && fabs(s.confidence - (1 - 2 * 576 / 32768.0)) < 1e-12,
         "%g to %g, %.6f", s.low, s.high, s.confidence);
  CHECK(v[0] == 1 && v[1] == 8); /* their order is the caller's */
  CHECK(!kcl_summarise(v, 1, &s) && s.low == 1 && s.high == 1 && s.confidence == 0);
  CHECK(!kcl_summarise((double[]){5, 3}, 2, &s) && s.median == 4 && s.low == 3 && s.high == 5 &&
        fabs(s.confidence - 0.5) < 1e-12);
  CHECK(!kcl_summarise((double[]){6, 1, 5, 2, 4, 3}, 6, &s) && s.median == 3.5 && s.low == 1 &&
        s.high == 6 && fabs(s.confidence - (1 - 2 / 64.0)) < 1e-12);
  /* 11: the second to the tenth; 1 - 2 (1 + 11) / 2^11 */
  for (int i = 0; i < 2000; i++) v[i] = i + 1;
  CHECK(!kcl_summarise(v, 11, &s) && s.low == 2 && s.high == 10 &&
        fabs(s.confidence - (1 - 24 / 2048.0)) < 1e-12);
  /* Large n: n/2 - 0.98 sqrt n, and 2^-n is no double. */
  CHECKF(!kcl_summarise(v, 2000, &s) && fabs(s.low - 956.2) < 2 && s.low + s.high == 2001,
         "%g to %g", s.low, s.high);
  CHECK(s.confidence >= 0.95 && s.confidence < 0.96);
  CHECK(kcl_summarise(v, 0, &s) == KCL_USAGE && s.count == 0);
  CHECK(kcl_summarise(NULL, 3, &s) == KCL_USAGE && kcl_summarise(v, 3, NULL) == KCL_USAGE);
}

/* The interval contains the median of the distribution as often as it says: 15 samples, skewed. */
static void test_coverage(void) {
  enum { RUNS = 4000 };
  int inside = 0;
  for (int k = 0; k < RUNS; k++) {
    double v[15];
    kcl_summary s;
    for (int i = 0; i < 15; i++)
      v[i] = -log(((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0);
    kcl_summarise(v, 15, &s);
    inside += s.low <= log(2) && log(2) <= s.high;
  }
  double share = (double)inside / RUNS, expected = 1 - 2 * 576 / 32768.0;
  CHECKF(fabs(share - expected) < 4 * sqrt(expected * (1 - expected) / RUNS), "%.4f, not %.4f",
         share, expected);
}

/* ---------------------------------------------------------------- rows */

static const kcl_bench_plan quick = {.iterations = 3, .samples = 4, .seconds = 5, .noise = -1};

static bool all_positive(const kcl_samples *s, int count) {
  bool good = s->count == count && s->replaced_count == 0;
  for (int i = 0; i < s->count; i++) good = good && s->seconds[i] > 0 && isfinite(s->seconds[i]);
  return good;
}

static void test_types(const kcl_csr *A, const kcl_csr *Z) {
  for (int t = 0; t < 4; t++) {
    kcl_options o = kcl_defaults;
    kcl_bench_row r;
    const kcl_csr *B = kcl_type_complex((kcl_type)t) ? Z : A;
    const double size = (double)kcl_type_size((kcl_type)t);
    o.precision = (kcl_type)t, o.format = "ell", o.solver = "cg", o.precond = "none";
    CHECKF(!kcl_bench_method(ctx, B, &o, &quick, &r), "%s", kcl_error());
    CHECK(r.validated && r.nrhs == 1 && r.kernel[0] && r.bytes_iteration > r.bytes_product);
    CHECK(all_positive(&r.iteration, 4) && all_positive(&r.product, 4));
    CHECK(r.iteration.iterations >= 1 && r.iteration.iterations <= 3);
    kcl_bench_free(&r);
    CHECK(!r.product.seconds && !r.iteration.count);
    CHECKF(!kcl_bench_product(ctx, B, &o, &quick, &r), "%s", kcl_error());
    CHECK(r.validated && !r.iteration.count && all_positive(&r.product, 4));
    CHECK(r.bytes_iteration == 0 && r.bytes_product == r.bytes_stored + 2 * size * (double)A->rows);
    kcl_bench_free(&r);
    CHECKF(!kcl_bench_sequential(ctx, B, NULL, (kcl_type)t, &quick, &r), "%s", kcl_error());
    CHECK(r.validated && all_positive(&r.product, 4) && strstr(r.kernel, "sequential"));
    kcl_bench_free(&r);
    CHECKF(!kcl_bench_sequential(ctx, B, "dense", (kcl_type)t, &quick, &r), "%s", kcl_error());
    CHECK(r.validated && all_positive(&r.product, 4) && strstr(r.kernel, "dense"));
    CHECK(r.bytes_stored == size * (double)(A->rows * A->cols));
    kcl_bench_free(&r);
    kcl_bench_plan with = quick;
    with.transfers = true;
    for (o.nrhs = 1; o.nrhs <= 3; o.nrhs += 2) {
      CHECKF(!kcl_bench_product(ctx, B, &o, &with, &r), "%s", kcl_error());
      CHECK(r.validated && all_positive(&r.transfer, 4));
      kcl_bench_free(&r);
      CHECKF(!kcl_bench_method(ctx, B, &o, &with, &r), "%s", kcl_error());
      CHECK(r.validated && all_positive(&r.transfer, 4) && all_positive(&r.iteration, 4));
      kcl_bench_free(&r);
      CHECK(!r.transfer.seconds);
    }
  }
}

static void test_rectangular(void) {
  int64_t row_ptr[] = {0, 1, 3, 3};
  int32_t col[] = {4, 0, 2};
  double val[] = {1, 2, 3};
  kcl_csr A = {
      .rows = 3, .cols = 5, .nnz = 3, .row_ptr = row_ptr, .col = col, .val = val, .type = KCL_D};
  kcl_options o = kcl_defaults;
  kcl_bench_row r;
  o.format = "coo";
  CHECK(!kcl_bench_product(ctx, &A, &o, &quick, &r) && r.validated && r.product.count == 4);
  kcl_bench_free(&r);
  CHECK(!kcl_bench_sequential(ctx, &A, NULL, KCL_S, &quick, &r) && r.validated);
  kcl_bench_free(&r);
  CHECK(!kcl_bench_sequential(ctx, &A, "dense", KCL_S, &quick, &r) && r.validated);
  kcl_bench_free(&r);
}

static int never(void *asked) { return ++*(int *)asked > 1; }

static void test_bounds(const kcl_csr *A) {
  kcl_options o = kcl_defaults;
  kcl_bench_row r;
  int asked = 0;
  o.format = "csr-scalar";
  kcl_bench_plan p = {.iterations = 1000000, .samples = 7, .seconds = 0.05, .noise = -1};
  CHECK(!kcl_bench_product(ctx, A, &o, &p, &r) && r.product.count >= 1);
  CHECK(r.product.iterations < 1000000); /* fewer iterations, so that they fit */
  kcl_bench_free(&r);
  p = (kcl_bench_plan){.samples = 5, .iterations = 1, .noise = 1e-12};
  CHECK(!kcl_bench_product(ctx, A, &o, &p, &r) && r.product.count == 5);
  kcl_summary kept, replaced;
  kcl_summarise(r.product.seconds, 5, &kept);
  /* They scatter more than that, unless the clock shows the same for all. */
  CHECK(r.product.replaced_count == 5 || kept.high == kept.low);
  if (r.product.replaced_count) {
    kcl_summarise(r.product.replaced, r.product.replaced_count, &replaced);
    CHECK((kept.high - kept.low) / kept.median <= (replaced.high - replaced.low) / replaced.median);
  }
  kcl_bench_free(&r);
  p = (kcl_bench_plan){.samples = 1000, .iterations = 1, .stop = never, .user = &asked};
  CHECK(!kcl_bench_product(ctx, A, &o, &p, &r) && r.product.count < 1000 && asked > 1);
  kcl_bench_free(&r);
}

/* A product and an iteration that take what is written here. A sampling is single probes, then the samples at once. */
typedef struct script {
  const double *seconds; /* of the first sampling, of the second */
  bool sampled;          /* the first is complete */
  int now;
} script;

static int read_script(void *self, int iterations, int repeats, double *seconds) {
  script *s = self;
  (void)iterations;
  if (repeats == 1 && s->sampled) s->now = 1;
  if (repeats > 1) s->sampled = true;
  for (int i = 0; i < repeats; i++) seconds[i] = s->seconds[s->now];
  return KCL_OK;
}

/* product, iteration: of the first and of the second sampling. */
static void sample_script(const double *product, const double *iteration, double noise,
                          kcl_samples out[2]) {
  const kcl_bench_plan plan = {.iterations = 1, .samples = 4, .seconds = 1000, .noise = noise};
  script p = {.seconds = product}, q = {.seconds = iteration};
  CHECK(!kcl_sample_pair(ctx, &plan, (kcl_probe){read_script, &p}, (kcl_probe){read_script, &q},
                         &out[0], &out[1]));
}

static void check_pair(const kcl_samples s[2], double product, double iteration, int replaced) {
  CHECKF(s[0].count == 4 && s[0].seconds[0] == product, "%g", s[0].seconds[0]);
  CHECKF(s[1].count == 4 && s[1].seconds[3] == iteration, "%g", s[1].seconds[3]);
  CHECK(s[0].replaced_count == replaced && s[1].replaced_count == replaced);
}

/* A product that takes longer than its iteration is measured again; both are replaced if they then agree. */
static void test_pairs(void) {
  kcl_samples s[2];
  const double longer[] = {3e-3, 1e-3}, iteration[] = {2e-3, 2.5e-3}, never_less[] = {3e-3, 4e-3};
  sample_script(longer, iteration, 0.1, s);
  check_pair(s, 1e-3, 2.5e-3, 4);
  CHECK(s[0].replaced && s[0].replaced[0] == 3e-3 && s[1].replaced && s[1].replaced[0] == 2e-3);
  kcl_samples_free(&s[0]), kcl_samples_free(&s[1]);
  sample_script(never_less, iteration, 0.1, s); /* the row will be marked */
  check_pair(s, 3e-3, 2e-3, 0);
  kcl_samples_free(&s[0]), kcl_samples_free(&s[1]);
  sample_script(longer, iteration, -1, s); /* nothing is measured twice */
  check_pair(s, 3e-3, 2e-3, 0);
  kcl_samples_free(&s[0]), kcl_samples_free(&s[1]);
  sample_script(iteration, longer, 0.1, s); /* consistent at once */
  check_pair(s, 2e-3, 3e-3, 0);
  kcl_samples_free(&s[0]), kcl_samples_free(&s[1]);
}

static void test_refusals(const kcl_csr *A, const kcl_csr *Z) {
  kcl_options o = kcl_defaults;
  kcl_bench_row r = {.nrhs = 9};
  kcl_bench_plan bad = {.samples = -1};
  o.format = "no-such";
  CHECK(kcl_bench_product(ctx, A, &o, NULL, &r) == KCL_USAGE && r.nrhs == 0);
  o.format = NULL;
  CHECK(kcl_bench_product(ctx, A, &o, NULL, &r) == KCL_USAGE && strstr(kcl_error(), "format"));
  o.format = "coo";
  CHECK(kcl_bench_product(ctx, Z, &o, NULL, &r) == KCL_USAGE); /* complex to real */
  CHECK(kcl_bench_product(ctx, A, &o, &bad, &r) == KCL_USAGE && strstr(kcl_error(), "samples"));
  CHECK(kcl_bench_method(ctx, NULL, &o, NULL, &r) == KCL_USAGE);
  CHECK(kcl_bench_method(ctx, A, &o, NULL, NULL) == KCL_USAGE);
  CHECK(kcl_bench_sequential(ctx, A, NULL, (kcl_type)9, NULL, &r) == KCL_USAGE);
  CHECK(kcl_bench_sequential(ctx, A, "ell", KCL_D, NULL, &r) == KCL_USAGE);
  kcl_bench_free(NULL);
}

/* ---------------------------------------------------------------- padding, variants */

/* An arrow: one full row and a diagonal. */
static kcl_csr *arrow(int64_t n) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, n, n, 2 * n - 1, KCL_D, &A)) return NULL;
  for (int64_t k = 0; k < n; k++) A->col[k] = (int32_t)k, ((double *)A->val)[k] = 1;
  for (int64_t i = 1; i < n; i++) A->col[n + i - 1] = (int32_t)i, ((double *)A->val)[n + i - 1] = 2;
  for (int64_t i = 1; i <= n; i++) A->row_ptr[i] = n + i - 1;
  return A;
}

static void test_padding(void) {
  kcl_csr *A = arrow(800);
  kcl_stats s;
  kcl_cost c;
  kcl_options o = kcl_defaults;
  kcl_bench_row r;
  if (!CHECK(A && !kcl_csr_stats(ctx, A, &s))) return;
  o.format = "dense";
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "dense", &c) && c.refusal && strstr(c.refusal, "pads"));
  CHECK(kcl_bench_product(ctx, A, &o, &quick, &r) == KCL_REFUSED);
  kcl_allow_padding(ctx, true);
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "dense", &c) && !c.refusal);
  CHECK(!kcl_bench_product(ctx, A, &o, &quick, &r) && r.validated);
  kcl_bench_free(&r);
  kcl_stats huge = s;
  huge.rows = huge.cols = 1 << 30;
  CHECK(!kcl_format_cost(ctx, &huge, KCL_D, "dense", &c) && c.refusal &&
        strstr(c.refusal, "needs"));
  kcl_allow_padding(ctx, false);
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "dense", &c) && c.refusal);
  kcl_allow_padding(NULL, true);
  kcl_csr_free(&A);
}

static void test_same(const kcl_csr *A) {
  kcl_stats s;
  kcl_cost c;
  if (!CHECK(!kcl_csr_stats(ctx, A, &s))) return;
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "csr-scalar", &c) && !c.same_as);
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "csr-lanes", &c) && c.same_as &&
        !strcmp(c.same_as, "csr-scalar"));
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "dense-tiled", &c) && c.same_as &&
        !strcmp(c.same_as, "dense"));
  CHECK(!kcl_format_cost(ctx, &s, KCL_D, "ell", &c) && !c.same_as);
}

int main(void) {
  kcl_csr *A = NULL, *Z = NULL;
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  test_summary(), test_coverage(), test_pairs();
  if (!CHECK(!kcl_select(ctx, "cpu", 2) && !kcl_generate(ctx, "poisson2d:12", &A, NULL))) return 1;
  if (!CHECK(!kcl_csr_convert(ctx, A, KCL_Z, &Z))) return 1;
  test_types(A, Z), test_rectangular(), test_bounds(A), test_refusals(A, Z);
  test_padding(), test_same(A);
  if (!kcl_select(ctx, "opencl", 0))
    test_types(A, Z), test_rectangular(), test_padding();
  else
    skip("no OpenCL device");
  kcl_csr_free(&A), kcl_csr_free(&Z);
  kcl_context_free(&ctx);
  return check_report();
}
