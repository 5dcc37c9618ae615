/* The levels of multigrid: A_l+1 = P^H A_l P (Galerkin), until a system is small enough for its dense inverse or is not
 * coarsened any more; then it is smoothed alone. Level 0 multiplies by the engine's own A.
 */
#include "multigrid/hierarchy.h"
#include <stdio.h>

enum {
  SMALL = 6000 /* entries */,
  MOST_TWICE = 2 /* of the first levels: each may double the stages of those below */
};
/* Narrow vectors make M differ from step to step by the rounding of float, for which CG pays with iterations where the condition
 * is bad: to 1e-12, sa on bcsstk13 does not converge with them, and takes 1,701 without. */
static const double LEAST_TOL = 1e-10;

static int keep_level(kcl_builder *b, kcl_built *A, int *number) {
  *number = b->M->matrices;
  return b->ops->keep(b, A);
}

/* The coarsest level: a dense inverse, where there is room for one. */
static int add_coarsest(kcl_builder *b, int coarsest, kcl_level *l, const kcl_built *A) {
  kcl_csr *inverse = NULL;
  if (A->rows > coarsest) return KCL_OK;
  KCL_CALL(b->ops->inverse(b, A, &inverse));
  l->inverse = b->M->matrices;
  return kcl_precond_add_level(b->M, inverse, false);
}

/* Do the values of A, and so those of all levels, fit in float? And those of D^-1: no diagonal entry is taken to be less
 * than the mean entry of the longest row by more than the diagonal varies. */
static bool suits_float(kcl_type type, const kcl_stats *s) {
  static const double MOST = 1e30;
  return type == KCL_D && s->norm_inf < MOST &&
         s->diagonal_ratio * (double)s->row_max < MOST * s->norm_inf;
}

/* State of the set-up of a hierarchy. */
typedef struct building {
  kcl_builder b;
  kcl_hierarchy *h;
  const kcl_levels_plan *plan;
  const kcl_preconditioner *before; /* P and R are of that; NULL: new ones */
  double nonzeros;                  /* of the first level */
} building;

/* Where P is stored as float, its values are rounded before R and the next system are made of it: so an update, which has the stored
 * ones, makes the same. */
static int round_floats(building *g, kcl_built *P) {
  return g->b.narrow || g->b.M->type == KCL_S ? g->b.ops->round(&g->b, P) : KCL_OK;
}

/* From one level to the next. All are views where they are those of `before`. */
typedef struct transfer {
  kcl_built P, R;
  kcl_built then; /* the next level's system there; empty: not known */
  kcl_galerkin_shape shape;
} transfer;

static void free_transfer(kcl_builder *b, transfer *t) {
  b->ops->free(b, &t->P), b->ops->free(b, &t->R), b->ops->free(b, &t->then);
}

/* A level below the first that does not suit the device moves to the host. */
static int coarsen_level(building *g, int number, kcl_built *A, kcl_built *P, bool *made) {
  kcl_builder *b = &g->b;
  int rc = g->plan->coarsen(b, A, number, P, made);
  if (rc != KCL_UNSUITED || !number || !b->ops->leave) return rc;
  rc = b->ops->leave(b, A);
  return rc ? rc : g->plan->coarsen(b, A, number, P, made);
}

/* No P, *more false: A is the coarsest. */
static int make_transfer(building *g, int number, kcl_built *A, transfer *t, bool *more) {
  kcl_builder *b = &g->b;
  *more = false;
  if (A->rows > g->h->coarsest && g->h->levels < g->plan->max_levels)
    KCL_CALL(coarsen_level(g, number, A, &t->P, more));
  if (!*more) return KCL_OK;
  KCL_CALL(round_floats(g, &t->P));
  return b->ops->transpose(b, &t->P, &t->R);
}

static int reuse_transfer(building *g, int number, transfer *t, bool *more) {
  const kcl_preconditioner *before = g->before;
  const kcl_level *l = &((const kcl_hierarchy *)before->data)->level[number];
  kcl_builder *b = &g->b;
  *more = l->P != KCL_NO_MATRIX, t->shape = l->shape;
  if (!*more) return KCL_OK;
  KCL_CALL(b->ops->view(b, before->matrix[l->P].C, true, &t->P));
  KCL_CALL(b->ops->view(b, before->matrix[l->R].C, true, &t->R));
  return b->ops->view(b, before->matrix[l[1].A].C, false, &t->then);
}

static int keep_transfer(building *g, int number, transfer *t) {
  const kcl_preconditioner *before = g->before;
  const kcl_level *then = before ? &((const kcl_hierarchy *)before->data)->level[number] : NULL;
  kcl_level *l = &g->h->level[number];
  if (!before) KCL_CALL(keep_level(&g->b, &t->P, &l->P));
  if (!before) return keep_level(&g->b, &t->R, &l->R);
  l->P = g->b.M->matrices, l->R = l->P + 1;
  KCL_CALL(kcl_precond_share_matrix(g->b.M, before, then->P));
  return kcl_precond_share_matrix(g->b.M, before, then->R);
}

