/* Factors of A without symmetry: of A as it is, else with more fill, else with rows exchanged, else with a larger diagonal. */
#include "factors/factored.h"
#include <stdio.h>

static const double FIRST_SHIFT = 1e-3, LAST_SHIFT = 1;
static const double UNSTABLE = 1e10; /* |B| |M^-1 1|: elimination has run away */

/* Attempts, until there are factors. */
typedef struct attempt {
  const kcl_precond_request *q;
  const kcl_csr *A; /* q's, in wide values */
  const kcl_factoring *how;
  bool exchanges;
  int level;
  kcl_matching m; /* once rows are exchanged */
  double shift;
  kcl_factors f;
  int64_t zero;  /* the row whose pivot vanishes, or -1 */
  double growth; /* |B| |M^-1 1|, of factors */
} attempt;

static void end_attempt(attempt *t) { kcl_factors_free(&t->f), kcl_matching_free(&t->m); }

static int find_exchange(kcl_preconditioner *M, attempt *t) {
  int64_t alone;
  int rc = kcl_factor_match(M->ctx, t->A, &t->m, &alone);
  if (rc || alone < 0) return rc;
  return kcl_fail(
      M->ctx, KCL_USAGE,
      "%s needs a nonzero for each row in a column of its own, and row %lld finds none: "
      "the matrix is singular",
      M->kind->name, (long long)alone + 1);
}

static int try_factors(kcl_preconditioner *M, attempt *t) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *B = NULL;
  kcl_factors_free(&t->f);
  if (t->exchanges && !t->m.row) KCL_CALL(find_exchange(M, t));
  KCL_CALL(kcl_factor_matrix(M->ctx, t->A, t->m.row ? &t->m : NULL, t->shift, &B));
  const double size = kcl_norm_inf(B->type, B->val, B->nnz);
  KCL_CALL(t->how->factor(t->q, B, t->level, &t->f, &t->zero));
  if (t->zero >= 0) return KCL_OK;
  KCL_CALL(kcl_factors_growth(M->ctx, &t->f, &t->growth));
  t->growth *= size;
  return KCL_OK;
}

static bool good(const attempt *t) { return t->zero < 0 && t->growth <= UNSTABLE; }

/* More fill where elimination runs away, since it grows the more the more is left out; then rows are exchanged; then the diagonal. */
static void prepare_next(attempt *t) {
  if (t->zero < 0 && t->shift == 0 && t->level < t->how->last_level) {
    t->level++;
    return;
  }
  t->level = t->how->level;
  if (t->exchanges) t->shift = t->shift > 0 ? 10 * t->shift : FIRST_SHIFT;
  t->exchanges = true;
}

static int refuse_factors(kcl_preconditioner *M, const attempt *t) {
  if (t->zero >= 0)
    return kcl_fail(M->ctx, KCL_USAGE,
                    "%s: the pivot of row %lld vanishes, also with a larger diagonal: use "
                    "--precond spai",
                    M->kind->name, (long long)t->zero + 1);
  return kcl_fail(M->ctx, KCL_USAGE,
                  "%s: elimination is unstable, also with a larger diagonal (M^-1 1 has an element "
                  "of %.1e): use --precond spai",
                  M->kind->name, t->growth);
}

int kcl_factored_setup(kcl_preconditioner *M, const kcl_precond_request *q, const kcl_factoring *f,
                       const char *name) {
  KCL_OWNED_BY(end_attempt) attempt t = {.q = q, .how = f, .level = f->level};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *owned = NULL;
  char what[80];
  KCL_CALL(kcl_sparse_wide(M->ctx, q->A, &owned, &t.A));
  t.exchanges = f->weak > 0 && kcl_factor_weak_diagonal(t.A, f->weak);
  KCL_CALL(try_factors(M, &t));
  while (!good(&t)) {
    if (t.shift >= LAST_SHIFT) return refuse_factors(M, &t);
    prepare_next(&t);
    KCL_CALL(try_factors(M, &t));
  }
  const int n = f->last_level >= 0 ? snprintf(what, sizeof what, "%s(%d)", name, t.level)
                                   : snprintf(what, sizeof what, "%s", name);
  if (t.shift > 0) snprintf(what + n, sizeof what - (size_t)n, ", diagonal + %g", t.shift);
  return kcl_factored_keep(M, t.A, &t.f, t.m.row ? &t.m : NULL, f->close, what, NULL);
}
