/* Do two sets of samples differ, and by what factor? No distribution is assumed.
 *
 * The test is that of Mann & Whitney (1947): U counts the pairs with y > x. Its distribution is exact without ties and for
 * small sets, by their recurrence; else normal, with the variance corrected for ties and for continuity. The factor is the
 * median of all ratios y / x, the estimate of Hodges & Lehmann (1963) for logarithms, and its interval is between the
 * ratios whose ranks the test would just not refuse. */
#include "cli/report/rank_test.h"
#include "krylocl.h"
#include <math.h>
#include <stdlib.h>

enum { EXACT = 40 }; /* samples of each set, at most */

static int compare_ratios(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* P(U <= u) for u of 0..n m, of sets without ties: the number of subsets of m of n + m ranks by their sum, grown one rank
 * at a time. NULL: out of memory. */
static double *exact_table(int n, int m) {
  const int last = n * m;
  double *ways = calloc((size_t)(m + 1) * (size_t)(last + 1), sizeof *ways), total = 0;
  if (!ways) return NULL;
#define WAYS(j, u) ways[(size_t)(j) * (size_t)(last + 1) + (size_t)(u)]
  WAYS(0, 0) = 1;
  for (int rank = 1; rank <= n + m; rank++)
    for (int j = m < rank ? m : rank; j >= 1; j--)
      for (int u = rank - j; u <= last; u++) WAYS(j, u) += WAYS(j - 1, u - (rank - j));
  for (int u = 0; u <= last; u++) total += WAYS(m, u);
  for (int u = 0; u <= last; u++) ways[u] = WAYS(m, u) / total + (u ? ways[u - 1] : 0);
#undef WAYS
  return ways;
}

static double normal_below(double z) { return 0.5 * erfc(-z / sqrt(2)); }

/* Correction for ties: the sum of t^3 - t over groups of t equal samples. */
static double tie_correction(const double *x, int n, const double *y, int m) {
  const size_t count = (size_t)n + (size_t)m;
  double *all = malloc(count * sizeof *all), sum = 0;
  if (!all) return 0;
  for (int i = 0; i < n + m; i++) all[i] = i < n ? x[i] : y[i - n];
  qsort(all, count, sizeof *all, compare_ratios);
  for (int i = 0, t; i < n + m; i += t) {
    for (t = 1; i + t < n + m && all[i + t] == all[i]; t++) continue;
    sum += (double)t * t * t - t;
  }
  free(all);
  return sum;
}

/* P(U <= u), by the table or the normal distribution of this deviation. */
static double probability_below(const double *table, double u, double mean, double deviation) {
  if (u < 0) return 0;
  if (table) return table[(int)floor(u)];
  return deviation > 0 ? normal_below((u + 0.5 - mean) / deviation) : 1;
}

static void ratio_interval(const double *ratio, int count, const double *table, double deviation,
                           cli_rank_test *out) {
  const double mean = count / 2.0;
  int k = 1;
  while (k < count / 2 && probability_below(table, k, mean, deviation) <= 0.025) k++;
  out->low = ratio[k - 1], out->high = ratio[count - k];
  out->confidence = fmax(0, 1 - 2 * probability_below(table, k - 1, mean, deviation));
}

int cli_rank_compare(const double *x, int n, const double *y, int m, cli_rank_test *out) {
  const int count = n * m;
  double *ratio = malloc(((size_t)count + 1) * sizeof *ratio), *table = NULL, u = 0;
  *out = (cli_rank_test){.p = 1, .ratio = 1, .low = 0, .high = INFINITY};
  if (!ratio) return KCL_MEMORY;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      ratio[i * m + j] = y[j] / x[i];
      u += y[j] > x[i] ? 1 : y[j] == x[i] ? 0.5 : 0;
    }
  qsort(ratio, (size_t)count, sizeof *ratio, compare_ratios);
  const double t = tie_correction(x, n, y, m), all = n + m;
  const double deviation = sqrt(count / 12.0 * (all + 1 - t / fmax(all * (all - 1), 1)));
  if (t == 0 && n <= EXACT && m <= EXACT) table = exact_table(n, m);
  if (count) {
    out->p = fmin(1, 2 * probability_below(table, fmin(u, count - u), count / 2.0, deviation));
    out->ratio = count % 2 ? ratio[count / 2] : sqrt(ratio[count / 2 - 1] * ratio[count / 2]);
    ratio_interval(ratio, count, table, deviation, out);
  }
  free(ratio), free(table);
  return 0;
}

void cli_rank_holm(double *p, int count) {
  int *order = malloc(((size_t)count + 1) * sizeof *order);
  double most = 0;
  for (int i = 0; order && i < count; i++) { /* by insertion: ascending p */
    int k = i;
    for (; k && p[order[k - 1]] > p[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  for (int i = 0; order && i < count; i++) {
    most = fmax(most, fmin(1, p[order[i]] * (count - i)));
    p[order[i]] = most;
  }
  free(order);
}
