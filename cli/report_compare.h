/* The comparison of old and new runs: what report_compare.c decides of what report_pairs.c gathers. */
#ifndef CLI_REPORT_COMPARE_H
#define CLI_REPORT_COMPARE_H

#include "cli/report.h"

typedef enum pair_verdict { PAIR_SAME, PAIR_SLOWER, PAIR_FASTER, PAIR_FEW } pair_verdict;

typedef struct pair {   /* a time, old and new */
  const bench_row *row; /* of the first old file */
  bool product;         /* the time of a product, else of an iteration */
  double old, new;      /* medians, seconds; of several runs that of their medians */
  rank_test typical;    /* of the samples of single runs; of several runs of their medians */
  rank_test least;      /* of the least sample of each run; of single runs the ratio alone */
  double drift;         /* ratio of the least samples of the reference */
  int samples;          /* the fewest of a run */
  pair_verdict verdict;
} pair;

typedef struct comparison {
  const cli_options *o;
  int runs;                 /* of each */
  report *file;             /* [2 runs], the old ones first */
  double limit;             /* of ratios, less 1 */
  pair *list;               /* [count] */
  int count, alone, broken; /* alone: rows that another run lacks; broken: rows that fail now */
} comparison;

int report_pairs(comparison *c);

#endif
