/* Shared by all peers: b = ones, x0 = 0, the clock, the true residual, one line of JSON.
 * A sample is (time of PEER_ITERATIONS iterations - time of 1) / (PEER_ITERATIONS - 1), which excludes
 * work done once per call (allocation, first residual).
 * The environment variable PEER_REPETITIONS sets the number of samples (5).
 */
#ifndef PEER_H
#define PEER_H

#include "mtx.h"
#include <math.h>
#include <time.h>

enum { PEER_ITERATIONS = 60, PEER_MAX = 1000 };

typedef struct peer_samples {
  int count;
  double seconds[PEER_MAX];
} peer_samples;

/* Solves from x0 = 0 with exactly this many iterations and waits for the end. */
typedef void (*peer_solve)(void *state, int iterations);

static inline double peer_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int peer_repetitions(void) {
  const char *text = getenv("PEER_REPETITIONS");
  int n = text ? atoi(text) : 5;
  return n < 1 ? 1 : n > PEER_MAX ? PEER_MAX : n;
}

static inline double peer_time(peer_solve solve, void *state, int iterations) {
  double start = peer_now();
  solve(state, iterations);
  return peer_now() - start;
}

/* On return the state holds x after PEER_ITERATIONS. The first solve is a warm-up. */
static inline peer_samples peer_measure(peer_solve solve, void *state) {
  peer_samples s;
  s.count = peer_repetitions();
  solve(state, PEER_ITERATIONS);
  for (int k = 0; k < s.count; k++) {
    double one = peer_time(solve, state, 1);
    double all = peer_time(solve, state, PEER_ITERATIONS);
    s.seconds[k] = (all - one) / (PEER_ITERATIONS - 1);
  }
  return s;
}

/* |b - A x| / |b| in 2-norms. b NULL: ones. */
static inline double peer_residual(const mtx *A, const double *b, const double *x) {
  double sum = 0, all = 0;
  for (int i = 0; i < A->rows; i++) {
    const double b_i = b ? b[i] : 1;
    double r = b_i;
    for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) r -= A->val[k] * x[A->col[k]];
    sum += r * r, all += b_i * b_i;
  }
  return sqrt(sum / all);
}

static inline int peer_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double peer_median(peer_samples *s) { /* sorts the samples */
  qsort(s->seconds, (size_t)s->count, sizeof(double), peer_compare);
  return 0.5 * (s->seconds[(s->count - 1) / 2] + s->seconds[s->count / 2]);
}

/* The JSON number, or null for infinities and NaN, which JSON does not have. */
static inline void peer_print_number(const char *key, double v, const char *after) {
  if (isfinite(v))
    printf("\"%s\": %.17g%s", key, v, after);
  else
    printf("\"%s\": null%s", key, after);
}

static inline void peer_print(const char *program, const char *path, const mtx *A, int iterations,
                              peer_samples *s, double residual) {
  const char *slash = strrchr(path, '/');
  double median = peer_median(s);
  printf("{\"matrix\": \"%s\", \"program\": \"%s\", \"rows\": %d, \"nnz\": %d, \"iterations\": %d, "
         "\"repetitions\": %d, \"seconds_per_iteration\": {",
         slash ? slash + 1 : path, program, A->rows, A->nnz, iterations, s->count);
  peer_print_number("median", median, ", ");
  peer_print_number("min", s->seconds[0], ", ");
  peer_print_number("max", s->seconds[s->count - 1], "}, ");
  peer_print_number("relative_residual", residual, "}\n");
}

/* ---- once: set-up of a preconditioner and a solve to 1e-8, b = A 1 (multigrid.sh) */

typedef struct peer_run {
  double setup, solve; /* seconds */
  int iterations;
} peer_run;

static inline double *peer_row_sums(const mtx *A) {
  double *b = (double *)mtx_alloc((size_t)A->rows, sizeof *b);
  for (int i = 0; i < A->rows; i++) {
    b[i] = 0;
    for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) b[i] += A->val[k];
  }
  return b;
}

static inline void peer_print_run(const char *program, const char *path, const peer_run *r,
                                  double residual) {
  const char *slash = strrchr(path, '/');
  printf("{\"matrix\": \"%s\", \"program\": \"%s\", \"setup\": %.6g, \"solve\": %.6g, "
         "\"iterations\": %d, \"residual\": %.3g}\n",
         slash ? slash + 1 : path, program, r->setup, r->solve, r->iterations, residual);
}

static inline void peer_usage(int good, const char *text) {
  if (good) return;
  fprintf(stderr, "usage: %s\n", text);
  exit(2);
}

#endif
