/* Residuals of the whole system, of x and b that are spread over ranks: what solver/certify.c computes, with norms over the
 * ranks. Own rows are multiplied in double with compensated sums (kcl_split_residual). */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <math.h>
#include <stdlib.h>

/* Own parts, in double. */
typedef struct parts {
  kcl_type type; /* D or Z */
  const double *b;
  double *b_own, *x, *r; /* [rows], [rows + halo], [rows] */
  int shift;             /* all are 2^shift times what they are called */
} parts;

static void free_parts(parts *p) { free(p->b_own), free(p->x), free(p->r); }

static int prepare(kcl_domain *d, const void *b, const void *x, bool rows_scaled, parts *p) {
  const kcl_csr *A = d->given.interior, *B = d->given.outside;
  kcl *ctx = d->comm->ctx;
  p->type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  const size_t size = kcl_type_size(p->type);
  const double b_inf = kcl_comm_largest(d->comm, kcl_norm_inf(A->type, b, A->rows));
  const int shift = rows_scaled ? 0 : kcl_residual_exponent(b_inf);
  int rc = kcl_in_double(ctx, A->type, b, A->rows, shift, &p->b_own, &p->b);
  if (!rc) rc = kcl_alloc(ctx, A->cols + B->cols, size, "x", (void **)&p->x);
  if (!rc) rc = kcl_alloc(ctx, A->rows, size, "the residual", (void **)&p->r);
  if ((rc = kcl_comm_agree(d->comm, rc))) return rc;
  kcl_copy(p->type, p->x, A->type, x, d->columns, ldexp(1, shift));
  p->shift = shift;
  kcl_domain_exchange(d, size, p->x);
  return KCL_OK;
}

static int compute(kcl_domain *d, const void *b, const void *x, bool rows_scaled, parts *p) {
  int rc = prepare(d, b, x, rows_scaled, p);
  if (!rc) /* r = b - A x */
    kcl_split_product(d->given.interior, d->given.outside, d->row, p->x, p->b, p->r);
  return rc;
}

static double norm(kcl_domain *d, const parts *p, const double *v) {
  return kcl_comm_norm(d->comm, p->type, v, kcl_domain_rows(d));
}

/* |r| / |b|; infinite where it or x is not finite. */
static double relative_norm(kcl_domain *d, const parts *p) {
  const double x_inf = kcl_comm_largest(d->comm, kcl_norm_inf(p->type, p->x, d->columns)),
               relative = kcl_ratio(norm(d, p, p->r), norm(d, p, p->b));
  return x_inf < INFINITY ? kcl_nan_to_infinity(relative) : INFINITY;
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
  int rc = compute(d, b, x, s->scaling.row != NULL, &p);
  if (!rc) *relative = relative_norm(d, &p);
  if (!rc && tested) *tested = *relative;
  if (!rc && tested && s->scaling.row && *relative < INFINITY)
    rc = scaled_residual(d, &p, s->scaling.row, tested);
  free_parts(&p);
  return rc;
}

/* |A^H w| 2^*power, as in solver/certify.c; in [own columns + halo], y [own rows] of A^H. */
static double adjoint_norm(kcl_domain *d, kcl_domain *adjoint, kcl_type t, const double *w,
                           double *in, double *y, int *power, bool *lost) {
  kcl_comm *c = adjoint->comm;
  const kcl_split *A = &d->given;
  const int64_t rows = adjoint->columns;
  const double product = kcl_comm_largest(c, fmax(kcl_product_exponent(A->interior, NULL, t, w),
                                                  kcl_product_exponent(A->outside, d->row, t, w)));
  *power = kcl_adjoint_exponent(product, kcl_comm_largest(c, kcl_norm_inf(t, w, rows)));
  *lost = product > -INFINITY && product + *power < -900;
  kcl_copy(t, in, t, w, rows, 1);
  kcl_scale_vector(t, in, rows, NULL, 1, *power);
  kcl_domain_exchange(adjoint, kcl_type_size(t), in);
  kcl_split_product(adjoint->given.interior, adjoint->given.outside, adjoint->row, in, NULL, y);
  return kcl_comm_norm(c, t, y, kcl_domain_rows(adjoint));
}

static int normal_residual(kcl_domain *d, kcl_domain *adjoint, const parts *p, double norm_F,
                           double *out) {
  kcl_comm *c = adjoint->comm;
  const kcl_type t = p->type;
  const size_t size = kcl_type_size(t);
  const int64_t rows = adjoint->columns;
  kcl_adjoint_norms n = {.F = norm_F, .r = kcl_comm_norm(c, t, p->r, rows)};
  double *in = NULL, *y = NULL;
  bool lost;
  int rc = kcl_alloc(c->ctx, rows + adjoint->halo.count, size, "the residual", (void **)&in);
  if (!rc) rc = kcl_alloc(c->ctx, kcl_domain_rows(adjoint), size, "the residual", (void **)&y);
  KCL_TRY(kcl_comm_agree(c, rc));
  n.h = adjoint_norm(d, adjoint, t, p->b, in, y, &n.h_power, &lost);
  n.s = adjoint_norm(d, adjoint, t, p->r, in, y, &n.s_power, &n.s_lost);
  *out = kcl_normal_residual(&n);
done:
  free(in), free(y);
  return rc;
}

int kcl_domain_certify(kcl_domain *d, kcl_domain *adjoint, double norm_F, const void *b,
                       const void *x, kcl_certificate *out) {
  kcl_comm *c = d->comm;
  const int64_t n = kcl_domain_rows(d);
  parts p = {0};
  int rc = prepare(d, b, x, false, &p);
  if (rc) goto done;
  kcl_norms norms = {.shift = p.shift,
                     .b_inf = kcl_comm_largest(c, kcl_norm_inf(p.type, p.b, n)),
                     .x_inf = kcl_comm_largest(c, kcl_norm_inf(p.type, p.x, d->columns))};
  kcl_row_errors worst =
      kcl_split_residual(d->given.interior, d->given.outside, d->row, p.x, norms.x_inf, p.b, p.r);
  worst.norm = kcl_comm_largest(c, worst.norm);
  worst.rowwise = kcl_comm_largest(c, worst.rowwise);
  worst.componentwise = kcl_comm_largest(c, worst.componentwise);
  norms.r_inf = kcl_comm_largest(c, kcl_norm_inf(p.type, p.r, n));
  norms.b = norm(d, &p, p.b), norms.r = norm(d, &p, p.r);
  norms.x = kcl_comm_norm(c, p.type, p.x, d->columns);
  kcl_certificate_of(&norms, &worst, out);
  if (adjoint) rc = normal_residual(d, adjoint, &p, norm_F, &out->normal_residual);
  if (adjoint && !(norms.x_inf < INFINITY)) out->normal_residual = INFINITY;
done:
  free_parts(&p);
  return rc;
}
