/* Mixed precision that ends in double: a second engine in float finds corrections of x.
 *   solver/mixed/prepare.c   the system in float; does it pay?
 *   solver/mixed/run.c       a solve: corrections in float, then the double engine
 */
#ifndef KCL_MIXED_H
#define KCL_MIXED_H

#include "solver/auto/auto.h"

typedef struct kcl_mixed {
  double unit;             /* a power of two, near 1 / |A| */
  kcl_csr A;               /* unit A in single precision; the indices are the caller's */
  kcl_system system;       /* with this A: a system by itself */
  kcl_selection selection; /* its engine is NULL where float does not pay or cannot be used */
  char why[256];           /* for reports: bytes, or why it is not used */
  /* of the last solve: */
  double first;       /* scaled squared residual norm before it */
  int64_t iterations; /* in float */
  int64_t lanczos;    /* of these, in corrections that continued one search */
  int corrections;
} kcl_mixed;

/* At set-up: the system in float, beside a double engine. Its own engine is built like any other (solver/setup.c). Then:
 * does it pay? Or, with kcl_error as the reason, it cannot be built. */
int kcl_mixed_create(const kcl_selection *wide, kcl_mixed **out);
int kcl_mixed_judge(kcl_mixed *m, kcl_selection *wide);
void kcl_mixed_refused(kcl_mixed *m);
void kcl_mixed_free(kcl_mixed **m);

static inline bool kcl_mixed_used(const kcl_mixed *m) { return m && m->selection.engine; }

/* A solve of one right-hand side, b and x on the device of the double engine; and what its report says of float. */
int kcl_mixed_run(kcl_mixed *m, kcl_selection *wide, kcl_loop *l);
void kcl_mixed_report(const kcl_mixed *m, const kcl_loop *l);

/* Between the engines: float b = scale r; double x += scale (float x); float x = 0. */
int kcl_mixed_give(const kcl_mixed *m, kcl_engine *wide, double scale);
int kcl_mixed_take(const kcl_mixed *m, kcl_engine *wide, double scale);
int kcl_mixed_clear(const kcl_mixed *m, kcl_engine *wide);

#endif
