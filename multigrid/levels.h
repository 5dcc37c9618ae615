/* Multigrid: the levels of a hierarchy, built from A by a coarsening, and their cycle. */
#ifndef KCL_LEVELS_H
#define KCL_LEVELS_H

#include "multigrid/builder.h"

enum { KCL_MOST_LEVELS = 25 };

/* P [n, fewer] from A, real and square, of level 0, 1 ...; *made is false where coarsening ends. */
typedef int kcl_coarsening(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made);
/* A hierarchy as the preconditioner's matrices and vectors. Hermitian A: smoothed before and after by Chebyshev polynomials of
 * this degree, one more where a level is coarsened twice, or, of degree 1, by a step of l1 Jacobi; others: by one of SPAI(0). */
typedef struct kcl_levels_plan {
  kcl_coarsening *coarsen;
  kcl_coarsening *again; /* of a level that is then left out */
  int aggressive;        /* of the first levels, how many are coarsened twice */
  int most;              /* entries per row of P where a level is coarsened again; 0: all */
  double twice; /* entries of a next level, by this one's, whose cycle is run twice; 0: none is */
  kcl_near_null near_null; /* of A, for coarsen: kcl_builder.near_null */
  int degree;
  int coarsest;          /* rows of a system that is inverted, at most */
  int max_levels;        /* KCL_MOST_LEVELS or fewer */
  double max_complexity; /* entries of all levels, by those of the first */
} kcl_levels_plan;
/* Parameters that each preconditioner with levels has; of: its name, a literal. */
#define KCL_COARSEST(of)                                                                           \
  {                                                                                                \
    .name = of ".coarsest", .default_text = "128",                                                 \
    .help = "rows of the coarsest system, which is inverted, at most, 1 to 1000",                  \
    .kind = KCL_OPTION_WHOLE, .min = 1, .max = 1000                                                \
  }
#define KCL_MAX_LEVELS(of)                                                                         \
  {                                                                                                \
    .name = of ".max-levels", .default_text = "25", .help = "levels, at most, 1 to 25",            \
    .kind = KCL_OPTION_WHOLE, .min = 1, .max = KCL_MOST_LEVELS                                     \
  }
#define KCL_MAX_COMPLEXITY(of)                                                                     \
  {                                                                                                \
    .name = of ".max-complexity", .default_text = "3",                                             \
    .help = "entries of all levels relative to those of A, at most, 1 to 10",                      \
    .kind = KCL_OPTION_REAL, .min = 1, .max = 10                                                   \
  }
/* Are levels of A built on the context's device? */
bool kcl_levels_on_device(const kcl_context *ctx, const kcl_csr *A);
/* Are the kernels that build them compiled already? Begins to load them, in the background. aggregation: by smoothed aggregation. */
bool kcl_levels_compiled(kcl_context *ctx, kcl_type type, bool aggregation);
void kcl_levels_ahead(kcl_context *ctx, const kcl_csr *A, kcl_type type, bool aggregation);
int kcl_levels_build(kcl_preconditioner *M, const kcl_precond_request *q,
                     const kcl_levels_plan *plan);
/* The hierarchy of new values: with the P and R of q->before. */
int kcl_levels_update(kcl_preconditioner *M, const kcl_precond_request *q);
/* z = one cycle for A z = r. */
void kcl_levels_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                      bool adjoint);

#endif
