/* A solve that finds memory errors and undoes them: option `guard`. Between two batches, so rarely that it takes about a thirtieth
 * of the time, the guard checks
 *
 *   arrays     checksums of A, of the preconditioner's arrays and of b (solver/guard/arrays.h)
 *   residual   |r - (b - A x)| within the rounding errors of the iterations: phase VERIFY. An error in x, r or any product since
 *              the last check exceeds it
 *   vectors    no vector that the method goes on from has grown a million-fold
 *   end        every reason to end but convergence is doubted once
 *
 * A state that passes is copied. After an error arrays are restored, and the loop goes on from the copy: a replay has the bits of a
 * solve without the error. A replay that ends as before was no error: the reason counts, and the residual's gap is rounding.
 * Errors that come again and again before the next state passes are a broken device: KCL_DEVICE.
 *
 * Methods and executors know nothing of it.
 */
#ifndef KCL_GUARD_H
#define KCL_GUARD_H

#include "solver/loop/loop.h"

typedef struct kcl_guard kcl_guard;

/* For a solve: l->guard. writable: arrays of A may be restored in place; else an error in them ends the solve (KCL_CHANGED). */
int kcl_guard_create(kcl_loop *l, bool writable, kcl_guard **out);
/* Into the reports: guard_checks, guard_errors, guard_rollbacks. */
void kcl_guard_report(const kcl_guard *g, const kcl_loop *l);
void kcl_guard_free(kcl_guard **g);

#endif
