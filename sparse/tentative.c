/* Prolongation of smoothed aggregation (Vanek, Mandel & Brezina 1996): T reproduces near-null vectors within each aggregate,
 * and a step of Jacobi's method smooths its columns,
 *
 *   P = (I - omega D^-1 A_F) T        omega = 4/3 / lambda(D^-1 A_F)
 *
 * A_F: A without the weak couplings of nodes, which are added to the diagonal. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- T: B restricted to an aggregate, orthonormal */

typedef struct splitting {
  const kcl_aggregation *g;
  const double *B; /* [rows, k] */
  int64_t *start;  /* [count + 1] of the aggregates in `member` */
  int32_t *member; /* their nodes, ascending */
  kcl_csr *T;
  double *coarse; /* [count k, k] */
  _Atomic bool failed;
} splitting;

static void list_members(const splitting *s, int64_t nodes) {
  const int32_t *a = s->g->aggregate;
  for (int64_t i = 0; i < nodes; i++)
    if (a[i] >= 0) s->start[a[i] + 1]++;
  for (int64_t c = 0; c < s->g->count; c++) s->start[c + 1] += s->start[c];
  for (int64_t i = 0; i < nodes; i++)
    if (a[i] >= 0) s->member[s->start[a[i]]++] = (int32_t)i;
  for (int64_t c = s->g->count; c > 0; c--) s->start[c] = s->start[c - 1];
  s->start[0] = 0;
}

static double product(const double *x, const double *y, int64_t m) {
  double sum = 0;
  for (int64_t i = 0; i < m; i++) sum += x[i] * y[i];
  return sum;
}

/* q = q - (q_l . q) q_l for the columns before, twice; R's column r gets the coefficients. The norm that is left. */
static double orthogonalise(double *Q, int64_t m, int column, double *r) {
  double *q = Q + column * m;
  for (int pass = 0; pass < 2; pass++)
    for (int l = 0; l < column; l++) {
      const double c = product(Q + l * m, q, m);
      for (int64_t i = 0; i < m; i++) q[i] -= c * Q[l * m + i];
      r[l] += c;
    }
  return sqrt(product(q, q, m));
}

/* A column that depends on those before is replaced by a unit vector that does not. */
static void complete(double *Q, int64_t m, int column) {
  double *q = Q + column * m, none[KCL_MOST_NEAR_NULL], size = 0;
  for (int64_t unit = 0; unit < m && size < 0.1; unit++) {
    for (int64_t i = 0; i < m; i++) q[i] = i == unit;
    size = orthogonalise(Q, m, column, none);
  }
  for (int64_t i = 0; i < m; i++) q[i] /= size;
}

/* Gram and Schmidt: Q [m, k] by columns becomes orthonormal, R [k, k] by rows. */
static void orthonormal(double *Q, int64_t m, int k, double *R) {
  for (int j = 0; j < k; j++) {
    double r[KCL_MOST_NEAR_NULL] = {0};
    const double before = sqrt(product(Q + j * m, Q + j * m, m)), left = orthogonalise(Q, m, j, r);
    const bool new = left > 1e-8 * before;
    for (int64_t i = 0; i < m && new; i++) Q[j * m + i] /= left;
    if (!new) complete(Q, m, j);
    for (int l = 0; l < j; l++) R[l * k + j] = r[l];
    R[j * k + j] = new ? left : 0;
  }
}

static void one_aggregate(splitting *s, int64_t c) {
  const int k = s->g->vectors, b = s->g->block;
  const int64_t first = s->start[c], m = (s->start[c + 1] - first) * b;
  double *Q = malloc((size_t)(m * k) * sizeof *Q);
  if (!Q) {
    s->failed = true;
    return;
  }
  for (int64_t i = 0; i < m; i++) {
    const int64_t row = (int64_t)s->member[first + i / b] * b + i % b;
    for (int j = 0; j < k; j++) Q[j * m + i] = s->B[row * k + j];
  }
  orthonormal(Q, m, k, s->coarse + c * k * k);
  for (int64_t i = 0; i < m; i++) {
    const int64_t row = (int64_t)s->member[first + i / b] * b + i % b, at = s->T->row_ptr[row];
    for (int j = 0; j < k; j++)
      s->T->col[at + j] = (int32_t)(c * k + j), ((double *)s->T->val)[at + j] = Q[j * m + i];
  }
  free(Q);
}

static void aggregates(void *arg, int64_t from, int64_t to) {
  for (int64_t c = from; c < to; c++) one_aggregate(arg, c);
}

