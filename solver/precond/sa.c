/* Smoothed aggregation: multigrid whose coarse functions reproduce given near-null vectors of A, such as the rigid body
 * modes of elasticity (Vanek, Mandel & Brezina 1996), with Chebyshev polynomials as smoother; a W-cycle on
 * the first levels where the next is much smaller, else a V-cycle. Nodes are A's natural blocks, and on coarse levels the
 * functions of an aggregate. Without near-null vectors: a constant for each
 * unknown of a node. Set up on the host.
 */
#include "core/matrix/structure.h"
#include "solver/precond/levels.h"
#include "sparse/sparse.h"
#include <stdlib.h>

enum { DEGREE = 2 };
static const double COUPLED = 0.25, STALLED = 0.9; /* COUPLED is halved per level */
static const double M_MATRIX = 2;   /* the largest eigenvalue of D^-1 A, at most, of M-matrices */
static const double PRODUCTS = 200; /* of entries per entry that a level may have, scalar */
static const double TWICE = 0.33; /* entries of a level whose cycle runs twice, by the one before */
static const double PART = 0.5;   /* of the room, for the next level */

/* What the next level must reproduce. */
typedef struct near_null {
  int block, vectors;
  double *B; /* [rows, vectors], by rows, owned */
} near_null;

/* Enough nodes that their rows hold all vectors. */
static int least_nodes(const near_null *v) {
  return (v->vectors + v->block - 1) / v->block + (v->vectors > v->block);
}

/* Smoothed, as far as there is room for. */
static int smooth(kcl_builder *b, const kcl_csr *A, const kcl_csr *S, const kcl_csr *T,
                  kcl_csr **P) {
  kcl *ctx = b->M->ctx;
  const near_null *v = b->strategy;
  const double largest = b->M->hermitian ? b->largest : M_MATRIX, room = PART * b->room;
  int rc = kcl_sparse_smoothed(ctx, A, S, v->block, T, largest, P);
  return rc ? rc : kcl_sparse_limit(ctx, A, T, PRODUCTS * v->vectors * v->vectors * room, room, P);
}

static int prolongate(kcl_builder *b, const kcl_csr *A, const kcl_csr *S, const kcl_aggregation *g,
                      bool smoothed, kcl_csr **P) {
  near_null *v = b->strategy;
  kcl_csr *T = NULL;
  double *coarse = NULL;
  int rc;
  KCL_TRY(kcl_sparse_tentative(b->M->ctx, g, A->rows, v->B, &T, &coarse));
  if (smoothed)
    KCL_TRY(smooth(b, A, S, T, P));
  else
    *P = T, T = NULL;
  free(v->B);
  v->B = coarse, v->block = v->vectors, coarse = NULL;
done:
  free(coarse), kcl_csr_free(&T);
  return rc;
}

static int aggregate(kcl_builder *b, const kcl_built *A, int level, bool smoothed, kcl_built *out,
                     bool *made) {
  kcl *ctx = b->M->ctx;
  near_null *v = b->strategy;
  kcl_csr *S = NULL, *P = NULL;
  int32_t *aggregate = NULL;
  kcl_aggregation g = {.block = v->block, .vectors = v->vectors};
  int rc;
  *made = false;
  KCL_TRY(kcl_sparse_nodes(ctx, A->csr, v->block, ldexp(COUPLED, -level), &S));
  KCL_TRY(kcl_sparse_aggregates(ctx, S, least_nodes(v), &aggregate, &g.count));
  g.aggregate = aggregate;
  if (!g.count || (double)(g.count * g.vectors) > STALLED * (double)A->rows) goto done;
  KCL_TRY(prolongate(b, A->csr, S, &g, smoothed, &P));
  kcl_built_on_host(P, out), P = NULL, *made = true;
done:
  free(aggregate), kcl_csr_free(&S), kcl_csr_free(&P);
  return rc;
}

static int coarsen(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made) {
  return aggregate(b, A, level, true, P, made);
}

static int coarsen_again(kcl_builder *b, const kcl_built *A, int level, kcl_built *P, bool *made) {
  return aggregate(b, A, level, false, P, made);
}

/* ---------------------------------------------------------------- the vectors of the first level */

static int check(const kcl_preconditioner *M, const kcl_dense *B, int64_t rows) {
  if (B->rows != rows || B->cols < 1 || B->cols > KCL_MOST_NEAR_NULL || B->type != KCL_D)
    return kcl_fail(M->ctx, KCL_USAGE,
                    "sa needs 1 to %d real near-null vectors of %lld rows: there are %lld of %lld",
                    KCL_MOST_NEAR_NULL, (long long)rows, (long long)B->cols, (long long)B->rows);
  if (!(kcl_norm_inf(KCL_D, B->val, B->rows * B->cols) < INFINITY))
    return kcl_fail(M->ctx, KCL_USAGE, "sa: a near-null vector has an element that is not finite");
  return KCL_OK;
}

/* x = C y of the scaled system: its near-null vectors are C^-1 times those given. */
static void take_given(const kcl_preconditioner *M, const kcl_dense *given, near_null *v) {
  for (int64_t i = 0; i < given->rows; i++)
    for (int j = 0; j < v->vectors; j++)
      v->B[i * v->vectors + j] =
          ldexp(given->val[j * given->rows + i], M->col_power ? -M->col_power[i] : 0);
}

static int begin(const kcl_preconditioner *M, int64_t rows, near_null *v) {
  const kcl_dense *given = M->near_null;
  const int natural = kcl_natural_block(M->stats);
  int rc = given ? check(M, given, rows) : KCL_OK;
  if (rc) return rc;
  v->block = rows % natural ? 1 : natural;
  v->vectors = given ? (int)given->cols : v->block;
  rc = kcl_alloc(M->ctx, rows * v->vectors, sizeof *v->B, "near-null vectors", (void **)&v->B);
  if (rc) return rc;
  if (given)
    take_given(M, given, v);
  else
    for (int64_t i = 0; i < rows; i++)
      v->B[i * v->vectors + i % v->block] = ldexp(1, M->col_power ? -M->col_power[i] : 0);
  return KCL_OK;
}

static int setup(kcl_preconditioner *M, const kcl_csr *A) {
  near_null v = {.B = NULL};
  int rc = begin(M, A->rows, &v);
  if (!rc)
    rc = kcl_levels_build(M, A,
                          &(kcl_levels_plan){.coarsen = coarsen,
                                             .again = coarsen_again,
                                             .twice = TWICE,
                                             .strategy = &v,
                                             .degree = DEGREE,
                                             .on_host = true});
  free(v.B);
  return rc;
}

/* Complexity, and entries of P and R, as they are on most systems. */
static double bytes(const kcl_stats *s, kcl_type type) {
  const double entry = 4.0 + (double)kcl_type_size(type);
  return 1.0 * (double)s->nnz * entry + 2.0 * (double)s->rows * 24 * entry;
}

const kcl_precond kcl_precond_sa = {.name = "sa",
                                    .summary = "multigrid by smoothed aggregation",
                                    .source = "Vanek, Mandel & Brezina 1996",
                                    .needs = KCL_NEEDS_REAL | KCL_NEEDS_DEFINITE,
                                    .symmetric = true,
                                    .no_adjoint = true,
                                    .bytes = bytes,
                                    .setup = setup,
                                    .refresh = kcl_levels_refresh,
                                    .apply = kcl_levels_apply};
