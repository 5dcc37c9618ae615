/* The largest eigenvalue of D^-1 A for Hermitian A: a few steps of Lanczos's method in the scalar product of D, and
 * Gershgorin's bound. */
#include "sparse/sparse.h"

enum { LANCZOS_STEPS = KCL_LANCZOS_STEPS };
static const double MARGIN = 1.1; /* Ritz values lie below the eigenvalue */

typedef struct host_lanczos {
  const kcl_csr *A;
  const double *d;
  int w; /* numbers per element */
  /* [n, w]: scale v is the vector of this step, scale_before u the previous one; u becomes the next one */
  double *v, *u;
  double scale, scale_before, alpha, beta; /* beta: of the step before; 0: there was none */
  const kcl_others *others;                /* or NULL: A is whole */
  double *q;                               /* [n, w]: their part of A v; or NULL */
  _Atomic int64_t *radius; /* of the first step: bits of the largest of Gershgorin's; else NULL */
} host_lanczos;

static double over_all(const host_lanczos *l, double own) {
  return l->others ? l->others->sum(l->others, own) : own;
}

/* Element i of A scale v: re, and im where A is complex. */
static void lanczos_row_product(const host_lanczos *l, int64_t i, double out[2]) {
  const double *a = l->A->val, *v = l->v, scale = l->scale;
  const int32_t *col = l->A->col;
  double re = 0, im = 0;
  for (int64_t k = l->A->row_ptr[i]; k < l->A->row_ptr[i + 1]; k++) {
    const double x = scale * v[2 * (int64_t)col[k]], y = scale * v[2 * (int64_t)col[k] + 1];
    re += a[2 * k] * x - a[2 * k + 1] * y;
    im += a[2 * k] * y + a[2 * k + 1] * x;
  }
  out[0] = re, out[1] = im;
}

/* As lanczos_row_product for real A: four entries at a time, so that additions do not wait for one another, and prefetched. */
static double real_row_product(const host_lanczos *l, int64_t i) {
  enum { ENTRIES_AHEAD = 256 }; /* entries */
  const double *a = l->A->val, *v = l->v, scale = l->scale;
  const int32_t *col = l->A->col;
  const int64_t end = l->A->row_ptr[i + 1];
  double sum = 0;
  int64_t k = l->A->row_ptr[i];
  for (; k + 4 <= end; k += 4) {
    __builtin_prefetch(a + k + ENTRIES_AHEAD), __builtin_prefetch(col + k + 2 * ENTRIES_AHEAD);
    sum += (a[k] * (scale * v[col[k]]) + a[k + 1] * (scale * v[col[k + 1]])) +
           (a[k + 2] * (scale * v[col[k + 2]]) + a[k + 3] * (scale * v[col[k + 3]]));
  }
  for (; k < end; k++) sum += a[k] * (scale * v[col[k]]);
  return sum;
}

static double row_radius(const host_lanczos *l, int64_t i) {
  double sum = l->others ? l->others->size[i] : 0;
  for (int64_t k = l->A->row_ptr[i]; k < l->A->row_ptr[i + 1]; k++)
    sum += kcl_abs(l->A->type, l->A->val, k);
  return sum * fabs(l->d[i]);
}

/* Row i of u = D^-1 A scale v - beta scale_before u; its part of (scale v)^H A scale v. */
static inline double lanczos_row(const host_lanczos *l, int64_t i) {
  double q[2], sum = 0;
  if (l->w == 1)
    q[0] = real_row_product(l, i);
  else
    lanczos_row_product(l, i, q);
  for (int p = 0; p < l->w; p++) {
    const int64_t at = i * l->w + p;
    if (l->q) q[p] += l->scale * l->q[at];
    const double before = l->beta != 0 ? l->beta * (l->scale_before * l->u[at]) : 0;
    l->u[at] = q[p] * l->d[i] - before, sum += q[p] * (l->scale * l->v[at]);
  }
  return sum;
}

/* Rows [from, to) of a step; in the first step also the radii, while rows are in the cache. A local copy of l, which stores cannot
 * change, stays in registers. */
static double lanczos_multiply(const void *arg, int64_t from, int64_t to) {
  const host_lanczos l = *(const host_lanczos *)arg;
  double sum = 0, most = 0;
  for (int64_t i = from; i < to; i++) {
    const double radius = l.radius ? row_radius(&l, i) : 0;
    sum += lanczos_row(&l, i);
    most = radius > most ? radius : most;
  }
  if (l.radius) kcl_raise(l.radius, kcl_bits(most));
  return sum;
}

/* u = u - alpha scale v; the sum: u^H D u. */
static double lanczos_orthogonalise(const void *arg, int64_t from, int64_t to) {
  const host_lanczos copy = *(const host_lanczos *)arg, *l = &copy;
  double sum = 0;
  for (int64_t i = from; i < to; i++)
    for (int64_t at = i * l->w; at < (i + 1) * l->w; at++) {
      l->u[at] -= l->alpha * (l->scale * l->v[at]);
      sum += l->u[at] * l->u[at] / l->d[i];
    }
  return sum;
}

