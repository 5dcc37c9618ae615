/* See given.h. */
#include "solver/engine/given.h"
#include <math.h>
#include <stdlib.h>

static kcl_type wide_of(const kcl_csr *A) { return kcl_type_complex(A->type) ? KCL_Z : KCL_D; }

/* Of R v, v [rows]. */
static int norm_of(const kcl_system *s, kcl_type type, const void *v, kcl_scaled_norm *out) {
  const int64_t n = s->A->rows;
  if (s->scaling.row) return kcl_norm_scaled(s->ctx, type, v, n, s->scaling.row, out);
  const double norm = kcl_norm2(type, v, n);
  out->shift = kcl_norm_exponent(norm) - 1;
  out->norm = ldexp(norm, out->shift);
  return KCL_OK;
}

int kcl_given_norm(const kcl_system *s, const void *b, kcl_scaled_norm *out) {
  return norm_of(s, s->A->type, b, out);
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

static int give(const kcl_system *s, kcl_engine *e, int rhs, vector v, const void *values) {
  kcl_executor *ex = &e->executor;
  const kcl_type type = s->A->type, wide = wide_of(s->A);
  void *copy = NULL;
  if (!v.power) return ex->put(ex, v.v, rhs, type, values, ldexp(1, v.shift));
  int rc = copy_of(s, v.n, wide, &copy);
  if (rc) return rc;
  kcl_copy(wide, copy, type, values, v.n, 1);
  kcl_scale_vector(wide, copy, v.n, v.power, v.sign, v.shift);
  rc = ex->put(ex, v.v, rhs, wide, copy, 1);
  free(copy);
  return rc;
}

static int take(const kcl_system *s, kcl_engine *e, int rhs, vector v, void *values) {
  kcl_executor *ex = &e->executor;
  const kcl_type type = s->A->type, wide = wide_of(s->A);
  void *copy = NULL;
  if (!v.power) return ex->get(ex, v.v, rhs, type, values, ldexp(1, -v.shift));
  int rc = copy_of(s, v.n, wide, &copy);
  if (rc) return rc;
  rc = ex->get(ex, v.v, rhs, wide, copy, 1);
  kcl_scale_vector(wide, copy, v.n, v.power, -v.sign, -v.shift);
  kcl_copy(type, values, wide, copy, v.n, 1);
  free(copy);
  return rc;
}

int kcl_give_b(const kcl_system *s, kcl_engine *e, int rhs, const void *b, int shift) {
  return give(s, e, rhs, vector_b(s, e, shift), b);
}

int kcl_give_x(const kcl_system *s, kcl_engine *e, int rhs, const void *x, int shift) {
  return give(s, e, rhs, vector_x(s, e, shift), x);
}

int kcl_take_x(const kcl_system *s, kcl_engine *e, int rhs, void *x, int shift) {
  const int rc = take(s, e, rhs, vector_x(s, e, shift), x);
  if (!rc) kcl_clear_zero_columns(s, x);
  return rc;
}

/* ---------------------------------------------------------------- residuals */

int kcl_in_double(kcl *ctx, kcl_type type, const void *v, int64_t n, int shift, double **owned,
                  const double **out) {
  kcl_type wide = kcl_type_complex(type) ? KCL_Z : KCL_D;
  *owned = NULL, *out = v;
  if (type == wide && !shift) return KCL_OK;
  int rc = kcl_alloc(ctx, n, kcl_type_size(wide), "a vector", (void **)owned);
  if (!rc) kcl_copy(wide, *owned, type, v, n, ldexp(1, shift));
  *out = *owned;
  return rc;
}

static double ratio(kcl_scaled_norm r, kcl_scaled_norm b) {
  if (b.norm > 0) return ldexp(r.norm / b.norm, b.shift - r.shift);
  return r.norm > 0 ? INFINITY : r.norm;
}

int kcl_residual_of(const kcl_system *s, const void *b, const void *x, double *relative,
                    double *tested) {
  const kcl_csr *A = s->A;
  double *b_own = NULL, *x_own = NULL, *r = NULL;
  const double *bd, *xd;
  const int shift = s->scaling.row ? 0 : kcl_residual_exponent(kcl_norm_inf(A->type, b, A->rows));
  kcl_scaled_norm norm_r, norm_b;
  int rc;
  if (s->residual) return s->residual(s, b, x, relative, tested);
  KCL_TRY(kcl_in_double(s->ctx, A->type, b, A->rows, shift, &b_own, &bd));
  KCL_TRY(kcl_in_double(s->ctx, A->type, x, A->cols, shift, &x_own, &xd));
  KCL_TRY(kcl_alloc(s->ctx, A->rows, kcl_type_size(wide_of(A)), "the residual", (void **)&r));
  kcl_csr_product(A, xd, bd, r); /* r = b - A x */
  *relative = kcl_norm2(wide_of(A), r, A->rows) / kcl_norm2(wide_of(A), bd, A->rows);
  if (!(*relative < INFINITY) || !(kcl_norm_inf(A->type, x, A->cols) < INFINITY))
    *relative = INFINITY;
  if (tested) *tested = *relative;
  if (!tested || !s->scaling.row || !(*relative < INFINITY)) goto done;
  KCL_TRY(norm_of(s, wide_of(A), r, &norm_r));
  KCL_TRY(norm_of(s, wide_of(A), bd, &norm_b));
  *tested = ratio(norm_r, norm_b);
done:
  free(b_own), free(x_own), free(r);
  return rc;
}
