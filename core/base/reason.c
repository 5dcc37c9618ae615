/* The reasons why a solve ended, as phrases. */
#include "krylocl.h"

const char *kcl_reason_text(int r) {
  static const char *const text[] = {
      [KCL_CONVERGED] = "converged",
      [KCL_ITERATION_LIMIT] = "iteration limit reached",
      [KCL_INDEFINITE] = "matrix is not positive definite (p^H A p <= 0)",
      [KCL_BREAKDOWN_RHO] = "breakdown: residual and shadow residual became orthogonal",
      [KCL_BREAKDOWN_SIGMA] = "breakdown: search direction and its shadow became A-orthogonal",
      [KCL_BREAKDOWN_OMEGA] = "breakdown: A r is orthogonal to r, as for skew-symmetric A",
      [KCL_NOT_FINITE] = "an infinity or NaN appeared",
      [KCL_STAGNATED] = "stagnated: the true residual stopped falling",
      [KCL_INTERRUPTED] = "interrupted",
      [KCL_DIVERGED] = "diverged: the residual grew without bound",
      [KCL_LEAST_SQUARES] = "least-squares solution: x minimises |b - A x|",
      [KCL_DEVICE_LOST] = "the device was lost"};
  return (unsigned)r < sizeof text / sizeof *text ? text[r] : "unknown reason";
}
