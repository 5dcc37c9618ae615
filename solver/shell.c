/* Systems whose A is a function of the caller's (core/matrix/shell.h): set-up and certificate.
 *
 * Nothing is known of A but what the caller declares. So there are no statistics, formats, scaling, checksums or records of earlier
 * solves, and certificates multiply by the same function, once per answer. */
#include "solver/engine/given.h"
#include "solver/operator.h"
#include "solver/precond_object.h"

int kcl_check_shell_options(kcl_context *ctx, const kcl_shell *A, const kcl_options *o) {
  if (o->format && strcmp(o->format, "auto"))
    return kcl_fail(ctx, KCL_USAGE, "format %s: a function has no entries to store: only auto",
                    o->format);
  if (o->mixed)
    return kcl_fail(ctx, KCL_USAGE, "mixed precision: not with a function, which has one type");
  if (o->near_null)
    return kcl_fail(ctx, KCL_USAGE,
                    "near_null: for a preconditioner of the entries, which a function has not");
  if (o->precision != A->type)
    return kcl_fail(ctx, KCL_USAGE, "precision %c: the function computes in type %c",
                    kcl_type_letter(o->precision), kcl_type_letter(A->type));
  return KCL_OK;
}

kcl_options kcl_options_for_shell(const kcl_options *options, const kcl_shell *A) {
  kcl_options o = kcl_options_of(options);
  if (o.precision == kcl_defaults.precision && !memcmp(&o, &kcl_defaults, sizeof o))
    o.precision = A->type;
  o.no_direct = true;
  return o;
}

int kcl_setup_shell(kcl_context *ctx, const kcl_shell *A, kcl_precond *M,
                    const kcl_options *options, kcl_solver **out) {
  if (out) *out = NULL;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(kcl_need(ctx, "A", A));
  KCL_CALL(kcl_type_check(ctx, "type", A->type));
  const kcl_csr shape = {.rows = A->rows, .cols = A->cols, .type = A->type};
  const kcl_options o = kcl_options_for_shell(options, A);
  KCL_CALL(kcl_check_shell_options(ctx, A, &o));
  kcl_system system = {.ctx = ctx, .A = &shape, .shell = A, .options = o};
  if (M) KCL_CALL(kcl_precond_give(M, &system));
  return kcl_setup_system(&system, (kcl_sums){0}, NULL, KCL_KEEP_NOTHING, out);
}

int kcl_operator_of_shell(kcl_context *ctx, const kcl_shell *A, kcl_operator **out) {
  KCL_OWNED_BY(kcl_operator_free) kcl_operator *op = *out = NULL;
  KCL_CALL(kcl_shell_check(ctx, A));
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *op, "an operator", (void **)&op));
  op->given = (kcl_csr){.rows = A->rows, .cols = A->cols, .type = A->type};
  op->shell = *A;
  op->system = (kcl_system){.ctx = ctx, .A = &op->given, .shell = &op->shell};
  op->system.options.precision = A->type;
  kcl_context_retain(ctx);
  kcl_stored **side = op->system.shared;
  KCL_CALL(kcl_stored_of_shell(ctx, A, false, &side[0]));
  if (A->properties & KCL_SHELL_HERMITIAN)
    side[1] = kcl_stored_share(side[0]);
  else if (A->properties & KCL_SHELL_ADJOINT)
    KCL_CALL(kcl_stored_of_shell(ctx, A, true, &side[1]));
  strcpy(op->why, "a function of the caller's");
  KCL_CALL(kcl_operator_open(op, 1));
  *out = op, op = NULL;
  return KCL_OK;
}

/* |A^H w|, w [rows]; scaled, so that w of any size neither vanishes nor overflows. */
static int adjoint_norm_by_product(const kcl_system *s, const kcl_host_residual *q, const double *w,
                                   double *scratch, double *out) {
  const double w_inf = kcl_ranks_largest(q->ranks, kcl_norm_inf(q->type, w, q->A->rows));
  const int shift = kcl_norm_exponent(w_inf);
  kcl_engine *product = s->products->of[!s->hermitian];
  int rc = kcl_engine_multiply(product, q->type, w, ldexp(1, shift), scratch);
  rc = kcl_ranks_agree(q->ranks, rc);
  if (!rc) *out = ldexp(kcl_ranks_norm(q->ranks, q->type, scratch, q->A->cols), -shift);
  return rc;
}

static int normal_residual_by_product(const kcl_system *s, const kcl_host_residual *q,
                                      double *out) {
  KCL_OWNED double *scratch = NULL;
  double of_r, of_b;
  int rc = kcl_alloc(s->ctx, q->A->cols, kcl_type_size(q->type), "A^H r", (void **)&scratch);
  KCL_CALL(kcl_ranks_agree(q->ranks, rc));
  KCL_CALL(adjoint_norm_by_product(s, q, q->r, scratch, &of_r));
  KCL_CALL(adjoint_norm_by_product(s, q, q->b, scratch, &of_b));
  const double norm_r = kcl_ranks_norm(q->ranks, q->type, q->r, q->A->rows);
  *out = kcl_ratio(of_r, fmin(of_b, s->products->norm_F * norm_r));
  *out = kcl_nan_to_infinity(*out);
  return KCL_OK;
}

int kcl_certify_shell(const kcl_system *s, bool least, const kcl_rhs *v, kcl_certificate *out) {
  KCL_OWNED_BY(kcl_host_residual_close) kcl_host_residual q;
  *out = (kcl_certificate){
      .backward_error = -1, .rowwise_error = -1, .componentwise_error = -1, .normal_residual = -1};
  KCL_CALL(kcl_host_residual_open(s->ctx, s->A, s->halo, s->A->type, v->b, v->x, true, &q));
  KCL_CALL(kcl_shell_residual(s, &q, &out->relative_residual));
  out->norm_b = ldexp(kcl_ranks_norm(q.ranks, q.type, q.b, s->A->rows), -q.shift);
  out->norm_x = ldexp(kcl_ranks_norm(q.ranks, q.type, q.x, s->A->cols), -q.shift);
  if (!least || !(out->relative_residual < INFINITY)) return KCL_OK;
  return normal_residual_by_product(s, &q, &out->normal_residual);
}
