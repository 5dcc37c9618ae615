/* Smoothed aggregation: multigrid whose coarse functions reproduce given near-null vectors of A, such as the rigid body
 * modes of elasticity (Vanek, Mandel & Brezina 1996), with Chebyshev polynomials as smoother; a W-cycle on
 * the first levels where the next is much smaller, else a V-cycle. Nodes are A's natural blocks, and on coarse levels the
 * functions of an aggregate. Without near-null vectors: a constant for each
 * unknown of a node. Set up on the device as far as that is possible, as amg.
 */
#include "core/matrix/structure.h"
#include "multigrid/levels.h"
#include "multigrid/smooth.h"

static const double STALLED = 0.9;  /* rows kept: coarsening ends */
static const double M_MATRIX = 2;   /* the largest eigenvalue of D^-1 A, at most, of M-matrices */
static const double PRODUCTS = 200; /* of entries per entry that a level may have, scalar */
static const double TWICE = 0.33; /* entries of a level whose cycle runs twice, by the one before */
static const double PART = 0.5;   /* of the entries left, for the next level */

enum { THETA, DEGREE, CYCLES, COARSEST, MAX_LEVELS, MAX_COMPLEXITY };
static const kcl_option parameters[] = {
    [THETA] = {"sa.theta", "0.25",
               "strength threshold of the first level, halved on each further one, 0 to 1",
               KCL_OPTION_REAL, 0, 1},
    [DEGREE] = {"sa.degree", "2",
                "degree of the Chebyshev polynomials that smooth where A = A^H, 2 to 8",
                KCL_OPTION_WHOLE, 2, KCL_MOST_DEGREE},
    [CYCLES] = {"sa.cycles", "2 where the next level is small",
                "cycles of the next level on the first two, 1 to 2: V-cycle or W-cycle",
                KCL_OPTION_WHOLE, 1, 2},
    [COARSEST] = KCL_COARSEST("sa"),
    [MAX_LEVELS] = KCL_MAX_LEVELS("sa"),
    [MAX_COMPLEXITY] = KCL_MAX_COMPLEXITY("sa"),
    {0},
};

static double sa_value(const kcl_precond_request *q, int parameter) {
  return kcl_precond_value(q, &parameters[parameter], 0);
}

/* Entries of a next level relative to this one's, below which its cycle runs twice. */
static double limit_of_cycles(const kcl_precond_request *q) {
  const double limit[] = {TWICE, 0, INFINITY};
  return limit[(int)sa_value(q, CYCLES)];
}

/* Enough nodes that their rows hold all vectors. */
static int least_nodes(const kcl_near_null *v) {
  return (v->vectors + v->block - 1) / v->block + (v->vectors > v->block);
}

/* Smoothed, as far as there is room for, or not. */
static kcl_aggregation_rule rule_of(const kcl_builder *b, const kcl_built *A, int level,
                                    bool smoothed) {
  const kcl_near_null *v = &b->near_null;
  const double largest = b->M->hermitian ? b->largest : M_MATRIX, most = PART * b->entries_left;
  return (kcl_aggregation_rule){.theta = ldexp(sa_value(b->request, THETA), -level),
                                .block = v->block,
                                .vectors = v->vectors,
                                .least = least_nodes(v),
                                .enough = STALLED * (double)A->rows,
                                .largest = smoothed ? largest : 0,
                                .most_products = PRODUCTS * v->vectors * v->vectors * most,
                                .most_entries = most};
}

static int sa_coarsen(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made) {
  const kcl_aggregation_rule rule = rule_of(b, A, level, true);
  return b->ops->aggregation(b, A, &rule, P, made);
}

static int sa_coarsen_again(kcl_builder *b, const kcl_built *A, int level, kcl_built *P,
                            bool *made) {
  const kcl_aggregation_rule rule = rule_of(b, A, level, false);
  return b->ops->aggregation(b, A, &rule, P, made);
}

