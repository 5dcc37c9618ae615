/* Is one setting faster than another? Times are taken in pairs, one of each setting right after the other, so that other work
 * on the machine falls on both. The new one counts as faster if it is in every pair, and by the margin in the median of the
 * ratios: of two equal settings one is ahead in six pairs out of six in 1.6 % of cases. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H
#include <stdbool.h>

enum { CLI_PAIRS = 6 };

typedef struct cli_pairs {
  double ratio[CLI_PAIRS]; /* [count] new by old, ascending */
  int count;
} cli_pairs;

/* Adds a pair. False: no further pair can change that the new one is not faster. */
static inline bool cli_pairs_add(cli_pairs *p, double before, double after) {
  const double r = after / before;
  int k = p->count++;
  for (; k && p->ratio[k - 1] > r; k--) p->ratio[k] = p->ratio[k - 1];
  p->ratio[k] = r;
  return p->ratio[p->count - 1] < 1 && p->count < CLI_PAIRS;
}

static inline double cli_pairs_median(const cli_pairs *p) {
  const int n = p->count;
  return !n ? 1 : n % 2 ? p->ratio[n / 2] : (p->ratio[n / 2 - 1] + p->ratio[n / 2]) / 2;
}

/* margin: 0.97 asks for a gain of 3 %. */
static inline bool cli_pairs_faster(const cli_pairs *p, double margin) {
  return p->count == CLI_PAIRS && p->ratio[p->count - 1] < 1 && cli_pairs_median(p) < margin;
}
#endif
