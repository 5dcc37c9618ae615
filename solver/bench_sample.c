/* Samples of a time, as many as fit in a budget, and their median with a confidence interval by order statistics.
 *
 * Each of n independent samples is below the true median with probability 1/2, so the number B of those that are is
 * binomial, and the j-th smallest and the j-th largest enclose the median with probability 1 - 2 P(B <= j - 1), without
 * an assumption about the distribution. j is the largest for which that is at least 95 % (Le Boudec 2010, Performance
 * Evaluation of Computer and Communication Systems, theorem 2.1; Hoefler & Belli 2015, rule 5).
 */
#include "solver/bench.h"

enum { CHUNK = 5 };                /* samples between two looks at the clock */
static const double MISSED = 0.05; /* largest probability that the median is outside */

/* ---------------------------------------------------------------- the median */

/* P(B = i), B binomial of n and 1/2. */
static double binomial(int n, int i) {
  return exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * log(2));
}

static void confidence_interval(const double *sorted, int n, kcl_summary *out) {
  int j = 1;
  double outside = 2 * binomial(n, 0);
  for (; 2 * j + 1 < n; j++) {
    double more = outside + 2 * binomial(n, j);
    if (more > MISSED) break;
    outside = more;
  }
  out->low = sorted[j - 1], out->high = sorted[n - j], out->confidence = 1 - fmin(outside, 1);
}

int kcl_summarise(const double *samples, int n, kcl_summary *out) {
  if (!out) return KCL_USAGE;
  *out = (kcl_summary){0};
  if (!samples || n < 1) return KCL_USAGE;
  double *v = malloc((size_t)n * sizeof *v);
  if (!v) return KCL_MEMORY;
  memcpy(v, samples, (size_t)n * sizeof *v);
  qsort(v, (size_t)n, sizeof *v, kcl_compare_doubles);
  out->count = n, out->min = v[0], out->max = v[n - 1];
  out->median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
  confidence_interval(v, n, out);
  free(v);
  return KCL_OK;
}

/* ---------------------------------------------------------------- sampling */

void kcl_samples_free(kcl_samples *s) {
  free(s->seconds), free(s->replaced);
  *s = (kcl_samples){0};
}

static bool sampling_stopped(const kcl_bench_plan *plan) {
  return plan->stop && plan->stop(plan->user);
}

/* Iterations per sample and samples that fit, by a sample of one iteration that took `each`. */
static void fit_line(const kcl_bench_plan *plan, double each, double seconds, int *iterations,
                     int *n) {
  double room = seconds / fmax(each, 1e-9) * CHUNK / (CHUNK + 1); /* one in CHUNK warms up */
  double per_sample = room / plan->samples;
  *iterations = per_sample >= plan->iterations ? plan->iterations
                : per_sample > 1               ? (int)per_sample
                                               : 1;
  double most = room / *iterations;
  *n = most >= plan->samples ? plan->samples : most > 1 ? (int)most : 1;
}

/* At most n samples; ends after the first chunk that is beyond the budget. */
static int take_sample(const kcl_bench_plan *plan, kcl_probe p, double seconds, int n,
                       kcl_samples *out) {
  double begin = kcl_now();
  int rc = KCL_OK;
  for (out->count = 0; out->count < n && !rc && !sampling_stopped(plan);) {
    int chunk = n - out->count < CHUNK ? n - out->count : CHUNK;
    rc = p.time(p.self, out->iterations, chunk, out->seconds + out->count);
    if (!rc) out->count += chunk;
    if (kcl_now() - begin > seconds) break;
  }
  return rc;
}

static double relative_scatter(const kcl_samples *s) {
  kcl_summary m;
  return kcl_summarise(s->seconds, s->count, &m) ? 0 : (m.high - m.low) / m.median;
}

/* Once more; the samples that scatter less are kept, the others beside them. */
static int sample_once_more(kcl_context *ctx, const kcl_bench_plan *plan, kcl_probe p,
                            double seconds, kcl_samples *s) {
  kcl_samples second = {.iterations = s->iterations};
  int rc = kcl_alloc(ctx, s->count, sizeof *second.seconds, "samples", (void **)&second.seconds);
  if (!rc) rc = take_sample(plan, p, seconds, s->count, &second);
  bool better = !rc && second.count == s->count && relative_scatter(&second) < relative_scatter(s);
  kcl_samples *keep = better ? &second : s, *other = better ? s : &second;
  if (!rc && second.count) {
    *s = (kcl_samples){.count = keep->count,
                       .iterations = keep->iterations,
                       .seconds = keep->seconds,
                       .replaced_count = other->count,
                       .replaced = other->seconds};
    second.seconds = NULL;
  }
  free(second.seconds);
  return rc;
}

int kcl_sample(kcl_context *ctx, const kcl_bench_plan *plan, kcl_probe p, double seconds,
               kcl_samples *out) {
  double one, begin = kcl_now();
  int n,
      rc = kcl_alloc(ctx, plan->samples, sizeof *out->seconds, "samples", (void **)&out->seconds);
  if (!rc) rc = p.time(p.self, 1, 1, &one);
  double took = kcl_now() - begin;
  if (!rc && took < seconds / 10) { /* without what only a first run does */
    begin = kcl_now();
    rc = p.time(p.self, 1, 1, &one);
    took = kcl_now() - begin;
  }
  if (rc) return rc;
  *out = (kcl_samples){.count = 1, .iterations = 1, .seconds = out->seconds};
  out->seconds[0] = one;
  if (took > seconds / 2) return KCL_OK; /* more do not fit */
  fit_line(plan, one, seconds, &out->iterations, &n);
  rc = take_sample(plan, p, seconds, n, out);
  if (!rc && !sampling_stopped(plan) && plan->noise >= 0 && relative_scatter(out) > plan->noise)
    rc = sample_once_more(ctx, plan, p, seconds, out);
  return rc;
}

static double median_of(const kcl_samples *s) {
  kcl_summary m;
  return kcl_summarise(s->seconds, s->count, &m) ? 0 : m.median;
}

/* `s` gets the samples of `other`, and keeps its own as those that were replaced. */
static void replace_sample(kcl_samples *s, kcl_samples *other) {
  free(s->replaced), free(other->replaced);
  other->replaced = s->seconds, other->replaced_count = s->count;
  *s = *other, *other = (kcl_samples){0};
}

static int sample_both(kcl_context *ctx, const kcl_bench_plan *plan, const kcl_probe p[2],
                       kcl_samples s[2]) {
  int rc = kcl_sample(ctx, plan, p[0], plan->seconds / 2, &s[0]);
  return rc ? rc : kcl_sample(ctx, plan, p[1], plan->seconds / 2, &s[1]);
}

static bool contradict(const kcl_samples s[2]) { return median_of(&s[0]) > median_of(&s[1]); }

int kcl_sample_pair(kcl_context *ctx, const kcl_bench_plan *plan, kcl_probe product,
                    kcl_probe iteration, kcl_samples *of_product, kcl_samples *of_iteration) {
  const kcl_probe p[] = {product, iteration};
  kcl_samples first[2] = {{0}}, second[2] = {{0}};
  int rc = sample_both(ctx, plan, p, first);
  if (!rc && contradict(first) && plan->noise >= 0 && !sampling_stopped(plan)) {
    rc = sample_both(ctx, plan, p, second);
    if (!rc && second[1].count && !contradict(second))
      for (int i = 0; i < 2; i++) replace_sample(&first[i], &second[i]);
  }
  for (int i = 0; i < 2; i++) kcl_samples_free(&second[i]);
  *of_product = first[0], *of_iteration = first[1];
  return rc;
}
