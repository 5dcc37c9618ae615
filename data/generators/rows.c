/* A matrix from a function of its rows: count, prefix sum, fill; both loops in parallel. Also the right-hand
 * sides that generators share. Cost: two calls per row; no memory beyond the result. */
#include "data/generators/generate.h"

typedef struct making {
  const kcl_rows *r;
  int64_t from, *row_ptr; /* from: the first row that is made */
  kcl_csr *A;
  _Atomic int64_t lower; /* entries in the lower half */
} making;

static void count_generated_rows(void *arg, int64_t first, int64_t end) {
  const making *m = arg;
  for (int64_t i = first; i < end; i++)
    m->row_ptr[i + 1] = m->r->row(m->r->self, m->from + i, NULL, NULL);
}

static void fill_rows(void *arg, int64_t first, int64_t end) {
  making *m = arg;
  kcl_csr *A = m->A;
  int64_t lower = 0, parts = kcl_type_complex(A->type) ? 2 : 1;
  double *val = A->val;
  for (int64_t i = first; i < end; i++) {
    int64_t k = A->row_ptr[i];
    m->r->row(m->r->self, m->from + i, A->col + k, val + parts * k);
    for (; k < A->row_ptr[i + 1] && A->col[k] <= m->from + i; k++) lower++;
  }
  m->lower += lower;
}

int kcl_rows_part(kcl_context *ctx, const kcl_rows *r, int64_t cols, int64_t from, int64_t to,
                  kcl_csr **out) {
  const int64_t rows = to - from;
  KCL_OWNED int64_t *row_ptr = NULL;
  kcl_csr *A;
  *out = NULL;
  KCL_CALL(kcl_alloc(ctx, rows + 1, sizeof *row_ptr, "row pointers", (void **)&row_ptr));
  making m = {.r = r, .from = from, .row_ptr = row_ptr};
  kcl_for(rows, KCL_FEW_ROWS, count_generated_rows, &m);
  for (int64_t i = 0; i < rows; i++) row_ptr[i + 1] += row_ptr[i];
  KCL_CALL(kcl_csr_create(ctx, rows, cols, row_ptr[rows], r->type, &A));
  free(A->row_ptr);
  A->row_ptr = row_ptr, row_ptr = NULL;
  m.A = A;
  kcl_for_each(rows, KCL_FEW_ROWS, fill_rows, &m);
  A->symmetry = r->symmetry, A->field = r->field;
  A->stored = r->symmetry == KCL_GENERAL ? A->nnz : m.lower;
  *out = A;
  return KCL_OK;
}

int kcl_rows_rectangle(kcl_context *ctx, const kcl_rows *r, int64_t cols, kcl_csr **out) {
  return kcl_rows_part(ctx, r, cols, 0, r->rows, out);
}

int kcl_rows_matrix(kcl_context *ctx, const kcl_rows *r, kcl_csr **out) {
  return kcl_rows_rectangle(ctx, r, r->rows, out);
}

int kcl_rhs_zero(kcl_context *ctx, const kcl_csr *A, kcl_dense **b) {
  return b ? kcl_dense_create(ctx, A->rows, 1, A->type, b) : KCL_OK;
}

int kcl_rhs_image(kcl_context *ctx, const kcl_csr *A, kcl_dense **b) {
  int rc = kcl_rhs_zero(ctx, A, b);
  if (!rc && b) kcl_csr_product(A, NULL, NULL, (*b)->val);
  return rc;
}
