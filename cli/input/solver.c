/* Solvers for matrices that the program has read: their arrays are lent to the library. */
#include "cli/input/input.h"

static int set_near_null(kcl_matrix *M, const kcl_dense *B) {
  const kcl_vectors modes = {
      .size = sizeof modes, .data = B->val, .rows = B->rows, .cols = B->cols};
  return kcl_matrix_set_near_null(M, &modes);
}

int cli_solver_create(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_solver **out) {
  CLI_OWNED_BY(kcl_matrix_free) kcl_matrix *M = NULL;
  *out = NULL;
  CLI_CALL(kcl_matrix_lend(ctx, A, &M));
  if (o->near_null) CLI_CALL(set_near_null(M, o->near_null));
  return kcl_solver_create(M, NULL, o, out);
}

int cli_solver_update(kcl_context *ctx, kcl_solver *s, const kcl_csr *A) {
  CLI_OWNED_BY(kcl_matrix_free) kcl_matrix *M = NULL;
  CLI_CALL(kcl_matrix_lend(ctx, A, &M));
  return kcl_solver_update(s, M, KCL_KEEP_HIERARCHY);
}

int cli_solver_solve(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *report) {
  const kcl_vectors b = {.size = sizeof b, .data = (void *)(uintptr_t)B, .cols = k};
  kcl_vectors x = {.size = sizeof x, .data = X, .cols = k};
  int rc = kcl_solve(s, B ? &b : NULL, X ? &x : NULL, NULL, NULL);
  for (int64_t j = 0; j < k && report; j++) kcl_solver_report(s, j, &report[j]);
  return rc;
}
