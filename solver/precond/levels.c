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

/* SPAI(0): a_ii / sum_j a_ij^2 (Broker & Grote 2002). */
typedef struct spai0 {
  const kcl_csr *A;
  double *d;
} spai0;

static void spai0_rows(void *arg, int64_t from, int64_t to) {
  const spai0 *s = arg;
  const double *a = s->A->val;
  for (int64_t i = from; i < to; i++) {
    double diagonal = 0, squares = 0;
    for (int64_t k = s->A->row_ptr[i]; k < s->A->row_ptr[i + 1]; k++) {
      squares += a[k] * a[k];
      if (s->A->col[k] == i) diagonal = a[k];
    }
    s->d[i] = squares > 0 ? diagonal / squares : 0;
  }
}

static int add_smoother(kcl_preconditioner *M, const hierarchy *h, const kcl_csr *A) {
  if (h->hermitian) return kcl_add_smoother(M, A, "D");
  spai0 s = {.A = A};
  int rc = kcl_alloc(M->ctx, A->rows, sizeof *s.d, "a smoother", (void **)&s.d);
  if (rc) return rc;
  kcl_for(A->rows, KCL_FEW_ROWS, spai0_rows, &s);
  return kcl_precond_add_vector(M, "D", A->rows, KCL_D, s.d);
}

static int galerkin(kcl *ctx, const kcl_csr *A, const kcl_csr *P, const kcl_csr *R, kcl_csr **out) {
  kcl_csr *AP = NULL;
  int rc = kcl_sparse_product(ctx, A, P, &AP);
  if (!rc) rc = kcl_sparse_product(ctx, R, AP, out);
  kcl_csr_free(&AP);
  return rc;
}

static int add_matrix(kcl_preconditioner *M, kcl_csr **C, int *number) {
  kcl_csr *given = *C;
  *number = M->matrices, *C = NULL;
  return kcl_precond_add_level(M, given);
}

/* The coarsest level: a dense inverse, where there is room for one. */
static int add_coarsest(kcl_preconditioner *M, const hierarchy *h, level *l, const kcl_csr *A) {
  kcl_csr *inverse = NULL;
  if (A->rows > DENSE) return KCL_OK;
  int rc = kcl_dense_inverse(M->ctx, A, h->hermitian, &inverse);
  return rc ? rc : add_matrix(M, &inverse, &l->inverse);
}

/* From level l's A to the next one's; *next is NULL at the end. */
static int add_level(kcl_preconditioner *M, hierarchy *h, const kcl_csr *A, kcl_coarsening *coarsen,
                     kcl_csr **next) {
  level *l = &h->level[h->levels++];
  kcl_csr *P = NULL, *R = NULL;
  int rc;
  *next = NULL;
  *l = (level){.n = A->rows, .A = NONE, .P = NONE, .R = NONE, .inverse = NONE, .d = M->vectors};
  KCL_TRY(add_smoother(M, h, A));
  if (A->rows > DENSE && h->levels < MOST_LEVELS) KCL_TRY(coarsen(M->ctx, A, h->levels - 1, &P));
  if (!P) {
    rc = add_coarsest(M, h, l, A);
    goto done;
  }
  KCL_TRY(kcl_sparse_transpose(M->ctx, P, &R));
  KCL_TRY(galerkin(M->ctx, A, P, R, next));
  KCL_TRY(add_matrix(M, &P, &l->P));
  KCL_TRY(add_matrix(M, &R, &l->R));
done:
  kcl_csr_free(&P), kcl_csr_free(&R);
  return rc;
}

/* M takes over the matrix of a level but the first, which is the system's. */
static int keep(kcl_preconditioner *M, hierarchy *h, int number, kcl_csr **A) {
  M->size.rows += (double)(*A)->rows, M->size.nonzeros += (double)(*A)->nnz;
  return add_matrix(M, A, &h->level[number].A);
}

static void describe(kcl_preconditioner *M, const hierarchy *h, double nnz) {
  const level *last = &h->level[h->levels - 1];
  M->size.levels = h->levels, M->size.complexity = nnz > 0 ? M->size.nonzeros / nnz : 1;
  snprintf(M->note, sizeof M->note, "%d level%s down to %lld rows, complexity %.2f", h->levels,
           h->levels == 1 ? "" : "s", (long long)last->n, M->size.complexity);
}

int kcl_levels_build(kcl_preconditioner *M, const kcl_csr *A, kcl_coarsening *coarsen, int degree) {
  hierarchy *h = NULL;
  kcl_csr *owned = NULL, *mine = NULL, *next = NULL;
  const kcl_csr *now;
  int rc;
  KCL_TRY(kcl_alloc(M->ctx, 1, sizeof *h, "multigrid levels", &M->data));
  h = M->data, h->degree = degree, h->hermitian = M->hermitian;
  KCL_TRY(kcl_sparse_wide(M->ctx, A, &owned, &now));
  for (; now; now = mine) {
    KCL_TRY(add_level(M, h, now, coarsen, &next));
    if (mine) KCL_TRY(keep(M, h, h->levels - 1, &mine));
    mine = next, next = NULL;
  }
  describe(M, h, (double)A->nnz);
done:
  kcl_csr_free(&owned), kcl_csr_free(&mine), kcl_csr_free(&next);
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
