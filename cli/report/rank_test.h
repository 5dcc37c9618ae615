/* A test by ranks of two sets of samples (rank_test.c). */
#ifndef CLI_REPORT_RANK_TEST_H
#define CLI_REPORT_RANK_TEST_H

typedef struct cli_rank_test {
  double p;         /* two-sided: how likely such ranks are if nothing differs */
  double ratio;     /* of y to x */
  double low, high; /* an interval around it */
  double confidence;
} cli_rank_test;
/* Tests whether y [m] differs from x [n]. Returns 0 or KCL_MEMORY. */
int cli_rank_compare(const double *x, int n, const double *y, int m, cli_rank_test *out);
/* Adjusts p [count] for that many tests at once (Holm 1979). */
void cli_rank_holm(double *p, int count);

#endif
