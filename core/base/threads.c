/* OpenMP; without it, one thread. */
#include "core/base/base.h"
#ifdef _OPENMP
#include <omp.h>
int kcl_thread(void) { return omp_get_thread_num(); }
int kcl_threads(void) { return omp_get_num_threads(); }
int kcl_max_threads(void) { return omp_get_max_threads(); }
#else
int kcl_thread(void) { return 0; }
int kcl_threads(void) { return 1; }
int kcl_max_threads(void) { return 1; }
#endif
