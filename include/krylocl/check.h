/** @file
 * Checking a solution: certificates of any x, direct solutions by SuiteSparse to compare with. For programs that verify, beside
 * krylocl.h. It may change with every release.
 */
#ifndef KRYLOCL_CHECK_H
#define KRYLOCL_CHECK_H

#include <krylocl/io.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** How a direct solution was found. */
typedef struct kcl_direct_info {
  const char *method; /**< "CHOLMOD supernodal Cholesky", "UMFPACK" ...; constant text */
  double seconds;     /**< analysis, factorisation and solution */
  /** Condition number: an estimate in the infinity norm (Hager 1984, Higham 1988); by SuiteSparseQR
   * an estimate of |A|_F / the smallest non-zero singular value. 0: not known. */
  double condition;
  int64_t rank;    /**< numerical rank by SuiteSparseQR; -1: by the others */
  bool least_norm; /**< x is the smallest of all that have its residual */
  int corrections; /**< corrections of x with residuals of compensated sums, before they no longer shrank */
  /** Bound of the relative error of x: an estimate of | |A^-1| w |_inf / |x|_inf, w = |b - A x| + u (|A| |x| +
   * |b|), u the unit roundoff (Arioli, Demmel & Duff 1989). INFINITY: corrections do not converge. -1 by SuiteSparseQR:
   * see kcl_solution_check. */
  double error;
} kcl_direct_info;

/** The library was built with CHOLMOD and UMFPACK. */
bool kcl_direct_available(void);

/** The library was also built with SuiteSparseQR. */
bool kcl_direct_least_squares(void);

/** Solves directly: by CHOLMOD if A is Hermitian positive definite, by UMFPACK if it is otherwise
 * square, by SuiteSparseQR if it is rectangular or singular: least squares, of least norm if the
 * factorisation of A^H that this takes finds the same rank. x is refined with the same factors until that no longer improves it.
 * A, b [rows] and x [cols] are of type D or Z. KCL_USAGE: not built with it. */
int kcl_direct(kcl_context *ctx, const kcl_csr *A, const double *b, double *x,
               kcl_direct_info *info);

/** Residuals of a solution, r = b - A x computed as by kcl_csr_product. They are infinite where x or r is not finite. */
typedef struct kcl_certificate {
  double relative_residual; /**< |r| / |b| */
  double backward_error;    /**< |r|_inf / (|A|_inf |x|_inf + |b|_inf), Rigal & Gaches 1967 */
  /** Backward error by rows: max |r_i| / (|a_i|_1 |x|_inf + |b_i|), a_i row i of A. Much larger than
   * backward_error where rows of A differ in size and the small ones are not solved. */
  double rowwise_error;
  /** Componentwise backward error: max |r_i| / (|A| |x| + |b|)_i, Oettli & Prager 1964. Also large
   * where x and b are much smaller than elsewhere. */
  double componentwise_error;
  double norm_b;          /**< |b| */
  double norm_x;          /**< |x| */
  double normal_residual; /**< max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)); -1 from kcl_certify */
} kcl_certificate;

/** Computes the residuals of x on the host: one product. b [rows] and x [cols] are of type D, or Z
 * if A is complex. */
int kcl_certify(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x,
                kcl_certificate *out);

/** As kcl_certify, with the normal residual: two products more. */
int kcl_certify_least_squares(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x,
                              kcl_certificate *out);

/** Verdict of kcl_solution_check. */
typedef enum kcl_verdict {
  KCL_PASSED,   /**< x is as right as was asked for */
  KCL_FAILED,   /**< it is not, or does not solve the system */
  KCL_UNDECIDED /**< the direct solution is not certain enough to tell */
} kcl_verdict;

/** "passed", "failed" or "undecided". */
const char *kcl_verdict_name(kcl_verdict v);

/** How x is compared with a direct solution. */
typedef struct kcl_check_plan {
  /** The direct method that is tried first, of "cholmod", "umfpack", "spqr": one that does not fit A is followed by the next.
   * NULL or "direct": the first. */
  const char *method;
  double
      tol; /**< x fails unless |b - A x| <= tol |b|, or its normal residual for least squares is at most tol, or: */
  double atol; /**< |b - A x| <= atol */
  double
      error; /**< the largest relative error of x that passes; 0: what its residual allows, and at most 0.1 */
} kcl_check_plan;

/** x beside a refined direct solution y. */
typedef struct kcl_solution_error {
  kcl_verdict verdict; /**< failed: x is not solved to tol, or difference - bound > allowed */
  /** |x - y|_inf / |y|_inf; by SuiteSparseQR |x - y| / |y|, or |A (x - y)| / |A y| where the solution is not unique. */
  double difference;
  double
      bound; /**< of the error of y, in the same norm: that of x is between difference -+ bound */
  double
      allowed; /**< the largest difference that passes: plan.error, or min(0.1, 10 max(tol, residual's)) */
  bool unique;            /**< the solution is unique; else the products A x are compared */
  kcl_direct_info direct; /**< how y was found */
  kcl_certificate of_x;   /**< residuals of x */
  kcl_certificate of_y;   /**< residuals of y */
  char reason[160];       /**< why it did not pass, or empty */
} kcl_solution_error;

/** Compares x with a direct solution, which is written to y [cols]. Types as for kcl_direct; fails as it does. */
int kcl_solution_check(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x,
                       const kcl_check_plan *plan, double *y, kcl_solution_error *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
