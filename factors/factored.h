/* Preconditioners that are factors of A: M = (I + L) D (I + U), of A with rows exchanged and scaled where that was needed. */
#ifndef KCL_FACTORED_H
#define KCL_FACTORED_H

#include "solver/contract/precond.h"
#include "factors/factor.h"

/* M owns the factors then, also after a failure; m: the exchange, or NULL. close: Jacobi sweeps are taken where they come so near
 * to the solution. `what`: for the note. before: of factors with the same patterns, or NULL. */
int kcl_factored_keep(kcl_preconditioner *M, const kcl_csr *A, kcl_factors *f,
                      const kcl_matching *m, double close, const char *what,
                      const kcl_preconditioner *before);
void kcl_factored_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                        bool adjoint);

/* Factors of A without symmetry: rows are exchanged where a diagonal entry is zero or below `weak` times the largest of its row, or a pivot
 * vanishes; where elimination is unstable more fill is kept before; after all of that the diagonal is shifted until there are factors. */
typedef struct kcl_factoring {
  /* Overwrites B; *zero: the first row whose pivot vanishes, or -1. Not negative: there are no factors. */
  int (*factor)(const kcl_precond_request *q, kcl_csr *B, int level, kcl_factors *out,
                int64_t *zero);
  int level, last_level; /* of fill: the first that is tried, and the last; -1: without levels */
  double weak;           /* 0: rows are exchanged after a failure alone */
  double close;          /* as above */
} kcl_factoring;
/* name: for the note. */
int kcl_factored_setup(kcl_preconditioner *M, const kcl_precond_request *q, const kcl_factoring *f,
                       const char *name);

/* M->data. Matrices: L, U, P if there is one. */
typedef struct kcl_factored {
  bool exchanged, hermitian; /* hermitian: U is L^H */
  int sweeps[2];             /* for L, U; 0: exact */
  int64_t levels[2];
} kcl_factored;

/* Between factored.c and choose_solves.c: the sweeps of F, and the levels of L, U. KCL_USAGE: the device can do neither. */
typedef struct kcl_choosing {
  const kcl_csr *A;
  const kcl_factors *f;
  const kcl_matching *m;
  double close;
  const kcl_factored *before; /* of factors with the same patterns, or NULL */
} kcl_choosing;
int kcl_choose_solves(kcl_preconditioner *M, const kcl_choosing *c, kcl_factored *F);

#endif
