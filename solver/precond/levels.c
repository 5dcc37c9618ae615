/* The levels of multigrid: A_l+1 = P^H A_l P (Galerkin), until a system is small enough for its dense inverse or is not
 * coarsened any more; then it is smoothed alone. Level 0 multiplies by the engine's own A.
 */
#include "solver/precond/levels.h"
#include "solver/precond/smooth.h"
#include "sparse/sparse.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  MOST_LEVELS = 25,
  SMALL = 6000 /* entries */,
  DENSE = 128 /* rows of the coarsest system, at most */,
  MOST_TWICE = 2 /* of the first levels: each may double the stages of those below */,
  NONE = -1
};
static const double MOST_COMPLEXITY = 3; /* entries of all levels by those of the first */
/* Narrow vectors make M differ from step to step by the rounding of float, for which CG pays with iterations where the condition
 * is bad: to 1e-12, sa on bcsstk13 does not converge with them, and takes 1,701 without. */
static const double LEAST_TOL = 1e-10;

typedef struct level {
  int64_t n;
  int degree;               /* of the polynomial that smooths; 1: a step with a diagonal */
  int A, P, R;              /* numbers of M's matrices; A of level 0: NONE */
  int inverse;              /* of the coarsest; or NONE */
  int d;                    /* number of M's vector for smoothing */
  bool twice;               /* corrected by two cycles of the next level */
  kcl_galerkin_shape shape; /* of the next level's system */
} level;

typedef struct hierarchy {
  int levels;
  int degree, aggressive; /* as in the plan */
  double twice;
  bool hermitian;
  level level[MOST_LEVELS];
} hierarchy;

/* ---------------------------------------------------------------- set-up */

static int keep_level(kcl_builder *b, kcl_built *A, int *number) {
  *number = b->M->matrices;
  return b->ops->keep(b, A);
}

/* The coarsest level: a dense inverse, where there is room for one. */
static int add_coarsest(kcl_builder *b, level *l, const kcl_built *A) {
  kcl_csr *inverse = NULL;
  if (A->rows > DENSE) return KCL_OK;
  int rc = b->ops->inverse(b, A, &inverse);
  if (rc) return rc;
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

/* What a hierarchy is built by. */
typedef struct building {
  kcl_builder b;
  hierarchy *h;
  const kcl_levels_plan *plan;
  const kcl_preconditioner *before; /* P and R are of that; NULL: new ones */
  double nonzeros;                  /* of the first level */
} building;

/* P is a matrix of floats before R and the next system are made of it: so a refresh, which has the stored ones, makes the same. */
static int round_floats(building *g, kcl_built *P) {
  return g->b.narrow ? g->b.ops->round(&g->b, P) : KCL_OK;
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
  int rc = KCL_OK;
  *more = false;
  if (A->rows > DENSE && g->h->levels < MOST_LEVELS)
    KCL_TRY(coarsen_level(g, number, A, &t->P, more));
  if (*more) KCL_TRY(round_floats(g, &t->P));
  if (*more) KCL_TRY(b->ops->transpose(b, &t->P, &t->R));
done:
  return rc;
}

static int reuse_transfer(building *g, int number, transfer *t, bool *more) {
  const kcl_preconditioner *before = g->before;
  const level *l = &((const hierarchy *)before->data)->level[number];
  kcl_builder *b = &g->b;
  int rc = KCL_OK;
  *more = l->P != NONE, t->shape = l->shape;
  if (!*more) return KCL_OK;
  KCL_TRY(b->ops->view(b, before->matrix[l->P].C, true, &t->P));
  KCL_TRY(b->ops->view(b, before->matrix[l->R].C, true, &t->R));
  KCL_TRY(b->ops->view(b, before->matrix[l[1].A].C, false, &t->then));
done:
  return rc;
}

static int keep_transfer(building *g, int number, transfer *t) {
  const kcl_preconditioner *before = g->before;
  const level *then = before ? &((const hierarchy *)before->data)->level[number] : NULL;
  level *l = &g->h->level[number];
  int rc;
  if (!before) KCL_TRY(keep_level(&g->b, &t->P, &l->P));
  if (!before) return keep_level(&g->b, &t->R, &l->R);
  l->P = g->b.M->matrices, l->R = l->P + 1;
  KCL_TRY(kcl_precond_share_matrix(g->b.M, before, then->P));
  KCL_TRY(kcl_precond_share_matrix(g->b.M, before, then->R));
done:
  return rc;
}

static bool too_many(const building *g, const kcl_built *next) {
  return !g->before && (double)next->nnz > g->b.room;
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
  int rc;
  KCL_TRY(b->ops->galerkin(b, &t->R, A, &t->P, t->then.rows ? &t->then : NULL, &t->shape, next));
  for (int left = g->before ? 0 : g->plan->aggressive - number;
       again && (left > 0 || too_many(g, next)); left = 0)
    KCL_TRY(coarsen_same_level(g, number, A, t, next, &again));
  if (too_many(g, next)) *more = false, b->ops->free(b, next);
done:
  return rc;
}

static int degree_of(const hierarchy *h, int number) {
  return h->hermitian ? h->degree + (number < h->aggressive) : 1;
}

static kcl_smoother smoother_of(const hierarchy *h, const level *l) {
  if (!h->hermitian) return KCL_SPAI0;
  return l->degree > 1 ? KCL_CHEBYSHEV : KCL_L1_JACOBI;
}

/* From level l's A to the next one's, unless this is the last. */
static int add_level(building *g, kcl_built *A, kcl_built *next, bool *more) {
  kcl_builder *b = &g->b;
  const int number = g->h->levels++;
  level *l = &g->h->level[number];
  transfer t = {.P = {0}};
  int rc;
  *l = (level){.n = A->rows,
               .degree = degree_of(g->h, number),
               .A = NONE,
               .P = NONE,
               .R = NONE,
               .inverse = NONE,
               .d = b->M->vectors};
  b->room = MOST_COMPLEXITY * g->nonzeros - b->M->size.nonzeros - (number ? (double)A->nnz : 0);
  KCL_TRY(b->ops->smoother(b, A, smoother_of(g->h, l)));
  b->M->vector[l->d].narrow = b->M->narrow;
  KCL_TRY(g->before ? reuse_transfer(g, number, &t, more) : make_transfer(g, number, A, &t, more));
  if (*more) KCL_TRY(make_next(g, number, A, &t, next, more));
  l->shape = t.shape;
  l->twice = *more && number < MOST_TWICE && (double)next->nnz <= g->h->twice * (double)A->nnz;
  rc = *more ? keep_transfer(g, number, &t) : add_coarsest(b, l, A);
done:
  free_transfer(b, &t);
  return rc;
}

static void describe_levels(kcl_preconditioner *M, const hierarchy *h, double nnz) {
  const level *last = &h->level[h->levels - 1];
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
  hierarchy *h = g->h;
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
                      .stats = q->stats,
                      .ops = ops,
                      .narrow = suits_float(M->type, q->stats),
                      .refreshing = before},
                .h = M->data,
                .plan = plan,
                .before = before,
                .nonzeros = (double)A->nnz};
  if (plan) g.b.near_null = plan->near_null;
  kcl_preconditioner_clear(M);
  g.h->levels = 0, M->narrow = g.b.narrow && M->tol >= LEAST_TOL;
  M->size.rows = (double)A->rows, M->size.nonzeros = (double)A->nnz;
  int rc = add_levels(&g, A), end = ops->finish ? ops->finish(&g.b) : KCL_OK;
  ops->close(&g.b);
  free(g.b.near_null.owned);
  return end ? end : rc;
}

