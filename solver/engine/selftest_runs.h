/* How much an engine's kernels differ from the native executor, for selftest.c. */
#ifndef KCL_SELFTEST_RUNS_H
#define KCL_SELFTEST_RUNS_H

#include "solver/engine/engine.h"

/* *difference: of x beyond rounding, relative to its largest element; 0: none. A failure: there is no verdict. On a small system whose
 * kernels are built as those of e. */
int kcl_small_difference(const kcl_system *s, const kcl_engine *e, kcl_fusion fusion,
                         double *difference);
/* *difference, as above, on the system itself by the kernels of e. */
int kcl_own_difference(const kcl_system *s, kcl_engine *e, double *difference);

#endif
