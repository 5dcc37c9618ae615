/* The comparison of old and new runs: pairs.c gathers the times, compare.c judges them. */
#ifndef CLI_REPORT_COMPARE_H
#define CLI_REPORT_COMPARE_H

#include "cli/report/rank_test.h"
#include "cli/report/report.h"

typedef enum cli_pair_verdict {
  CLI_PAIR_SAME,
  CLI_PAIR_SLOWER,
  CLI_PAIR_FASTER,
  CLI_PAIR_FEW
} cli_pair_verdict;

typedef struct cli_report_pair { /* a time, old and new */
  const cli_bench_row *row;      /* of the first old file */
  bool product;                  /* the time of a product, else of an iteration */
  double old, new;       /* median in seconds; of several runs the median of their medians */
  cli_rank_test typical; /* of the samples of single runs; of several runs of their medians */
  cli_rank_test least;   /* of the least sample of each run; of single runs the ratio alone */
  double drift;          /* ratio of the least samples of the reference */
  int samples;           /* the fewest of a run */
  cli_pair_verdict verdict;
} cli_report_pair;

typedef struct cli_comparison {
  const cli_options *o;
  int runs;                 /* of each */
  cli_report_data *file;    /* [2 runs], the old ones first */
  double limit;             /* of ratios, less 1 */
  cli_report_pair *list;    /* [count] */
  int count, alone, broken; /* alone: rows that another run lacks; broken: rows that fail now */
} cli_comparison;

/* Gathers the times that old and new runs have in common. */
int cli_report_pairs(cli_comparison *c);

#endif
