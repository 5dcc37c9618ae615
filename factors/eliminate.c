/* Elimination row by row within A's pattern: ILU(0) (Saad 2003, algorithm 10.4). Compiled per scalar type; called with double
 * and complex double (factors/factor.c).
 */
#include "core/base/scalar.h"
#include "factors/eliminate.h"

static const double VANISHED = 1e-12; /* a pivot, of the largest modulus of its row before */

static double pivot_modulus(scalar a) { return (double)s_re(s_modulus(a)); }

static scalar minus_product(scalar a, scalar b, scalar c) { return s_fma(s_neg(a), b, c); }

/* The entry of row j above the diagonal in this column, or -1. */
static int64_t find_above_diagonal(const kcl_elimination *e, int64_t j, int32_t col) {
  const kcl_csr *B = e->B;
  const int64_t end = B->row_ptr[j + 1], k = kcl_first_from(B->col, e->diagonal[j] + 1, end, col);
  return k < end && B->col[k] == col ? k : -1;
}

/* Subtracts factor times row j from row i, behind entry k of row i, which is in column j. A row j that is much longer is searched,
 * not scanned, so that a dense row costs no more than the others. */
static void subtract_row(const kcl_elimination *e, const int32_t *place, int64_t i, int64_t k,
                         int64_t j, scalar factor) {
  enum { MUCH_LONGER_ROW = 16 };
  const kcl_csr *B = e->B;
  scalar *b = B->val;
  const int64_t from = e->diagonal[j] + 1, to = B->row_ptr[j + 1], end = B->row_ptr[i + 1];
  if (to - from > MUCH_LONGER_ROW * (end - k)) {
    for (int64_t at = k + 1, m; at < end; at++)
      if ((m = find_above_diagonal(e, j, B->col[at])) >= 0)
        b[at] = minus_product(factor, b[m], b[at]);
    return;
  }
  scalar *row = b + B->row_ptr[i];
  for (int64_t m = from; m < to; m++) {
    const int32_t at = place[B->col[m]] - 1;
    if (at >= 0) row[at] = minus_product(factor, b[m], row[at]);
  }
}

/* place[column]: 1 + the number of row i's entry in that column; 0: there is none. */
bool KCL_TYPED(kcl_eliminate)(const kcl_elimination *e, int32_t *place, int64_t i) {
  const kcl_csr *B = e->B;
  const int64_t first = B->row_ptr[i];
  scalar *b = B->val, *d = e->d;
  double most = 0;
  for (int64_t k = first; k < B->row_ptr[i + 1]; k++)
    place[B->col[k]] = (int32_t)(k - first) + 1, most = fmax(most, pivot_modulus(b[k]));
  for (int64_t k = first; k < e->diagonal[i]; k++) {
    b[k] = s_mul(b[k], d[B->col[k]]);
    subtract_row(e, place, i, k, B->col[k], b[k]);
  }
  for (int64_t k = first; k < B->row_ptr[i + 1]; k++) place[B->col[k]] = 0;
  const scalar pivot = b[e->diagonal[i]];
  d[i] = s_div(s_make(1), pivot);
  return pivot_modulus(pivot) > VANISHED * most && pivot_modulus(d[i]) < INFINITY;
}