static bool too_many(const building *g, const kcl_built *next) {
  return !g->before && (double)next->nnz > g->b.entries_left;
}

/* P becomes P P2, where P2 would be the next level's: that level is left out. */
static int coarsen_same_level(building *g, int number, const kcl_built *A, transfer *t,
                              kcl_built *next, bool *made) {
  kcl_builder *b = &g->b;
  kcl_built P2 = {0}, P = {0};
  int rc;
  KCL_TRY(g->plan->again(b, next, number, &P2, made));
  if (!*made) goto done;
  KCL_TRY(b->ops->product(b, &t->P, &P2, &P));
  free_transfer(b, t), b->ops->free(b, next);
  if (g->plan->most)
    KCL_TRY(b->ops->truncate(b, &P, g->plan->most, &t->P));
  else
    t->P = P, P = (kcl_built){0};
  KCL_TRY(round_floats(g, &t->P));
  KCL_TRY(b->ops->transpose(b, &t->P, &t->R));
  KCL_TRY(b->ops->galerkin(b, &t->R, A, &t->P, NULL, &t->shape, next));
done:
  b->ops->free(b, &P2), b->ops->free(b, &P);
  return rc;
}

/* The next system, as large as there is room for; no *more: there is none. */
static int make_next(building *g, int number, const kcl_built *A, transfer *t, kcl_built *next,
                     bool *more) {
  kcl_builder *b = &g->b;
  bool again = true;
  KCL_CALL(b->ops->galerkin(b, &t->R, A, &t->P, t->then.rows ? &t->then : NULL, &t->shape, next));
  for (int left = g->before ? 0 : g->plan->aggressive - number;
       again && (left > 0 || too_many(g, next)); left = 0)
    KCL_CALL(coarsen_same_level(g, number, A, t, next, &again));
  if (too_many(g, next)) *more = false, b->ops->free(b, next);
  return KCL_OK;
}

static int degree_of(const kcl_hierarchy *h, int number) {
  return h->hermitian ? h->degree + (number < h->aggressive) : 1;
}

static kcl_smoother smoother_of(const kcl_hierarchy *h, const kcl_level *l) {
  if (!h->hermitian) return KCL_SPAI0;
  return l->degree > 1 ? KCL_CHEBYSHEV : KCL_L1_JACOBI;
}

/* Entries that the levels below may have. */
static double entries_below(const building *g, int number, const kcl_built *A) {
  return g->plan->max_complexity * g->nonzeros - g->b.M->size.nonzeros -
         (number ? (double)A->nnz : 0);
}

/* From level l's A to the next one's, unless this is the last. */
static int add_level(building *g, kcl_built *A, kcl_built *next, bool *more) {
  kcl_builder *b = &g->b;
  const int number = g->h->levels++;
  kcl_level *l = &g->h->level[number];
  transfer t = {.P = {0}};
  int rc;
  *l = (kcl_level){.n = A->rows,
                   .degree = degree_of(g->h, number),
                   .A = KCL_NO_MATRIX,
                   .P = KCL_NO_MATRIX,
                   .R = KCL_NO_MATRIX,
                   .inverse = KCL_NO_MATRIX,
                   .d = b->M->vectors};
  b->entries_left = g->plan ? entries_below(g, number, A) : 0;
  KCL_TRY(b->ops->smoother(b, A, smoother_of(g->h, l)));
  b->M->vector[l->d].narrow = b->M->narrow;
  KCL_TRY(g->before ? reuse_transfer(g, number, &t, more) : make_transfer(g, number, A, &t, more));
  if (*more) KCL_TRY(make_next(g, number, A, &t, next, more));
  l->shape = t.shape;
  l->twice = *more && number < MOST_TWICE && (double)next->nnz <= g->h->twice * (double)A->nnz;
  rc = *more ? keep_transfer(g, number, &t) : add_coarsest(b, g->h->coarsest, l, A);
done:
  free_transfer(b, &t);
  return rc;
}

static void describe_levels(kcl_preconditioner *M, const kcl_hierarchy *h, double nnz) {
  const kcl_level *last = &h->level[h->levels - 1];
  M->size.levels = h->levels, M->size.complexity = nnz > 0 ? M->size.nonzeros / nnz : 1;
  snprintf(M->note, sizeof M->note, "%d level%s down to %lld rows, complexity %.2f", h->levels,
           h->levels == 1 ? "" : "s", (long long)last->n, M->size.complexity);
}

