/* The spectrum as CG sees it: its coefficients are the Lanczos matrix of (M^-1) A,
 *   T(i,i) = 1/alpha_i + beta_(i-1)/alpha_(i-1),   T(i,i+1)^2 = beta_i / alpha_i^2
 * (Saad 2003, 6.7.3), whose extreme eigenvalues, found by bisection with Sturm counts (Givens
 * 1954), approach those of the operator from inside: their ratio is a lower bound of the condition.
 */
#include "solver/loop/history.h"

static double tridiagonal_entry(const double *entry, int64_t i) {
  const double *now = entry + i * KCL_HISTORY_FIELDS, *before = now - KCL_HISTORY_FIELDS;
  return 1 / now[1] + (i ? before[2] / before[1] : 0);
}

static double coupling2(const double *entry, int64_t i) { /* T(i-1,i)^2 */
  const double *before = entry + (i - 1) * KCL_HISTORY_FIELDS;
  return before[2] / (before[1] * before[1]);
}

/* Number of eigenvalues below t. */
static int64_t count_below(const double *entry, int64_t n, double t) {
  int64_t count = 0;
  double d = 1;
  for (int64_t i = 0; i < n; i++) {
    d = tridiagonal_entry(entry, i) - t - (i ? coupling2(entry, i) / d : 0);
    if (d == 0) d = -1e-300;
    count += d < 0;
  }
  return count;
}

static double bisect(const double *entry, int64_t n, int64_t rank, double lo, double hi) {
  for (int step = 0; step < 100 && hi - lo > 1e-6 * fabs(lo + hi); step++) {
    double mid = lo > 0 && hi > 4 * lo ? sqrt(lo * hi) : 0.5 * (lo + hi);
    if (count_below(entry, n, mid) > rank)
      hi = mid;
    else
      lo = mid;
  }
  return 0.5 * (lo + hi);
}

void kcl_ritz(const double *entry, int64_t n, double *min, double *max) {
  double top = 0, least = INFINITY; /* Gershgorin's upper bound; the smallest diagonal entry */
  *min = *max = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!(entry[i * KCL_HISTORY_FIELDS + 1] > 0) || !(entry[i * KCL_HISTORY_FIELDS + 2] >= 0))
      n = i;
    if (i == n) break;
    double radius = (i ? sqrt(coupling2(entry, i)) : 0) + sqrt(coupling2(entry, i + 1));
    top = fmax(top, tridiagonal_entry(entry, i) + radius);
    least = fmin(least, tridiagonal_entry(entry, i));
  }
  if (n == 0) return;
  *max = bisect(entry, n, n - 1, 0, top * (1 + 1e-9));
  *min = bisect(entry, n, 0, 1e-18 * least, least * (1 + 1e-9));
}
