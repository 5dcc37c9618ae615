/* A matrix from a function of its rows: count, prefix sum, fill; both loops in parallel. Also the right-hand
 * sides that generators share. Cost: two calls per row; no memory beyond the result. */
#include "data/generators/generate.h"
#include <stdlib.h>

typedef struct making {
  const kcl_rows *r;
  int64_t *row_ptr;
  kcl_csr *A;
  _Atomic int64_t lower; /* entries in the lower half */
} making;

static void count_rows(void *arg, int64_t first, int64_t end) {
  const making *m = arg;
  for (int64_t i = first; i < end; i++) m->row_ptr[i + 1] = m->r->row(m->r->self, i, NULL, NULL);
}

/* row_ptr[i + 1] = entries before row i + 1. */
static void count(const kcl_rows *r, int64_t *row_ptr) {
  kcl_for(r->rows, KCL_FEW_ROWS, count_rows, &(making){.r = r, .row_ptr = row_ptr});
  for (int64_t i = 0; i < r->rows; i++) row_ptr[i + 1] += row_ptr[i];
}

static void fill_rows(void *arg, int64_t first, int64_t end) {
  making *m = arg;
  kcl_csr *A = m->A;
  int64_t lower = 0, parts = kcl_type_complex(A->type) ? 2 : 1;
  double *val = A->val;
  for (int64_t i = first; i < end; i++) {
    int64_t k = A->row_ptr[i];
    m->r->row(m->r->self, i, A->col + k, val + parts * k);
    for (; k < A->row_ptr[i + 1] && A->col[k] <= i; k++) lower++;
  }
  m->lower += lower;
}

/* Returns the number of entries in the lower half. */
static int64_t fill(const kcl_rows *r, kcl_csr *A) {
  making m = {.r = r, .A = A};
  kcl_for_each(r->rows, KCL_FEW_ROWS, fill_rows, &m);
  return m.lower;
}

int kcl_rows_rectangle(kcl *ctx, const kcl_rows *r, int64_t cols, kcl_csr **out) {
  kcl_csr *A = NULL;
  int64_t *row_ptr = NULL, lower;
  int rc;
  *out = NULL;
  KCL_TRY(kcl_alloc(ctx, r->rows + 1, sizeof *row_ptr, "row pointers", (void **)&row_ptr));
  count(r, row_ptr);
  KCL_TRY(kcl_csr_create(ctx, r->rows, cols, row_ptr[r->rows], r->type, &A));
  free(A->row_ptr);
  A->row_ptr = row_ptr, row_ptr = NULL;
  lower = fill(r, A);
  A->symmetry = r->symmetry, A->field = r->field;
  A->stored = r->symmetry == KCL_GENERAL ? A->nnz : lower;
  *out = A;
done:
  free(row_ptr);
  return rc;
}

int kcl_rows_matrix(kcl *ctx, const kcl_rows *r, kcl_csr **out) {
  return kcl_rows_rectangle(ctx, r, r->rows, out);
}

int kcl_rhs_zero(kcl *ctx, const kcl_csr *A, kcl_dense **b) {
  return b ? kcl_dense_create(ctx, A->rows, 1, A->type, b) : KCL_OK;
}

int kcl_rhs_constant(kcl *ctx, const kcl_csr *A, double value, kcl_dense **b) {
  int rc = kcl_rhs_zero(ctx, A, b), parts = kcl_type_complex(A->type) ? 2 : 1;
  if (rc || !b) return rc;
  for (int64_t i = 0; i < A->rows; i++) (*b)->val[parts * i] = value;
  return KCL_OK;
}

int kcl_rhs_image(kcl *ctx, const kcl_csr *A, kcl_dense **b) {
  kcl_dense *ones = NULL;
  int rc;
  if (!b) return KCL_OK;
  KCL_TRY(kcl_dense_create(ctx, A->cols, 1, A->type, &ones));
  for (int64_t j = 0; j < A->cols; j++) ones->val[A->type == KCL_Z ? 2 * j : j] = 1;
  KCL_TRY(kcl_rhs_zero(ctx, A, b));
  kcl_csr_product(A, ones->val, NULL, (*b)->val);
done:
  kcl_dense_free(&ones);
  return rc;
}
