/* Threads of the BLAS that SuiteSparse calls. OpenBLAS has as many as there are processors, which wait for each other by spinning: a
 * factorisation for a context of one thread then takes several times as long beside other programs. Its functions are found at run time, since
 * any BLAS may be linked. */
#include "solver/direct/factor.h"
#include <dlfcn.h>

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
