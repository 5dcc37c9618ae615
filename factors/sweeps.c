/* Tests of triangular factors: how large their inverse is, and how far Jacobi sweeps are from the solution of a triangular system (Anzt, Chow & Dongarra 2015). */
#include "core/matrix/level_sets.h"
#include "factors/factor.h"
#include <complex.h>

typedef double complex sweep_scalar;

typedef struct sweep_data {
  const kcl_csr *N;
  const sweep_scalar *v, *from;
  sweep_scalar *to;
} sweep_data;

static sweep_scalar sweep_row_product(const kcl_csr *N, int64_t i, const sweep_scalar *y) {
  sweep_scalar sum = 0;
  for (int64_t k = N->row_ptr[i]; k < N->row_ptr[i + 1]; k++) {
    double a[2];
    kcl_element(N->type, N->val, k, a);
    sum += (a[0] + a[1] * I) * y[N->col[k]];
  }
  return sum;
}

static void sweep_rows(void *arg, int64_t lo, int64_t hi) {
  const sweep_data *s = arg;
  for (int64_t i = lo; i < hi; i++) s->to[i] = s->v[i] - sweep_row_product(s->N, i, s->from);
}

static void solve_exactly(const kcl_csr *N, bool upper, const sweep_scalar *v, sweep_scalar *y) {
  const kcl_level_sets order = {.upper = upper};
  for (int64_t n = 0; n < N->rows; n++) {
    const int64_t i = kcl_eliminated(&order, n, N->rows);
    y[i] = v[i] - sweep_row_product(N, i, y);
  }
}

/* |a - b| / |a|; 1 and more also where there is no number. */
static double relative_distance(const sweep_scalar *a, const sweep_scalar *b, int64_t n) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    const sweep_scalar d = a[i] - b[i];
    off += creal(d * conj(d)), size += creal(a[i] * conj(a[i]));
  }
  return off == 0 ? 0 : off < INFINITY && size > 0 ? sqrt(off / size) : INFINITY;
}

int kcl_factors_growth(kcl_context *ctx, const kcl_factors *f, double *out) {
  const int64_t n = f->L->rows;
  KCL_OWNED sweep_scalar *v = NULL, *y = NULL;
  KCL_CALL(kcl_alloc(ctx, n, sizeof *v, "a test of factors", (void **)&v));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *y, "a test of factors", (void **)&y));
  for (int64_t i = 0; i < n; i++) v[i] = 1;
  solve_exactly(f->L, false, v, y);
  for (int64_t i = 0; i < n; i++) {
    double d[2];
    kcl_element(f->L->type, f->d, i, d);
    y[i] *= d[0] + d[1] * I;
  }
  solve_exactly(f->U, true, y, v);
  *out = kcl_norm_inf(KCL_Z, v, n);
  if (isnan(*out)) *out = INFINITY;
  return KCL_OK;
}

int kcl_sweep_errors(kcl_context *ctx, const kcl_csr *N, bool upper, const double *v_, double *y_,
                     double error[KCL_MOST_SWEEPS + 1]) {
  const sweep_scalar *v = (const sweep_scalar *)v_;
  const int64_t n = N->rows;
  sweep_scalar *y = (sweep_scalar *)y_;
  KCL_OWNED sweep_scalar *both = NULL;
  KCL_CALL(kcl_alloc(ctx, 2 * n, sizeof *both, "sweeps", (void **)&both));
  solve_exactly(N, upper, v, y);
  error[0] = relative_distance(y, v, n);
  const sweep_scalar *from = v;
  for (int s = 1; s <= KCL_MOST_SWEEPS; s++) {
    sweep_scalar *to = both + s % 2 * n;
    kcl_for(n, KCL_FEW_ROWS, sweep_rows, &(sweep_data){N, v, from, to});
    error[s] = relative_distance(y, to, n);
    from = to;
  }
  return KCL_OK;
}
