/* Cholesky's elimination row by row within A's pattern: IC(0), L D L^H (Meijerink & van der Vorst 1977). Compiled per scalar type;
 * called with double and complex double (factors/factor.c).
 */
#include "core/base/scalar.h"
#include "factors/eliminate.h"

static const double LEAST = 1e-10; /* of the diagonal entry: a smaller pivot has vanished */

/* The entry of row j before the diagonal in this column, or -1. */
static int64_t find_in_row(const kcl_elimination *e, int64_t j, int32_t col) {
  const kcl_csr *B = e->B;
  const int64_t end = e->diagonal[j], k = kcl_first_from(B->col, B->row_ptr[j], end, col);
  return k < end && B->col[k] == col ? k : -1;
}

/* a_ij - sum_m v_im conj(l_jm), where entry k is (i, j). A row j that is much longer is searched, not scanned. */
static scalar reduced(const kcl_elimination *e, const int32_t *place, int64_t i, int64_t k) {
  enum { MUCH_LONGER = 16 };
  const kcl_csr *B = e->B;
  const scalar *b = B->val;
  const int64_t j = B->col[k], from = B->row_ptr[j], to = e->diagonal[j], first = B->row_ptr[i];
  scalar sum = b[k];
  if (to - from > MUCH_LONGER * (k - first + 1)) {
    for (int64_t at = first, m; at < k; at++)
      if ((m = find_in_row(e, j, B->col[at])) >= 0) sum = s_fma(s_neg(b[at]), s_conj(b[m]), sum);
    return sum;
  }
  for (int64_t m = from; m < to; m++) {
    const int32_t at = place[B->col[m]] - 1;
    if (at >= 0) sum = s_fma(s_neg(b[first + at]), s_conj(b[m]), sum);
  }
  return sum;
}

/* place[column]: 1 + the number of row i's entry in that column; 0: there is none. */
bool KCL_TYPED(kcl_cholesky)(const kcl_elimination *e, int32_t *place, int64_t i) {
  const kcl_csr *B = e->B;
  const int64_t from = B->row_ptr[i], end = e->diagonal[i];
  scalar *b = B->val, *d = e->d;
  const double entry = (double)s_re(b[end]);
  double pivot = entry;
  for (int64_t k = from; k < end; k++) {
    b[k] = reduced(e, place, i, k);
    place[B->col[k]] = (int32_t)(k - from) + 1;
  }
  for (int64_t k = from; k < end; k++) {
    const scalar l = s_mul(b[k], d[B->col[k]]);
    pivot -= (double)s_re(s_mul(b[k], s_conj(l)));
    b[k] = l, place[B->col[k]] = 0;
  }
  d[i] = s_make(1 / pivot);
  return entry > 0 && pivot > LEAST * entry && pivot < INFINITY;
}
