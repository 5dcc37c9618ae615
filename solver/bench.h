/* Timing, inside the library: validated products, and samples of what is timed. */
#ifndef KCL_BENCH_H
#define KCL_BENCH_H

#include "solver/solver.h"

/* Do the products of such an engine (kcl_engine_product) agree with kcl_csr_product within kcl_product_bound? */
int kcl_product_validate(const kcl_system *s, kcl_engine *e, bool *good);
bool kcl_product_row_agrees(const kcl_system *s, int64_t i, const double *x, const double *y,
                            const double *ref);

/* A timed quantity: seconds per iteration of each of `repeats` samples of `iterations`. */
typedef struct kcl_probe {
  int (*time)(void *self, int iterations, int repeats, double *seconds);
  void *self;
} kcl_probe;
/* As many samples as the plan allows in so many seconds; twice if they scatter. */
int kcl_sample(kcl_context *ctx, const kcl_bench_plan *plan, kcl_probe p, double seconds,
               kcl_samples *out);
void kcl_samples_free(kcl_samples *s);
/* Samples of a product and of the iteration that contains it, each in half of the plan's seconds. A product that takes longer
 * contradicts the iteration: both are sampled once more, and those that agree are kept, the others beside them. */
int kcl_sample_pair(kcl_context *ctx, const kcl_bench_plan *plan, kcl_probe product,
                    kcl_probe iteration, kcl_samples *of_product, kcl_samples *of_iteration);

/* An engine of the product alone, in the format of the options, by name; s->converted is freed by the caller. */
int kcl_bench_engine(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_system *s,
                     kcl_engine **e);

#endif
