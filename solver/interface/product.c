/* Products with a kcl_matrix: an operator, made when it is first needed. */
#include "solver/interface/handles.h"

static int create_product(kcl_matrix *A, const kcl_operator_options *wanted, kcl_operator **out) {
  if (A->shell.apply) return kcl_operator_of_shell(A->ctx, &A->shell, out);
  if (kcl_on_ranks(A->ctx)) return A->ctx->world->multiply(A->ctx, A->A, wanted, out);
  return kcl_operator_create(A->ctx, A->A, wanted, out);
}

static int prepare_product(kcl_matrix *A, const kcl_options *o, kcl_products which) {
  const kcl_operator_options wanted = {
      .format = o->format, .precision = o->precision, .products = which, .nrhs = o->nrhs};
  kcl_operator *op = NULL;
  KCL_CALL(create_product(A, &wanted, &op));
  kcl_operator_free(&A->product);
  A->product = op;
  kcl_operator_describe(op, &A->about);
  return KCL_OK;
}

static int prepare_default(kcl_matrix *A, int adjoint) {
  kcl_options o = kcl_options_for(NULL, A->A);
  o.precision = A->A->type;
  return prepare_product(A, &o, adjoint ? KCL_PRODUCTS_BOTH : KCL_PRODUCTS_PLAIN);
}

/* A function has no formats to choose from; it is called for one column at a time. */
static int prepare_shell_product(kcl_matrix *A, const kcl_options *options, int adjoint) {
  const kcl_options o = kcl_options_for_shell(options, &A->shell);
  kcl_engine *e;
  int rc = kcl_check_shell_options(A->ctx, &A->shell, &o);
  if (!rc) rc = prepare_product(A, &o, KCL_PRODUCTS_PLAIN);
  return rc ? rc : kcl_operator_engine(A->product, adjoint, 1, &e);
}

static int check_adjoint(const kcl_matrix *A, int adjoint) {
  if (adjoint == 0 || adjoint == 1) return KCL_OK;
  return kcl_fail(A->ctx, KCL_USAGE, "adjoint is %d: 0 or 1", adjoint);
}

int kcl_matrix_prepare(kcl_matrix *A, const kcl_options *o, int adjoint) {
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(check_adjoint(A, adjoint));
  if (A->shell.apply) return prepare_shell_product(A, o, adjoint);
  if (!o) return prepare_default(A, adjoint);
  const kcl_options wanted = kcl_options_for(o, A->A);
  return prepare_product(A, &wanted, adjoint ? KCL_PRODUCTS_BOTH : KCL_PRODUCTS_PLAIN);
}

int kcl_matrix_apply(kcl_matrix *A, int adjoint, const void *alpha, const kcl_vectors *x,
                     const void *beta, kcl_vectors *y) {
  if (!A) return kcl_need(NULL, "A", A);
  KCL_ENTER(A->ctx);
  KCL_CALL(check_adjoint(A, adjoint));
  if (!A->product) KCL_CALL(prepare_default(A, adjoint));
  A->references++; /* a function may give its matrix back */
  int rc = kcl_operator_multiply(A->product, adjoint, alpha, x, beta, y);
  kcl_matrix_free(&A);
  return rc;
}

const char *kcl_matrix_text(const kcl_matrix *A, const char *name) {
  if (!A || !name || !A->product) return "";
  if (!strcmp(name, "format")) return A->about.format;
  if (!strcmp(name, "reason")) return A->about.format_reason;
  return !strcmp(name, "kernel") ? A->about.kernel : "";
}
