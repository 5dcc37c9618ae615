/* The certificate of an answer: how well does x solve A x = b?
 *
 *   relative residual  |b - A x|_2 / |b|_2
 *   backward error     |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf)      (Rigal & Gaches 1967)
 *   by rows            max_i |r_i| / (|a_i|_1 |x|_inf + |b_i|), a_i row i of A
 *   by components      max_i |r_i| / (|A| |x| + |b|)_i                  (Oettli & Prager 1964)
 *   normal residual    max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)), r = b - A x, for least squares
 *                      (solver/methods/least_squares.c says why)
 *
 * The residual comes from kcl_split_residual (compensated sums), so it is trustworthy to about the
 * square of the unit roundoff, far below what any solver can claim. Cost: one product on the host. */
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct scaled {
  const double *v;
  double unit;
} scaled;

static double squares(const void *arg, int64_t from, int64_t to) {
  const scaled *s = arg;
  double sum = 0;
  for (int64_t i = from; i < to;) {
    double part = 0;
    for (int64_t end = i + 4096; i < end && i < to; i++)
      part += s->v[i] * s->unit * (s->v[i] * s->unit);
    sum += part;
  }
  return sum;
}

/* 2-norm of n elements, scaled by m = kcl_norm_inf: no square underflows that matters or overflows. Summed by
 * blocks: an error of (4160 + n / 262144) u, and not of n u. */
static double norm_2(kcl_type t, const double *v, int64_t n, double m) {
  if (m == 0 || !isfinite(m)) return m;
  const scaled s = {v, ldexp(1, kcl_norm_exponent(m))};
  return sqrt(kcl_sum(kcl_type_complex(t) ? 2 * n : n, KCL_FEW, squares, &s)) / s.unit;
}

static int check(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                 kcl_certificate *out) {
  int rc;
  if ((rc = kcl_need(ctx, "out", out))) return rc;
  *out = (kcl_certificate){0};
  if ((rc = kcl_csr_need(ctx, A)) || (rc = kcl_need(ctx, "b", b))) return rc;
  return kcl_need(ctx, "x", x);
}

/* b, x and r = b - A x, all times 2^shift. */
typedef struct judged {
  const kcl_csr *A;
  kcl_type type; /* D or Z */
  int shift;
  const double *b, *x;
  double *b_own, *x_own, *r;
} judged;

static int prepare(kcl *ctx, judged *s, const double *b, const double *x) {
  const kcl_csr *A = s->A;
  int rc;
  s->type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  s->shift = kcl_residual_exponent(kcl_norm_inf(s->type, b, A->rows));
  if ((rc = kcl_in_double(ctx, s->type, b, A->rows, s->shift, &s->b_own, &s->b))) return rc;
  if ((rc = kcl_in_double(ctx, s->type, x, A->cols, s->shift, &s->x_own, &s->x))) return rc;
  return kcl_alloc(ctx, A->rows, kcl_type_size(s->type), "the residual", (void **)&s->r);
}

void kcl_certificate_of(const kcl_norms *n, const kcl_row_errors *worst, kcl_certificate *out) {
  const double none = n->x_inf < INFINITY ? 0 : INFINITY;
  *out = (kcl_certificate){.relative_residual = kcl_nan_to_infinity(kcl_ratio(n->r, n->b) + none),
                           .backward_error = kcl_nan_to_infinity(
                               kcl_ratio(n->r_inf, worst->norm * n->x_inf + n->b_inf) + none),
                           .rowwise_error = kcl_nan_to_infinity(worst->rowwise + none),
                           .componentwise_error = kcl_nan_to_infinity(worst->componentwise + none),
                           .norm_b = ldexp(n->b, -n->shift),
                           .norm_x = ldexp(n->x, -n->shift),
                           .normal_residual = -1};
}

static void judge(const judged *s, kcl_certificate *out) {
  const kcl_csr *A = s->A;
  const kcl_type t = s->type;
  kcl_norms n = {.shift = s->shift,
                 .b_inf = kcl_norm_inf(t, s->b, A->rows),
                 .x_inf = kcl_norm_inf(t, s->x, A->cols)};
  const kcl_row_errors worst = kcl_split_residual(A, NULL, NULL, s->x, n.x_inf, s->b, s->r);
  n.r_inf = kcl_norm_inf(t, s->r, A->rows);
  n.b = norm_2(t, s->b, A->rows, n.b_inf), n.x = norm_2(t, s->x, A->cols, n.x_inf);
  n.r = norm_2(t, s->r, A->rows, n.r_inf);
  kcl_certificate_of(&n, &worst, out);
}

