/* Between the caller's system and the scaled one on the device: right-hand sides, solutions, residuals. */
#ifndef KCL_GIVEN_H
#define KCL_GIVEN_H

#include "solver/engine/engine.h"

/* |b| as the device sees it: shift is k of solver/engine/scale.h. */
int kcl_given_norm(const kcl_system *s, const void *b, kcl_scaled_norm *out);

/* b and x of right-hand side number rhs, of A's type. shift: that of b. */
int kcl_give_b(const kcl_system *s, kcl_engine *e, int rhs, const void *b, int shift);
int kcl_give_x(const kcl_system *s, kcl_engine *e, int rhs, const void *x, int shift);
/* 0 in columns of zeros. */
int kcl_take_x(const kcl_system *s, kcl_engine *e, int rhs, void *x, int shift);

/* The list of the columns of zeros; and x, of A's type, 0 there (solver/engine/zero_columns.c). */
int kcl_find_zero_columns(kcl_system *s);
void kcl_clear_zero_columns(const kcl_system *s, void *x);

/* 2^shift v in double, v of A's type: v itself, or a copy, *owned. |shift| <= 1000. */
int kcl_in_double(kcl *ctx, kcl_type type, const void *v, int64_t n, int shift, double **owned,
                  const double **out);
/* |b - A x| / |b| of the system as given, recomputed on the host: one product; infinite where x or the product is not
 * finite. tested: |R (b - A x)| / |R b|, which is the same where the system is not scaled; or NULL. */
int kcl_residual_of(const kcl_system *s, const void *b, const void *x, double *relative,
                    double *tested);

#endif
