/* A B by rows (Gustavson 1978) and the transpose. */
#include "sparse/sparse.h"
#include <stdlib.h>

typedef struct factors {
  const kcl_csr *A, *B;
} factors;

static void product_row(void *arg, kcl_rows *r, int64_t i) {
  const factors *f = arg;
  const kcl_csr *A = f->A, *B = f->B;
  const double *a = A->val, *b = B->val;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const int32_t row = A->col[k];
    for (int64_t l = B->row_ptr[row]; l < B->row_ptr[row + 1]; l++)
      kcl_row_add(r, B->col[l], a[k] * b[l]);
  }
  kcl_row_put(r);
}

int kcl_sparse_product(kcl *ctx, const kcl_csr *A, const kcl_csr *B, kcl_csr **out) {
  factors f = {A, B};
  return kcl_rows_make(ctx, A->rows, B->cols, KCL_D, product_row, &f, NULL, out);
}

/* ---------------------------------------------------------------- the transpose */

enum { MOST_BLOCKS = 8 };

/* Rows of A are cut into blocks; next[block][j]: where the block's next entry of column j belongs. */
typedef struct transposing {
  const kcl_csr *A;
  kcl_csr *T;
  int64_t *next; /* [blocks, cols] */
  int blocks;
} transposing;

static int64_t block_start(const transposing *t, int64_t b) { return t->A->rows * b / t->blocks; }

static void count_block(void *arg, int64_t from, int64_t to) {
  const transposing *t = arg;
  for (int64_t b = from; b < to; b++)
    for (int64_t k = t->A->row_ptr[block_start(t, b)]; k < t->A->row_ptr[block_start(t, b + 1)];
         k++)
      t->next[b * t->A->cols + t->A->col[k]]++;
}

static void fill_block(void *arg, int64_t from, int64_t to) {
  const transposing *t = arg;
  const kcl_csr *A = t->A;
  const double *a = A->val;
  for (int64_t b = from; b < to; b++) {
    int64_t *next = t->next + b * A->cols;
    for (int64_t i = block_start(t, b); i < block_start(t, b + 1); i++)
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
        const int64_t at = next[A->col[k]]++;
        t->T->col[at] = (int32_t)i, ((double *)t->T->val)[at] = a[k];
      }
  }
}

static void add_up(const transposing *t) {
  int64_t all = 0;
  for (int64_t j = 0; j < t->A->cols; j++) {
    for (int b = 0; b < t->blocks; b++) {
      int64_t *n = &t->next[b * t->A->cols + j], count = *n;
      *n = all, all += count;
    }
    t->T->row_ptr[j + 1] = all;
  }
}

int kcl_sparse_transpose(kcl *ctx, const kcl_csr *A, kcl_csr **out) {
  transposing t = {.A = A};
  int rc;
  *out = NULL;
  t.blocks = kcl_threads() < MOST_BLOCKS ? kcl_threads() : MOST_BLOCKS;
  KCL_TRY(kcl_csr_create(ctx, A->cols, A->rows, A->nnz, KCL_D, &t.T));
  KCL_TRY(kcl_alloc(ctx, t.blocks * A->cols, sizeof *t.next, "the transpose", (void **)&t.next));
  kcl_for_each(t.blocks, 1, count_block, &t);
  add_up(&t);
  kcl_for_each(t.blocks, 1, fill_block, &t);
  *out = t.T, t.T = NULL;
done:
  kcl_csr_free(&t.T), free(t.next);
  return rc;
}
