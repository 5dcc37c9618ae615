/* Threads of SuiteSparse: those of the BLAS that it calls, and its own by OpenMP. OpenBLAS has as many as there are processors, CHOLMOD 5.12
 * a team of four for loops of microseconds, and both wait for each other at each step: beside other programs a factorisation takes several
 * times as long. Their functions are found at run time, since any BLAS and OpenMP may be linked. */
#include "core/base/context.h"
#include "solver/direct/factor.h"
#include <dlfcn.h>
#include <unistd.h>

int kcl_blas_threads(int threads) {
  int (*get)(void) = NULL;
  void (*set)(int) = NULL;
  *(void **)&get = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
  *(void **)&set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (!get || !set || threads < 1) return 0;
  const int before = get();
  set(threads);
  return before;
}

static const double SMALL = 5e9; /* operations for which one thread takes a third of a second */

void kcl_blas_fit(double flops) {
  if (flops < SMALL) kcl_blas_threads(1);
}

int kcl_direct_threads(const kcl_context *ctx) {
  const int threads = ctx->threads ? ctx->threads : kcl_threads();
  double load[1];
  if (getloadavg(load, 1) == 1 && load[0] > (double)sysconf(_SC_NPROCESSORS_ONLN)) return 1;
  return threads;
}

int kcl_openmp_levels(int levels) {
  int (*get)(void) = NULL;
  void (*set)(int) = NULL;
  *(void **)&get = dlsym(RTLD_DEFAULT, "omp_get_max_active_levels");
  *(void **)&set = dlsym(RTLD_DEFAULT, "omp_set_max_active_levels");
  if (!get || !set || levels < 0) return -1;
  const int before = get();
  set(levels);
  return before;
}
