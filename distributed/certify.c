/* Residuals of the whole system, of x and b that are spread over ranks: what solver/certify.c computes, with norms over the
 * ranks. Own rows are multiplied in double with compensated sums (kcl_split_residual). */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include "solver/engine/given.h"
#include <math.h>
#include <stdlib.h>

/* Own parts, in double. */
typedef struct parts {
  kcl_type type; /* D or Z */
  const double *b;
  double *b_own, *x, *r; /* [rows], [rows + halo], [rows] */
} parts;

static void free_parts(parts *p) { free(p->b_own), free(p->x), free(p->r); }

static int prepare(kcl_domain *d, const void *b, const void *x, parts *p) {
  const kcl_csr *A = d->given.interior, *B = d->given.outside;
  kcl *ctx = d->comm->ctx;
  p->type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  const size_t size = kcl_type_size(p->type);
  int rc = kcl_in_double(ctx, A->type, b, A->rows, &p->b_own, &p->b);
  if (!rc) rc = kcl_alloc(ctx, A->cols + B->cols, size, "x", (void **)&p->x);
  if (!rc) rc = kcl_alloc(ctx, A->rows, size, "the residual", (void **)&p->r);
  if ((rc = kcl_comm_agree(d->comm, rc))) return rc;
  kcl_copy(p->type, p->x, A->type, x, d->columns, 1);
  kcl_domain_exchange(d, size, p->x);
  return KCL_OK;
}

static int compute(kcl_domain *d, const void *b, const void *x, parts *p) {
  int rc = prepare(d, b, x, p);
  if (!rc) /* r = b - A x */
    kcl_split_product(d->given.interior, d->given.outside, d->row, p->x, p->b, p->r);
  return rc;
}

static double norm(kcl_domain *d, const parts *p, const double *v) {
  return kcl_comm_norm(d->comm, p->type, v, kcl_domain_rows(d));
}

/* |R r| / |R b|, R = diag(2^power). */
static int scaled_residual(kcl_domain *d, const parts *p, const int *power, double *out) {
  kcl_scaled_norm r, b;
  int rc = kcl_comm_norm_scaled(d->comm, p->type, p->r, kcl_domain_rows(d), power, &r);
  if (!rc) rc = kcl_comm_norm_scaled(d->comm, p->type, p->b, kcl_domain_rows(d), power, &b);
  if (!rc) *out = b.norm > 0 ? ldexp(r.norm / b.norm, b.shift - r.shift) : kcl_ratio(r.norm, 0);
  return rc;
}

int kcl_mpi_residual(const kcl_system *s, const void *b, const void *x, double *relative,
                     double *tested) {
  kcl_domain *d = (kcl_domain *)(uintptr_t)s->halo;
  parts p = {0};
  int rc = compute(d, b, x, &p);
  if (!rc) *relative = kcl_ratio(norm(d, &p, p.r), norm(d, &p, p.b));
  if (!rc && tested) *tested = *relative;
  if (!rc && tested && s->scaling.row && *relative < INFINITY)
    rc = scaled_residual(d, &p, s->scaling.row, tested);
  free_parts(&p);
  return rc;
}

/* y = A^H v, own rows of it; v [own columns + halo], whose halo is filled. */
static void multiply(kcl_domain *adjoint, kcl_type type, const double *v, double *in, double *y) {
  kcl_copy(type, in, type, v, adjoint->columns, 1);
  kcl_domain_exchange(adjoint, kcl_type_size(type), in);
  kcl_split_product(adjoint->given.interior, adjoint->given.outside, adjoint->row, in, NULL, y);
}

/* As in solver/certify.c: b and r scaled by a power of two, so that no product overflows. */
static int normal_residual(kcl_domain *adjoint, const parts *p, double norm_F, double norm_b,
                           double *out) {
  kcl_comm *c = adjoint->comm;
  const kcl_type t = p->type;
  const size_t size = kcl_type_size(t);
  const int64_t rows = adjoint->columns, n = kcl_domain_rows(adjoint);
  double *v = NULL, *in = NULL, *y = NULL;
  const double unit =
      norm_b > 0 && norm_b < INFINITY ? ldexp(1, norm_b < 1e-300 ? 997 : -ilogb(norm_b)) : 1;
  int rc = kcl_alloc(c->ctx, rows, size, "the residual", (void **)&v);
  if (!rc) rc = kcl_alloc(c->ctx, rows + adjoint->halo.count, size, "the residual", (void **)&in);
  if (!rc) rc = kcl_alloc(c->ctx, n, size, "the residual", (void **)&y);
  KCL_TRY(kcl_comm_agree(c, rc));
  kcl_copy(t, v, t, p->b, rows, unit);
  multiply(adjoint, t, v, in, y);
  const double norm_h = kcl_comm_norm(c, t, y, n);
  kcl_copy(t, v, t, p->r, rows, unit);
  multiply(adjoint, t, v, in, y);
  const double norm_s = kcl_comm_norm(c, t, y, n), first = kcl_ratio(norm_s, norm_h),
               second = kcl_ratio(kcl_ratio(norm_s, norm_F), kcl_comm_norm(c, t, v, rows));
  *out = first > second || isnan(first) ? first : second;
done:
  free(v), free(in), free(y);
  return rc;
}

int kcl_domain_certify(kcl_domain *d, kcl_domain *adjoint, double norm_F, const void *b,
                       const void *x, kcl_certificate *out) {
  kcl_comm *c = d->comm;
  const int64_t n = kcl_domain_rows(d);
  parts p = {0};
  int rc = prepare(d, b, x, &p);
  if (rc) goto done;
  const double x_inf = kcl_comm_largest(c, kcl_norm_inf(p.type, p.x, d->columns)),
               b_inf = kcl_comm_largest(c, kcl_norm_inf(p.type, p.b, n));
  const kcl_row_errors worst =
      kcl_split_residual(d->given.interior, d->given.outside, d->row, p.x, x_inf, p.b, p.r);
  const double r_inf = kcl_comm_largest(c, kcl_norm_inf(p.type, p.r, n));
  *out = (kcl_certificate){.norm_b = kcl_comm_norm(c, p.type, p.b, n),
                           .norm_x = kcl_comm_norm(c, p.type, p.x, d->columns),
                           .normal_residual = -1};
  out->relative_residual = kcl_ratio(kcl_comm_norm(c, p.type, p.r, n), out->norm_b);
  out->backward_error = kcl_ratio(r_inf, kcl_comm_largest(c, worst.norm) * x_inf + b_inf);
  out->rowwise_error = kcl_comm_largest(c, worst.rowwise);
  out->componentwise_error = kcl_comm_largest(c, worst.componentwise);
  if (adjoint) rc = normal_residual(adjoint, &p, norm_F, out->norm_b, &out->normal_residual);
done:
  free_parts(&p);
  return rc;
}
