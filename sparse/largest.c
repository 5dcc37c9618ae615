/* The largest eigenvalue of D^-1 A for Hermitian A: a few steps of Lanczos's method in the scalar product of D, and
 * Gershgorin's bound. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>

enum { STEPS = KCL_LANCZOS_STEPS };
static const double MARGIN = 1.1; /* Ritz values lie below the eigenvalue */

typedef struct lanczos {
  const kcl_csr *A;
  const double *d;
  int w;                  /* numbers per element */
  double *v, *u, *before; /* [n, w]: the vector of this step; D^-1 A v; the vector before */
  double alpha, beta;
  const kcl_others *others; /* or NULL: A is whole */
  double *q;                /* [n, w]: their part of A v; or NULL */
} lanczos;

static double over_all(const lanczos *l, double own) {
  return l->others ? l->others->sum(l->others, own) : own;
}

/* Element i of A v: re, and im where A is complex. */
static void row_product(const lanczos *l, int64_t i, double out[2]) {
  const double *a = l->A->val, *v = l->v;
  const int32_t *col = l->A->col;
  double re = 0, im = 0;
  for (int64_t k = l->A->row_ptr[i]; k < l->A->row_ptr[i + 1]; k++) {
    const int64_t j = col[k];
    re += a[2 * k] * v[2 * j] - a[2 * k + 1] * v[2 * j + 1];
    im += a[2 * k] * v[2 * j + 1] + a[2 * k + 1] * v[2 * j];
  }
  out[0] = re, out[1] = im;
}

/* The same, real: four sums, so that additions do not wait for one another, and entries asked for ahead of time. */
static double real_row_product(const lanczos *l, int64_t i) {
  enum { AHEAD = 256 }; /* entries */
  const double *a = l->A->val, *v = l->v;
  const int32_t *col = l->A->col;
  const int64_t end = l->A->row_ptr[i + 1];
  double sum = 0;
  int64_t k = l->A->row_ptr[i];
  for (; k + 4 <= end; k += 4) {
    __builtin_prefetch(a + k + AHEAD), __builtin_prefetch(col + k + 2 * AHEAD);
    sum += (a[k] * v[col[k]] + a[k + 1] * v[col[k + 1]]) +
           (a[k + 2] * v[col[k + 2]] + a[k + 3] * v[col[k + 3]]);
  }
  for (; k < end; k++) sum += a[k] * v[col[k]];
  return sum;
}

/* u = D^-1 A v; the sum: v^H D u. */
static double multiply(const void *arg, int64_t from, int64_t to) {
  const lanczos *l = arg;
  double sum = 0, q[2];
  for (int64_t i = from; i < to; i++) {
    if (l->w == 1) {
      q[0] = real_row_product(l, i) + (l->q ? l->q[i] : 0);
      l->u[i] = q[0] * l->d[i], sum += q[0] * l->v[i];
      continue;
    }
    row_product(l, i, q);
    if (l->q) q[0] += l->q[2 * i], q[1] += l->q[2 * i + 1];
    l->u[2 * i] = q[0] * l->d[i], l->u[2 * i + 1] = q[1] * l->d[i];
    sum += q[0] * l->v[2 * i] + q[1] * l->v[2 * i + 1];
  }
  return sum;
}

/* u = u - alpha v - beta before; the sum: u^H D u. */
static double orthogonalise(const void *arg, int64_t from, int64_t to) {
  const lanczos *l = arg;
  double sum = 0;
  for (int64_t i = from; i < to; i++)
    for (int q = 0; q < l->w; q++) {
      const int64_t at = i * l->w + q;
      l->u[at] -= l->alpha * l->v[at] + (l->beta != 0 ? l->beta * l->before[at] : 0);
      sum += l->u[at] * l->u[at] / l->d[i];
    }
  return sum;
}

/* u / beta, where the next v is. */
static void step(void *arg, int64_t from, int64_t to) {
  lanczos *l = arg;
  const double factor = 1 / l->beta;
  for (int64_t at = from * l->w; at < to * l->w; at++) l->before[at] = l->u[at] * factor;
}

