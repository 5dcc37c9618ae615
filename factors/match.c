/* A matching of rows and columns whose entries have the largest product (MC64, job 5: Duff & Koster 2001): shortest
 * augmenting paths (Dijkstra) in costs c_ij = log max_k |a_ik| - log |a_ij|, which are sparse. The duals u_i + v_j <= c_ij, with
 * equality where i and j are matched, are the logarithms of the scalings. O(n nnz log n) at worst; most rows are matched by
 * the first pass.
 */
#include "factors/factor.h"

typedef struct sized {
  int64_t length;
  int32_t row;
} sized;

typedef struct matcher {
  const kcl_csr *A;
  double *cost;   /* [nnz] INFINITY: a zero */
  double *u, *v;  /* [n] duals of rows, of columns */
  int64_t *entry; /* [n] of a row: the entry it is matched by; -1: none */
  int32_t *row;   /* [n] of a column: its row; -1: none */
  double *
      distance; /* [n] of columns from the row that is being matched; INFINITY outside of a search */
  int64_t *before;       /* [n] the entry by which a column was reached */
  int32_t *from;         /* [n] and its row */
  int32_t *heap, *place; /* [n] columns by distance; of a column in it, -1: not in it */
  int32_t *seen;         /* [n] columns reached in this search */
  sized *order;          /* [n] the shortest first: searches seldom pass through long ones */
  int64_t heaped, reached;
} matcher;

/* ---------------------------------------------------------------- the heap */

static bool nearer(const matcher *m, int32_t a, int32_t b) {
  const double x = m->distance[a], y = m->distance[b];
  return x < y || (x == y && a < b);
}

static void put_in_heap(matcher *m, int64_t at, int32_t column) {
  m->heap[at] = column, m->place[column] = (int32_t)at;
}

static void rise(matcher *m, int32_t column) {
  int64_t at = m->place[column];
  for (; at && nearer(m, column, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
    put_in_heap(m, at, m->heap[(at - 1) / 2]);
  put_in_heap(m, at, column);
}

static int32_t take_nearest_column(matcher *m) {
  const int32_t top = m->heap[0], last = m->heap[--m->heaped];
  m->place[top] = -1;
  int64_t at = 0;
  for (int64_t child; m->heaped && (child = 2 * at + 1) < m->heaped; at = child) {
    if (child + 1 < m->heaped && nearer(m, m->heap[child + 1], m->heap[child])) child++;
    if (!nearer(m, m->heap[child], last)) break;
    put_in_heap(m, at, m->heap[child]);
  }
  if (m->heaped) put_in_heap(m, at, last);
  return top;
}

/* ---------------------------------------------------------------- costs, and the first matching */

static void cost_rows(void *arg, int64_t lo, int64_t hi) {
  matcher *m = arg;
  const kcl_csr *A = m->A;
  for (int64_t i = lo; i < hi; i++) {
    double most = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      most = fmax(most, m->cost[k] = kcl_abs(A->type, A->val, k));
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      m->cost[k] = m->cost[k] > 0 ? log(most) - log(m->cost[k]) : INFINITY;
  }
}

static void match_row(matcher *m, int64_t i, int64_t entry) {
  m->entry[i] = entry, m->row[m->A->col[entry]] = (int32_t)i;
}

static int shorter(const void *a, const void *b) {
  const sized *x = a, *y = b;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static void order_rows_by_column(matcher *m) {
  const kcl_csr *A = m->A;
  for (int64_t i = 0; i < A->rows; i++)
    m->order[i] = (sized){A->row_ptr[i + 1] - A->row_ptr[i], (int32_t)i};
  qsort(m->order, (size_t)A->rows, sizeof *m->order, shorter);
}

/* v_j = min c_ij, u_i = min c_ij - v_j; each row takes the first free column that costs it nothing. */
static void begin_matching(matcher *m) {
  const kcl_csr *A = m->A;
  for (int64_t j = 0; j < A->cols; j++) m->v[j] = m->distance[j] = INFINITY;
  for (int64_t k = 0; k < A->nnz; k++) m->v[A->col[k]] = fmin(m->v[A->col[k]], m->cost[k]);
  for (int64_t j = 0; j < A->cols; j++) m->row[j] = m->place[j] = -1;
  for (int64_t n = 0; n < A->rows; n++) {
    const int64_t i = m->order[n].row;
    m->u[i] = INFINITY, m->entry[i] = -1;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (m->cost[k] < INFINITY) m->u[i] = fmin(m->u[i], m->cost[k] - m->v[A->col[k]]);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1] && m->entry[i] < 0; k++)
      if (m->cost[k] < INFINITY && m->row[A->col[k]] < 0 && m->cost[k] - m->v[A->col[k]] <= m->u[i])
        match_row(m, i, k);
  }
}

/* ---------------------------------------------------------------- augmenting paths */

/* Updates the distances of the columns that row i, at distance `far`, leads to. *best, *end: the nearest free column. */
static void reach(matcher *m, int64_t i, double far, double *best, int32_t *end) {
  const kcl_csr *A = m->A;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const int32_t j = A->col[k];
    const double to = far + fmax(m->cost[k] - m->u[i] - m->v[j], 0);
    if (m->cost[k] == INFINITY || !(to < m->distance[j]) || !(to < *best)) continue;
    if (m->distance[j] == INFINITY) m->seen[m->reached++] = j;
    m->distance[j] = to;
    m->before[j] = k;
    m->from[j] = (int32_t)i;
    if (m->row[j] < 0) {
      *best = to, *end = j;
      continue;
    }
    if (m->place[j] < 0) put_in_heap(m, m->heaped++, j);
    rise(m, j);
  }
}

