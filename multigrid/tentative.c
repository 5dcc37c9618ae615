/* Prolongation of smoothed aggregation (Vanek, Mandel & Brezina 1996): T reproduces near-null vectors within each aggregate,
 * and a step of Jacobi's method smooths its columns,
 *
 *   P = (I - omega D^-1 A_F) T        omega = 4/3 / lambda(D^-1 A)
 *
 * A_F: A without the weak couplings of nodes, which are added to the diagonal. */
#include "multigrid/coarsen.h"

/* ---------------------------------------------------------------- T: B restricted to an aggregate, orthonormal */

typedef struct basis_splitting {
  const kcl_aggregation *g;
  const double *B;       /* [rows, k]; NULL: ones */
  const int64_t *start;  /* [count + 1] of the aggregates in `member` */
  const int32_t *member; /* their nodes, ascending */
  kcl_csr *T;
  double *coarse; /* [count k, k] */
  _Atomic bool failed;
} basis_splitting;

static double dot_product(const double *x, const double *y, int64_t m) {
  double sum = 0;
  for (int64_t i = 0; i < m; i++) sum += x[i] * y[i];
  return sum;
}

/* q = q - (q_l . q) q_l for the columns before, twice; R's column r gets the coefficients. The norm that is left. */
static double orthogonalise_column(double *Q, int64_t m, int column, double *r) {
  double *q = Q + column * m;
  for (int pass = 0; pass < 2; pass++)
    for (int l = 0; l < column; l++) {
      const double c = dot_product(Q + l * m, q, m);
      for (int64_t i = 0; i < m; i++) q[i] -= c * Q[l * m + i];
      r[l] += c;
    }
  return sqrt(dot_product(q, q, m));
}

/* A column that depends on those before is replaced by a unit vector that does not. */
static void complete_basis(double *Q, int64_t m, int column) {
  double *q = Q + column * m, none[KCL_MOST_NEAR_NULL], size = 0;
  for (int64_t unit = 0; unit < m && size < 0.1; unit++) {
    for (int64_t i = 0; i < m; i++) q[i] = i == unit;
    size = orthogonalise_column(Q, m, column, none);
  }
  for (int64_t i = 0; i < m; i++) q[i] /= size;
}

/* Gram and Schmidt: Q [m, k] by columns becomes orthonormal, R [k, k] by rows. */
static void orthonormal(double *Q, int64_t m, int k, double *R) {
  for (int j = 0; j < k; j++) {
    double r[KCL_MOST_NEAR_NULL] = {0};
    const double before = sqrt(dot_product(Q + j * m, Q + j * m, m)),
                 left = j ? orthogonalise_column(Q, m, j, r) : before;
    const bool new = left > 1e-8 * before;
    for (int64_t i = 0; i < m && new; i++) Q[j * m + i] /= left;
    if (!new) complete_basis(Q, m, j);
    for (int l = 0; l < j; l++) R[l * k + j] = r[l];
    R[j * k + j] = new ? left : 0;
  }
}

/* Q [m, k] by columns is B on the m rows of aggregate c. */
static void gather_aggregate(const basis_splitting *s, int64_t c, double *Q, int64_t m) {
  const int k = s->g->vectors, b = s->g->block;
  for (int64_t i = 0, at = s->start[c]; i < m; at++)
    for (int64_t row = (int64_t)s->member[at] * b, end = row + b; row < end; row++, i++)
      for (int j = 0; j < k; j++) Q[j * m + i] = s->B[row * k + j];
}

static void scatter_aggregate(const basis_splitting *s, int64_t c, const double *Q, int64_t m) {
  const int k = s->g->vectors, b = s->g->block;
  for (int64_t i = 0, at = s->start[c]; i < m; at++)
    for (int64_t row = (int64_t)s->member[at] * b, end = row + b; row < end; row++, i++) {
      const int64_t to = s->T->row_ptr[row];
      for (int j = 0; j < k; j++)
        s->T->col[to + j] = (int32_t)(c * k + j), ((double *)s->T->val)[to + j] = Q[j * m + i];
    }
}

static void aggregates(void *arg, int64_t from, int64_t to) {
  basis_splitting *s = arg;
  const int k = s->g->vectors;
  int64_t most = 0;
  for (int64_t c = from; c < to; c++)
    most = s->start[c + 1] - s->start[c] > most ? s->start[c + 1] - s->start[c] : most;
  double *Q = malloc((size_t)(most * s->g->block * k) * sizeof *Q + 1);
  if (!Q) s->failed = true;
  for (int64_t c = from; Q && c < to; c++) {
    const int64_t m = (s->start[c + 1] - s->start[c]) * s->g->block;
    gather_aggregate(s, c, Q, m);
    orthonormal(Q, m, k, s->coarse + c * k * k);
    scatter_aggregate(s, c, Q, m);
  }
  free(Q);
}

