/* Between the caller's system and the scaled one on the device: right-hand sides, solutions, residuals. */
#ifndef KCL_GIVEN_H
#define KCL_GIVEN_H

#include "core/device/device.h"
#include "solver/engine/engine.h"

/* |b| as the device sees it: shift is k of solver/engine/scale.h. */
int kcl_given_norm(const kcl_system *s, const void *b, kcl_scaled_norm *out);

/* b and x of right-hand side number rhs, of A's type. shift: that of b. */
int kcl_give_b(const kcl_system *s, kcl_engine *e, int rhs, const void *b, int shift);
int kcl_give_x(const kcl_system *s, kcl_engine *e, int rhs, const void *x, int shift);
/* 0 in columns of zeros. */
int kcl_take_x(const kcl_system *s, kcl_engine *e, int rhs, void *x, int shift);

/* Can columns in OpenCL buffers, of A's type, stay on the device alone? Where nothing of them is computed on the host: neither scaling by rows nor columns of zeros, and a device that has A's precision. */
bool kcl_given_on_device(const kcl_system *s);
int kcl_given_column_norm(const kcl_system *s, const kcl_column *b, kcl_scaled_norm *out);
int kcl_give_b_column(const kcl_system *s, kcl_engine *e, int rhs, const kcl_column *b, int shift);
int kcl_give_x_column(const kcl_system *s, kcl_engine *e, int rhs, const kcl_column *x, int shift);
int kcl_take_x_column(const kcl_system *s, kcl_engine *e, int rhs, const kcl_column *x, int shift);
/* A column's numbers on the host, *out [n], for free(); and back. */
int kcl_fetch_column(const kcl_system *s, const kcl_column *from, int64_t n, void **out);
int kcl_return_column(const kcl_system *s, const kcl_column *to, int64_t n, const void *values);
/* Is x, as it would be taken, finite? */
int kcl_x_is_finite(const kcl_system *s, kcl_engine *e, int rhs, int shift, bool *out);

/* The list of the columns of zeros; and x, of A's type, 0 there (solver/engine/zero_columns.c). */
int kcl_find_zero_columns(kcl_system *s);
void kcl_clear_zero_columns(const kcl_system *s, void *x);

/* r = b - A x on the host, in double: of the rows that are here. */
typedef struct kcl_host_residual {
  kcl_context *ctx;
  kcl_ranks *ranks; /* NULL: all rows are here */
  const kcl_csr *A; /* own columns */
  const kcl_halo *halo;
  kcl_type type;       /* D or Z, of what follows */
  int shift;           /* b, x and r are 2^shift times what they are called */
  const double *b, *x; /* [own rows], [own columns + elements of the halo] */
  double *r;           /* [own rows], to be computed */
  double *b_copy, *x_copy;
} kcl_host_residual;

/* b and x in double, and room for r; b and x are of this type. shifted: by kcl_residual_exponent. kcl_host_residual_close frees on
 * failure too. */
int kcl_host_residual_open(kcl_context *ctx, const kcl_csr *A, const kcl_halo *halo, kcl_type type,
                           const void *b, const void *x, bool shifted, kcl_host_residual *out);
void kcl_host_residual_close(kcl_host_residual *q);

/* q->r = b - A x by the product of a shell, in working precision; relative: |r| / |b|, as below. */
int kcl_shell_residual(const kcl_system *s, const kcl_host_residual *q, double *relative);

/* |b - A x| / |b| of the system as given, recomputed on the host: one product; infinite where x or the product is not
 * finite. tested: |R (b - A x)| / |R b|, which is the same where the system is not scaled; or NULL. */
int kcl_residual_of(const kcl_system *s, const void *b, const void *x, double *relative,
                    double *tested);

#endif
