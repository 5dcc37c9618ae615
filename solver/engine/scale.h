/* Scaling of a system by powers of two, which adds no rounding:
 *
 *   given   A x = b          on the device   (u R A C) y = 2^k R b,  x = u 2^-k C y
 *
 *   R, C   equilibrate A: the largest modulus of every row and column is near 1; where they are not needed, 1. C = R where
 *          A is Hermitian or symmetric, so that R A C is too
 *   u      keeps products of products of A finite
 *   k      brings the norm of the right-hand side, 2^k |R b|, into [1/2, 1)
 *
 * When R and C are needed: solver/engine/scale.c. Everything that is reported is of the system as given.
 */
#ifndef KCL_SCALE_H
#define KCL_SCALE_H

#include "core/program/ranks.h"

typedef struct kcl_scaling {
  int unit; /* u = 2^unit */
  int *row,
      *col; /* [rows], [cols + those of the halo], owned: exponents of R and C; NULL: both are 1 */
  int row_range[2], col_range[2]; /* the least and the largest of them */
} kcl_scaling;

/* |D v| = norm * 2^-shift, D = diag(2^power): norm in [1/2, 1), or 0. */
typedef struct kcl_scaled_norm {
  double norm;
  int shift;
} kcl_scaled_norm;

/* The power of two that brings a norm near 1, finite as a factor; 0 where the norm is 0 or not finite. */
static inline int kcl_norm_exponent(double norm) {
  if (!(norm > 0 && norm < INFINITY)) return 0;
  return norm < 1e-300 ? 997 : -ilogb(norm); /* 2^1022 / norm may be infinite below 2^-1022 */
}

/* b - A x is computed as 2^-k (2^k b - A 2^k x), k of |b|_inf: rounding errors that matter beside b stay above the least
 * number, and sums are finite. 0 in nearly all cases. Not where rows are scaled: small rows count as much as |b|_inf there. */
static inline int kcl_residual_exponent(double b_inf) {
  if (!(b_inf > 0 && b_inf < INFINITY)) return 0;
  return b_inf < 0x1p-600 ? 500 : b_inf > 0x1p600 ? -100 : 0;
}

/* A residual that is not a number is infinite. */
static inline double kcl_nan_to_infinity(double residual) {
  return isnan(residual) ? INFINITY : residual;
}

/* R and C of a square matrix; mirrored: the moduli of A are symmetric; halo: of A's rows, where ranks share them, or NULL. */
int kcl_equilibrate(kcl_context *ctx, const kcl_csr *A, bool mirrored, const kcl_halo *halo,
                    kcl_scaling *out);
void kcl_scaling_free(kcl_scaling *s);
/* values = u R A C, of type `type`, [nnz]. */
void kcl_scale_values(const kcl_scaling *s, const kcl_csr *A, kcl_type type, void *values);
/* v = 2^shift D^sign v, [n]; power: exponents of D, NULL: D = 1. */
void kcl_scale_vector(kcl_type t, void *v, int64_t n, const int *power, int sign, int shift);
/* |D v| from own parts v [n] of the ranks, or alone (ranks NULL). */
int kcl_norm_scaled(kcl_context *ctx, kcl_ranks *ranks, kcl_type t, const void *v, int64_t n,
                    const int *power, kcl_scaled_norm *out);

#endif
