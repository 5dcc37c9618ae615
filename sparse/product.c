/* A B by rows (Gustavson 1978); the Galerkin product R A P; the transpose. */
#include "sparse/sparse.h"
#include <stdlib.h>
#include <string.h>

/* Row i of a factor, which is a matrix or parts of one. */
typedef struct row {
  const int32_t *col;
  const double *val;
  int64_t count;
} row;

static row row_of(const kcl_row_parts *B, int64_t i) {
  const int64_t part = i >> B->shift, *start = B->start + part + i;
  const kcl_rows *r = &B->part[part];
  return (row){r->col + start[0], r->val + start[0], start[1] - start[0]};
}

/* B as one part. */
static kcl_row_parts whole(const kcl_csr *B, kcl_rows *part) {
  *part = (kcl_rows){.col = B->col, .val = B->val};
  return (kcl_row_parts){
      .rows = B->rows, .parts = 1, .shift = 62, .part = part, .start = B->row_ptr};
}

typedef struct multiplying {
  const kcl_csr *A;
  const kcl_row_parts *B;
} multiplying;

static void add_row(const multiplying *m, kcl_sums *s, int64_t i) {
  const kcl_csr *A = m->A;
  const double *a = A->val;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const row b = row_of(m->B, A->col[k]);
    kcl_sums_add(s, b.count, b.col, b.val, a[k]);
  }
}

static void multiply_row(void *arg, kcl_rows *r, int64_t i) {
  add_row(arg, &r->sums, i);
  kcl_row_put(r);
}

static void multiply_row_as_found(void *arg, kcl_rows *r, int64_t i) {
  add_row(arg, &r->sums, i);
  kcl_row_put_as_found(r);
}

static int multiply(kcl *ctx, const kcl_csr *A, const kcl_row_parts *B, int64_t cols,
                    kcl_csr **out) {
  multiplying m = {A, B};
  return kcl_rows_make(ctx, A->rows, cols, KCL_D, multiply_row, &m, NULL, out);
}

int kcl_sparse_product(kcl *ctx, const kcl_csr *A, const kcl_csr *B, kcl_csr **out) {
  kcl_rows part;
  const kcl_row_parts all = whole(B, &part);
  return multiply(ctx, A, &all, B->cols, out);
}

/* ---------------------------------------------------------------- in a known pattern */

static int like(kcl *ctx, const kcl_csr *pattern, kcl_csr **out) {
  int rc = kcl_csr_create(ctx, pattern->rows, pattern->cols, 0, KCL_D, out);
  for (int64_t i = 0; !rc && i < pattern->rows; i++)
    (*out)->row_ptr[i + 1] = pattern->row_ptr[i + 1] - pattern->row_ptr[i];
  if (!rc) rc = kcl_sparse_room(ctx, *out);
  if (!rc) kcl_copy_bytes((*out)->col, pattern->col, pattern->nnz * (int64_t)sizeof *pattern->col);
  return rc;
}

typedef struct refilling {
  multiplying m;
  kcl_csr *C;
  atomic_bool other; /* an entry is not in the pattern */
} refilling;

/* Column sums of row b, of which all columns are in the list; false: they are not, and the rest goes behind it. */
static bool add_known(kcl_sums *s, const row *b, double factor) {
  const uint32_t *place = s->place, first = s->first, count = (uint32_t)s->count;
  double *sum = s->sum;
  bool all = true;
  for (int64_t l = 0; l < b->count; l++) {
    const uint32_t number = place[b->col[l]] - first;
    all &= number < count;
    sum[number < count ? number : count] += factor * b->val[l];
  }
  return all;
}

static void refill_row(refilling *f, kcl_sums *s, int64_t i) {
  const kcl_csr *A = f->m.A, *C = f->C;
  const double *a = A->val;
  const int64_t first = C->row_ptr[i], count = C->row_ptr[i + 1] - first;
  bool all = true;
  kcl_sums_begin(s, count, C->col + first);
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    const row b = row_of(f->m.B, A->col[k]);
    all &= add_known(s, &b, a[k]);
  }
  s->sum[count] = 0;
  if (!all) f->other = true;
  memcpy((double *)C->val + first, s->sum, (size_t)count * sizeof *s->sum);
  kcl_sums_clear(s);
}

static void refill_rows(void *arg, kcl_sums *s, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) refill_row(arg, s, i);
}

/* A B in the pattern of C; no *out where that is not its pattern. */
static int refill(kcl *ctx, const kcl_csr *A, const kcl_row_parts *B, const kcl_csr *C,
                  kcl_csr **out) {
  refilling f = {.m = {A, B}};
  int rc;
  *out = NULL;
  KCL_TRY(like(ctx, C, &f.C));
  if (!kcl_sums_for_each(A->rows, kcl_rows_grain(A->rows), C->cols, refill_rows, &f))
    KCL_TRY(kcl_fail(ctx, KCL_MEMORY, "out of memory: a product of matrices"));
  if (!f.other) *out = f.C, f.C = NULL;
done:
  kcl_csr_free(&f.C);
  return rc;
}

int kcl_sparse_galerkin(kcl *ctx, const kcl_csr *R, const kcl_csr *A, const kcl_csr *P,
                        const kcl_csr *pattern, kcl_csr **out) {
  kcl_rows part;
  kcl_row_parts all = whole(P, &part), AP;
  int rc;
  *out = NULL;
  KCL_TRY(kcl_row_parts_make(ctx, A->rows, P->cols, 1, multiply_row_as_found,
                             &(multiplying){A, &all}, &AP));
  if (pattern) KCL_TRY(refill(ctx, R, &AP, pattern, out));
  if (!*out) rc = multiply(ctx, R, &AP, P->cols, out);
done:
  kcl_row_parts_free(&AP);
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