/* Rows of nodes without an aggregate are empty. */
static int shape(kcl *ctx, const kcl_aggregation *g, int64_t rows, kcl_csr **out) {
  int64_t nnz = 0;
  for (int64_t i = 0; i < rows; i++) nnz += g->aggregate[i / g->block] >= 0 ? g->vectors : 0;
  int rc = kcl_csr_create(ctx, rows, g->count * g->vectors, nnz, KCL_D, out);
  for (int64_t i = 0; i < rows && !rc; i++)
    (*out)->row_ptr[i + 1] =
        (*out)->row_ptr[i] + (g->aggregate[i / g->block] >= 0 ? g->vectors : 0);
  return rc;
}

int kcl_sparse_tentative(kcl *ctx, const kcl_aggregation *g, int64_t rows, const double *B,
                         kcl_csr **T, double **coarse) {
  const int64_t nodes = rows / g->block, k = g->vectors;
  splitting s = {.g = g, .B = B};
  int rc;
  *T = NULL, *coarse = NULL;
  KCL_TRY(shape(ctx, g, rows, &s.T));
  KCL_TRY(kcl_alloc(ctx, g->count + 1, sizeof *s.start, "aggregates", (void **)&s.start));
  KCL_TRY(kcl_alloc(ctx, nodes, sizeof *s.member, "aggregates", (void **)&s.member));
  KCL_TRY(kcl_alloc(ctx, g->count * k * k, sizeof(double), "coarse vectors", (void **)coarse));
  s.coarse = *coarse;
  list_members(&s, nodes);
  kcl_for(g->count, KCL_FEW_ROWS / 8, aggregates, &s);
  if (s.failed) KCL_TRY(kcl_fail(ctx, KCL_MEMORY, "out of memory: aggregates"));
  *T = s.T, s.T = NULL;
done:
  kcl_csr_free(&s.T), free(s.start), free(s.member);
  if (rc) free(*coarse), *coarse = NULL;
  return rc;
}

/* ---------------------------------------------------------------- smoothing */

typedef struct filtering {
  const kcl_csr *A, *S;
  int block;
  double *d, omega; /* [rows] 1 / diagonal of A_F */
} filtering;

static bool kept(const filtering *f, int64_t node, int64_t other) {
  const int32_t *col = f->S->col;
  int64_t lo = f->S->row_ptr[node], hi = f->S->row_ptr[node + 1];
  while (lo < hi) {
    const int64_t middle = (lo + hi) / 2;
    if (col[middle] < other)
      lo = middle + 1;
    else
      hi = middle;
  }
  return node == other || (lo < f->S->row_ptr[node + 1] && col[lo] == other);
}

/* A_F, the diagonal of which is never left out. */
static void filtered_row(void *arg, kcl_rows *r, int64_t i) {
  const filtering *f = arg;
  const kcl_csr *A = f->A;
  const double *a = A->val;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (kept(f, i / f->block, A->col[k] / f->block))
      kcl_row_add(r, A->col[k], a[k]);
    else
      kcl_row_add(r, (int32_t)i, a[k]);
  kcl_row_put(r);
}

static void invert_diagonal(void *arg, int64_t from, int64_t to) {
  const filtering *f = arg;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = f->A->row_ptr[i]; k < f->A->row_ptr[i + 1]; k++)
      if (f->A->col[k] == i) f->d[i] = 1 / ((const double *)f->A->val)[k];
}

static void smoothing_rows(void *arg, int64_t from, int64_t to) {
  const filtering *f = arg;
  double *a = f->A->val;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = f->A->row_ptr[i]; k < f->A->row_ptr[i + 1]; k++)
      a[k] = (f->A->col[k] == i) - f->omega * f->d[i] * a[k];
}

int kcl_sparse_smoothed(kcl *ctx, const kcl_csr *A, const kcl_csr *S, int block, const kcl_csr *T,
                        kcl_csr **P) {
  filtering f = {.A = A, .S = S, .block = block};
  kcl_csr *F = NULL;
  double lambda;
  int rc;
  *P = NULL;
  KCL_TRY(kcl_alloc(ctx, A->rows, sizeof *f.d, "a smoother", (void **)&f.d));
  KCL_TRY(kcl_rows_make(ctx, A->rows, A->cols, KCL_D, filtered_row, &f, NULL, &F));
  f.A = F;
  kcl_for(A->rows, KCL_FEW_ROWS, invert_diagonal, &f);
  for (int64_t i = 0; i < A->rows; i++)
    if (!(f.d[i] > 0 && f.d[i] < INFINITY)) goto unsmoothed;
  KCL_TRY(kcl_sparse_largest(ctx, F, f.d, &lambda));
  f.omega = 4.0 / 3 / lambda;
  kcl_for(A->rows, KCL_FEW_ROWS, smoothing_rows, &f);
  KCL_TRY(kcl_sparse_product(ctx, F, T, P));
  goto done;
unsmoothed: /* what is left of a diagonal entry is not positive: T itself */
  rc = kcl_csr_convert(ctx, T, KCL_D, P);
done:
  free(f.d), kcl_csr_free(&F);
  return rc;
}
