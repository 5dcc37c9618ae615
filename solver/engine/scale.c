/* Powers of two applied: to values, to vectors, to norms. */
#include "solver/engine/scale.h"
#include <limits.h>

typedef struct scaling {
  const kcl_scaling *s;
  const kcl_csr *A;
  kcl_type type;
  void *v;
  const int *power;
  int sign, shift;
} scaling;

static void put_scaled_element(kcl_type to, void *y, kcl_type from, const void *x, int64_t i,
                               int power) {
  double z[2];
  kcl_element(from, x, i, z);
  z[0] = ldexp(z[0], power), z[1] = ldexp(z[1], power);
  kcl_set_element(to, y, i, z);
}

static void scale_rows(void *arg, int64_t from, int64_t to) {
  const scaling *c = arg;
  const kcl_csr *A = c->A;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      put_scaled_element(c->type, c->v, A->type, A->val, k,
                         c->s->row[i] + c->s->col[A->col[k]] + c->s->unit);
}

void kcl_scale_values(const kcl_scaling *s, const kcl_csr *A, kcl_type type, void *values) {
  scaling c = {.s = s, .A = A, .type = type, .v = values};
  if (s->row)
    kcl_for(A->rows, KCL_FEW_ROWS, scale_rows, &c);
  else
    kcl_copy(type, values, A->type, A->val, A->nnz, ldexp(1, s->unit));
}

static void scale_part(void *arg, int64_t from, int64_t to) {
  const scaling *c = arg;
  for (int64_t i = from; i < to; i++)
    put_scaled_element(c->type, c->v, c->type, c->v, i,
                       c->shift + (c->power ? c->sign * c->power[i] : 0));
}

void kcl_scale_vector(kcl_type t, void *v, int64_t n, const int *power, int sign, int shift) {
  scaling c = {.type = t, .v = v, .power = power, .sign = sign, .shift = shift};
  if (power || shift) kcl_for(n, KCL_FEW, scale_part, &c);
}

/* The largest ilogb |v_i| + power_i; INT_MIN where all v_i are 0. NaN and infinities count as 1024. */
static int largest_scaled_exponent(kcl_type t, const void *v, int64_t n, const int *power) {
  int most = INT_MIN;
  for (int64_t i = 0; i < n; i++) {
    const double a = kcl_abs(t, v, i);
    if (a == 0) continue;
    const int e = (a < INFINITY ? ilogb(a) : 1024) + power[i];
    if (e > most) most = e;
  }
  return most;
}

int kcl_norm_scaled(kcl_context *ctx, kcl_ranks *ranks, kcl_type t, const void *v, int64_t n,
                    const int *power, kcl_scaled_norm *out) {
  const kcl_type wide = kcl_wide_type(t);
  const int most = (int)kcl_ranks_largest(ranks, largest_scaled_exponent(t, v, n, power));
  KCL_OWNED void *copy = NULL;
  int e;
  *out = (kcl_scaled_norm){.norm = 0};
  if (most == INT_MIN) return KCL_OK;
  KCL_CALL(kcl_ranks_agree(ranks, kcl_alloc(ctx, n, kcl_type_size(wide), "a vector", &copy)));
  kcl_copy(wide, copy, t, v, n, 1);
  kcl_scale_vector(wide, copy, n, power, 1, -most);
  out->norm = frexp(kcl_ranks_norm(ranks, wide, copy, n), &e);
  out->shift = -most - e;
  return KCL_OK;
}
