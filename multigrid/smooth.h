/* Smoothing in recorded programs: Chebyshev polynomials of the fourth kind. */
#ifndef KCL_SMOOTH_H
#define KCL_SMOOTH_H

#include "solver/contract/precond.h"
#include "multigrid/coarsen.h"

enum { KCL_MOST_DEGREE = 8 };

/* D^-1 / lambda of A for kcl_record_smoothing as a vector of M; A Hermitian, in wide values. halo: of the other ranks' columns,
 * which lambda takes in; or NULL. name: of the vector; *largest: lambda. */
int kcl_add_smoother(kcl_preconditioner *M, const kcl_csr *A, const kcl_halo *halo,
                     const char *name, double *largest);

/* A diagonal for one smoothing, kcl_amg_diagonal, likewise. */
int kcl_add_diagonal(kcl_preconditioner *M, const kcl_csr *A, const char *name, kcl_smoother kind);
/* Fails: a diagonal entry of a system of so many rows is not positive. */
int kcl_not_definite(const kcl_preconditioner *M, int64_t rows);

/* kcl_sparse_largest of the matrix of all ranks; A: the diagonal block of this one. All ranks call it, or agree on a failure
 * instead (spread.c). */
int kcl_spread_largest(kcl_context *ctx, const kcl_csr *A, const double *d, const kcl_halo *halo,
                       double *out);

typedef struct kcl_smoothing {
  kcl_stored *A;
  kcl_vec d; /* D^-1 / lambda */
  int degree;
} kcl_smoothing;

/* x = p(D^-1 A) D^-1 b with `degree` - 1 products; x is overwritten. */
void kcl_record_smoothing(kcl_program *k, const kcl_smoothing *s, kcl_vec x, kcl_vec b);
/* x = x + p(D^-1 A) D^-1 r. r is the work vector "r" or "q", both are overwritten. */
void kcl_record_correction(kcl_program *k, const kcl_smoothing *s, kcl_vec x, kcl_vec r);

#endif
