/* The error bounds of the tests, each derived once and never widened to make a test pass.
 *
 * u      unit roundoff of the arithmetic, 2^-24 or 2^-53.
 * c      error factor of a complex multiplication: |fl(xy) - xy| <= sqrt 2 gamma_2 |xy|, about 2 sqrt 2 u |xy|
 *        (Higham 2002, lemma 3.5); 1 for real numbers.
 * Contraction to fused multiply-add removes roundings and never adds any.
 */
#ifndef KCL_TOL_H
#define KCL_TOL_H
#include "solver/calls.h"
#include <math.h>

static inline double tol_u(kcl_type t) {
  return t == KCL_S || t == KCL_C ? ldexp(1, -24) : ldexp(1, -53);
}
static inline double tol_c(kcl_type t) { return kcl_type_complex(t) ? 2 * sqrt(2) : 1; }

/* y_i = sum of k products, in any order: every product is rounded once (c u) and passes at most k - 1
 * additions (u each): k c u covers them (Jeannerod & Rump 2013: no terms of higher order). One more for
 * an addition to y = 0 and one for padding with zeros of a wide register: (k + 2) c u (|A| |x|)_i. */
static inline double tol_product(kcl_type t, double k, double sum_abs) {
  return (k + 2) * tol_c(t) * tol_u(t) * sum_abs;
}

/* x^H y of n elements: the same sum, in any order: n c u |x|^T |y| (Higham 2002, 3.1). */
static inline double tol_dot(kcl_type t, double n, double sum_abs) {
  return n * tol_c(t) * tol_u(t) * sum_abs;
}

/* a x + b z: two products and one addition: 2 c u (|a x| + |b z|), with 2 c u >= (c + 1) u. */
static inline double tol_lincomb(kcl_type t, double sum_abs) {
  return 2 * tol_c(t) * tol_u(t) * sum_abs;
}

/* a / b. Real: one division, which OpenCL 1.2 (7.4) allows 2.5 ulp in single, 5 u. Complex, b scaled by
 * its larger part m, c = b / m: a conj(c) sqrt 2 (2 + 5) u, |c|^2 (2 * 5 + 2) u, its division and m's 5 u each,
 * together below 32 u (Higham 2002, lemma 3.5 with 5 u for a division). */
static inline double tol_quotient(kcl_type t, double abs) {
  return (kcl_type_complex(t) ? 32 : 5) * tol_u(t) * abs;
}

/* |x - y| / |x| (largest elements) where both x and y solve A x = b with normwise backward errors:
 * (A + E) y = b + f, |E| <= eta |A|, |f| <= eta |b|, gives 2 eta kappa / (1 - eta kappa) for one
 * (Higham 2002, theorem 7.2), kappa = |A| |A^-1|, all norms infinity norms, as in kcl_certificate.
 * kappa comes from Hager's estimate, a lower bound nearly always within a factor of 3 (Higham 1988).
 * Infinite if the bound is void. */
static inline double tol_forward(double kappa, double eta_x, double eta_y) {
  double k = 3 * kappa, worst = k * fmax(eta_x, eta_y);
  return worst < 0.5 ? 2 * k * (eta_x + eta_y) / (1 - worst) : INFINITY;
}

/* |A x - P b| / |P b|, P onto the range of A: |P r| of r = b - A x is at most |r|, and at most |A^H r| / s, s the
 * smallest singular value that is not 0. With the normal residual n >= |A^H r| / |A^H b| and |A^H b| <= |A|_F |P b|
 * that is kappa n, kappa = |A|_F / s, estimated from below and within a factor of 3. res: |r| / |P b|. */
static inline double tol_fit(double kappa, double res, double n) {
  return fmin(res, 3 * kappa * n);
}

/* A claim "converged" with tolerance tol holds for the residual recomputed in long double, apart from the
 * doubt about that one (residual in conform.h) and a last bit of the certificate's own sums. */
static inline double tol_claim(double tol, double doubt) { return tol * (1 + 1e-12) + doubt; }
static inline double tol_certificate(double residual, double doubt) {
  return 1e-12 * residual + doubt;
}
#endif
