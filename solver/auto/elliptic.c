/* Is A a discretised elliptic operator, and how many iterations will a Krylov method need?
 *
 * Elliptic: A is real, most rows have no positive coupling that counts and sum to nearly 0, as those of an M-matrix from a
 * diffusion equation. Its condition number then grows with the square of the graph's diameter, and is bounded by what the rows sum
 * to. Coefficients that jump, or that differ by direction, make it larger. The bandwidth says what the diameter is at least; two
 * breadth-first searches estimate it, but take as long as many iterations of a fast device.
 *
 * Convection makes a_ij and a_ji differ: by p for a cell Peclet number of 2 p with central differences. On a grid that is N times as
 * coarse the number is N times as large.
 */
#include "solver/auto/auto.h"

static const double SUM =
    0.01; /* of the diagonal: the row of a diffusion, not of a dominant diagonal */
static const double MOST = 0.5; /* of the rows */
enum {
  SAMPLE = 20000,
  TOGETHER = 16
}; /* rows that are looked at, about; so many are neighbours: of memory, too */
static const double ROUNDING = 1e-12; /* of the diagonal */
/* Root of the condition number per level of the search, on N x N and on N x N x N cells: 2 N / pi for 2 N and 3 N levels. */
static const double STEPS_2D = 0.32, STEPS_3D = 0.21;
static const double JUMPS =
    0.25; /* power of the diagonal's ratio: regions of other coefficients add small eigenvalues */
static const double STRONG = 0.25; /* of the largest coupling of a row */
static const double SMOOTH = 0.8;  /* of the couplings that are strong */
static const double SEARCH =
    6e-9; /* seconds per entry of A: both searches, 3 to 8 ns on CPUs of 2018 to 2023 */
static const double WEAK = 2; /* times the root, where the others are weak: chains of rows */
static const double BALANCED =
    0.05; /* asymmetry of couplings of a circuit, at most: memplus 0.002, circuit_2 0.99 */

/* Sums over the entries of a row, relative to a positive diagonal. */
typedef struct row_signs {
  double sum, diagonal, positive, largest; /* positive: of the couplings that are */
} row_signs;

static row_signs look_at_row(const kcl_csr *A, int64_t i) {
  row_signs r = {0, 0, 0, 0};
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    double a[2];
    kcl_element(A->type, A->val, k, a);
    r.sum += a[0];
    if (A->col[k] == i)
      r.diagonal += a[0];
    else
      r.positive += fmax(a[0], 0), r.largest = fmax(r.largest, -a[0]);
  }
  return r;
}

typedef struct coupling_sums {
  int64_t all, strong;      /* negative ones, and of them those near the largest of their row */
  double difference, total; /* of |a_ij - a_ji| and |a_ij| + |a_ji| */
} coupling_sums;

/* mirrored: a_ji is a_ij. */
static void add_couplings(const kcl_csr *A, int64_t i, double largest, bool mirrored,
                          coupling_sums *n) {
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    double a[2], mirror[2];
    kcl_element(A->type, A->val, k, a);
    if (A->col[k] == i || !(a[0] < 0)) continue;
    if (mirrored)
      mirror[0] = a[0];
    else
      kcl_find_entry(A, A->col[k], i, mirror);
    n->all++, n->strong += -a[0] >= STRONG * largest;
    n->difference += fabs(a[0] - mirror[0]), n->total += fabs(a[0]) + fabs(mirror[0]);
  }
}

/* The rows of a diffusion. */
typedef struct elliptic_rows {
  double count, zero; /* zero: sum to 0 but for rounding */
  double sum;         /* of |sum of a row| / its diagonal */
  double least, most; /* diagonal */
  coupling_sums couplings;
} elliptic_rows;

static void add_elliptic_row(const kcl_csr *A, int64_t i, bool mirrored, elliptic_rows *e) {
  const row_signs r = look_at_row(A, i);
  const double sum = fabs(r.sum);
  if (!(r.largest > 0) || !(fmax(sum, r.positive) <= SUM * r.diagonal)) return;
  e->count++, e->zero += sum <= ROUNDING * r.diagonal, e->sum += sum / r.diagonal;
  e->least = fmin(e->least, r.diagonal), e->most = fmax(e->most, r.diagonal);
  add_couplings(A, i, r.largest, mirrored, &e->couplings);
}

/* Fetches what a search needs soon: the rows of a level are far apart. */
static void fetch_rows(const kcl_csr *A, const int32_t *queue, int64_t at, int64_t end) {
  enum { POINTERS = 32, ENTRIES = 16, LINE = 16 };
  if (at + POINTERS < end) __builtin_prefetch(&A->row_ptr[queue[at + POINTERS]]);
  if (at + ENTRIES >= end) return;
  const int32_t *col = &A->col[A->row_ptr[queue[at + ENTRIES]]];
  __builtin_prefetch(col), __builtin_prefetch(col + LINE);
}

