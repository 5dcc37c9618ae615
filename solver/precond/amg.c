/* Classical algebraic multigrid in the form that suits devices: coarse points by PMIS (De Sterck, Yang & Heys 2006),
 * interpolation by matrix products with four entries per row (Li, Sjogreen & Yang 2021), a step of l1 Jacobi as
 * smoother, a V-cycle. `amg-aggressive` coarsens the first level twice, so that its levels have fewer entries. `amg-w` runs a W-cycle
 * on the first two levels: its iterations hardly grow with the system, where those of a V-cycle do by half.
 */
#include "multigrid/levels.h"

enum { ENTRIES = 4 /* of P, per row */, DEGREE = 1 };
static const double STRONG = 0.25, STALLED = 0.9; /* rows kept: coarsening ends */
/* Of amg-w: entries of a level whose cycle runs twice, by those of the one before. */
static const double TWICE = 0.9;

static int amg_coarsen(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made) {
  const kcl_coarsening_rule rule = {
      .theta = STRONG, .most = ENTRIES, .enough = STALLED * (double)A->rows};
  (void)level;
  return b->ops->interpolation(b, A, &rule, P, made);
}

static int amg_build(kcl_preconditioner *M, const kcl_precond_request *q, int aggressive,
                     double twice) {
  const kcl_levels_plan plan = {.coarsen = amg_coarsen,
                                .again = amg_coarsen,
                                .aggressive = aggressive,
                                .most = ENTRIES,
                                .twice = twice,
                                .degree = DEGREE};
  return kcl_levels_build(M, q, &plan);
}

static int amg_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  return amg_build(M, q, 0, 0);
}
static int setup_aggressively(kcl_preconditioner *M, const kcl_precond_request *q) {
  return amg_build(M, q, 1, 0);
}
static int setup_w(kcl_preconditioner *M, const kcl_precond_request *q) {
  return amg_build(M, q, 0, TWICE);
}

static void amg_ahead(kcl *ctx, const kcl_csr *A, kcl_type type) {
  kcl_levels_ahead(ctx, A, type, false);
}

/* Complexity, and entries of P and R, as they are on most systems. */
static double amg_bytes(const kcl_stats *s, kcl_type type, double complexity) {
  const double entry = 4.0 + (double)kcl_type_size(type);
  return complexity * (double)s->nnz * entry +
         3.0 * (double)s->rows * (ENTRIES * entry + 2.0 * (double)kcl_type_size(type));
}

static double bytes_full(const kcl_stats *s, kcl_type type) { return amg_bytes(s, type, 2.1); }
static double bytes_aggressive(const kcl_stats *s, kcl_type type) {
  return amg_bytes(s, type, 0.8);
}

#define CLASSICAL(name_, summary_, bytes_, setup_)                                                 \
  {                                                                                                \
    .name = name_, .summary = "classical algebraic multigrid" summary_,                            \
    .source = "Li et al. 2021", .needs = KCL_NEEDS_REAL | KCL_NEEDS_DEFINITE, .symmetric = true,   \
    .no_adjoint = true, .bytes = bytes_, .ahead = amg_ahead, .setup = setup_,                      \
    .refresh = kcl_levels_refresh, .apply = kcl_levels_apply                                       \
  }
const kcl_precond kcl_precond_amg = CLASSICAL("amg", "", bytes_full, amg_setup);
const kcl_precond kcl_precond_amg_aggressive = CLASSICAL(
    "amg-aggressive", ", the first level coarsened twice", bytes_aggressive, setup_aggressively);
const kcl_precond kcl_precond_amg_w =
    CLASSICAL("amg-w", ", a W-cycle on the first levels", bytes_full, setup_w);