/* v becomes `before`, u / beta becomes v; beta is 0 in the first step. */
static void advance(lanczos *l, int64_t n, bool first) {
  double *v = l->before;
  kcl_for(n, KCL_FEW, step, l);
  l->before = l->v, l->v = v;
  if (first) l->beta = 0;
}

static double squares(const void *arg, int64_t from, int64_t to) {
  const lanczos *l = arg;
  double sum = 0;
  for (int64_t i = from; i < to; i++)
    for (int q = 0; q < l->w; q++) sum += l->u[i * l->w + q] * l->u[i * l->w + q] / l->d[i];
  return sum;
}

/* No symmetry: a hash of the number, in [-1/2, 1/2). */
static void start(void *arg, int64_t from, int64_t to) {
  lanczos *l = arg;
  const int64_t before = l->others ? l->others->first_row * l->w : 0;
  for (int64_t at = from * l->w; at < to * l->w; at++) {
    uint64_t h = ((uint64_t)(before + at) + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    l->u[at] = (double)(h >> 12) / (double)(UINT64_C(1) << 52) - 0.5;
  }
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

static double row_radius(const void *arg, int64_t from, int64_t to) {
  const lanczos *l = arg;
  double most = 0;
  for (int64_t i = from; i < to; i++) {
    double sum = l->others ? l->others->size[i] : 0;
    for (int64_t k = l->A->row_ptr[i]; k < l->A->row_ptr[i + 1]; k++)
      sum += kcl_abs(l->A->type, l->A->val, k);
    most = fmax(most, sum * fabs(l->d[i]));
  }
  return most;
}

double kcl_largest_ritz(const double *alpha, const double *beta, double bound) {
  int steps = 0;
  while (steps < STEPS && beta[steps] > 0 && beta[steps] < INFINITY) steps++;
  const double ritz = steps ? MARGIN * largest_ritz(alpha, beta, steps) : 0;
  return ritz > 0 && ritz < bound ? ritz : bound;
}

static void run(lanczos *l, int64_t n, double *alpha, double *beta) {
  kcl_for(n, KCL_FEW, start, l);
  beta[0] = l->beta = sqrt(over_all(l, kcl_sum(n, KCL_FEW, squares, l)));
  for (int k = 0; k < STEPS && l->beta > 0 && l->beta < INFINITY; k++) {
    advance(l, n, !k);
    if (l->q) l->others->multiply(l->others, l->v, l->q);
    alpha[k] = l->alpha = over_all(l, kcl_sum(n, KCL_FEW_ROWS, multiply, l));
    l->beta = sqrt(over_all(l, kcl_sum(n, KCL_FEW, orthogonalise, l)));
    if (k + 1 < STEPS) beta[k + 1] = l->beta;
  }
}

static double bound(const lanczos *l, int64_t n) {
  const double own = kcl_largest(n, KCL_FEW_ROWS, row_radius, l);
  return l->others ? l->others->largest(l->others, own) : own;
}

int kcl_sparse_largest_of_all(kcl *ctx, const kcl_csr *A, const double *d, const kcl_others *others,
                              double *out) {
  const int64_t n = A->rows;
  const int vectors = others ? 4 : 3;
  lanczos l = {.A = A, .d = d, .w = kcl_type_complex(A->type) ? 2 : 1, .others = others};
  double alpha[STEPS], beta[STEPS] = {0}, *room;
  int rc =
      kcl_alloc_unset(ctx, vectors * n * l.w, sizeof(double), "Lanczos vectors", (void **)&room);
  if (others) rc = others->agree(others, rc);
  if (rc) goto done;
  l.v = room;
  l.u = l.v + n * l.w, l.before = l.u + n * l.w, l.q = others ? l.before + n * l.w : NULL;
  run(&l, n, alpha, beta);
  *out = kcl_largest_ritz(alpha, beta, bound(&l, n));
done:
  free(room);
  return rc;
}

int kcl_sparse_largest(kcl *ctx, const kcl_csr *A, const double *d, double *out) {
  return kcl_sparse_largest_of_all(ctx, A, d, NULL, out);
}
