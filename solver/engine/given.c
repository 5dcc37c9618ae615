/* See given.h. */
#include "solver/engine/given.h"

int kcl_given_norm(const kcl_system *s, const void *b, kcl_scaled_norm *out) {
  kcl_ranks *ranks = kcl_system_ranks(s);
  const int64_t n = s->A->rows;
  const double norm = kcl_ranks_norm(ranks, s->A->type, b, n);
  out->shift = kcl_norm_exponent(norm) - 1;
  out->norm = ldexp(norm, out->shift);
  if (!s->scaling.row || !(norm < INFINITY)) return KCL_OK;
  return kcl_norm_scaled(s->ctx, ranks, s->A->type, b, n, s->scaling.row, out);
}

/* ---------------------------------------------------------------- to the device and back */

/* On the device a vector is D^sign 2^shift v, D = diag(2^power). */
typedef struct vector {
  kcl_vec v;
  int64_t n;
  const int *power; /* [n], or NULL: D = 1 */
  int sign, shift;
} vector;

static vector vector_b(const kcl_system *s, const kcl_engine *e, int shift) {
  return (vector){e->program->b, s->A->rows, s->scaling.row, 1, shift};
}

static vector vector_x(const kcl_system *s, const kcl_engine *e, int shift) {
  return (vector){e->program->x, s->A->cols, s->scaling.col, -1, shift - s->scaling.unit};
}

/* Ranks fail together: transfers are in step. */
static int copy_of(const kcl_system *s, int64_t n, kcl_type wide, void **copy) {
  const int own = kcl_alloc(s->ctx, n, kcl_type_size(wide), "a vector", copy),
            rc = kcl_ranks_agree(kcl_system_ranks(s), own);
  if (rc) free(*copy), *copy = NULL;
  return rc;
}

static int put_scaled(const kcl_system *s, kcl_engine *e, int rhs, vector v, const void *values) {
  kcl_executor *ex = &e->executor;
  const kcl_type type = s->A->type, wide = kcl_wide_type(s->A->type);
  KCL_OWNED void *copy = NULL;
  if (!v.power) return ex->put(ex, v.v, rhs, type, values, ldexp(1, v.shift));
  KCL_CALL(copy_of(s, v.n, wide, &copy));
  kcl_copy(wide, copy, type, values, v.n, 1);
  kcl_scale_vector(wide, copy, v.n, v.power, v.sign, v.shift);
  return ex->put(ex, v.v, rhs, wide, copy, 1);
}

static int get_scaled(const kcl_system *s, kcl_engine *e, int rhs, vector v, void *values) {
  kcl_executor *ex = &e->executor;
  const kcl_type type = s->A->type, wide = kcl_wide_type(s->A->type);
  KCL_OWNED void *copy = NULL;
  if (!v.power) return ex->get(ex, v.v, rhs, type, values, ldexp(1, -v.shift));
  KCL_CALL(copy_of(s, v.n, wide, &copy));
  int rc = ex->get(ex, v.v, rhs, wide, copy, 1);
  kcl_scale_vector(wide, copy, v.n, v.power, -v.sign, -v.shift);
  kcl_copy(type, values, wide, copy, v.n, 1);
  return rc;
}

int kcl_give_b(const kcl_system *s, kcl_engine *e, int rhs, const void *b, int shift) {
  return put_scaled(s, e, rhs, vector_b(s, e, shift), b);
}

int kcl_give_x(const kcl_system *s, kcl_engine *e, int rhs, const void *x, int shift) {
  return put_scaled(s, e, rhs, vector_x(s, e, shift), x);
}

int kcl_take_x(const kcl_system *s, kcl_engine *e, int rhs, void *x, int shift) {
  const int rc = get_scaled(s, e, rhs, vector_x(s, e, shift), x);
  if (!rc) kcl_clear_zero_columns(s, x);
  return rc;
}

/* ---------------------------------------------------------------- columns on the device */

