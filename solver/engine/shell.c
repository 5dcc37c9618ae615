/* Computations with a matrix without entries: its products alone, its norm, residuals. */
#include "solver/engine/given.h"

kcl_stats kcl_shell_stats(const kcl_shell *A) {
  const bool hermitian = A->properties & KCL_SHELL_HERMITIAN;
  return (kcl_stats){.rows = A->rows,
                     .cols = A->cols,
                     .hermitian = hermitian,
                     .symmetric = hermitian && !kcl_type_complex(A->type),
                     .asymmetry = hermitian ? 0 : INFINITY,
                     .positive_diagonal = A->properties & KCL_SHELL_POSITIVE,
                     .first_zero_row = -1,
                     .first_zero_col = -1};
}

/* A, or A^H. On ranks its programs are in step with those of the others. */
static int make_stored(const kcl_system *s, bool adjoint, kcl_stored **out) {
  const int rc = kcl_stored_of_shell(s->ctx, s->shell, adjoint, out);
  if (!rc) (*out)->halo = s->halo;
  return rc;
}

int kcl_shell_make_products(kcl_system *s) {
  KCL_CALL(kcl_alloc(s->ctx, 1, sizeof *s->products, "products", (void **)&s->products));
  KCL_CALL(make_stored(s, false, &s->shared[0]));
  KCL_CALL(kcl_engine_product(s->shared[0], 1, &s->products->of[0]));
  if (s->hermitian)
    s->shared[1] = kcl_stored_share(s->shared[0]);
  else if (kcl_system_has_adjoint(s))
    KCL_CALL(make_stored(s, true, &s->shared[1]));
  return KCL_OK;
}

void kcl_shell_free_products(kcl_system *s) {
  for (int i = 0; s->products && i < 2; i++) kcl_engine_free(&s->products->of[i]);
  free(s->products);
  s->products = NULL;
}

/* -1 and 1 without structure (xorshift, Marsaglia 2003). */
static void fill_signs(double *v, int64_t n, uint64_t *state) {
  for (int64_t i = 0; i < n; i++) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    v[i] = *state >> 63 ? 1 : -1;
  }
}

/* |A z|^2 of random signs z is |A|_F^2 in the mean (Hutchinson 1990): the mean of PROBES. Ranks have signs of their own. */
static int estimate_norm_F(const kcl_system *s, double *out) {
  enum { PROBES = 3 };
  const kcl_csr *A = s->A;
  const kcl_type wide = kcl_wide_type(A->type);
  kcl_ranks *ranks = kcl_system_ranks(s);
  KCL_OWNED double *z = NULL, *y = NULL;
  double sum = 0;
  uint64_t state = 88172645463325252u + (ranks ? (uint64_t)ranks->first_row << 20 : 0);
  int rc = kcl_alloc(s->ctx, A->cols, sizeof *z, "a vector", (void **)&z);
  if (!rc) rc = kcl_alloc(s->ctx, A->rows, kcl_type_size(wide), "a vector", (void **)&y);
  KCL_CALL(kcl_ranks_agree(ranks, rc));
  for (int i = 0; i < PROBES; i++) {
    fill_signs(z, A->cols, &state);
    KCL_CALL(kcl_ranks_agree(ranks, kcl_engine_multiply(s->products->of[0], KCL_D, z, 1, y)));
    sum = hypot(sum, kcl_ranks_norm(ranks, wide, y, A->rows));
  }
  sum /= sqrt(PROBES);
  *out = sum > 0 && sum < INFINITY ? sum : 1;
  return KCL_OK;
}

int kcl_shell_prepare_least(const kcl_system *s) {
  kcl_products_of_shell *p = s->products;
  int rc = KCL_OK;
  if (!s->hermitian && !p->of[1]) rc = kcl_engine_product(s->shared[1], 1, &p->of[1]);
  rc = kcl_ranks_agree(kcl_system_ranks(s), rc);
  return rc || p->norm_F > 0 ? rc : estimate_norm_F(s, &p->norm_F);
}

static void subtract_from_b(void *arg, int64_t from, int64_t to) {
  const kcl_host_residual *q = arg;
  for (int64_t i = from; i < to; i++) q->r[i] = q->b[i] - q->r[i];
}

int kcl_shell_residual(const kcl_system *s, const kcl_host_residual *q, double *relative) {
  const int64_t n = q->A->rows;
  const double x_inf = kcl_ranks_largest(q->ranks, kcl_norm_inf(q->type, q->x, q->A->cols));
  int rc = kcl_engine_multiply(s->products->of[0], q->type, q->x, 1, q->r);
  if ((rc = kcl_ranks_agree(q->ranks, rc))) return rc;
  kcl_for(kcl_type_complex(q->type) ? 2 * n : n, KCL_FEW, subtract_from_b, (void *)(uintptr_t)q);
  const double norm = kcl_ratio(kcl_ranks_norm(q->ranks, q->type, q->r, n),
                                kcl_ranks_norm(q->ranks, q->type, q->b, n));
  *relative = x_inf < INFINITY ? kcl_nan_to_infinity(norm) : INFINITY;
  return KCL_OK;
}
