/* Processor time of a pass over LOOP (an iteration or a few) with and without the option guard, natively on one thread: single passes by turns
 * in one process, so short that most are not interrupted, the least of each. It is the time of the checks of indices: those between batches of
 * iterations are not in it, which take GUARD_SHARE of solver/guard/guard.c beside. By bench/guard.sh.
 *
 *   guard PASSES SYSTEM SOLVER PRECOND FORMAT     prints a row of the table
 */
#define _POSIX_C_SOURCE 200809L
#include "bench/processor.h"
#include "solver/engine/engine.h"
#include "solver/solver.h"

enum { PASSES_PER_START = 10 };

static void start_method(const kcl_solver *s, const double *b) {
  kcl_engine *e = s->selection.engine;
  kcl_executor *ex = &e->executor;
  must(ex->put(ex, e->program->b, 0, KCL_D, b, 1.0));
  must(ex->put(ex, e->program->x, 0, KCL_D, b, 0.5));
  must(kcl_timing_state(ex, KCL_MAX_NRHS));
  must(ex->run(ex, KCL_START, 1));
}

static double time_of_pass(const kcl_solver *s) {
  kcl_executor *ex = &s->selection.engine->executor;
  const double start = processor_seconds();
  must(ex->run(ex, KCL_LOOP, 1));
  must(ex->finish(ex));
  return processor_seconds() - start;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  kcl_context *ctx;
  kcl_csr *A;
  kcl_dense *b;
  kcl_solver *s[2]; /* without guard, with */
  double least[2] = {1e9, 1e9};
  must(kcl_context_create(NULL, 0, &ctx));
  must(kcl_select(ctx, "cpu", 1));
  must(kcl_generate(ctx, argv[2], &A, &b));
  for (int g = 0; g < 2; g++) {
    kcl_options o = kcl_defaults;
    o.solver = argv[3], o.precond = argv[4], o.format = argv[5], o.guard = g;
    must(kcl_setup(ctx, A, &o, &s[g]));
  }
  for (int i = 0; i < atoi(argv[1]); i++)
    for (int g = 0; g < 2; g++) {
      if (i % PASSES_PER_START == 0) start_method(s[g], b->val);
      const double t = time_of_pass(s[g]);
      if (t < least[g]) least[g] = t;
    }
  printf("| %s | %s, %s, %s | %.0f | %.0f | %.2f |\n", argv[2], argv[3], argv[4], argv[5],
         1e6 * least[0], 1e6 * least[1], least[1] / least[0]);
  for (int g = 0; g < 2; g++) kcl_solver_free(&s[g]);
  kcl_csr_free(&A), kcl_dense_free(&b), kcl_context_free(&ctx);
  return 0;
}