/* u / beta is the vector of the next step. */
static void advance(host_lanczos *l, double beta) {
  double *before = l->v;
  l->scale_before = l->scale, l->scale = 1 / beta;
  l->v = l->u, l->u = before;
}

/* The first vector, which must have no symmetry: u_i is a hash of i in [-1/2, 1/2). The sum: u^H D u. */
static double lanczos_start(const void *arg, int64_t from, int64_t to) {
  const host_lanczos *l = arg;
  const int64_t before = l->others ? l->others->first_row * l->w : 0;
  double sum = 0;
  for (int64_t i = from; i < to; i++)
    for (int64_t at = i * l->w; at < (i + 1) * l->w; at++) {
      uint64_t h = ((uint64_t)(before + at) + 1) * 0x9e3779b97f4a7c15u;
      h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
      l->u[at] = (double)(h >> 12) / (double)(UINT64_C(1) << 52) - 0.5;
      sum += l->u[at] * l->u[at] / l->d[i];
    }
  return sum;
}

/* The largest eigenvalue of the tridiagonal matrix, by bisection with Sturm's sequence. */
static double largest_ritz(const double *alpha, const double *beta, int steps) {
  double lo = alpha[0], hi = alpha[0];
  for (int k = 0; k < steps; k++) {
    const double radius = (k ? beta[k] : 0) + (k + 1 < steps ? beta[k + 1] : 0);
    lo = fmax(lo, alpha[k]), hi = fmax(hi, alpha[k] + radius);
  }
  for (int n = 0; n < 60; n++) {
    const double middle = (lo + hi) / 2;
    double q = 1;
    int above = 0;
    for (int k = 0; k < steps; k++) {
      q = alpha[k] - middle - (k ? beta[k] * beta[k] / (q != 0 ? q : 1e-300) : 0);
      above += q > 0;
    }
    *(above ? &lo : &hi) = middle;
  }
  return hi;
}

double kcl_largest_ritz(const double *alpha, const double *beta, double bound) {
  int steps = 0;
  while (steps < LANCZOS_STEPS && beta[steps] > 0 && beta[steps] < INFINITY) steps++;
  const double ritz = steps ? MARGIN * largest_ritz(alpha, beta, steps) : 0;
  return ritz > 0 && ritz < bound ? ritz : bound;
}

/* Lanczos steps; Ritz values grow with every step, so they end where the bound is reached. */
static double run_lanczos(host_lanczos *l, int64_t n) {
  double alpha[LANCZOS_STEPS], beta[LANCZOS_STEPS] = {0}, most = 0, largest = 0;
  double next = beta[0] = sqrt(over_all(l, kcl_sum(n, KCL_FEW, lanczos_start, l)));
  for (int k = 0; k < LANCZOS_STEPS && (!k || (next > 0 && next < INFINITY)); k++) {
    l->beta = k ? next : 0;
    advance(l, next);
    if (l->q) l->others->multiply(l->others, l->v, l->q);
    alpha[k] = l->alpha = over_all(l, kcl_sum(n, KCL_FEW_ROWS, lanczos_multiply, l));
    if (!k) most = kcl_of_bits(*l->radius), l->radius = NULL;
    if (!k && l->others) most = l->others->largest(l->others, most);
    largest = kcl_largest_ritz(alpha, beta, most);
    if (k + 1 == LANCZOS_STEPS || !(largest < most)) break;
    next = beta[k + 1] = sqrt(over_all(l, kcl_sum(n, KCL_FEW, lanczos_orthogonalise, l)));
  }
  return largest;
}

int kcl_sparse_largest_of_all(kcl_context *ctx, const kcl_csr *A, const double *d,
                              const kcl_others *others, double *out) {
  const int64_t n = A->rows;
  const int vectors = others ? 3 : 2;
  _Atomic int64_t radius = 0;
  host_lanczos l = {
      .A = A, .d = d, .w = kcl_type_complex(A->type) ? 2 : 1, .others = others, .radius = &radius};
  KCL_OWNED double *basis = NULL;
  const int rc =
      kcl_alloc_unset(ctx, vectors * n * l.w, sizeof(double), "Lanczos vectors", (void **)&basis);
  KCL_CALL(others ? others->agree(others, rc) : rc);
  l.v = basis;
  l.u = l.v + n * l.w, l.q = others ? l.u + n * l.w : NULL;
  *out = run_lanczos(&l, n);
  return KCL_OK;
}

int kcl_sparse_largest(kcl_context *ctx, const kcl_csr *A, const double *d, double *out) {
  return kcl_sparse_largest_of_all(ctx, A, d, NULL, out);
}
