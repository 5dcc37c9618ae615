/* Timing, inside the library: validated products, and samples of what is timed. */
#ifndef KCL_BENCH_H
#define KCL_BENCH_H

#include "solver/solver.h"

/* Engine without a method, whose START is y = A x; y is *y. nrhs at once, or 1 where the format cannot. */
int kcl_product_engine(const kcl_system *s, const kcl_format *f, kcl_engine **out, kcl_vec *y);
/* The same of the first operator of an engine, which stays its owner; close and free program and executor. */
int kcl_product_program(const kcl_engine *e, kcl_program **k, kcl_executor *ex, kcl_vec *y);
/* Do the products of an executor agree with kcl_csr_product within the bound of solver/bench.c? */
int kcl_product_validate(const kcl_system *s, kcl_executor *ex, const kcl_program *k, kcl_vec y,
                         bool *good);
bool kcl_product_row_agrees(const kcl_system *s, int64_t i, const double *x, const double *y,
                            const double *ref);
int kcl_product_time(kcl_executor *ex, int times, double *seconds);

/* What is timed: seconds per iteration of each of `repeats` samples of `iterations`. */
typedef struct kcl_probe {
  int (*time)(void *self, int iterations, int repeats, double *seconds);
  void *self;
} kcl_probe;
/* As many samples as the plan allows in so many seconds; twice if they scatter. */
int kcl_sample(kcl *ctx, const kcl_bench_plan *plan, kcl_probe p, double seconds, kcl_samples *out);
void kcl_samples_free(kcl_samples *s);

#endif