/* ---------------------------------------------------------------- the normal residual */

typedef struct products {
  const kcl_csr *A;
  const int32_t *row; /* NULL: row i of A belongs to w_i, else to w[row[i]] */
  kcl_type type;
  const double *w;
} products;

enum { ABOVE = 5000 }; /* an exponent and this are positive */

static double largest_exponent(const void *arg, int64_t from, int64_t to) {
  const products *p = arg;
  double most = 0;
  for (int64_t i = from; i < to; i++) {
    const double w = kcl_abs(p->type, p->w, p->row ? p->row[i] : i);
    double a = 0;
    for (int64_t k = p->A->row_ptr[i]; k < p->A->row_ptr[i + 1]; k++)
      a = fmax(a, kcl_abs(p->A->type, p->A->val, k));
    if (a > 0 && w > 0) most = fmax(most, ABOVE + logb(a) + logb(w));
  }
  return most;
}

double kcl_product_exponent(const kcl_csr *A, const int32_t *row, kcl_type t, const double *w) {
  const double most =
      kcl_largest(A->rows, KCL_FEW_ROWS, largest_exponent, &(products){A, row, t, w});
  return most > 0 ? most - ABOVE : -INFINITY;
}

int kcl_adjoint_exponent(double product, double w_inf) {
  const double room = w_inf > 0 && w_inf < INFINITY ? 1000 - logb(w_inf) : 0;
  return product > -INFINITY && product < INFINITY ? (int)fmin(-product, room) : 0;
}

double kcl_normal_residual(const kcl_adjoint_norms *n) {
  const int of_F = kcl_norm_exponent(n->F), of_r = kcl_norm_exponent(n->r);
  const double first = ldexp(kcl_ratio(n->s, n->h), n->h_power - n->s_power),
               second = ldexp(kcl_ratio(n->s, ldexp(n->F, of_F) * ldexp(n->r, of_r)),
                              of_F + of_r - n->s_power);
  const bool vanished = n->s == 0 && n->s_lost;
  return vanished ? INFINITY : kcl_nan_to_infinity(first > second || isnan(first) ? first : second);
}

/* |A^H w| 2^*power; v and copy are scratch. *lost: products may be below the least number. */
static double adjoint_norm(const judged *s, const kcl_csr *AH, const double *w, double *copy,
                           double *v, int *power, bool *lost) {
  const int64_t rows = s->A->rows;
  const double product = kcl_product_exponent(s->A, NULL, s->type, w);
  *power = kcl_adjoint_exponent(product, kcl_norm_inf(s->type, w, rows));
  *lost = product > -INFINITY && product + *power < -900;
  kcl_copy(s->type, copy, s->type, w, rows, 1);
  kcl_scale_vector(s->type, copy, rows, NULL, 1, *power);
  kcl_csr_product(AH, copy, NULL, v);
  return kcl_norm2(s->type, v, s->A->cols);
}

static int normal_residual(kcl *ctx, const judged *s, double *out) {
  const kcl_csr *A = s->A;
  const kcl_type t = s->type;
  kcl_adjoint_norms n = {.F = fmin(kcl_norm2(A->type, A->val, A->nnz), DBL_MAX),
                         .r = kcl_norm2(t, s->r, A->rows)};
  kcl_csr *AH = NULL;
  double *v = NULL, *copy = NULL;
  bool lost;
  int rc;
  KCL_TRY(kcl_csr_adjoint(ctx, A, &AH));
  KCL_TRY(kcl_alloc(ctx, A->cols, kcl_type_size(t), "the residual", (void **)&v));
  KCL_TRY(kcl_alloc(ctx, A->rows, kcl_type_size(t), "the residual", (void **)&copy));
  n.h = adjoint_norm(s, AH, s->b, copy, v, &n.h_power, &lost);
  n.s = adjoint_norm(s, AH, s->r, copy, v, &n.s_power, &n.s_lost);
  *out = kcl_normal_residual(&n);
done:
  free(v), free(copy), kcl_csr_free(&AH);
  return rc;
}