/* On the device where that is possible, else on the host. */
static int build_somewhere(kcl_preconditioner *M, const kcl_precond_request *q,
                           const kcl_levels_plan *plan, const kcl_preconditioner *before) {
  int rc = KCL_UNSUITED;
  if (kcl_amg_device_possible(M->ctx, q->A))
    rc = build_levels(M, q, plan, before, &kcl_build_on_device);
  if (rc == KCL_UNSUITED) rc = build_levels(M, q, plan, before, &kcl_build_on_host);
  if (!rc) describe_levels(M, M->data, (double)q->A->nnz);
  return rc;
}

static int create_levels(kcl_preconditioner *M, const hierarchy *like) {
  int rc = kcl_alloc(M->ctx, 1, sizeof *like, "multigrid levels", &M->data);
  if (!rc) *(hierarchy *)M->data = *like;
  return rc;
}

int kcl_levels_build(kcl_preconditioner *M, const kcl_precond_request *q,
                     const kcl_levels_plan *plan) {
  const hierarchy empty = {.degree = plan->degree,
                           .aggressive = plan->aggressive,
                           .twice = plan->twice,
                           .hermitian = M->hermitian};
  int rc = M->data ? KCL_OK : create_levels(M, &empty);
  return rc ? rc : build_somewhere(M, q, plan, NULL);
}

int kcl_levels_refresh(kcl_preconditioner *M, const kcl_precond_request *q) {
  if (M->hermitian != q->before->hermitian) return M->kind->setup(M, q);
  int rc = create_levels(M, q->before->data);
  if (!rc) rc = build_somewhere(M, q, NULL, q->before);
  return rc == KCL_UNSUITED ? M->kind->setup(M, q) : rc;
}

/* ---------------------------------------------------------------- the cycle */

typedef struct cycle {
  kcl_program *k;
  const kcl_preconditioner *M;
  const hierarchy *h;
} cycle;