/* Small systems go to the host, where a level takes less time than its launches and round trips would on the device. */
static int move_small(kcl_builder *b, kcl_built *A) {
  return b->ops->leave && A->nnz < SMALL ? b->ops->leave(b, A) : KCL_OK;
}

/* All levels. M takes over the matrix of each but the first, which is the system's. */
static int add_levels(building *g, const kcl_csr *A) {
  kcl_builder *b = &g->b;
  kcl_hierarchy *h = g->h;
  kcl_built now = {0}, next = {0};
  bool more = true;
  int rc;
  KCL_TRY(b->ops->take(b, A, &now));
  while (more) {
    KCL_TRY(add_level(g, &now, &next, &more));
    if (h->levels > 1) {
      b->M->size.rows += (double)now.rows, b->M->size.nonzeros += (double)now.nnz;
      KCL_TRY(keep_level(b, &now, &h->level[h->levels - 1].A));
    }
    b->ops->free(b, &now);
    now = next, next = (kcl_built){0};
    if (more) KCL_TRY(move_small(b, &now));
  }
done:
  b->ops->free(b, &now), b->ops->free(b, &next);
  return rc;
}

static int build_levels(kcl_preconditioner *M, const kcl_precond_request *q,
                        const kcl_levels_plan *plan, const kcl_preconditioner *before,
                        const kcl_builder_ops *ops) {
  const kcl_csr *A = q->A;
  building g = {.b = {.M = M,
                      .request = q,
                      .stats = q->stats,
                      .distinct = q->distinct,
                      .ops = ops,
                      .narrow = suits_float(M->type, q->stats),
                      .updating = before},
                .h = M->data,
                .plan = plan,
                .before = before,
                .nonzeros = (double)A->nnz};
  if (plan) g.b.near_null = plan->near_null;
  kcl_preconditioner_clear(M);
  g.h->levels = 0, M->narrow = g.b.narrow && M->tol >= LEAST_TOL;
  M->size.rows = (double)A->rows, M->size.nonzeros = (double)A->nnz;
  int rc = add_levels(&g, A);
  if (!rc) rc = kcl_precond_add_samples(M, g.b.narrow);
  const int end = ops->finish ? ops->finish(&g.b) : KCL_OK;
  ops->close(&g.b);
  free(g.b.near_null.owned);
  return end ? end : rc;
}

/* ---------------------------------------------------------------- on the device, or on the host */

#ifdef KCL_NO_OPENCL
const kcl_amg_device_ops *const kcl_amg_device_backend = NULL;
#endif

bool kcl_levels_on_device(const kcl_context *ctx, const kcl_csr *A) {
  return kcl_amg_device_backend && kcl_amg_device_backend->possible(ctx, A);
}

bool kcl_levels_compiled(kcl_context *ctx, kcl_type type, bool aggregation) {
  return kcl_amg_device_backend && kcl_amg_device_backend->compiled(ctx, type, aggregation);
}

void kcl_levels_ahead(kcl_context *ctx, const kcl_csr *A, kcl_type type, bool aggregation) {
  if (kcl_amg_device_backend) kcl_amg_device_backend->ahead(ctx, A, type, aggregation);
}

static int build_somewhere(kcl_preconditioner *M, const kcl_precond_request *q,
                           const kcl_levels_plan *plan, const kcl_preconditioner *before) {
  int rc = KCL_UNSUITED;
  if (kcl_levels_on_device(M->ctx, q->A))
    rc = build_levels(M, q, plan, before, &kcl_amg_device_backend->build);
  if (rc == KCL_UNSUITED) rc = build_levels(M, q, plan, before, &kcl_build_on_host);
  if (!rc) describe_levels(M, M->data, (double)q->A->nnz);
  return rc;
}

static int create_levels(kcl_preconditioner *M, const kcl_hierarchy *like) {
  int rc = kcl_alloc(M->ctx, 1, sizeof *like, "multigrid levels", &M->data);
  if (!rc) *(kcl_hierarchy *)M->data = *like;
  return rc;
}

int kcl_levels_build(kcl_preconditioner *M, const kcl_precond_request *q,
                     const kcl_levels_plan *plan) {
  const kcl_hierarchy empty = {.degree = plan->degree,
                               .aggressive = plan->aggressive,
                               .coarsest = plan->coarsest,
                               .twice = plan->twice,
                               .hermitian = M->hermitian};
  int rc = M->data ? KCL_OK : create_levels(M, &empty);
  return rc ? rc : build_somewhere(M, q, plan, NULL);
}

int kcl_levels_update(kcl_preconditioner *M, const kcl_precond_request *q) {
  if (M->hermitian != q->before->hermitian) return M->kind->setup(M, q);
  int rc = create_levels(M, q->before->data);
  if (!rc) rc = build_somewhere(M, q, NULL, q->before);
  return rc == KCL_UNSUITED ? M->kind->setup(M, q) : rc;
}
