/* Rows of approximate inverses: each is the solution of a small dense Hermitian system, by Cholesky's method. Compiled per
 * scalar type; called with double and complex double (sparse/inverse.c).
 */
#include "core/base/scalar.h"
#include "sparse/local.h"

/* n x n, by rows, and a right-hand side; from the scratch of the rows, which grows. */
typedef struct local_system {
  int64_t n;
  scalar data[];
} local_system;

static scalar *dense(kcl_row_list *r, int64_t n) {
  local_system *m = r->scratch;
  if (m && m->n >= n) return m->data;
  free(m);
  const size_t count = (size_t)(n * n + 2 * n);
  m = r->scratch = malloc(sizeof *m + count * sizeof *m->data);
  if (m)
    m->n = n;
  else
    r->failed = true;
  return m ? m->data : NULL;
}

/* The lower triangle of H becomes L, H = L L^H. A pivot below `least` times its diagonal entry: false; or, with drop, that
 * unknown is left out. */
static bool local_cholesky(scalar *H, int64_t n, double least, bool drop) {
  for (int64_t k = 0; k < n; k++) {
    scalar *row = H + k * n;
    const double entry = (double)s_re(row[k]);
    for (int64_t j = 0; j < k; j++) {
      scalar sum = row[j];
      for (int64_t l = 0; l < j; l++) sum = s_add(sum, s_neg(s_mul(row[l], s_conj(H[j * n + l]))));
      const real pivot = s_re(H[j * n + j]);
      row[j] = pivot > 0 ? s_mul(sum, s_make(1 / (double)pivot)) : s_make(0);
    }
    double pivot = entry;
    for (int64_t l = 0; l < k; l++) pivot -= (double)s_re(s_mul(row[l], s_conj(row[l])));
    const bool good = pivot > least * entry && entry > 0 && pivot < INFINITY;
    if (!good && !drop) return false;
    row[k] = s_make(good ? sqrt(pivot) : 0);
  }
  return true;
}

/* y = L^-H L^-1 y; left-out unknowns are zero. */
static void local_solve(const scalar *L, int64_t n, scalar *y) {
  for (int64_t k = 0; k < n; k++) {
    scalar sum = y[k];
    for (int64_t l = 0; l < k; l++) sum = s_add(sum, s_neg(s_mul(L[k * n + l], y[l])));
    const real pivot = s_re(L[k * n + k]);
    y[k] = pivot > 0 ? s_mul(sum, s_make(1 / (double)pivot)) : s_make(0);
  }
  for (int64_t k = n - 1; k >= 0; k--) {
    scalar sum = y[k];
    for (int64_t l = k + 1; l < n; l++) sum = s_add(sum, s_neg(s_mul(s_conj(L[l * n + k]), y[l])));
    const real pivot = s_re(L[k * n + k]);
    y[k] = pivot > 0 ? s_mul(sum, s_make(1 / (double)pivot)) : s_make(0);
  }
}

static void put_local_row(kcl_row_list *r, const int32_t *col, const scalar *y, int64_t n,
                          scalar factor) {
  for (int64_t k = 0; k < n; k++) {
    const scalar v = s_mul(y[k], factor);
    const double pair[] = {
      (double)s_re(v),
#if KCL_PARTS == 2
      (double)v.im
#else
      0
#endif
    };
    kcl_row_list_put(r, col[k], pair);
  }
}

/* H_kl = a_(cols k)(cols l), its lower triangle: each row of A merged with the columns, which ascend. */
static void gather_local(const kcl_csr *A, const int32_t *cols, int64_t n, scalar *H) {
  const scalar *a = A->val;
  for (int64_t k = 0; k < n; k++) {
    int64_t at = A->row_ptr[cols[k]];
    const int64_t end = A->row_ptr[cols[k] + 1];
    for (int64_t l = 0; l <= k; l++) {
      while (at < end && A->col[at] < cols[l]) at++;
      H[k * n + l] = at < end && A->col[at] == cols[l] ? a[at] : s_make(0);
    }
  }
}

/* A_JJ y = e_i; g = conj(y) / sqrt(y_i). */
void KCL_TYPED(kcl_fsai_row)(void *arg, kcl_row_list *r, int64_t i) {
  const kcl_local *f = arg;
  const kcl_csr *P = f->pattern;
  const int32_t *cols = P->col + P->row_ptr[i];
  const int64_t n = P->row_ptr[i + 1] - P->row_ptr[i];
  scalar *H = dense(r, n), *y = H ? H + n * n : NULL;
  if (!H) return;
  gather_local(f->A, cols, n, H);
  for (int64_t k = 0; k < n; k++) y[k] = s_make(k + 1 == n);
  const bool good = n && cols[n - 1] == i && local_cholesky(H, n, 1e-14, false);
  if (good) local_solve(H, n, y);
  if (!good || !(s_re(y[n - 1]) > 0)) {
    if (r->refused < 0) r->refused = i;
    return;
  }
  for (int64_t k = 0; k < n; k++) y[k] = s_conj(y[k]);
  put_local_row(r, cols, y, n, s_make(1 / sqrt((double)s_re(y[n - 1]))));
}

/* sum_j a_pj conj(a_qj) */
static scalar product_of_rows(const kcl_csr *A, int64_t p, int64_t q) {
  const scalar *a = A->val;
  scalar sum = s_make(0);
  int64_t k = A->row_ptr[p], l = A->row_ptr[q];
  while (k < A->row_ptr[p + 1] && l < A->row_ptr[q + 1]) {
    const int32_t c = A->col[k], d = A->col[l];
    if (c == d) sum = s_add(sum, s_mul(a[k], s_conj(a[l])));
    k += c <= d, l += d <= c;
  }
  return sum;
}

/* The row m with |m A_J - e_i| least, J its columns: (A_J A_J^H) conj(m) = A_J e_i, by its normal equations. */
void KCL_TYPED(kcl_spai_row)(void *arg, kcl_row_list *r, int64_t i) {
  const kcl_local *f = arg;
  const kcl_csr *A = f->A, *P = f->pattern;
  const int32_t *cols = P->col + P->row_ptr[i];
  const int64_t n = P->row_ptr[i + 1] - P->row_ptr[i];
  const scalar *a = A->val;
  scalar *H = dense(r, n), *y = H ? H + n * n : NULL;
  if (!H) return;
  for (int64_t k = 0; k < n; k++) {
    for (int64_t l = 0; l <= k; l++) H[k * n + l] = product_of_rows(A, cols[k], cols[l]);
    y[k] = s_make(0);
    for (int64_t at = A->row_ptr[cols[k]]; at < A->row_ptr[cols[k] + 1]; at++)
      if (A->col[at] == i) y[k] = a[at];
  }
  local_cholesky(H, n, 1e-12, true);
  local_solve(H, n, y);
  for (int64_t k = 0; k < n; k++) y[k] = s_conj(y[k]);
  put_local_row(r, cols, y, n, s_make(1));
}
