/* Factorised sparse approximate inverse (Kolotilina & Yeremin 1993): M^-1 = G^H G, G lower triangular of a given pattern, the
 * one that minimises |I - G L|_F, L A's Cholesky factor, which need not be known. The pattern is that of the square of A's
 * larger entries, or A's own where that would be too full. No factorisation breaks down, and no triangular system is solved.
 * Bytes: two products, by G and by G^H.
 */
#include "solver/contract/precond.h"
#include "sparse/sparse.h"
#include <stdio.h>

enum { FULL = 30 /* entries per row of A: more are not squared */ };
static const double SMALL = 0.01; /* of sqrt(a_ii a_jj): smaller ones are not squared */

enum { POWER, DROP, FILL };
static const kcl_option parameters[] = {
    [POWER] = {"fsai.power", "2; 1 beyond 30 entries per row of A",
               "G has the lower pattern of this power of A, 1 to 3", KCL_OPTION_WHOLE, 1, 3},
    [DROP] = {"fsai.drop", "0.01; 0 with power 1",
              "entries of A below this times sqrt(a_ii a_jj) add no pattern, 0 to 1",
              KCL_OPTION_REAL, 0, 1},
    [FILL] = {"fsai.fill", "32", "entries per row of G, at most, 1 to 64", KCL_OPTION_WHOLE, 1,
              KCL_MOST_KEPT},
    {0},
};

static int fsai_fill(const kcl_precond_request *q) {
  return (int)kcl_precond_value(q, &parameters[FILL], 0);
}

static int fsai_factor(kcl_preconditioner *M, const kcl_precond_request *q, const kcl_csr *A,
                       kcl_csr **out) {
  const int power = (int)kcl_precond_value(q, &parameters[POWER], A->nnz > FULL * A->rows ? 1 : 2);
  const double drop = kcl_precond_value(q, &parameters[DROP], power == 1 ? 0 : SMALL);
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *pattern = NULL;
  int64_t refused;
  KCL_CALL(kcl_sparse_pattern(M->ctx, A, true, power, drop, fsai_fill(q), &pattern));
  KCL_CALL(kcl_sparse_fsai(M->ctx, A, pattern, &refused, out));
  snprintf(M->note, sizeof M->note, "pattern of A%s, %.1f entries per row of G",
           (const char *[]){"", "^2", "^3"}[power - 1], (double)(*out)->nnz / (double)A->rows);
  if (refused >= 0)
    return kcl_fail(M->ctx, KCL_USAGE,
                    "fsai needs a positive definite matrix, and the part that row %lld uses is not",
                    (long long)refused + 1);
  return KCL_OK;
}

static int fsai_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  kcl_csr *owned, *G = NULL;
  const kcl_csr *wide;
  int rc = kcl_sparse_wide(M->ctx, q->A, &owned, &wide);
  if (!rc) rc = fsai_factor(M, q, wide, &G);
  kcl_csr_free(&owned);
  if (!rc) return kcl_precond_add_matrix(M, G, true);
  kcl_csr_free(&G);
  return rc;
}

static void fsai_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                       bool adjoint) {
  kcl_vec t = kcl_work(k, k->vector[r].n, "t");
  (void)adjoint;                                         /* M = M^H                */
  kcl_apply(k, t, kcl_precond_operator(M, 0, false), r); /* t = G r                */
  kcl_apply(k, z, kcl_precond_operator(M, 0, true), t);  /* z = G^H t              */
}

static double fsai_bytes(const kcl_precond_request *q) {
  const kcl_stats *s = q->stats;
  const double power = kcl_precond_value(q, &parameters[POWER], 2),
               mean = fmin(power > 2 ? fsai_fill(q) : s->row_mean, fsai_fill(q));
  return 2 * (double)s->rows * (2 * mean * (4.0 + (double)kcl_type_size(q->A->type)) + 8);
}

const kcl_precond_kind kcl_precond_fsai = {.name = "fsai",
                                           .summary = "factorised sparse approximate inverse",
                                           .source = "Kolotilina & Yeremin 1993",
                                           .needs = KCL_NEEDS_HERMITIAN | KCL_NEEDS_POSITIVE,
                                           .symmetric = true,
                                           .parameters = parameters,
                                           .bytes = fsai_bytes,
                                           .setup = fsai_setup,
                                           .apply = fsai_apply};