bool kcl_given_on_device(const kcl_system *s) {
  const bool wide = s->A->type == kcl_wide_type(s->A->type);
  return !s->scaling.row && !s->zero_cols && (s->ctx->device.has_double || !wide);
}

int kcl_given_column_norm(const kcl_system *s, const kcl_column *b, kcl_scaled_norm *out) {
  kcl_column_size size;
  KCL_CALL(kcl_measure_column(s->ctx, b, s->A->rows, &size));
  out->shift = kcl_norm_exponent(size.norm) - 1;
  out->norm = ldexp(size.norm, out->shift);
  return KCL_OK;
}

static kcl_column column_of_engine(kcl_engine *e, int rhs, vector v) {
  return e->executor.column(&e->executor, v.v, rhs);
}

static int copy_to_engine(kcl_engine *e, int rhs, vector v, const kcl_column *from) {
  const kcl_column to = column_of_engine(e, rhs, v);
  return kcl_copy_column(e->ctx, &to, from, v.n, ldexp(1, v.shift));
}

int kcl_give_b_column(const kcl_system *s, kcl_engine *e, int rhs, const kcl_column *b, int shift) {
  return copy_to_engine(e, rhs, vector_b(s, e, shift), b);
}

int kcl_give_x_column(const kcl_system *s, kcl_engine *e, int rhs, const kcl_column *x, int shift) {
  return copy_to_engine(e, rhs, vector_x(s, e, shift), x);
}

int kcl_take_x_column(const kcl_system *s, kcl_engine *e, int rhs, const kcl_column *x, int shift) {
  const vector v = vector_x(s, e, shift);
  const kcl_column from = column_of_engine(e, rhs, v);
  return kcl_copy_column(e->ctx, x, &from, v.n, ldexp(1, -v.shift));
}

int kcl_fetch_column(const kcl_system *s, const kcl_column *from, int64_t n, void **out) {
  int rc = kcl_alloc(s->ctx, n, kcl_type_size(from->type), "a vector", out);
  if (!rc) rc = kcl_read_column(s->ctx, from, n, *out);
  if (rc) free(*out), *out = NULL;
  return rc;
}

int kcl_return_column(const kcl_system *s, const kcl_column *to, int64_t n, const void *values) {
  return kcl_write_column(s->ctx, to, n, values);
}

int kcl_x_is_finite(const kcl_system *s, kcl_engine *e, int rhs, int shift, bool *out) {
  const vector v = vector_x(s, e, shift);
  const kcl_column x = column_of_engine(e, rhs, v);
  const double most = s->A->type == KCL_S || s->A->type == KCL_C ? FLT_MAX : DBL_MAX;
  kcl_column_size size;
  const int rc = kcl_measure_column(e->ctx, &x, v.n, &size);
  *out = !rc && size.norm < INFINITY && ldexp(size.largest, -v.shift) <= most;
  return rc;
}

/* ---------------------------------------------------------------- residuals */

/* 2^shift v in double, v of A's type: v itself, or a copy, *owned. |shift| <= 1000. */
static int doubles_of(kcl_context *ctx, kcl_type type, const void *v, int64_t n, int shift,
                      double **owned, const double **out) {
  kcl_type wide = kcl_wide_type(type);
  *owned = NULL, *out = v;
  if (type == wide && !shift) return KCL_OK;
  int rc = kcl_alloc(ctx, n, kcl_type_size(wide), "a vector", (void **)owned);
  if (!rc) kcl_copy(wide, *owned, type, v, n, ldexp(1, shift));
  *out = *owned;
  return rc;
}

/* The power of two for b and x, at which x is finite. */
static int shift_of(kcl_ranks *ranks, const kcl_csr *A, kcl_type type, const void *b,
                    const void *x) {
  const double b_inf = kcl_ranks_largest(ranks, kcl_norm_inf(type, b, A->rows));
  const int shift = kcl_residual_exponent(b_inf);
  if (shift <= 0) return shift;
  const double x_inf = kcl_ranks_largest(ranks, kcl_norm_inf(type, x, A->cols));
  const int most = x_inf > 0 && x_inf < INFINITY ? 1000 - ilogb(x_inf) : shift;
  return most < 0 ? 0 : most < shift ? most : shift;
}

