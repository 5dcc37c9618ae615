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
 * square of the unit roundoff, far below what any solver can claim; where x is so large that it is not, r is the bound of its
 * rounding errors. Cost: one product on the host. */
#include "solver/engine/given.h"
#include "solver/solver.h"

typedef struct scaled {
  const double *v;
  double unit;
} scaled;

static double sum_scaled_squares(const void *arg, int64_t from, int64_t to) {
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
  return sqrt(kcl_sum(kcl_type_complex(t) ? 2 * n : n, KCL_FEW, sum_scaled_squares, &s)) / s.unit;
}

static int check_arguments_of_certificate(kcl_context *ctx, const kcl_csr *A, const double *b,
                                          const double *x, kcl_certificate *out) {
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_certificate){0};
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_need(ctx, "b", b));
  return kcl_need(ctx, "x", x);
}

/* Norms of 2^shift times b, x and r = b - A x. */
typedef struct norms {
  double b, x, r, b_inf, x_inf, r_inf;
  int shift;
} norms;

/* All residuals are infinite where x is not finite: A x does not depend on the elements of x that belong to columns of zeros. */
static void put_certificate(const norms *n, const kcl_row_errors *worst, kcl_certificate *out) {
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

static double largest_modulus_of_all(const kcl_host_residual *q, const double *v, int64_t n) {
  return kcl_ranks_largest(q->ranks, kcl_norm_inf(q->type, v, n));
}

/* m: the largest modulus. */
static double norm_of(const kcl_host_residual *q, const double *v, int64_t n, double m) {
  return q->ranks ? q->ranks->norm(q->ranks, q->type, v, n) : norm_2(q->type, v, n, m);
}

static void judge_residual(const kcl_host_residual *q, kcl_certificate *out) {
  const int64_t rows = q->A->rows, cols = q->A->cols;
  const kcl_halo *h = q->halo;
  norms n = {.shift = q->shift,
             .b_inf = largest_modulus_of_all(q, q->b, rows),
             .x_inf = largest_modulus_of_all(q, q->x, cols)};
  kcl_row_errors worst = kcl_split_residual(q->A, h ? h->given : NULL, h ? h->row : NULL, q->x,
                                            n.x_inf, q->b, n.b_inf, q->r);
  worst.norm = kcl_ranks_largest(q->ranks, worst.norm);
  worst.rowwise = kcl_ranks_largest(q->ranks, worst.rowwise);
  worst.componentwise = kcl_ranks_largest(q->ranks, worst.componentwise);
  n.r_inf = largest_modulus_of_all(q, q->r, rows);
  n.b = norm_of(q, q->b, rows, n.b_inf), n.r = norm_of(q, q->r, rows, n.r_inf);
  n.x = norm_of(q, q->x, cols, n.x_inf);
  put_certificate(&n, &worst, out);
}

/* ---------------------------------------------------------------- the normal residual */

typedef struct products {
  const kcl_csr *A;
  const int32_t *row; /* NULL: row i of A belongs to w_i, else to w[row[i]] */
  kcl_type type;
  const double *w;
} products;

enum { ABOVE = 5000 }; /* an exponent and this are positive */

static double largest_product_exponent(const void *arg, int64_t from, int64_t to) {
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

/* The largest exponent of |a_ij| |w_i|; -INFINITY where all are 0. */
static double product_exponent(const kcl_csr *A, const int32_t *row, kcl_type t, const double *w) {
  const double most =
      A ? kcl_largest(A->rows, KCL_FEW_ROWS, largest_product_exponent, &(products){A, row, t, w})
        : 0;
  return most > 0 ? most - ABOVE : -INFINITY;
}

/* The power of two for A^H w, whose largest product then is near 1: from its exponent, and from |w|_inf, which stays finite. */
static int adjoint_exponent(double product, double w_inf) {
  const double room = w_inf > 0 && w_inf < INFINITY ? 1000 - logb(w_inf) : 0;
  return product > -INFINITY && product < INFINITY ? (int)fmin(-product, room) : 0;
}

typedef struct adjoint_norms {
  double s, h, F, r; /* |A^H r| 2^s_power, |A^H b| 2^h_power, |A|_F, |r| */
  int s_power, h_power;
  bool s_lost; /* products of A^H r may be below the least number */
} adjoint_norms;

/* max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)); infinite where a number is not finite, or may have vanished. */
static double larger_ratio(const adjoint_norms *n) {
  const int of_F = kcl_norm_exponent(n->F), of_r = kcl_norm_exponent(n->r);
  const double first = ldexp(kcl_ratio(n->s, n->h), n->h_power - n->s_power),
               second = ldexp(kcl_ratio(n->s, ldexp(n->F, of_F) * ldexp(n->r, of_r)),
                              of_F + of_r - n->s_power);
  const bool vanished = n->s == 0 && n->s_lost;
  return vanished ? INFINITY : kcl_nan_to_infinity(first > second || isnan(first) ? first : second);
}

/* The rows of A^H that are here: own columns, the others', and |A|_F of all. */
typedef struct adjoint {
  const kcl_csr *rows;
  const kcl_halo *halo;
  double norm_F;
  double *in, *out; /* scratch: [A's own rows + elements of the halo], [own rows of A^H] */
} adjoint;

/* |A^H w| 2^*power. *lost: products may be below the least number. */
static double adjoint_norm(const kcl_host_residual *q, const adjoint *a, const double *w,
                           int *power, bool *lost) {
  const kcl_type t = q->type;
  const int64_t rows = q->A->rows;
  const kcl_halo *h = q->halo;
  const double own = product_exponent(q->A, NULL, t, w),
               others = h ? product_exponent(h->given, h->row, t, w) : -INFINITY,
               product = kcl_ranks_largest(q->ranks, fmax(own, others));
  *power = adjoint_exponent(product, largest_modulus_of_all(q, w, rows));
  *lost = product > -INFINITY && product + *power < -900;
  kcl_copy(t, a->in, t, w, rows, 1);
  kcl_scale_vector(t, a->in, rows, NULL, 1, *power);
  h = a->halo;
  if (h) h->exchange(h, kcl_type_size(t), a->in);
  kcl_split_product(a->rows, h ? h->given : NULL, h ? h->row : NULL, a->in, NULL, a->out);
  return kcl_ranks_norm(q->ranks, t, a->out, a->rows->rows);
}

static int normal_residual(const kcl_host_residual *q, adjoint *a, double *out) {
  const kcl_type t = q->type;
  const int64_t rows = q->A->rows;
  const size_t size = kcl_type_size(t);
  adjoint_norms n = {.F = a->norm_F, .r = kcl_ranks_norm(q->ranks, t, q->r, rows)};
  bool lost;
  int rc = kcl_alloc(q->ctx, rows + (a->halo ? a->halo->count : 0), size, "the residual",
                     (void **)&a->in);
  if (!rc) rc = kcl_alloc(q->ctx, a->rows->rows, size, "the residual", (void **)&a->out);
  KCL_TRY(kcl_ranks_agree(q->ranks, rc));
  n.h = adjoint_norm(q, a, q->b, &n.h_power, &lost);
  n.s = adjoint_norm(q, a, q->r, &n.s_power, &n.s_lost);
  *out = larger_ratio(&n);
done:
  free(a->in), free(a->out);
  return rc;
}

/* A^H of a matrix that is here alone; *own: to be freed. */
static int make_adjoint(kcl_context *ctx, const kcl_csr *A, kcl_csr **own, adjoint *out) {
  int rc = kcl_csr_adjoint(ctx, A, own);
  *out = (adjoint){.rows = *own, .norm_F = fmin(kcl_norm2(A->type, A->val, A->nnz), DBL_MAX)};
  return rc;
}

/* b and x are of this type. a: for least squares; or NULL. */
static int certify_answer(kcl_context *ctx, const kcl_csr *A, const kcl_halo *halo, kcl_type type,
                          const void *b, const void *x, adjoint *a, kcl_certificate *out) {
  KCL_OWNED_BY(kcl_host_residual_close) kcl_host_residual q;
  KCL_CALL(kcl_host_residual_open(ctx, A, halo, type, b, x, true, &q));
  judge_residual(&q, out);
  if (a) KCL_CALL(normal_residual(&q, a, &out->normal_residual));
  if (a && !(out->norm_x < INFINITY)) out->normal_residual = INFINITY;
  return KCL_OK;
}

int kcl_certify(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x,
                kcl_certificate *out) {
  int rc = check_arguments_of_certificate(ctx, A, b, x, out);
  return rc ? rc : certify_answer(ctx, A, NULL, kcl_wide_type(A->type), b, x, NULL, out);
}

int kcl_certify_least_squares(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x,
                              kcl_certificate *out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *AH = NULL;
  adjoint a;
  KCL_CALL(check_arguments_of_certificate(ctx, A, b, x, out));
  KCL_CALL(make_adjoint(ctx, A, &AH, &a));
  return certify_answer(ctx, A, NULL, kcl_wide_type(A->type), b, x, &a, out);
}

/* ---------------------------------------------------------------- of a right-hand side that was solved for */

/* A claim that does not hold is a least-squares solution or stagnation. An answer within the target, which the rounding
 * of the device hid, is convergence. residual: the larger of |b - A x| / |b| and |R (b - A x)| / |R b|. */
static void correct_reason(kcl_report *report, const kcl_certificate *c, bool least,
                           double residual, double allowed) {
  if (report->reason == KCL_CONVERGED && !(residual <= allowed))
    report->reason = least && c->normal_residual <= allowed ? KCL_LEAST_SQUARES : KCL_STAGNATED;
  if (report->reason != KCL_INTERRUPTED && residual <= allowed) report->reason = KCL_CONVERGED;
  report->converged = report->reason == KCL_CONVERGED;
  report->least_squares = report->reason == KCL_LEAST_SQUARES;
}

/* |R (b - A x)| / |R b|. */
static int scaled_residual(const kcl_system *s, const kcl_rhs *v, const kcl_certificate *c,
                           double *out) {
  double given;
  *out = c->relative_residual;
  return s->scaling.row ? kcl_residual_of(s, v->b, v->x, &given, out) : KCL_OK;
}

int kcl_certify_rhs(const kcl_system *s, bool least, const kcl_rhs *v) {
  kcl_report *report = v->report;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *AH = NULL;
  kcl_certificate c;
  double in_rows;
  adjoint a = {.rows = s->adjoint, .halo = s->adjoint_halo, .norm_F = s->norm_F_given};
  if (least && !s->halo && !s->shell) KCL_CALL(make_adjoint(s->ctx, s->A, &AH, &a));
  if (s->shell)
    KCL_CALL(kcl_certify_shell(s, least, v, &c));
  else
    KCL_CALL(certify_answer(s->ctx, s->A, s->halo, s->A->type, v->b, v->x, least ? &a : NULL, &c));
  report->normal_residual = c.normal_residual;
  report->true_relative_residual = c.relative_residual;
  report->backward_error = c.backward_error;
  report->rowwise_error = c.rowwise_error, report->componentwise_error = c.componentwise_error;
  KCL_CALL(scaled_residual(s, v, &c, &in_rows));
  report->tested_residual = c.normal_residual >= 0 ? fmin(in_rows, c.normal_residual) : in_rows;
  correct_reason(report, &c, least, fmax(in_rows, c.relative_residual), v->allowed);
  return KCL_OK;
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
