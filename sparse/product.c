/* A B by rows (Gustavson 1978): a pass that counts the entries of each row, then one that computes them in place. The
 * transpose.
 */
#include "sparse/sparse.h"
#include <stdlib.h>
#include <string.h>

typedef struct multiplying {
  const kcl_csr *A, *B;
  kcl_csr *C;
  atomic_bool failed;
} multiplying;

static int64_t count_row(const multiplying *m, kcl_sums *s, int64_t i) {
  const kcl_csr *A = m->A, *B = m->B;
  uint32_t *round = s->round, now = s->now;
  int64_t count = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const int64_t end = B->row_ptr[A->col[k] + 1];
    for (int64_t l = B->row_ptr[A->col[k]]; l < end; l++) {
      uint32_t *last = &round[B->col[l]];
      count += *last != now, *last = now;
    }
  }
  return count;
}

static void sum_row(const multiplying *m, kcl_sums *s, int64_t i) {
  const kcl_csr *A = m->A, *B = m->B;
  const double *a = A->val, *b = B->val;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const double factor = a[k];
    const int64_t end = B->row_ptr[A->col[k] + 1];
    for (int64_t l = B->row_ptr[A->col[k]]; l < end; l++) kcl_sums_add(s, B->col[l], factor * b[l]);
  }
}

static void count_rows(void *arg, int64_t from, int64_t to) {
  multiplying *m = arg;
  kcl_sums s;
  if (!kcl_sums_create(&s, m->B->cols)) {
    m->failed = true;
    return;
  }
  for (int64_t i = from; i < to; i++) {
    kcl_sums_next(&s);
    m->C->row_ptr[i + 1] = count_row(m, &s, i);
  }
  kcl_sums_free(&s);
}

static void fill_rows(void *arg, int64_t from, int64_t to) {
  multiplying *m = arg;
  kcl_sums s;
  if (!kcl_sums_create(&s, m->B->cols)) {
    m->failed = true;
    return;
  }
  for (int64_t i = from; i < to; i++) {
    int32_t *col = m->C->col + m->C->row_ptr[i];
    double *val = (double *)m->C->val + m->C->row_ptr[i];
    kcl_sums_next(&s);
    sum_row(m, &s, i);
    kcl_sums_order(&s);
    for (int64_t k = 0; k < s.count; k++) col[k] = s.list[k], val[k] = s.sum[s.list[k]];
  }
  kcl_sums_free(&s);
}

int kcl_sparse_product(kcl *ctx, const kcl_csr *A, const kcl_csr *B, kcl_csr **out) {
  multiplying m = {.A = A, .B = B};
  int rc;
  *out = NULL;
  KCL_TRY(kcl_csr_create(ctx, A->rows, B->cols, 0, KCL_D, &m.C));
  kcl_for_each(A->rows, kcl_rows_grain(A->rows), count_rows, &m);
  KCL_TRY(kcl_sparse_room(ctx, m.C));
  if (!m.failed) kcl_for_each(A->rows, kcl_rows_grain(A->rows), fill_rows, &m);
  if (m.failed) KCL_TRY(kcl_fail(ctx, KCL_MEMORY, "out of memory: a product of matrices"));
  *out = m.C, m.C = NULL;
done:
  kcl_csr_free(&m.C);
  return rc;
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

static int count_columns(kcl *ctx, const kcl_csr *A, transposing *t) {
  *t = (transposing){.A = A};
  t->blocks = kcl_threads() < MOST_BLOCKS ? kcl_threads() : MOST_BLOCKS;
  int rc = kcl_alloc(ctx, t->blocks * A->cols, sizeof *t->next, "columns", (void **)&t->next);
  if (!rc) kcl_for_each(t->blocks, 1, count_block, t);
  return rc;
}

int kcl_sparse_column_counts(kcl *ctx, const kcl_csr *A, int64_t **out) {
  transposing t;
  int rc = count_columns(ctx, A, &t);
  for (int64_t j = 0; !rc && j < A->cols; j++)
    for (int b = 1; b < t.blocks; b++) t.next[j] += t.next[b * A->cols + j];
  *out = t.next;
  return rc;
}

int kcl_sparse_transpose(kcl *ctx, const kcl_csr *A, kcl_csr **out) {
  transposing t;
  int rc;
  *out = NULL;
  KCL_TRY(count_columns(ctx, A, &t));
  KCL_TRY(kcl_csr_create(ctx, A->cols, A->rows, A->nnz, KCL_D, &t.T));
  add_up(&t);
  kcl_for_each(t.blocks, 1, fill_block, &t);
  *out = t.T, t.T = NULL;
done:
  kcl_csr_free(&t.T), free(t.next);
  return rc;
}