int kcl_host_residual_open(kcl_context *ctx, const kcl_csr *A, const kcl_halo *halo, kcl_type type,
                           const void *b, const void *x, bool shifted, kcl_host_residual *q) {
  const kcl_type wide = kcl_wide_type(type);
  *q = (kcl_host_residual){.ctx = ctx, .ranks = halo ? halo->ranks : NULL, .A = A, .halo = halo};
  q->type = wide, q->shift = shifted ? shift_of(q->ranks, A, type, b, x) : 0;
  int rc = doubles_of(ctx, type, b, A->rows, q->shift, &q->b_copy, &q->b);
  if (!rc && halo) {
    rc = kcl_alloc(ctx, A->cols + halo->count, kcl_type_size(wide), "x", (void **)&q->x_copy);
    q->x = q->x_copy;
  } else if (!rc) {
    rc = doubles_of(ctx, type, x, A->cols, q->shift, &q->x_copy, &q->x);
  }
  if (!rc) rc = kcl_alloc(ctx, A->rows, kcl_type_size(wide), "the residual", (void **)&q->r);
  if ((rc = kcl_ranks_agree(q->ranks, rc)) || !halo) return rc;
  kcl_copy(wide, q->x_copy, type, x, A->cols, ldexp(1, q->shift));
  halo->exchange(halo, kcl_type_size(wide), q->x_copy);
  return KCL_OK;
}

void kcl_host_residual_close(kcl_host_residual *q) { free(q->b_copy), free(q->x_copy), free(q->r); }

/* Computes r and |r| / |b|; infinite where it or x is not finite. */
static double relative_residual_of(const kcl_host_residual *q) {
  const kcl_halo *h = q->halo;
  const int64_t n = q->A->rows;
  const double x_inf = kcl_ranks_largest(q->ranks, kcl_norm_inf(q->type, q->x, q->A->cols)),
               b_inf = kcl_ranks_largest(q->ranks, kcl_norm_inf(q->type, q->b, n));
  kcl_split_residual(q->A, h ? h->given : NULL, h ? h->row : NULL, q->x, x_inf, q->b, b_inf, q->r);
  const double relative = kcl_ratio(kcl_ranks_norm(q->ranks, q->type, q->r, n),
                                    kcl_ranks_norm(q->ranks, q->type, q->b, n));
  return x_inf < INFINITY ? kcl_nan_to_infinity(relative) : INFINITY;
}

/* |R r| / |R b|, R = diag(2^power). */
static int scaled_relative_norm(const kcl_host_residual *q, const int *power, double *out) {
  kcl_scaled_norm r, b;
  int rc = kcl_norm_scaled(q->ctx, q->ranks, q->type, q->r, q->A->rows, power, &r);
  if (!rc) rc = kcl_norm_scaled(q->ctx, q->ranks, q->type, q->b, q->A->rows, power, &b);
  if (!rc) *out = b.norm > 0 ? ldexp(r.norm / b.norm, b.shift - r.shift) : kcl_ratio(r.norm, 0);
  return rc;
}

int kcl_residual_of(const kcl_system *s, const void *b, const void *x, double *relative,
                    double *tested) {
  const kcl_halo *h = s->halo;
  const int *power = s->scaling.row;
  KCL_OWNED_BY(kcl_host_residual_close) kcl_host_residual q;
  KCL_CALL(kcl_host_residual_open(s->ctx, s->A, h, s->A->type, b, x, !power, &q));
  if (s->shell)
    KCL_CALL(kcl_shell_residual(s, &q, relative));
  else
    *relative = relative_residual_of(&q);
  if (tested) *tested = *relative;
  if (tested && power && *relative < INFINITY) KCL_CALL(scaled_relative_norm(&q, power, tested));
  return KCL_OK;
}