static double near_null_element(const basis_splitting *s, int64_t i) { return s->B ? s->B[i] : 1; }

/* A single vector of rows: its norms on the aggregates. False: it is zero on one. */
static bool norms_of_aggregates(const basis_splitting *s, int64_t rows) {
  const int32_t *aggregate = s->g->aggregate;
  bool all = true;
  for (int64_t i = 0; i < rows; i++)
    if (aggregate[i] >= 0)
      s->coarse[aggregate[i]] += near_null_element(s, i) * near_null_element(s, i);
  for (int64_t c = 0; c < s->g->count; c++)
    s->coarse[c] = sqrt(s->coarse[c]), all &= s->coarse[c] > 0;
  return all;
}

static void divide_by_norms(void *arg, int64_t from, int64_t to) {
  const basis_splitting *s = arg;
  for (int64_t i = from; i < to; i++) {
    const int32_t c = s->g->aggregate[i];
    const int64_t at = s->T->row_ptr[i];
    if (c >= 0)
      s->T->col[at] = c, ((double *)s->T->val)[at] = near_null_element(s, i) / s->coarse[c];
  }
}

static int split_near_null(kcl_context *ctx, basis_splitting *s, int64_t nodes) {
  const kcl_aggregation *g = s->g;
  KCL_OWNED int64_t *start = NULL;
  KCL_OWNED int32_t *member = NULL;
  if (g->vectors == 1 && g->block == 1 && norms_of_aggregates(s, nodes)) {
    kcl_for(nodes, KCL_FEW_ROWS, divide_by_norms, s);
    return KCL_OK;
  }
  KCL_CALL(kcl_alloc(ctx, g->count + 1, sizeof *start, "aggregates", (void **)&start));
  KCL_CALL(kcl_alloc_unset(ctx, nodes, sizeof *member, "aggregates", (void **)&member));
  kcl_sparse_members(nodes, g->aggregate, g->count, start, member);
  s->start = start, s->member = member;
  kcl_for(g->count, KCL_FEW_ROWS / 8, aggregates, s);
  return s->failed ? kcl_fail(ctx, KCL_MEMORY, "out of memory: aggregates") : KCL_OK;
}

typedef struct shaping {
  const kcl_aggregation *g;
  int64_t *length; /* [rows] */
} shaping;

static void count_node_rows(void *arg, int64_t from, int64_t to) {
  const shaping *s = arg;
  for (int64_t node = from; node < to; node++)
    for (int q = 0; q < s->g->block; q++)
      s->length[node * s->g->block + q] = s->g->aggregate[node] >= 0 ? s->g->vectors : 0;
}

/* Rows of nodes without an aggregate are empty. */
static int shape_tentative(kcl_context *ctx, const kcl_aggregation *g, int64_t rows,
                           kcl_csr **out) {
  KCL_CALL(kcl_csr_create(ctx, rows, g->count * g->vectors, 0, KCL_D, out));
  kcl_for(rows / g->block, KCL_FEW_ROWS, count_node_rows, &(shaping){g, (*out)->row_ptr + 1});
  return kcl_sparse_shape(ctx, *out);
}

int kcl_amg_tentative(kcl_context *ctx, const kcl_aggregation *g, int64_t rows, const double *B,
                      kcl_csr **T, double **coarse) {
  const int64_t numbers = g->count * g->vectors * g->vectors;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL;
  KCL_OWNED double *vectors = NULL;
  *T = NULL, *coarse = NULL;
  KCL_CALL(shape_tentative(ctx, g, rows, &C));
  KCL_CALL(kcl_alloc(ctx, numbers, sizeof *vectors, "coarse vectors", (void **)&vectors));
  basis_splitting s = {.g = g, .B = B, .T = C, .coarse = vectors};
  KCL_CALL(split_near_null(ctx, &s, rows / g->block));
  *T = C, C = NULL;
  *coarse = vectors, vectors = NULL;
  return KCL_OK;
}

/* ---------------------------------------------------------------- smoothing */

typedef struct smoothing_data {
  const kcl_csr *A, *S, *T; /* S NULL: A_F is A */
  int block;
  double omega;
} smoothing_data;

/* Walks row i of A along the row of its node in S: is the next entry, of column j, an entry of A_F? */
typedef struct graph_walk {
  const int32_t *strong, *end;
  int64_t own, block; /* the first row of the node */
} graph_walk;

