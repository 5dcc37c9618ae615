/* Products with a kcl_matrix: an operator, made when it is first needed. */
#include "core/base/context.h"
#include "solver/interface/handles.h"
#include <string.h>

static int prepare_product(kcl_matrix *A, const kcl_options *o, kcl_products which) {
  const kcl_operator_options wanted = {
      .format = o->format, .precision = o->precision, .products = which, .nrhs = o->nrhs};
  kcl_operator *op = NULL;
  int rc = kcl_on_ranks(A->ctx) ? A->ctx->world->multiply(A->ctx, A->A, &wanted, &op)
                                : kcl_operator_create(A->ctx, A->A, &wanted, &op);
  if (rc) return rc;
  kcl_operator_free(&A->product);
  A->product = op;
  kcl_operator_describe(op, &A->about);
  return KCL_OK;
}

int kcl_matrix_prepare(kcl_matrix *A, const kcl_options *o, int adjoint) {
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  int rc = kcl_matrix_need_entries(A);
  if (rc) return rc;
  if (adjoint != 0 && adjoint != 1)
    return kcl_fail(A->ctx, KCL_USAGE, "adjoint is %d: 0 or 1", adjoint);
  kcl_options wanted = kcl_options_for(o, A->A);
  if (!o) wanted.precision = A->A->type;
  return prepare_product(A, &wanted, adjoint ? KCL_PRODUCTS_BOTH : KCL_PRODUCTS_PLAIN);
}

int kcl_matrix_apply(kcl_matrix *A, int adjoint, const void *alpha, const kcl_vectors *x,
                     const void *beta, kcl_vectors *y) {
  int rc;
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  if (adjoint != 0 && adjoint != 1)
    return kcl_fail(A->ctx, KCL_USAGE, "adjoint is %d: 0 or 1", adjoint);
  if (!A->product && (rc = kcl_matrix_prepare(A, NULL, adjoint))) return rc;
  return kcl_operator_multiply(A->product, adjoint, alpha, x, beta, y);
}

const char *kcl_matrix_text(const kcl_matrix *A, const char *name) {
  if (!A || !name || !A->product) return "";
  if (!strcmp(name, "format")) return A->about.format;
  if (!strcmp(name, "reason")) return A->about.format_reason;
  return !strcmp(name, "kernel") ? A->about.kernel : "";
}
