/* Sparse approximate inverses: patterns, and their rows in parallel. */
#include "sparse/local.h"

typedef struct pattern_finding {
  const kcl_csr *A;
  double *diagonal; /* [n] |a_ii| */
  double drop;
  int power, most;
  bool lower;
} pattern_finding;

static double entry_modulus(const pattern_finding *f, int64_t k) {
  return kcl_abs(f->A->type, f->A->val, k);
}

static void diagonals(void *arg, int64_t from, int64_t to) {
  pattern_finding *f = arg;
  for (int64_t i = from; i < to; i++)
    for (int64_t k = f->A->row_ptr[i]; k < f->A->row_ptr[i + 1]; k++)
      if (f->A->col[k] == i) f->diagonal[i] = entry_modulus(f, k);
}

/* |a_ij| / sqrt(|a_ii| |a_jj|): the size of an entry relative to the diagonal entries of its row and column. */
static double entry_weight(const pattern_finding *f, int64_t i, int64_t k) {
  const double a = entry_modulus(f, k), all = f->diagonal[i] * f->diagonal[f->A->col[k]];
  return all > 0 ? a / sqrt(all) : a > 0 ? INFINITY : 0;
}

/* Adds the entries of row `row` and, with steps > 1, of the rows it leads to, each with its product of weights along the path. */
static void walk_paths(const pattern_finding *f, kcl_row_list *r, int64_t i, int64_t row,
                       double before, int steps) {
  for (int64_t k = f->A->row_ptr[row]; k < f->A->row_ptr[row + 1]; k++) {
    const int64_t j = f->A->col[k];
    const double w = entry_weight(f, row, k);
    if (!(w > f->drop) || j == row || kcl_long_row(f->A, j)) continue;
    if (f->lower ? j < i : j != i) kcl_row_add(r, (int32_t)j, fmin(before * w, 1e100));
    if (steps > 1) walk_paths(f, r, i, j, before * fmin(w, 1), steps - 1);
  }
}

static void pattern_row(void *arg, kcl_row_list *r, int64_t i) {
  const pattern_finding *f = arg;
  walk_paths(f, r, i, i, 1, f->power);
  kcl_row_add(r, (int32_t)i, 1e200); /* the diagonal first */
  kcl_row_put_largest(r, f->most);
}

int kcl_sparse_pattern(kcl_context *ctx, const kcl_csr *A, bool lower, int power, double drop,
                       int most, kcl_csr **out) {
  KCL_OWNED double *diagonal = NULL;
  *out = NULL;
  KCL_CALL(kcl_alloc(ctx, A->rows, sizeof *diagonal, "a pattern", (void **)&diagonal));
  pattern_finding f = {A, diagonal, drop, power, most, lower};
  kcl_for(A->rows, KCL_FEW_ROWS, diagonals, &f);
  return kcl_row_list_make(ctx, A->rows, A->cols, KCL_D, pattern_row, &f, NULL, out);
}

int kcl_sparse_fsai(kcl_context *ctx, const kcl_csr *A, const kcl_csr *pattern, int64_t *refused,
                    kcl_csr **out) {
  kcl_local f = {A, pattern};
  return kcl_row_list_make(ctx, A->rows, A->cols, A->type,
                           A->type == KCL_Z ? kcl_fsai_row_z : kcl_fsai_row_d, &f, refused, out);
}

int kcl_sparse_spai(kcl_context *ctx, const kcl_csr *A, const kcl_csr *pattern, kcl_csr **out) {
  kcl_local f = {A, pattern};
  return kcl_row_list_make(ctx, A->rows, A->cols, A->type,
                           A->type == KCL_Z ? kcl_spai_row_z : kcl_spai_row_d, &f, NULL, out);
}
