/* A preconditioner as an object of the caller's, which solvers share. */
#ifndef KCL_PRECOND_OBJECT_H
#define KCL_PRECOND_OBJECT_H

#include "solver/solver.h"

struct kcl_precond {
  int sharers;         /* owners beyond the first */
  kcl_system system;   /* that it was set up for; its A is `shape` */
  kcl_csr shape;       /* A without arrays */
  kcl_sums sums;       /* of A */
  kcl_dense near_null; /* a copy of the caller's; its numbers are owned */
  const kcl_precond_kind *kind;
  kcl_preconditioner *M; /* shared with engines; NULL: M = I */
  kcl_engine *side[2];   /* z = M^-1 r, M^-H r; NULL: not asked for yet */
};

/* An empty one, which has the context. */
int kcl_precond_new(kcl_context *ctx, kcl_precond **out);
kcl_precond *kcl_precond_share(kcl_precond *p); /* NULL of NULL */
/* The system of a solver gets what p is now, borrowed. KCL_USAGE: it does not fit the system's A and options. */
int kcl_precond_give(kcl_precond *p, kcl_system *s);

#endif
