/* The levels of multigrid: A_l+1 = P^H A_l P (Galerkin), until a system is small enough for its dense inverse or is not
 * coarsened any more; then it is smoothed alone. Level 0 multiplies by the engine's own A.
 */
#include "solver/precond/levels.h"
#include "solver/precond/smooth.h"
#include "sparse/sparse.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LEVELS = 25, DENSE = 128 /* rows of the coarsest system, at most */, NONE = -1 };

typedef struct level {
  int64_t n;
  int A, P, R; /* numbers of M's matrices; A of level 0: NONE */
  int inverse; /* of the coarsest; or NONE */
  int d;       /* number of M's vector for smoothing */
} level;

typedef struct hierarchy {
  int levels, degree;
  bool hermitian;
  level level[MOST_LEVELS];
} hierarchy;

/* ---------------------------------------------------------------- set-up */

int kcl_galerkin(kcl_builder *b, const kcl_built *A, const kcl_built *P, const kcl_built *R,
                 kcl_built *out) {
  kcl_built AP = {0};
  if (b->ops->galerkin) return b->ops->galerkin(b, R, A, P, out);
  int rc = b->ops->product(b, A, P, &AP);
  if (!rc) rc = b->ops->product(b, R, &AP, out);
  b->ops->free(b, &AP);
  return rc;
}

static int keep(kcl_builder *b, kcl_built *A, int *number) {
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
  return kcl_precond_add_level(b->M, inverse);
}

/* From level l's A to the next one's, unless this is the last. */
static int add_level(kcl_builder *b, hierarchy *h, const kcl_built *A, kcl_coarsening *coarsen,
                     kcl_built *next, bool *more) {
  level *l = &h->level[h->levels++];
  kcl_built P = {0}, R = {0};
  int rc;
  *more = false;
  *l = (level){.n = A->rows, .A = NONE, .P = NONE, .R = NONE, .inverse = NONE, .d = b->M->vectors};
  KCL_TRY(b->ops->smoother(b, A));
  if (A->rows > DENSE && h->levels < MOST_LEVELS) KCL_TRY(coarsen(b, A, h->levels - 1, &P, more));
  if (!*more) {
    rc = add_coarsest(b, l, A);
    goto done;
  }
  KCL_TRY(b->ops->transpose(b, &P, &R));
  KCL_TRY(kcl_galerkin(b, A, &P, &R, next));
  KCL_TRY(keep(b, &P, &l->P));
  KCL_TRY(keep(b, &R, &l->R));
done:
  b->ops->free(b, &P), b->ops->free(b, &R);
  return rc;
}

static void describe(kcl_preconditioner *M, const hierarchy *h, double nnz) {
  const level *last = &h->level[h->levels - 1];
  M->size.levels = h->levels, M->size.complexity = nnz > 0 ? M->size.nonzeros / nnz : 1;
  snprintf(M->note, sizeof M->note, "%d level%s down to %lld rows, complexity %.2f", h->levels,
           h->levels == 1 ? "" : "s", (long long)last->n, M->size.complexity);
}

/* All levels. M takes over the matrix of each but the first, which is the system's. */
static int add_levels(kcl_builder *b, hierarchy *h, const kcl_csr *A, kcl_coarsening *coarsen) {
  kcl_built now = {0}, next = {0};
  bool more = true;
  int rc;
  KCL_TRY(b->ops->take(b, A, &now));
  while (more) {
    KCL_TRY(add_level(b, h, &now, coarsen, &next, &more));
    if (h->levels > 1) {
      b->M->size.rows += (double)now.rows, b->M->size.nonzeros += (double)now.nnz;
      KCL_TRY(keep(b, &now, &h->level[h->levels - 1].A));
    }
    b->ops->free(b, &now);
    now = next, next = (kcl_built){0};
  }
done:
  b->ops->free(b, &now), b->ops->free(b, &next);
  return rc;
}

static int build(kcl_preconditioner *M, const kcl_csr *A, const kcl_levels_plan *plan,
                 const kcl_builder_ops *ops) {
  kcl_builder b = {.M = M, .ops = ops, .strategy = plan->strategy};
  hierarchy *h = M->data;
  h->levels = 0;
  M->size.rows = (double)A->rows, M->size.nonzeros = (double)A->nnz;
  int rc = add_levels(&b, h, A, plan->coarsen);
  ops->close(&b);
  return rc;
}

