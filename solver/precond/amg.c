/* Classical algebraic multigrid in the form that suits devices: coarse points by PMIS (De Sterck, Yang & Heys 2006),
 * interpolation by matrix products with four entries per row (Li, Sjogreen & Yang 2021), Chebyshev polynomials as
 * smoother, a V-cycle. `amg-aggressive` coarsens the first level twice, so that its levels have fewer entries.
 */
#include "solver/precond/levels.h"

enum { ENTRIES = 4 /* of P, per row */, DEGREE = 2 };
static const double STRONG = 0.25, STALLED = 0.9; /* rows kept: coarsening ends */

static int coarsen_once(kcl_builder *b, const kcl_built *A, kcl_built *P, bool *made) {
  const kcl_coarsening_rule rule = {
      .theta = STRONG, .most = ENTRIES, .enough = STALLED * (double)A->rows};
  return b->ops->interpolation(b, A, &rule, P, made);
}

static int coarsen(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made) {
  (void)level;
  return coarsen_once(b, A, P, made);
}

/* P = P1 P2, with the system of P1 between them. */
static int coarsen_twice(kcl_builder *b, const kcl_built *A, kcl_built *out, bool *made) {
  kcl_built P1 = {0}, R = {0}, middle = {0}, P2 = {0}, P = {0};
  bool twice;
  int rc;
  KCL_TRY(coarsen_once(b, A, &P1, made));
  if (!*made) goto done;
  KCL_TRY(b->ops->transpose(b, &P1, &R));
  KCL_TRY(b->ops->galerkin(b, &R, A, &P1, NULL, &middle));
  KCL_TRY(coarsen_once(b, &middle, &P2, &twice));
  if (twice) {
    KCL_TRY(b->ops->product(b, &P1, &P2, &P));
    KCL_TRY(b->ops->truncate(b, &P, ENTRIES, out));
  } else {
    *out = P1, P1 = (kcl_built){0};
  }
done:
  b->ops->free(b, &P1), b->ops->free(b, &R), b->ops->free(b, &middle);
  b->ops->free(b, &P2), b->ops->free(b, &P);
  return rc;
}

static int coarsen_aggressively(kcl_builder *b, const kcl_built *A, int level, kcl_built *P,
                                bool *made) {
  return level ? coarsen_once(b, A, P, made) : coarsen_twice(b, A, P, made);
}

static int setup(kcl_preconditioner *M, const kcl_csr *A) {
  return kcl_levels_build(M, A, &(kcl_levels_plan){.coarsen = coarsen, .degree = DEGREE});
}

static int setup_aggressively(kcl_preconditioner *M, const kcl_csr *A) {
  return kcl_levels_build(M, A,
                          &(kcl_levels_plan){.coarsen = coarsen_aggressively, .degree = DEGREE});
}

/* Complexity, and entries of P and R, as they are on most systems. */
static double bytes(const kcl_stats *s, kcl_type type, double complexity) {
  const double entry = 4.0 + (double)kcl_type_size(type);
  return complexity * (double)s->nnz * entry +
         3.0 * (double)s->rows * (ENTRIES * entry + 2.0 * (double)kcl_type_size(type));
}

static double bytes_full(const kcl_stats *s, kcl_type type) { return bytes(s, type, 2.1); }
static double bytes_aggressive(const kcl_stats *s, kcl_type type) { return bytes(s, type, 0.8); }

const kcl_precond kcl_precond_amg = {.name = "amg",
                                     .summary = "classical algebraic multigrid",
                                     .source = "Li et al. 2021",
                                     .needs = KCL_NEEDS_REAL | KCL_NEEDS_DEFINITE,
                                     .symmetric = true,
                                     .no_adjoint = true,
                                     .bytes = bytes_full,
                                     .setup = setup,
                                     .refresh = kcl_levels_refresh,
                                     .apply = kcl_levels_apply};

const kcl_precond kcl_precond_amg_aggressive = {
    .name = "amg-aggressive",
    .summary = "classical algebraic multigrid, the first level coarsened twice",
    .source = "Li et al. 2021",
    .needs = KCL_NEEDS_REAL | KCL_NEEDS_DEFINITE,
    .symmetric = true,
    .no_adjoint = true,
    .bytes = bytes_aggressive,
    .setup = setup_aggressively,
    .refresh = kcl_levels_refresh,
    .apply = kcl_levels_apply};
