/* Classical algebraic multigrid in the form that suits devices: coarse points by PMIS (De Sterck, Yang & Heys 2006),
 * interpolation by matrix products with four entries per row (Li, Sjogreen & Yang 2021), Chebyshev polynomials as
 * smoother, a V-cycle. `amg-aggressive` coarsens the first level twice, so that its levels have fewer entries.
 */
#include "solver/precond/levels.h"
#include "sparse/sparse.h"
#include <stdlib.h>

enum { ENTRIES = 4 /* of P, per row */, DEGREE = 2 };
static const double STRONG = 0.25, STALLED = 0.9; /* rows kept: coarsening ends */

static int coarsen_once(kcl *ctx, const kcl_csr *A, kcl_csr **P) {
  kcl_csr *S = NULL;
  int32_t *coarse = NULL;
  int64_t count;
  int rc;
  *P = NULL;
  KCL_TRY(kcl_sparse_strong(ctx, A, STRONG, &S));
  KCL_TRY(kcl_sparse_split(ctx, S, &coarse, &count));
  if (count && (double)count <= STALLED * (double)A->rows)
    KCL_TRY(kcl_sparse_interpolation(ctx, A, S, coarse, count, ENTRIES, P));
done:
  free(coarse), kcl_csr_free(&S);
  return rc;
}

static int coarsen(kcl *ctx, const kcl_csr *A, int level, kcl_csr **out) {
  (void)level;
  return coarsen_once(ctx, A, out);
}

/* P = P1 P2, with the system of P1 between them. */
static int coarsen_twice(kcl *ctx, const kcl_csr *A, kcl_csr **out) {
  kcl_csr *P1 = NULL, *R = NULL, *AP = NULL, *middle = NULL, *P2 = NULL, *P = NULL;
  int rc;
  KCL_TRY(coarsen_once(ctx, A, &P1));
  if (!P1) goto done;
  KCL_TRY(kcl_sparse_transpose(ctx, P1, &R));
  KCL_TRY(kcl_sparse_product(ctx, A, P1, &AP));
  KCL_TRY(kcl_sparse_product(ctx, R, AP, &middle));
  KCL_TRY(coarsen_once(ctx, middle, &P2));
  if (P2) {
    KCL_TRY(kcl_sparse_product(ctx, P1, P2, &P));
    KCL_TRY(kcl_sparse_truncate(ctx, P, ENTRIES, out));
  } else {
    *out = P1, P1 = NULL;
  }
done:
  kcl_csr_free(&P1), kcl_csr_free(&R), kcl_csr_free(&AP), kcl_csr_free(&middle);
  kcl_csr_free(&P2), kcl_csr_free(&P);
  return rc;
}

static int coarsen_aggressively(kcl *ctx, const kcl_csr *A, int level, kcl_csr **out) {
  *out = NULL;
  return level ? coarsen_once(ctx, A, out) : coarsen_twice(ctx, A, out);
}

static int setup(kcl_preconditioner *M, const kcl_csr *A) {
  return kcl_levels_build(M, A, coarsen, DEGREE);
}

static int setup_aggressively(kcl_preconditioner *M, const kcl_csr *A) {
  return kcl_levels_build(M, A, coarsen_aggressively, DEGREE);
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
    .apply = kcl_levels_apply};
