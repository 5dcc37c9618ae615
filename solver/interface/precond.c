/* kcl_precond from a kcl_matrix; what it is: solver/precond_object.c. */
#include "solver/interface/handles.h"

int kcl_precond_create_shell(kcl_context *ctx, int64_t rows, int type, kcl_apply_function apply,
                             void *user, int place, unsigned properties, kcl_precond **out) {
  kcl_type t;
  if (out) *out = NULL;
  int rc = kcl_type_of_letter("type", type, &t);
  return rc ? rc : kcl_precond_of_function(ctx, rows, t, apply, user, place, properties, out);
}

int kcl_precond_create(kcl_matrix *A, const kcl_options *options, kcl_precond **out) {
  if (out) *out = NULL;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(kcl_matrix_need_entries(A));
  kcl_options o = kcl_options_for(options, A->A);
  o.near_null = A->near_null;
  return kcl_precond_make(A->ctx, A->A, &o, out);
}

int kcl_precond_update(kcl_precond *M, kcl_matrix *A) {
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  int rc = kcl_matrix_need_entries(A);
  return rc ? rc : kcl_precond_renew(M, A->A);
}
