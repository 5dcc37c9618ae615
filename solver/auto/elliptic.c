/* Is A a discretised elliptic operator, and how many iterations will cg need?
 *
 * Elliptic: A is real, most rows have no positive coupling and sum to nearly 0, as those of an M-matrix from a diffusion
 * equation. Its condition number then grows with the square of the graph's diameter, which a breadth-first search estimates
 * before the first iteration, and is bounded by what the rows sum to. Coefficients that jump only make it larger.
 */
#include "solver/auto/auto.h"
#include <math.h>
#include <stdlib.h>

static const double SUM =
    0.01; /* of the diagonal: the row of a diffusion, not of a dominant diagonal */
static const double MOST = 0.5; /* of the rows */
static const double STEPS =
    0.21; /* root of the condition number per level of the search: 2D and 3D Laplacians, 0.21 to 0.32 */

typedef struct row_signs {
  double sum, diagonal;
  bool coupled; /* no entry beside the diagonal is positive, and one is negative */
} row_signs;

static row_signs look_at_row(const kcl_csr *A, int64_t i) {
  row_signs r = {0, 0, false};
  bool positive = false;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    double a[2];
    kcl_element(A->type, A->val, k, a);
    r.sum += a[0];
    if (A->col[k] == i)
      r.diagonal += a[0];
    else
      positive = positive || a[0] > 0, r.coupled = r.coupled || a[0] < 0;
  }
  r.coupled = r.coupled && !positive;
  return r;
}

/* Levels of a breadth-first search from this row. last: a row of the last level. */
static int64_t count_search_levels(const kcl_csr *A, int32_t from, int32_t *queue, char *seen,
                                   int32_t *last) {
  int64_t end = 1, levels = 0;
  for (int64_t i = 0; i < A->rows; i++) seen[i] = 0;
  queue[0] = from, seen[from] = 1;
  for (int64_t at = 0, level_end = 1; at < end; levels++, level_end = end)
    for (; at < level_end; at++)
      for (int64_t k = A->row_ptr[queue[at]]; k < A->row_ptr[queue[at] + 1]; k++)
        if (!seen[A->col[k]]) seen[A->col[k]] = 1, queue[end++] = A->col[k];
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

kcl_elliptic kcl_elliptic_of(const kcl_csr *A) {
  kcl_elliptic g = {.known = true};
  int64_t rows = 0;
  double sum = 0;
  if (kcl_type_complex(A->type) || A->rows != A->cols) return g;
  for (int64_t i = 0; i < A->rows; i++) {
    const row_signs r = look_at_row(A, i);
    if (!r.coupled || !(fabs(r.sum) <= SUM * r.diagonal)) continue;
    rows++, sum += fabs(r.sum) / r.diagonal;
  }
  g.holds = (double)rows > MOST * (double)A->rows;
  if (g.holds)
    g.condition_root = fmin(sqrt(2 * (double)rows / fmax(sum, 1e-30)), STEPS * (double)diameter(A));
  return g;
}
