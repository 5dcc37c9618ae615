/* Interpolation by matrix products, MM-ext (Li, Sjogreen & Yang 2021): for F points
 *
 *   W = -(D_FF + D_weak)^-1 (A_FF^s + D_beta) D_beta^-1 A_FC^s
 *
 * A^s the strong entries, D_beta the row sums of A_FC^s, D_weak the row sums of what is neither strong nor diagonal. F
 * points without a strong C point, or with very many, have beta = 0: as neighbours they are lumped to the diagonal.
 */
#include "multigrid/coarsen.h"

typedef struct interpolating {
  const kcl_csr *A, *S;
  const int32_t *coarse;
  kcl_csr *C;              /* A_FC^s in the numbers of coarse points */
  double *beta, *diagonal; /* [n]: D_beta; D_FF + D_weak + lumped */
  int most;
} interpolating;

static void free_interpolating(interpolating *w) {
  free(w->beta), free(w->diagonal);
  kcl_csr_free(&w->C);
}

static double sum_of_row(const kcl_csr *A, int64_t i) {
  double sum = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) sum += ((const double *)A->val)[k];
  return sum;
}

static void count_coarse(void *arg, int64_t from, int64_t to) {
  const interpolating *w = arg;
  for (int64_t i = from; i < to; i++) {
    int64_t count = 0;
    for (int64_t k = w->S->row_ptr[i]; w->coarse[i] < 0 && k < w->S->row_ptr[i + 1]; k++)
      count += w->coarse[w->S->col[k]] >= 0;
    w->C->row_ptr[i + 1] = count;
  }
}

static void fill_coarse(void *arg, int64_t from, int64_t to) {
  const interpolating *w = arg;
  for (int64_t i = from; i < to; i++) {
    int64_t at = w->C->row_ptr[i];
    for (int64_t k = w->S->row_ptr[i]; w->coarse[i] < 0 && k < w->S->row_ptr[i + 1]; k++) {
      const int32_t c = w->coarse[w->S->col[k]];
      if (c >= 0) w->C->col[at] = c, ((double *)w->C->val)[at++] = ((const double *)w->S->val)[k];
    }
    if (!kcl_long_row(w->S, i)) w->beta[i] = sum_of_row(w->C, i);
  }
}

static int select_coarse(kcl_context *ctx, interpolating *w, int64_t count) {
  const int64_t n = w->A->rows, grain = kcl_row_list_grain(n);
  KCL_CALL(kcl_csr_create(ctx, n, count, 0, KCL_D, &w->C));
  kcl_for_each(n, grain, count_coarse, w);
  KCL_CALL(kcl_sparse_shape(ctx, w->C));
  kcl_for_each(n, grain, fill_coarse, w);
  return KCL_OK;
}

static void sum_diagonal(void *arg, int64_t from, int64_t to) {
  interpolating *w = arg;
  const kcl_csr *S = w->S;
  for (int64_t i = from; i < to; i++) {
    w->diagonal[i] = sum_of_row(w->A, i) - sum_of_row(S, i);
    for (int64_t k = S->row_ptr[i]; k < S->row_ptr[i + 1]; k++)
      if (w->coarse[S->col[k]] < 0 && w->beta[S->col[k]] == 0)
        w->diagonal[i] += ((const double *)S->val)[k];
  }
}

/* Appends row i of P. The sums are a local copy, which the compiler keeps in registers. */
static void interpolate_row(void *arg, kcl_row_list *r, int64_t i) {
  const interpolating w = *(const interpolating *)arg;
  const kcl_csr S = *w.S, C = *w.C;
  const double one = 1, scale = w.diagonal[i] != 0 ? -1 / w.diagonal[i] : 0, *strong = S.val;
  if (w.coarse[i] >= 0) {
    kcl_row_list_put(r, w.coarse[i], &one);
    return;
  }
  kcl_accumulator s = r->sums;
  kcl_accumulator_add_row(&s, &C, i, scale);
  for (int64_t k = S.row_ptr[i]; k < S.row_ptr[i + 1]; k++) {
    const int64_t j = S.col[k];
    if (w.beta[j] != 0) /* 0: a coarse point, too */
      kcl_accumulator_add_row(&s, &C, j, scale * strong[k] / w.beta[j]);
  }
  r->sums = s;
  kcl_row_put_largest(r, w.most);
}

int kcl_amg_interpolation(kcl_context *ctx, const kcl_csr *A, const kcl_csr *S,
                          const int32_t *coarse, int64_t count, int most, kcl_csr **out) {
  KCL_OWNED_BY(free_interpolating)
  interpolating w = {.A = A, .S = S, .coarse = coarse, .most = most};
  *out = NULL;
  KCL_CALL(kcl_alloc(ctx, A->rows, sizeof(double), "interpolation", (void **)&w.beta));
  KCL_CALL(kcl_alloc(ctx, A->rows, sizeof(double), "interpolation", (void **)&w.diagonal));
  KCL_CALL(select_coarse(ctx, &w, count));
  kcl_for_each(A->rows, kcl_row_list_grain(A->rows), sum_diagonal, &w);
  return kcl_row_list_make(ctx, A->rows, count, KCL_D, interpolate_row, &w, NULL, out);
}

typedef struct truncating {
  const kcl_csr *P;
  int most;
} truncating;

static void truncate_row(void *arg, kcl_row_list *r, int64_t i) {
  const truncating *t = arg;
  kcl_accumulator_add_row(&r->sums, t->P, i, 1);
  kcl_row_put_largest(r, t->most);
}

int kcl_amg_truncate(kcl_context *ctx, const kcl_csr *P, int most, kcl_csr **out) {
  truncating t = {P, most};
  return kcl_row_list_make(ctx, P->rows, P->cols, KCL_D, truncate_row, &t, NULL, out);
}
