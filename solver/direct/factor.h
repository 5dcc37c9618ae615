/* Direct factorisations of a host matrix; private to solver/direct. */
#ifndef KCL_FACTOR_H
#define KCL_FACTOR_H
#include "solver/direct/direct.h"

typedef struct kcl_factor kcl_factor;

/* Cholesky where A may be definite, LU where it is not or turns out not to be. KCL_REFUSED: it would take more floating-point
 * operations than `flops`, as predicted from the structure, or more memory than there is. */
int kcl_factor_create(kcl_context *ctx, const kcl_csr *A, bool definite, double flops,
                      kcl_factor **out);
void kcl_factor_free(kcl_factor **f);
/* From an ordering of the structure alone: real floating-point operations, and numbers in L, or in L and U. INFINITY: the
 * analysis failed. */
typedef struct kcl_factor_cost {
  double flops, entries;
} kcl_factor_cost;
int kcl_factor_predict(kcl_context *ctx, const kcl_csr *A, bool definite, kcl_factor_cost *out);
const char *kcl_factor_method(const kcl_factor *f);
/* x = A^-1 b, or A^-H b. b and x are distinct. factor: a kcl_factor. */
int kcl_factor_solve(kcl_context *ctx, void *factor, bool adjoint, const double *b, double *x);

/* OpenBLAS computes with so many threads from here on, in the whole process. Returns how many it had; 0: there is another BLAS, or threads
 * is 0, and nothing changed. */
int kcl_blas_threads(int threads);
/* And with one alone, if a factorisation of so many operations would wait for the others rather than gain by them. */
void kcl_blas_fit(double flops);
/* Threads of a factorisation: those of the context, or 1 where more threads want to run than there are processors. */
int kcl_direct_threads(const kcl_context *ctx);
/* Nested parallel regions of OpenMP that have more than one thread, in this thread from here on; 0: none has. Returns how many it were; -1:
 * there is no OpenMP, or levels is -1, and nothing changed. */
int kcl_openmp_levels(int levels);

/* A^-1 by a factor, or what takes its place for least squares (solver/direct/refine.c). */
typedef struct kcl_inverse {
  int (*apply)(kcl_context *ctx, void *factor, bool adjoint, const double *b, double *x);
  void *factor;
} kcl_inverse;

struct kcl_direct_factor {
  kcl_inverse inverse;
  void (*release)(void *factor);
  /* |A^-1|, in the norm of |A|; for the condition number. */
  int (*inverse_norm)(kcl_context *ctx, const kcl_inverse *inverse, const kcl_csr *A, double *norm);
  const char *method;
  double norm;     /* |A| */
  int64_t rank;    /* -1: not known, A is square and regular */
  bool least_norm; /* where x is not unique, it is the one of least norm */
};
/* Least squares of any shape and rank by SuiteSparseQR (solver/direct/qr.c). KCL_REFUSED: more operations than `flops`. KCL_USAGE:
 * not in this build. */
int kcl_qr_create(kcl_context *ctx, const kcl_csr *A, double flops, kcl_direct_factor **out);

/* Corrects x until it no longer improves. info: corrections; error is INFINITY where they do not converge, else 0. */
int kcl_refine(kcl_context *ctx, const kcl_csr *A, const kcl_inverse *inverse, const double *b,
               double *x, kcl_direct_info *info);
/* An estimate of | |A^-1| w |_inf, A of n rows and of type t, w [n]; NULL: 1. */
int kcl_inverse_norm(kcl_context *ctx, const kcl_inverse *inverse, kcl_type t, int64_t n,
                     const double *w, double *norm);
/* A bound of |x - A^-1 b|_inf / |x|_inf. */
int kcl_direct_error(kcl_context *ctx, const kcl_csr *A, const kcl_inverse *inverse,
                     const double *b, const double *x, double *error);
#endif