/* Levels of a breadth-first search from this row. last: a row of the last level. */
static int64_t count_search_levels(const kcl_csr *A, int32_t from, int32_t *queue, char *seen,
                                   int32_t *last) {
  int64_t end = 1, levels = 0;
  for (int64_t i = 0; i < A->rows; i++) seen[i] = 0;
  queue[0] = from, seen[from] = 1;
  for (int64_t at = 0, level_end = 1; at < end; levels++, level_end = end)
    for (; at < level_end; at++) {
      fetch_rows(A, queue, at, end);
      for (int64_t k = A->row_ptr[queue[at]]; k < A->row_ptr[queue[at] + 1]; k++)
        if (!seen[A->col[k]]) seen[A->col[k]] = 1, queue[end++] = A->col[k];
    }
  *last = queue[end - 1];
  return levels;
}

/* From one end of the graph, found from row 0; 0: no memory for it. */
static int64_t diameter(const kcl_csr *A) {
  int32_t *queue = malloc((size_t)A->rows * sizeof *queue), last;
  char *seen = malloc((size_t)A->rows);
  int64_t levels = 0;
  if (queue && seen) {
    count_search_levels(A, 0, queue, seen, &last);
    levels = count_search_levels(A, last, queue, seen, &last);
  }
  free(queue), free(seen);
  return levels;
}

/* By the graph: a square of as many rows has more levels than a cube. */
static double root_of_grid(double rows, double levels) {
  return (levels > sqrt(rows) ? STEPS_2D : STEPS_3D) * levels;
}

/* By what the rows sum to: the Rayleigh quotient of a constant. A grid whose inner rows sum to 0 has no such bound. */
static double root_of_sums(const elliptic_rows *e) {
  return e->zero > MOST * e->count ? INFINITY : sqrt(2 * e->count / e->sum);
}

static void set_levels(kcl_elliptic *g, const kcl_csr *A, double levels) {
  g->condition_root = fmin(g->most_root, root_of_grid((double)A->rows, levels) * g->contrast);
  g->transport = levels * g->asymmetry;
}

/* Adds a sample of the rows; its size. */
static int64_t sample_rows(const kcl_csr *A, bool mirrored, elliptic_rows *e) {
  const int64_t step = TOGETHER * (A->rows / SAMPLE + 1);
  int64_t size = 0;
  for (int64_t first = 0; first < A->rows; first += step)
    for (int64_t i = first; i < A->rows && i < first + TOGETHER; i++, size++)
      add_elliptic_row(A, i, mirrored, e);
  return size;
}

kcl_elliptic kcl_elliptic_of(const kcl_csr *A, const kcl_stats *known) {
  kcl_elliptic g = {.known = true, .searched = true, .strong = 1};
  elliptic_rows e = {.least = INFINITY};
  if (kcl_type_complex(A->type) || A->rows != A->cols) return g;
  const int64_t bandwidth = known->bandwidth, sample = sample_rows(A, known->symmetric, &e);
  g.holds = e.count > MOST * (double)sample;
  const double strong = (double)e.couplings.strong / fmax((double)e.couplings.all, 1);
  g.smooth = strong >= SMOOTH;
  if (!g.holds) return g;
  g.strong = strong;
  g.searched = false;
  g.asymmetry = e.couplings.difference / e.couplings.total;
  g.network = !g.smooth && g.asymmetry > ROUNDING && g.asymmetry <= BALANCED;
  g.most_root = root_of_sums(&e);
  g.contrast = pow(e.most / e.least, JUMPS) * (g.smooth ? 1 : WEAK);
  set_levels(&g, A, bandwidth > 0 ? (double)A->rows / (double)bandwidth : 1);
  return g;
}

double kcl_elliptic_search_seconds(const kcl_csr *A) { return SEARCH * (double)A->nnz; }

void kcl_elliptic_search(const kcl_csr *A, kcl_elliptic *g) {
  if (!g->searched) set_levels(g, A, (double)diameter(A));
  g->searched = true;
}

bool kcl_elliptic_holds(kcl_selection *c) {
  const kcl_system *s = c->system;
  if (!c->diffusion.known) c->diffusion = kcl_elliptic_of(kcl_system_matrix(s), &s->stats);
  return c->diffusion.holds;
}

/* ---------------------------------------------------------------- during a solve */

void kcl_count_apart(kcl_loop *l, double begin) { l->start += kcl_now() - begin; }

bool kcl_elliptic_during(kcl_selection *c, kcl_loop *l) {
  const double begin = kcl_now();
  const bool known = c->diffusion.known, holds = kcl_elliptic_holds(c);
  if (!known) kcl_count_apart(l, begin);
  return holds;
}

void kcl_elliptic_search_during(kcl_selection *c, kcl_loop *l) {
  const double begin = kcl_now();
  kcl_elliptic_search(kcl_system_matrix(c->system), &c->diffusion);
  kcl_count_apart(l, begin);
}
