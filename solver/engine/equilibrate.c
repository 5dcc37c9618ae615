/* Equilibration in integers: exponents r, c of R and C from e_ij = floor(log2 |a_ij|), so that the largest modulus of every
 * row and column is near 1.
 *
 *   in general      r_i = -max_j e_ij, then c_j = -max_i (e_ij + r_i)           (LAPACK's geequb)
 *   symmetric |A|   r_i -= m_i / 2, m_i = max_j (e_ij + r_i + r_j), c = r        (Ruiz 2001), until no r_i changes
 *
 * Rows come first: what methods test is R (b - A x). The spread of the exponents halves in each pass of the second, so
 * 2^2000 takes about a dozen. Cost: one read of A per pass, on all threads; two in general. On several ranks the columns of
 * others have their exponents from there, and the largest moduli of a column go to its owner: the exponents are those of one
 * process. */
#include "solver/engine/scale.h"
#include <limits.h>

enum { PASSES = 20, NONE = INT_MIN };

typedef struct pass {
  const kcl_csr *A;
  const kcl_halo *halo;  /* or NULL */
  int *row, *col;        /* [rows], [cols + halo] */
  int *row_most;         /* [rows] max_j (e_ij + r_i + c_j); NONE: no entry but zeros */
  _Atomic int *col_most; /* [cols + halo] the same over i */
  _Atomic bool changed;
} pass;

/* e_ij + r_i + c_j of entry k in row i, whose columns have the exponents col. */
static int exponent_of(const pass *p, const kcl_csr *A, int64_t i, int64_t k, const int *col) {
  const double a = kcl_abs(A->type, A->val, k);
  return a > 0 ? ilogb(a) + p->row[i] + col[A->col[k]] : NONE;
}

/* The rows of others' columns. */
static const kcl_csr *outside(const pass *p) { return p->halo ? p->halo->outside : NULL; }

/* Row `row` of B is row i. */
static void raise_row(const pass *p, const kcl_csr *B, int64_t row, int64_t i, const int *col) {
  for (int64_t k = B->row_ptr[row]; k < B->row_ptr[row + 1]; k++) {
    int e = exponent_of(p, B, i, k, col);
    if (e > p->row_most[i]) p->row_most[i] = e;
  }
}

static void find_own(void *arg, int64_t from, int64_t to) {
  const pass *p = arg;
  for (int64_t i = from; i < to; i++) p->row_most[i] = NONE, raise_row(p, p->A, i, i, p->col);
}

static void find_others(void *arg, int64_t from, int64_t to) {
  const pass *p = arg;
  for (int64_t b = from; b < to; b++)
    raise_row(p, outside(p), b, p->halo->row[b], p->col + p->A->cols);
}

static void find_row_most(pass *p) {
  kcl_for(p->A->rows, KCL_FEW_ROWS, find_own, p);
  if (p->halo) kcl_for(outside(p)->rows, KCL_FEW_ROWS, find_others, p);
}

/* Entries of B's row, which is row i, raise their columns: most and col begin with B's first. */
static void raise_columns(const pass *p, const kcl_csr *B, int64_t row, int64_t i, const int *col,
                          _Atomic int *most) {
  for (int64_t k = B->row_ptr[row]; k < B->row_ptr[row + 1]; k++) {
    _Atomic int *m = &most[B->col[k]];
    int e = exponent_of(p, B, i, k, col), seen = atomic_load_explicit(m, memory_order_relaxed);
    while (seen < e && !atomic_compare_exchange_weak(m, &seen, e)) {}
  }
}

static void raise_own(void *arg, int64_t from, int64_t to) {
  const pass *p = arg;
  for (int64_t i = from; i < to; i++) raise_columns(p, p->A, i, i, p->col, p->col_most);
}

static void raise_others(void *arg, int64_t from, int64_t to) {
  const pass *p = arg;
  const int64_t n = p->A->cols;
  for (int64_t b = from; b < to; b++)
    raise_columns(p, outside(p), b, p->halo->row[b], p->col + n, p->col_most + n);
}

static void find_col_most(pass *p) {
  kcl_for(p->A->rows, KCL_FEW_ROWS, raise_own, p);
  if (!p->halo) return;
  kcl_for(outside(p)->rows, KCL_FEW_ROWS, raise_others, p);
  p->halo->largest(p->halo, (int *)(void *)p->col_most);
}

/* Exponents of the columns of other ranks. */
static void exchange_columns(pass *p) {
  if (p->halo) p->halo->exchange(p->halo, sizeof *p->col, p->col);
}

/* ---------------------------------------------------------------- in general */

static void by_rows_then_columns(pass *p) {
  const int64_t rows = p->A->rows, cols = p->A->cols, halo = p->halo ? p->halo->count : 0;
  find_row_most(p);
  for (int64_t i = 0; i < rows; i++)
    if (p->row_most[i] != NONE) p->row[i] = -p->row_most[i];
  for (int64_t j = 0; j < cols + halo; j++) p->col_most[j] = NONE;
  find_col_most(p);
  for (int64_t j = 0; j < cols; j++)
    if (p->col_most[j] != NONE) p->col[j] = -p->col_most[j];
  exchange_columns(p);
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

static bool changed_anywhere(const pass *p) {
  return p->halo ? p->halo->ranks->largest(p->halo->ranks, p->changed) > 0 : p->changed;
}

static void both_alike(pass *p) {
  bool changed = true;
  for (int count = 0; count < PASSES && changed; count++) {
    p->changed = false;
    find_row_most(p);
    kcl_for(p->A->rows, KCL_FEW, halve, p);
    exchange_columns(p);
    changed = changed_anywhere(p);
  }
}

static int allocate_pass(kcl_context *ctx, pass *p) {
  const int64_t rows = p->A->rows, cols = p->A->cols + (p->halo ? p->halo->count : 0);
  int rc = kcl_alloc(ctx, rows, sizeof *p->row, "the scaling", (void **)&p->row);
  if (!rc) rc = kcl_alloc(ctx, cols, sizeof *p->col, "the scaling", (void **)&p->col);
  if (!rc) rc = kcl_alloc(ctx, rows, sizeof *p->row_most, "the scaling", (void **)&p->row_most);
  if (!rc) rc = kcl_alloc(ctx, cols, sizeof *p->col_most, "the scaling", (void **)&p->col_most);
  return kcl_ranks_agree(p->halo ? p->halo->ranks : NULL, rc);
}

int kcl_equilibrate(kcl_context *ctx, const kcl_csr *A, bool mirrored, const kcl_halo *halo,
                    kcl_scaling *out) {
  pass p = {.A = A, .halo = halo};
  int rc = allocate_pass(ctx, &p);
  if (rc) goto done;
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
