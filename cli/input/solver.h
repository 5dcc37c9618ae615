/* Solvers for matrices that the program has read. */
#ifndef CLI_SOLVER_H
#define CLI_SOLVER_H

#include "krylocl/explain.h"

/* A solver of A, whose arrays are used in place, with all fields of the options. */
int cli_solver_create(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_solver **out);
/* New values of A, the matrix of the solver. */
int cli_solver_update(kcl_context *ctx, kcl_solver *s, const kcl_csr *A);
/* Solves for k columns, one after another in memory; NULL on a rank without vectors. report [k] or NULL. */
int cli_solver_solve(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *report);

#endif