static int sa_check(kcl_context *ctx, const kcl_dense *B, int64_t rows) {
  KCL_CALL(kcl_dense_need(ctx, "near_null", B));
  if (B->rows != rows || B->cols < 1 || B->cols > KCL_MOST_NEAR_NULL || B->type != KCL_D)
    return kcl_fail(ctx, KCL_USAGE,
                    "sa needs 1 to %d real near-null vectors of %lld rows: there are %lld of %lld",
                    KCL_MOST_NEAR_NULL, (long long)rows, (long long)B->cols, (long long)B->rows);
  if (!(kcl_norm_inf(KCL_D, B->val, B->rows * B->cols) < INFINITY))
    return kcl_fail(ctx, KCL_USAGE, "sa: a near-null vector has an element that is not finite");
  return KCL_OK;
}

/* x = C y of the scaled system: its near-null vectors are C^-1 times those given, or times constants. */
typedef struct beginning {
  const kcl_precond_request *q;
  int block, vectors;
  double *B;
} beginning;

static double given_or_constant(const beginning *v, int64_t i, int j) {
  const kcl_dense *given = v->q->near_null;
  return given ? given->val[j * given->rows + i] : i % v->block == j;
}

static void begin_rows(void *arg, int64_t from, int64_t to) {
  const beginning *v = arg;
  const int *power = v->q->col_power;
  for (int64_t i = from; i < to; i++)
    for (int j = 0; j < v->vectors; j++) {
      const double x = given_or_constant(v, i, j);
      v->B[i * v->vectors + j] = power ? ldexp(x, -power[i]) : x;
    }
}

static int sa_begin(beginning *v) {
  kcl_context *ctx = v->q->ctx;
  const kcl_dense *given = v->q->near_null;
  const int64_t rows = v->q->A->rows;
  const int natural = kcl_natural_block(v->q->stats);
  if (given) KCL_CALL(sa_check(ctx, given, rows));
  v->block = rows % natural ? 1 : natural;
  v->vectors = given ? (int)given->cols : v->block;
  if (v->vectors == 1 && !given && !v->q->col_power)
    return KCL_OK; /* the builder knows a constant */
  KCL_CALL(
      kcl_alloc_unset(ctx, rows * v->vectors, sizeof *v->B, "near-null vectors", (void **)&v->B));
  kcl_for(rows, KCL_FEW_ROWS, begin_rows, v);
  return KCL_OK;
}

static int sa_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  beginning v = {.q = q};
  int rc = sa_begin(&v);
  if (!rc)
    rc = kcl_levels_build(
        M, q,
        &(kcl_levels_plan){.coarsen = sa_coarsen,
                           .again = sa_coarsen_again,
                           .twice = limit_of_cycles(q),
                           .near_null = {.block = v.block, .vectors = v.vectors, .B = v.B},
                           .degree = (int)sa_value(q, DEGREE),
                           .coarsest = (int)sa_value(q, COARSEST),
                           .max_levels = (int)sa_value(q, MAX_LEVELS),
                           .max_complexity = sa_value(q, MAX_COMPLEXITY)});
  free(v.B);
  return rc;
}

static void sa_ahead(kcl_context *ctx, const kcl_csr *A, kcl_type type) {
  kcl_levels_ahead(ctx, A, type, true);
}

/* Complexity, and entries of P and R, as they are on most systems. */
static double sa_bytes(const kcl_precond_request *q) {
  const double entry = 4.0 + (double)kcl_type_size(q->A->type);
  return 1.0 * (double)q->stats->nnz * entry + 2.0 * (double)q->stats->rows * 24 * entry;
}

const kcl_precond_kind kcl_precond_sa = {.name = "sa",
                                         .summary = "multigrid by smoothed aggregation",
                                         .source = "Vanek, Mandel & Brezina 1996",
                                         .needs = KCL_NEEDS_REAL | KCL_NEEDS_DEFINITE,
                                         .symmetric = true,
                                         .no_adjoint = true,
                                         .parameters = parameters,
                                         .bytes = sa_bytes,
                                         .ahead = sa_ahead,
                                         .multiplies = true,
                                         .hierarchy = true,
                                         .setup = sa_setup,
                                         .update = kcl_levels_update,
                                         .apply = kcl_levels_apply};