/* Updates the dual variables of columns nearer than the end of the path, and of their rows. */
static void update_duals(matcher *m, double best) {
  for (int64_t s = 0; s < m->reached; s++) {
    const int32_t j = m->seen[s];
    if (m->row[j] < 0 || m->place[j] >= 0 || !(m->distance[j] < best)) continue;
    m->v[j] += m->distance[j] - best;
    m->u[m->row[j]] += best - m->distance[j];
  }
}

static void forget_search(matcher *m) {
  for (int64_t s = 0; s < m->reached; s++)
    m->distance[m->seen[s]] = INFINITY, m->place[m->seen[s]] = -1;
  m->reached = m->heaped = 0;
}

/* Matches row `root` along the shortest augmenting path. False: there is none. */
static bool augment(matcher *m, int64_t root) {
  double best = INFINITY;
  int32_t end = -1;
  reach(m, root, 0, &best, &end);
  while (m->heaped && m->distance[m->heap[0]] < best) {
    const int32_t j = take_nearest_column(m);
    reach(m, m->row[j], m->distance[j], &best, &end);
  }
  if (end >= 0) {
    update_duals(m, best);
    m->u[root] += best;
    for (int32_t j = end, i = -1; i != root;) {
      const int64_t old = m->entry[i = m->from[j]];
      match_row(m, i, m->before[j]);
      if (i != root) j = m->A->col[old];
    }
  }
  forget_search(m);
  return end >= 0;
}

/* ---------------------------------------------------------------- */

static int allocate_matcher(kcl_context *ctx, matcher *m) {
  const int64_t n = m->A->rows;
  const char *what = "a matching";
  KCL_CALL(kcl_alloc(ctx, m->A->nnz, sizeof *m->cost, what, (void **)&m->cost));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->u, what, (void **)&m->u));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->v, what, (void **)&m->v));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->entry, what, (void **)&m->entry));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->row, what, (void **)&m->row));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->distance, what, (void **)&m->distance));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->before, what, (void **)&m->before));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->from, what, (void **)&m->from));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->heap, what, (void **)&m->heap));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->place, what, (void **)&m->place));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *m->seen, what, (void **)&m->seen));
  return kcl_alloc(ctx, n, sizeof *m->order, what, (void **)&m->order);
}

static void free_matcher(matcher *m) {
  free(m->cost), free(m->u), free(m->v);
  free(m->entry), free(m->row), free(m->distance);
  free(m->before), free(m->from), free(m->heap);
  free(m->place), free(m->seen), free(m->order);
}

/* r_i = exp(u_i) / max_k |a_ik|, c_j = exp(v_j). */
static void scale_by_potentials(matcher *m) {
  const kcl_csr *A = m->A;
  for (int64_t i = 0; i < A->rows; i++) {
    double most = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      most = fmax(most, kcl_abs(A->type, A->val, k));
    m->u[i] = exp(m->u[i]) / most;
    m->v[i] = exp(m->v[i]);
  }
}

int kcl_factor_match(kcl_context *ctx, const kcl_csr *A, kcl_matching *out, int64_t *alone) {
  KCL_OWNED_BY(free_matcher) matcher m = {.A = A};
  *out = (kcl_matching){NULL, NULL, NULL}, *alone = -1;
  KCL_CALL(allocate_matcher(ctx, &m));
  kcl_for(A->rows, KCL_FEW_ROWS, cost_rows, &m);
  order_rows_by_column(&m);
  begin_matching(&m);
  for (int64_t n = 0; n < A->rows && *alone < 0; n++)
    if (m.entry[m.order[n].row] < 0 && !augment(&m, m.order[n].row)) *alone = m.order[n].row;
  if (*alone >= 0) return KCL_OK;
  scale_by_potentials(&m);
  *out = (kcl_matching){m.row, m.u, m.v};
  m.row = NULL;
  m.u = m.v = NULL;
  return KCL_OK;
}

void kcl_matching_free(kcl_matching *m) {
  free(m->row);
  free(m->r);
  free(m->c);
  *m = (kcl_matching){NULL, NULL, NULL};
}

/* ---------------------------------------------------------------- is there a need? */

typedef struct looking {
  const kcl_csr *A;
  double least;
} looking;

/* Has one of the rows a weak diagonal? */
static double look_at_rows(const void *arg, int64_t lo, int64_t hi) {
  const looking *l = arg;
  const kcl_csr *A = l->A;
  for (int64_t i = lo; i < hi; i++) {
    double most = 0, own = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const double a = kcl_abs(A->type, A->val, k);
      most = fmax(most, a);
      if (A->col[k] == i) own = a;
    }
    if (!(own > 0 && own >= l->least * most)) return 1;
  }
  return 0;
}

bool kcl_factor_weak_diagonal(const kcl_csr *A, double least) {
  return kcl_largest(A->rows, KCL_FEW_ROWS, look_at_rows, &(looking){A, least}) > 0;
}
