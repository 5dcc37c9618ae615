/* Equilibration in integers: exponents r, c of R and C from e_ij = floor(log2 |a_ij|), so that the largest modulus of every
 * row and column is near 1.
 *
 *   in general      r_i = -max_j e_ij, then c_j = -max_i (e_ij + r_i)           (LAPACK's geequb)
 *   symmetric |A|   r_i -= m_i / 2, m_i = max_j (e_ij + r_i + r_j), c = r        (Ruiz 2001), until no r_i changes
 *
 * Rows come first: what methods test is R (b - A x). The spread of the exponents halves in each pass of the second, so
 * 2^2000 takes about a dozen. Cost: one read of A per pass, on all threads; two in general. */
#include "solver/engine/scale.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { PASSES = 20, NONE = INT_MIN };

typedef struct pass {
  const kcl_csr *A;
  int *row, *col;
  int *row_most;         /* [rows] max_j (e_ij + r_i + c_j); NONE: no entry but zeros */
  _Atomic int *col_most; /* [cols] the same over i */
  _Atomic bool changed;
} pass;

/* e_ij + r_i + c_j of entry k in row i. */
static int exponent(const pass *p, int64_t i, int64_t k) {
  const double a = kcl_abs(p->A->type, p->A->val, k);
  return a > 0 ? ilogb(a) + p->row[i] + p->col[p->A->col[k]] : NONE;
}

static void find_row_most(void *arg, int64_t from, int64_t to) {
  const pass *p = arg;
  for (int64_t i = from; i < to; i++) {
    p->row_most[i] = NONE;
    for (int64_t k = p->A->row_ptr[i]; k < p->A->row_ptr[i + 1]; k++) {
      int e = exponent(p, i, k);
      if (e > p->row_most[i]) p->row_most[i] = e;
    }
  }
}

static void find_col_most(void *arg, int64_t from, int64_t to) {
  const pass *p = arg;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = p->A->row_ptr[i]; k < p->A->row_ptr[i + 1]; k++) {
      _Atomic int *most = &p->col_most[p->A->col[k]];
      int e = exponent(p, i, k), seen = atomic_load_explicit(most, memory_order_relaxed);
      while (seen < e && !atomic_compare_exchange_weak(most, &seen, e)) {}
    }
}

/* ---------------------------------------------------------------- in general */

static void by_rows_then_columns(pass *p) {
  const kcl_csr *A = p->A;
  kcl_for(A->rows, KCL_FEW_ROWS, find_row_most, p);
  for (int64_t i = 0; i < A->rows; i++)
    if (p->row_most[i] != NONE) p->row[i] = -p->row_most[i];
  for (int64_t j = 0; j < A->cols; j++) p->col_most[j] = NONE;
  kcl_for(A->rows, KCL_FEW_ROWS, find_col_most, p);
  for (int64_t j = 0; j < A->cols; j++)
    if (p->col_most[j] != NONE) p->col[j] = -p->col_most[j];
}

/* ---------------------------------------------------------------- symmetric moduli */

static void halve(void *arg, int64_t from, int64_t to) {
  pass *p = arg;
  for (int64_t i = from; i < to; i++) {
    const int half = p->row_most[i] == NONE ? 0 : p->row_most[i] / 2;
    if (half) p->changed = true;
    p->row[i] -= half, p->col[i] = p->row[i];
  }
}

static void both_alike(pass *p) {
  p->changed = true;
  for (int count = 0; count < PASSES && p->changed; count++) {
    p->changed = false;
    kcl_for(p->A->rows, KCL_FEW_ROWS, find_row_most, p);
    kcl_for(p->A->rows, KCL_FEW, halve, p);
  }
}

int kcl_equilibrate(kcl *ctx, const kcl_csr *A, bool mirrored, kcl_scaling *out) {
  pass p = {.A = A};
  int rc;
  KCL_TRY(kcl_alloc(ctx, A->rows, sizeof *p.row, "the scaling", (void **)&p.row));
  KCL_TRY(kcl_alloc(ctx, A->cols, sizeof *p.col, "the scaling", (void **)&p.col));
  KCL_TRY(kcl_alloc(ctx, A->rows, sizeof *p.row_most, "the scaling", (void **)&p.row_most));
  KCL_TRY(kcl_alloc(ctx, A->cols, sizeof *p.col_most, "the scaling", (void **)&p.col_most));
  (mirrored ? both_alike : by_rows_then_columns)(&p);
  out->row = p.row, out->col = p.col;
  p.row = p.col = NULL;
done:
  free(p.row), free(p.col), free(p.row_most), free((void *)p.col_most);
  return rc;
}

void kcl_scaling_free(kcl_scaling *s) {
  free(s->row), free(s->col);
  s->row = s->col = NULL;
}
