/* Direct factorisations of a host matrix; private to solver/direct. */
#ifndef KCL_FACTOR_H
#define KCL_FACTOR_H
#include "solver/direct/direct.h"

typedef struct kcl_factor kcl_factor;

/* Cholesky where A may be definite, LU where it is not or turns out not to be. KCL_MEMORY: it would take more floating-point
 * operations than `flops`, as predicted from the structure, or more memory than there is. */
int kcl_factor_create(kcl *ctx, const kcl_csr *A, bool definite, double flops, kcl_factor **out);
void kcl_factor_free(kcl_factor **f);
const char *kcl_factor_method(const kcl_factor *f);
/* x = A^-1 b, or A^-H b. b and x are distinct. */
int kcl_factor_solve(kcl *ctx, kcl_factor *f, bool adjoint, const double *b, double *x);

/* Least squares of any shape and rank by SuiteSparseQR for k right-hand sides; KCL_USAGE in builds without it
 * (solver/direct/qr.c). */
int kcl_qr_direct(kcl *ctx, const kcl_csr *A, const kcl_direct_task *t, kcl_direct_info *info);
#endif