static kcl_matrix *matrix_of_level(const cycle *c, int number) {
  return number == NONE ? kcl_A(c->k) : kcl_precond_operator(c->M, number, false);
}

static kcl_smoothing smooth_level(const cycle *c, const level *l) {
  return (kcl_smoothing){
      .A = matrix_of_level(c, l->A), .d = kcl_precond_constant(c->k, l->d), .degree = l->degree};
}

/* x = smoothed from 0. */
static void smooth_first(const cycle *c, const level *l, kcl_vec x, kcl_vec b) {
  const kcl_smoothing s = smooth_level(c, l);
  if (l->degree > 1)
    kcl_record_smoothing(c->k, &s, x, b);
  else
    kcl_times(c->k, x, s.d, b, false);
}

/* x = x + the smoothed correction for its residual r. */
static void smooth_again(const cycle *c, const level *l, kcl_vec x, kcl_vec r) {
  const kcl_smoothing s = smooth_level(c, l);
  if (l->degree > 1) {
    kcl_record_correction(c->k, &s, x, r);
    return;
  }
  kcl_times(c->k, r, s.d, r, false);
  kcl_lincomb(c->k, x, KCL_ONE, x, KCL_ONE, r);
}

static void record_level(const cycle *c, int number, kcl_vec x, kcl_vec b);

/* x = x + another cycle's correction for b - A x. */
static void correct_from_coarse(const cycle *c, int number, kcl_vec x, kcl_vec b) {
  const level *l = &c->h->level[number];
  kcl_program *k = c->k;
  kcl_vec v = kcl_work_like(k, x, l->n, "v"), u = kcl_work_like(k, x, l->n, "u");
  kcl_apply(k, v, matrix_of_level(c, l->A), x); /* v = A x                */
  kcl_lincomb(k, v, KCL_ONE, b, KCL_MINUS, v);  /* v = b - v              */
  record_level(c, number, u, v);                /* A u = v, nearly        */
  kcl_lincomb(k, x, KCL_ONE, x, KCL_ONE, u);    /* x = x + u              */
}

static void record_level(const cycle *c, int number, kcl_vec x, kcl_vec b) {
  const level *l = &c->h->level[number];
  kcl_program *k = c->k;
  if (l->inverse != NONE) {
    kcl_apply(k, x, matrix_of_level(c, l->inverse), b); /* x = A^-1 b             */
    return;
  }
  smooth_first(c, l, x, b);
  if (l->P == NONE) return;
  const int64_t fewer = c->h->level[number + 1].n;
  kcl_vec r = kcl_work_like(k, x, l->n, "r"), q = kcl_work_like(k, x, l->n, "q"),
          e = kcl_work_like(k, x, l->n, "e"), coarse_b = kcl_work_like(k, x, fewer, "b"),
          coarse_x = kcl_work_like(k, x, fewer, "x");
  kcl_apply(k, r, matrix_of_level(c, l->A), x);        /* r = A x                */
  kcl_lincomb(k, r, KCL_ONE, b, KCL_MINUS, r);         /* r = b - r              */
  kcl_apply(k, coarse_b, matrix_of_level(c, l->R), r); /* b' = P^H r             */
  record_level(c, number + 1, coarse_x, coarse_b);     /* A' x' = b', nearly     */
  if (l->twice && c->h->level[number + 1].inverse == NONE)
    correct_from_coarse(c, number + 1, coarse_x, coarse_b);
  kcl_apply(k, e, matrix_of_level(c, l->P), coarse_x); /* e = P x'               */
  kcl_lincomb(k, x, KCL_ONE, x, KCL_ONE, e);           /* x = x + e              */
  kcl_apply(k, q, matrix_of_level(c, l->A), e);        /* q = A e                */
  kcl_lincomb(k, q, KCL_ONE, r, KCL_MINUS, q);         /* q = r - q              */
  smooth_again(c, l, x, q);
}

static bool takes_narrow(const cycle *c) {
  bool all = c->M->narrow && !c->k->recurs_precond && kcl_matrix_takes_narrow(kcl_A(c->k));
  for (int i = 0; i < c->M->matrices && all; i++) all = kcl_matrix_takes_narrow(c->M->matrix[i].C);
  return all;
}

void kcl_levels_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                      bool adjoint) {
  const cycle c = {.k = k, .M = M, .h = M->data};
  (void)adjoint; /* A = A^H, or the method needs none */
  if (!takes_narrow(&c)) {
    record_level(&c, 0, z, r);
    return;
  }
  const int64_t n = c.h->level[0].n;
  const kcl_vec b = kcl_narrow_work(k, n, "b"), x = kcl_narrow_work(k, n, "x");
  kcl_copy_vector(k, b, r);  /* b = r, in float        */
  record_level(&c, 0, x, b); /* A x = b, nearly        */
  kcl_copy_vector(k, z, x);  /* z = x                  */
}
