/* Trefethen's prime matrix, problem 7 of the hundred-digit challenge (Trefethen 2002):
 *
 *   a_ii = the i-th prime: 2 3 5 7 11 ...,  a_ij = 1 where |i - j| = 1, 2, 4, 8, ...
 *
 * Integer, symmetric positive definite. trefethen:20000 is Trefethen_20000 of the SuiteSparse
 * collection; Trefethen_20000b lacks its first row and column: trefethen-minor:20000. b = A 1. */
#include "data/generators/generate.h"

typedef struct primes {
  int64_t n, first; /* first: number of leading rows and columns left out */
  double *p;        /* [n] */
} primes;

static int trefethen_row(const void *self, int64_t place, int32_t *col, double *val) {
  const primes *t = self;
  int64_t far = 1, i = place + t->first;
  int k = 0;
  while (far <= i) far *= 2;
  for (int64_t d = far / 2; d >= 1; d /= 2) {
    if (d > place) continue;
    if (col) col[k] = (int32_t)(place - d), val[k] = 1;
    k++;
  }
  if (col) col[k] = (int32_t)place, val[k] = t->p[i];
  k++;
  for (int64_t d = 1; i + d < t->n; d *= 2, k++)
    if (col) col[k] = (int32_t)(place + d), val[k] = 1;
  return k;
}

/* The first n primes by the sieve of Eratosthenes; the n-th is below n (ln n + ln ln n) for n >= 6
 * (Rosser & Schoenfeld 1962). */
static int sieve(kcl_context *ctx, int64_t n, double *p) {
  KCL_OWNED char *composite = NULL;
  double m = n < 6 ? 6 : (double)n;
  int64_t limit = (int64_t)(m * (log(m) + log(log(m)))) + 1, found = 0;
  KCL_CALL(kcl_alloc(ctx, limit + 1, 1, "the sieve of primes", (void **)&composite));
  for (int64_t q = 2; q <= limit && found < n; q++) {
    if (composite[q]) continue;
    p[found++] = (double)q;
    for (int64_t k = q * q; k <= limit; k += q) composite[k] = 1;
  }
  return KCL_OK;
}

static int trefethen_make(kcl_context *ctx, int64_t first, const int64_t *size, int n_sizes,
                          kcl_csr **A, kcl_dense **b) {
  KCL_OWNED double *p = NULL;
  if (n_sizes != 1)
    return kcl_fail(ctx, KCL_USAGE, "trefethen takes one number, the rows: trefethen:2000");
  if (size[0] <= first)
    return kcl_fail(ctx, KCL_USAGE, "trefethen-minor takes at least 2 rows: one is left out");
  KCL_CALL(kcl_alloc(ctx, size[0], sizeof *p, "the primes", (void **)&p));
  KCL_CALL(sieve(ctx, size[0], p));
  const primes t = {size[0], first, p};
  kcl_rows rows = {t.n - first, KCL_D, KCL_SYMMETRIC, KCL_INTEGER, trefethen_row, &t};
  KCL_CALL(kcl_rows_matrix(ctx, &rows, A));
  return kcl_rhs_image(ctx, *A, b);
}

static int trefethen_make_whole(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                                kcl_dense **b) {
  return trefethen_make(ctx, 0, size, n_sizes, A, b);
}
static int make_minor(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                      kcl_dense **b) {
  return trefethen_make(ctx, 1, size, n_sizes, A, b);
}

const kcl_generator kcl_gen_trefethen_minor = {
    .name = "trefethen-minor",
    .example = "trefethen-minor:20000",
    .summary = "the same without its first row and column, SIZE - 1 rows, SPD",
    .make = make_minor};
const kcl_generator kcl_gen_trefethen = {
    .name = "trefethen",
    .example = "trefethen:20000",
    .summary = "primes on the diagonal, ones at distance 1, 2, 4, ..., SPD",
    .make = trefethen_make_whole};
