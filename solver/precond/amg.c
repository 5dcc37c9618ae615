/* Classical algebraic multigrid in the form that suits devices: coarse points by PMIS (De Sterck, Yang & Heys 2006),
 * interpolation by matrix products with four entries per row (Li, Sjogreen & Yang 2021), a step of l1 Jacobi as
 * smoother, a V-cycle. `amg-aggressive` coarsens the first level twice, so that its levels have fewer entries. `amg-w` runs a W-cycle
 * on the first two levels: its iterations hardly grow with the system, where those of a V-cycle do by half.
 */
#include "multigrid/levels.h"
#include "multigrid/smooth.h"

static const double STALLED = 0.9; /* rows kept: coarsening ends */
/* amg-w: entries of a level whose cycle runs twice, relative to those of the one before. */
static const double TWICE = 0.9;

enum { THETA, P_MAX, DEGREE, COARSEST, MAX_LEVELS, MAX_COMPLEXITY };
static const kcl_option parameters[] = {
    [THETA] = {"amg.theta", "0.25",
               "strength threshold relative to the largest coupling of the row, 0 to 1",
               KCL_OPTION_REAL, 0, 1},
    [P_MAX] = {"amg.p-max", "4", "entries per row of the interpolation, at most, 1 to 16",
               KCL_OPTION_WHOLE, 1, 16},
    [DEGREE] = {"amg.degree", "1",
                "degree of the smoother where A = A^H, 1 to 7: a step of l1 Jacobi, or Chebyshev",
                KCL_OPTION_WHOLE, 1,
                KCL_MOST_DEGREE - 1}, /* one more on the level that is coarsened twice */
    [COARSEST] = KCL_COARSEST("amg"),
    [MAX_LEVELS] = KCL_MAX_LEVELS("amg"),
    [MAX_COMPLEXITY] = KCL_MAX_COMPLEXITY("amg"),
    {0},
};

static double amg_value(const kcl_precond_request *q, int parameter) {
  return kcl_precond_value(q, &parameters[parameter], 0);
}

static int amg_coarsen(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made) {
  const kcl_coarsening_rule rule = {.theta = amg_value(b->request, THETA),
                                    .most = (int)amg_value(b->request, P_MAX),
                                    .enough = STALLED * (double)A->rows};
  (void)level;
  return b->ops->interpolation(b, A, &rule, P, made);
}

static int amg_build(kcl_preconditioner *M, const kcl_precond_request *q, int aggressive,
                     double twice) {
  const kcl_levels_plan plan = {.coarsen = amg_coarsen,
                                .again = amg_coarsen,
                                .aggressive = aggressive,
                                .most = (int)amg_value(q, P_MAX),
                                .twice = twice,
                                .degree = (int)amg_value(q, DEGREE),
                                .coarsest = (int)amg_value(q, COARSEST),
                                .max_levels = (int)amg_value(q, MAX_LEVELS),
                                .max_complexity = amg_value(q, MAX_COMPLEXITY)};
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

static void amg_ahead(kcl_context *ctx, const kcl_csr *A, kcl_type type) {
  kcl_levels_ahead(ctx, A, type, false);
}

/* Complexity, and entries of P and R, as they are on most systems. */
static double amg_bytes(const kcl_precond_request *q, double complexity) {
  const double size = (double)kcl_type_size(q->A->type), entry = 4 + size;
  return complexity * (double)q->stats->nnz * entry +
         3.0 * (double)q->stats->rows * (amg_value(q, P_MAX) * entry + 2 * size);
}

static double bytes_full(const kcl_precond_request *q) { return amg_bytes(q, 2.1); }
static double bytes_aggressive(const kcl_precond_request *q) { return amg_bytes(q, 0.8); }

#define CLASSICAL(name_, summary_, bytes_, setup_)                                                 \
  {                                                                                                \
    .name = name_, .summary = "classical algebraic multigrid" summary_,                            \
    .source = "Li et al. 2021", .needs = KCL_NEEDS_REAL | KCL_NEEDS_DEFINITE, .symmetric = true,   \
    .no_adjoint = true, .parameters = parameters, .bytes = bytes_, .ahead = amg_ahead,             \
    .multiplies = true, .hierarchy = true, .setup = setup_, .update = kcl_levels_update,           \
    .apply = kcl_levels_apply                                                                      \
  }
const kcl_precond_kind kcl_precond_amg = CLASSICAL("amg", "", bytes_full, amg_setup);
const kcl_precond_kind kcl_precond_amg_aggressive = CLASSICAL(
    "amg-aggressive", ", the first level coarsened twice", bytes_aggressive, setup_aggressively);
const kcl_precond_kind kcl_precond_amg_w =
    CLASSICAL("amg-w", ", a W-cycle on the first levels", bytes_full, setup_w);