int kcl_levels_build(kcl_preconditioner *M, const kcl_csr *A, const kcl_levels_plan *plan) {
  hierarchy *h = NULL;
  int rc;
  KCL_TRY(kcl_alloc(M->ctx, 1, sizeof *h, "multigrid levels", &M->data));
  h = M->data, h->degree = plan->degree, h->hermitian = M->hermitian;
  rc = KCL_UNSUITED;
  if (!plan->on_host && kcl_setup_possible(M->ctx, A)) rc = build(M, A, plan, &kcl_build_on_device);
  if (rc == KCL_UNSUITED) {
    kcl_preconditioner_clear(M);
    rc = build(M, A, plan, &kcl_build_on_host);
  }
  if (!rc) describe(M, h, (double)A->nnz);
done:
  return rc;
}

/* ---------------------------------------------------------------- the cycle */

typedef struct cycle {
  kcl_program *k;
  const kcl_preconditioner *M;
  const hierarchy *h;
} cycle;

static kcl_matrix *matrix(const cycle *c, int number) {
  return number == NONE ? kcl_A(c->k) : kcl_precond_operator(c->M, number, false);
}

static kcl_smoothing smoothing(const cycle *c, const level *l) {
  return (kcl_smoothing){
      .A = matrix(c, l->A), .d = kcl_precond_constant(c->k, l->d), .degree = c->h->degree};
}

/* x = smoothed from 0. */
static void smooth_first(const cycle *c, const level *l, kcl_vec x, kcl_vec b) {
  const kcl_smoothing s = smoothing(c, l);
  if (c->h->hermitian)
    kcl_record_smoothing(c->k, &s, x, b);
  else
    kcl_times(c->k, x, s.d, b, false);
}

/* x = x + the smoothed correction for its residual r. */
static void smooth_again(const cycle *c, const level *l, kcl_vec x, kcl_vec r) {
  const kcl_smoothing s = smoothing(c, l);
  if (c->h->hermitian) {
    kcl_record_correction(c->k, &s, x, r);
    return;
  }
  kcl_times(c->k, r, s.d, r, false);
  kcl_lincomb(c->k, x, KCL_ONE, x, KCL_ONE, r);
}

static void record_level(const cycle *c, int number, kcl_vec x, kcl_vec b) {
  const level *l = &c->h->level[number];
  kcl_program *k = c->k;
  if (l->inverse != NONE) {
    kcl_apply(k, x, matrix(c, l->inverse), b); /* x = A^-1 b             */
    return;
  }
  smooth_first(c, l, x, b);
  if (l->P == NONE) return;
  const int64_t fewer = c->h->level[number + 1].n;
  kcl_vec r = kcl_work(k, l->n, "r"), q = kcl_work(k, l->n, "q"), e = kcl_work(k, l->n, "e"),
          coarse_b = kcl_work(k, fewer, "b"), coarse_x = kcl_work(k, fewer, "x");
  kcl_apply(k, r, matrix(c, l->A), x);             /* r = A x                */
  kcl_lincomb(k, r, KCL_ONE, b, KCL_MINUS, r);     /* r = b - r              */
  kcl_apply(k, coarse_b, matrix(c, l->R), r);      /* b' = P^H r             */
  record_level(c, number + 1, coarse_x, coarse_b); /* A' x' = b', nearly     */
  kcl_apply(k, e, matrix(c, l->P), coarse_x);      /* e = P x'               */
  kcl_lincomb(k, x, KCL_ONE, x, KCL_ONE, e);       /* x = x + e              */
  kcl_apply(k, q, matrix(c, l->A), e);             /* q = A e                */
  kcl_lincomb(k, q, KCL_ONE, r, KCL_MINUS, q);     /* q = r - q              */
  smooth_again(c, l, x, q);
}

void kcl_levels_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                      bool adjoint) {
  const cycle c = {.k = k, .M = M, .h = M->data};
  (void)adjoint; /* A = A^H, or the method needs none */
  record_level(&c, 0, z, r);
}