static graph_walk walk_along(const smoothing_data *f, int64_t i) {
  if (!f->S) return (graph_walk){0};
  const int32_t node = (int32_t)i / f->block, *col = f->S->col;
  return (graph_walk){col + f->S->row_ptr[node], col + f->S->row_ptr[node + 1],
                      (int64_t)node * f->block, f->block};
}

static bool is_kept(graph_walk *w, int64_t j) {
  while (w->strong < w->end && (*w->strong + 1) * w->block <= j) w->strong++;
  return (w->own <= j && j < w->own + w->block) ||
         (w->strong < w->end && *w->strong * w->block <= j);
}

/* The diagonal entry of A_F in row i; 0 where that is less than an eighth of A's, or A has none: weak couplings of either sign add up
 * to so little in normal equations of poses, and a step divided by it would be large. */
static double filtered_diagonal(const smoothing_data *f, int64_t i) {
  const kcl_csr *A = f->A;
  const double *a = A->val;
  graph_walk w = walk_along(f, i);
  double diagonal = 0, sum = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    if (A->col[k] == i) diagonal = a[k];
    if (A->col[k] == i || (f->S && !is_kept(&w, A->col[k]))) sum += a[k];
  }
  return sum > kcl_least_filtered * diagonal ? sum : 0;
}

/* Where that is not positive: T itself. The sums are a copy, which the compiler keeps in registers. */
static void smoothed_row(void *arg, kcl_row_list *r, int64_t i) {
  const smoothing_data f = *(const smoothing_data *)arg;
  const kcl_csr A = *f.A, T = *f.T;
  const double *a = A.val, d = filtered_diagonal(&f, i), scale = d > 0 ? f.omega / d : 0;
  graph_walk w = walk_along(&f, i);
  kcl_accumulator s = r->sums;
  kcl_accumulator_add_row(&s, &T, i, d > 0 ? 1 - f.omega : 1);
  for (int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; k++) {
    const int64_t j = A.col[k];
    if (j != i && (!f.S || is_kept(&w, j))) kcl_accumulator_add_row(&s, &T, j, -scale * a[k]);
  }
  r->sums = s;
  kcl_row_put(r);
}

/* A row of few columns, which are compared; there is room for one more. */
typedef struct few {
  int32_t *col;
  double *val;
  int64_t count;
} few;

static inline void add_to_few(few *r, int32_t column, double value) {
  int64_t at = 0;
  r->col[r->count] = column, r->val[r->count] = 0;
  while (r->col[at] != column) at++;
  r->val[at] += value, r->count += at == r->count;
}

static inline void sort_few(few *r) {
  for (int64_t k = 1; k < r->count; k++) {
    const int32_t column = r->col[k];
    const double value = r->val[k];
    int64_t at = k;
    for (; at && r->col[at - 1] > column; at--)
      r->col[at] = r->col[at - 1], r->val[at] = r->val[at - 1];
    r->col[at] = column, r->val[at] = value;
  }
}

/* As smoothed_row where A_F is A and rows of T have one entry: scalar problems on most grids. */
static void smoothed_short_row(void *arg, kcl_row_list *r, int64_t i) {
  enum { SHORT_PRODUCT = 16 };
  const smoothing_data *f = arg;
  const int64_t first = f->A->row_ptr[i], count = f->A->row_ptr[i + 1] - first;
  if (count > SHORT_PRODUCT) {
    smoothed_row(arg, r, i);
    return;
  }
  if (!kcl_row_list_reserve(r, count + 2)) return;
  const double *a = (const double *)f->A->val + first, *t = f->T->val;
  const int32_t *from = f->A->col + first, *column = f->T->col;
  few row = {r->col + r->count, r->val + r->count, 0};
  double d = 0;
  for (int64_t k = 0; k < count; k++) d += from[k] == i ? a[k] : 0;
  const double scale = d > 0 ? f->omega / d : 0;
  add_to_few(&row, column[i], (d > 0 ? 1 - f->omega : 1) * t[i]);
  for (int64_t k = 0; k < count; k++)
    if (from[k] != i) add_to_few(&row, column[from[k]], -scale * a[k] * t[from[k]]);
  sort_few(&row);
  r->count += row.count;
}

int kcl_amg_smoothed(kcl_context *ctx, const kcl_csr *A, const kcl_nodes *nodes, int block,
                     const kcl_csr *T, double largest, kcl_csr **P) {
  smoothing_data f = {
      .A = A, .S = nodes->owned, .T = T, .block = block, .omega = 4.0 / 3 / largest};
  const bool scalar = !f.S && T->nnz == T->rows;
  return kcl_row_list_make(ctx, A->rows, T->cols, KCL_D, scalar ? smoothed_short_row : smoothed_row,
                           &f, NULL, P);
}