static int certify(kcl *ctx, const kcl_csr *A, const double *b, const double *x, bool least,
                   kcl_certificate *out) {
  judged s = {.A = A};
  int rc = check(ctx, A, b, x, out);
  if (rc) return rc;
  KCL_TRY(prepare(ctx, &s, b, x));
  judge(&s, out);
  if (least) KCL_TRY(normal_residual(ctx, &s, &out->normal_residual));
  if (least && !(out->norm_x < INFINITY)) out->normal_residual = INFINITY;
done:
  free(s.b_own), free(s.x_own), free(s.r);
  return rc;
}

int kcl_certify(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                kcl_certificate *out) {
  return certify(ctx, A, b, x, false, out);
}

int kcl_certify_least_squares(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                              kcl_certificate *out) {
  return certify(ctx, A, b, x, true, out);
}

/* ---------------------------------------------------------------- of a right-hand side that was solved for */

/* A claim that does not hold is a least-squares solution or stagnation. An answer within the target, which the rounding
 * of the device hid, is convergence. */
void kcl_judge(kcl_report *report, const kcl_certificate *c, bool least, double allowed) {
  if (report->reason == KCL_CONVERGED && !(c->relative_residual <= allowed))
    report->reason = least && c->normal_residual <= allowed ? KCL_LEAST_SQUARES : KCL_STAGNATED;
  if (report->reason != KCL_INTERRUPTED && c->relative_residual <= allowed)
    report->reason = KCL_CONVERGED;
  report->converged = report->reason == KCL_CONVERGED;
  report->least_squares = report->reason == KCL_LEAST_SQUARES;
}

/* What the method tests, recomputed. */
static int tested_residual(const kcl_system *s, const kcl_rhs *v, const kcl_certificate *c,
                           double *out) {
  double given;
  int rc = KCL_OK;
  *out = c->relative_residual;
  if (s->scaling.row) rc = kcl_residual_of(s, v->b, v->x, &given, out);
  if (c->normal_residual >= 0) *out = fmin(*out, c->normal_residual);
  return rc;
}

int kcl_certify_rhs(const kcl_system *s, bool least, const kcl_rhs *v) {
  kcl *ctx = s->ctx;
  const kcl_csr *A = s->A;
  kcl_report *report = v->report;
  double *b_own = NULL, *x_own = NULL;
  const double *bd, *xd;
  kcl_certificate c;
  int rc;
  KCL_TRY(kcl_in_double(ctx, A->type, v->b, A->rows, 0, &b_own, &bd));
  KCL_TRY(kcl_in_double(ctx, A->type, v->x, A->cols, 0, &x_own, &xd));
  KCL_TRY((least ? kcl_certify_least_squares : kcl_certify)(ctx, A, bd, xd, &c));
  report->normal_residual = c.normal_residual;
  report->true_relative_residual = c.relative_residual;
  report->backward_error = c.backward_error;
  report->rowwise_error = c.rowwise_error, report->componentwise_error = c.componentwise_error;
  KCL_TRY(tested_residual(s, v, &c, &report->tested_residual));
  kcl_judge(report, &c, least, v->allowed);
done:
  free(b_own), free(x_own);
  return rc;
}

/* Iterates of least-squares methods that began at 0 are combinations of the rows of A, unless a preconditioner scales them. */
void kcl_report_uniqueness(const kcl_system *s, const kcl_engine *e, const kcl_rhs *v) {
  const kcl_stats *t = &s->stats;
  const kcl_ranks *ranks = kcl_system_ranks(s);
  const int64_t rows = ranks ? ranks->rows : t->rows, cols = ranks ? ranks->columns : t->cols;
  kcl_report *r = v->report;
  const bool solved = r->converged || r->least_squares;
  if (t->zero_cols || rows < cols || (rows == cols && r->least_squares)) r->not_unique = true;
  if (v->b_norm.norm == 0) r->least_norm = r->not_unique;
  if (v->b_norm.norm == 0 || v->answered) return;
  r->least_norm =
      r->not_unique && solved && v->from_zero && e->method->least_squares && !e->precond->apply;
}
