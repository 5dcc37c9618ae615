/* A B by rows (Gustavson 1978): a pass that finds the columns of each row, and one that sums in place. The Galerkin product
 * R A P. The transpose.
 */
#include "sparse/sparse.h"
#include <stdlib.h>
#include <string.h>

/* The columns of some rows. */
typedef struct found {
  int32_t *col;
  int64_t count, room;
} found;

typedef struct multiplying {
  const kcl_csr *A, *B;
  kcl_csr *C;
  int64_t grain;
  found *part;  /* of `grain` rows each */
  bool ordered; /* columns ascend in rows of C */
  atomic_bool failed;
} multiplying;

/* The columns of row i, into the list. */
static void find_columns(const multiplying *m, kcl_sums *s, int64_t i) {
  const kcl_csr *A = m->A, *B = m->B;
  kcl_sums_next(s);
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const int64_t row = A->col[k], first = B->row_ptr[row];
    kcl_sums_find(s, B->row_ptr[row + 1] - first, B->col + first);
  }
}

static bool append(found *f, const int32_t *col, int64_t count) {
  enum { FIRST = 1 << 14 };
  int64_t room = f->room ? f->room : FIRST;
  while (room < f->count + count) room *= 2;
  int32_t *more = room == f->room ? f->col : realloc(f->col, (size_t)room * sizeof *more);
  if (!more) return false;
  memcpy(more + f->count, col, (size_t)count * sizeof *col);
  f->col = more, f->room = room, f->count += count;
  return true;
}

static void find_rows(void *arg, kcl_sums *s, int64_t from, int64_t to) {
  multiplying *m = arg;
  found *f = &m->part[from / m->grain];
  for (int64_t i = from; i < to; i++) {
    find_columns(m, s, i);
    if (m->ordered) kcl_sums_order(s);
    if (!append(f, s->list, s->count)) m->failed = true;
    m->C->row_ptr[i + 1] = s->count;
  }
}

static void sum_row(const multiplying *m, double *sum, int64_t i) {
  const kcl_csr *A = m->A, *B = m->B;
  const double *a = A->val, *b = B->val;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const double factor = a[k];
    const int64_t end = B->row_ptr[A->col[k] + 1];
    for (int64_t l = B->row_ptr[A->col[k]]; l < end; l++) sum[B->col[l]] += factor * b[l];
  }
}

/* `sum` is zero between rows. */
static void sum_rows(void *arg, kcl_sums *s, int64_t from, int64_t to) {
  multiplying *m = arg;
  const kcl_csr *C = m->C;
  const found *f = &m->part[from / m->grain];
  double *c = C->val, *sum = s->sum;
  if (f->count) memcpy(C->col + C->row_ptr[from], f->col, (size_t)f->count * sizeof *f->col);
  for (int64_t i = from; i < to; i++) {
    sum_row(m, sum, i);
    for (int64_t k = C->row_ptr[i]; k < C->row_ptr[i + 1]; k++)
      c[k] = sum[C->col[k]], sum[C->col[k]] = 0;
  }
}

static int pass(kcl *ctx, multiplying *m, kcl_sums_range *part) {
  if (kcl_sums_for_each(m->A->rows, m->grain, m->B->cols, part, m) && !m->failed) return KCL_OK;
  return kcl_fail(ctx, KCL_MEMORY, "out of memory: a product of matrices");
}

static int multiply(kcl *ctx, const kcl_csr *A, const kcl_csr *B, bool ordered, kcl_csr **out) {
  multiplying m = {.A = A, .B = B, .ordered = ordered, .grain = kcl_rows_grain(A->rows)};
  const int64_t parts = (A->rows + m.grain - 1) / m.grain;
  int rc;
  *out = NULL;
  KCL_TRY(kcl_alloc(ctx, parts, sizeof *m.part, "the parts of a product", (void **)&m.part));
  KCL_TRY(kcl_csr_create(ctx, A->rows, B->cols, 0, KCL_D, &m.C));
  KCL_TRY(pass(ctx, &m, find_rows));
  KCL_TRY(kcl_sparse_room(ctx, m.C));
  KCL_TRY(pass(ctx, &m, sum_rows));
  *out = m.C, m.C = NULL;
done:
  for (int64_t p = 0; m.part && p < parts; p++) free(m.part[p].col);
  free(m.part), kcl_csr_free(&m.C);
  return rc;
}

int kcl_sparse_product(kcl *ctx, const kcl_csr *A, const kcl_csr *B, kcl_csr **out) {
  return multiply(ctx, A, B, true, out);
}

int kcl_sparse_galerkin(kcl *ctx, const kcl_csr *R, const kcl_csr *A, const kcl_csr *P,
                        kcl_csr **out) {
  kcl_csr *AP;
  int rc = multiply(ctx, A, P, false, &AP);
  if (!rc) rc = multiply(ctx, R, AP, true, out);
  kcl_csr_free(&AP);
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
