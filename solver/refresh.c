/* kcl_refresh: a set-up for new values that continues with what an earlier one has chosen, compiled and kept. The earlier one
 * is kept until the new one is there, so that a failure loses nothing.
 */
#include "solver/solver.h"

/* The columns of A are not looked at one by one: those of the set-up were, and their sums are the same. */
static int check_pattern(const kcl_solver *s, const kcl_csr *A, kcl_sums *now) {
  const kcl_csr *then = s->system.A;
  kcl *ctx = s->system.ctx;
  int rc = kcl_csr_need(ctx, A);
  if (rc) return rc;
  if (A->rows != then->rows || A->cols != then->cols || A->nnz != then->nnz)
    return kcl_fail(
        ctx, KCL_USAGE,
        "a refresh needs the pattern of the set-up: A is %lld x %lld with %lld entries, "
        "and was %lld x %lld with %lld",
        (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)then->rows,
        (long long)then->cols, (long long)then->nnz);
  if (A->type != then->type)
    return kcl_fail(ctx, KCL_USAGE, "a refresh needs values of type %c, as at set-up, not %c",
                    kcl_type_letter(then->type), kcl_type_letter(A->type));
  *now = kcl_sums_of(A);
  if (now->row_ptr != s->sums.row_ptr || now->col != s->sums.col)
    return kcl_fail(ctx, KCL_USAGE, "a refresh needs the pattern of the set-up: the %s of A differ",
                    now->row_ptr != s->sums.row_ptr ? "row pointers" : "column indices");
  return KCL_OK;
}

/* s becomes what *fresh is, which is freed. */
static void replace_solver(kcl_solver *s, kcl_solver **fresh) {
  const kcl_solver old = *s;
  *s = **fresh, **fresh = old;
  s->selection.system = &s->system, s->selection.owner = s;
  kcl_solver_free(fresh);
}

int kcl_refresh(kcl_solver *s, const kcl_csr *A) {
  kcl_solver *fresh;
  if (!s) return KCL_USAGE;
  kcl *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  const double start = kcl_now();
  kcl_sums sums;
  int rc;
  if (s->system.distribution)
    return kcl_fail(ctx, KCL_USAGE, "a refresh: not on several ranks: set up anew");
  if (s->system.shared[0])
    return kcl_fail(
        ctx, KCL_USAGE,
        "a solver of an operator shares its matrix: create an operator of the new values");
  if ((rc = check_pattern(s, A, &sums))) return rc;
  const kcl_system system = {.ctx = ctx,
                             .A = A,
                             .options = s->system.options,
                             .stats = s->system.stats,
                             .structure_known = true,
                             .repeats_known =
                                 !s->selection.engine->operators[0]->format->counts_repeats,
                             .seconds_check = kcl_now() - start};
  rc = kcl_setup_system(&system, sums, s, &fresh);
  if (!rc) replace_solver(s, &fresh);
  return rc;
}
