/* Preconditioners that are factors of A: M = (I + L) D (I + U), of A with rows exchanged and scaled where that was needed. */
#ifndef KCL_FACTORED_H
#define KCL_FACTORED_H

#include "solver/precond/precond.h"
#include "sparse/factor.h"

/* M owns the factors then, also after a failure; m: the exchange, or NULL. `what`: for the note. */
int kcl_factored_keep(kcl_preconditioner *M, const kcl_csr *A, kcl_factors *f,
                      const kcl_matching *m, const char *what);
void kcl_factored_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                        bool adjoint);

/* Factors of A without symmetry: rows are exchanged where a diagonal entry is zero or below `weak` times the largest of its row,
 * or a pivot vanishes; then the diagonal is shifted until all pivots are there. weak 0: where a pivot vanishes alone. factor:
 * overwrites B; *zero: the first row whose pivot vanishes, or -1. */
typedef int kcl_factoring(kcl *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero);
int kcl_factored_setup(kcl_preconditioner *M, const kcl_csr *A, kcl_factoring *factor, double weak,
                       const char *what);

#endif
