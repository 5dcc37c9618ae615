/* A B by rows (Gustavson 1978); the Galerkin product R A P; the transpose. */
#include "sparse/sparse.h"

/* A combination of rows of a matrix: the rows, their factors, how many; all: how many may be read, to look ahead. */
typedef struct combination {
  const int32_t *row;
  const double *factor;
  int64_t count, all;
} combination;

/* Row i of A, as a combination of rows of what A is multiplied by. */
static combination row_of(const kcl_csr *A, int64_t i) {
  const int64_t first = A->row_ptr[i];
  return (combination){A->col + first, (const double *)A->val + first, A->row_ptr[i + 1] - first,
                       A->nnz - first};
}

static combination list_of(const kcl_accumulator *s) {
  kcl_accumulator_gather(s, s->value);
  return (combination){s->list, s->value, s->count, s->count};
}

/* Prefetches rows, and before that their starts: rows are short and far apart. Always inlined, since the compiler would drop a
 * function without effects. */
__attribute__((always_inline)) static inline void prefetch_rows(const kcl_csr *B,
                                                                const int32_t *row, int64_t left) {
  enum { ROWS_NEAR = 8, ROWS_FAR = 2 * ROWS_NEAR, DOUBLES_PER_LINE = 64 / sizeof(double) };
  if (left <= ROWS_FAR) return;
  const int64_t at = B->row_ptr[row[ROWS_NEAR]];
  const double *b = B->val;
  __builtin_prefetch(&B->row_ptr[row[ROWS_FAR]]);
  __builtin_prefetch(B->col + at);
  __builtin_prefetch(b + at);
  __builtin_prefetch(b + at + DOUBLES_PER_LINE);
}

static void add_rows(kcl_accumulator *s, const kcl_csr *matrix, combination c) {
  const kcl_csr B = *matrix;
  const double *b = B.val;
  for (int64_t k = 0; k < c.count; k++) {
    const int64_t first = B.row_ptr[c.row[k]], end = B.row_ptr[c.row[k] + 1];
    prefetch_rows(&B, c.row + k, c.all - k);
    kcl_accumulator_add(s, end - first, B.col + first, b + first, c.factor[k]);
  }
}

typedef struct sparse_product {
  const kcl_csr *A, *B;
} sparse_product;

static void product_row(void *arg, kcl_row_list *r, int64_t i) {
  const sparse_product *m = arg;
  add_rows(&r->sums, m->B, row_of(m->A, i));
  kcl_row_put(r);
}

int kcl_sparse_product(kcl_context *ctx, const kcl_csr *A, const kcl_csr *B, kcl_csr **out) {
  return kcl_row_list_make(ctx, A->rows, B->cols, KCL_D, product_row, &(sparse_product){A, B}, NULL,
                           out);
}

/* ---------------------------------------------------------------- R A P, row by row: (R A) P */

typedef struct triple {
  const kcl_csr *R, *A, *P;
  kcl_csr *C;        /* in a known pattern */
  atomic_bool other; /* an entry is not in it */
} triple;

static void galerkin_row(void *arg, kcl_row_list *r, int64_t i) {
  const triple *t = arg;
  add_rows(r->inner, t->A, row_of(t->R, i));
  add_rows(&r->sums, t->P, list_of(r->inner));
  kcl_accumulator_clear(r->inner);
  kcl_row_put(r);
}

static int like(kcl_context *ctx, const kcl_csr *pattern, kcl_csr **out) {
  int rc = kcl_csr_create(ctx, pattern->rows, pattern->cols, 0, KCL_D, out);
  for (int64_t i = 0; !rc && i < pattern->rows; i++)
    (*out)->row_ptr[i + 1] = pattern->row_ptr[i + 1] - pattern->row_ptr[i];
  if (!rc) rc = kcl_sparse_shape(ctx, *out);
  if (!rc) kcl_copy_bytes((*out)->col, pattern->col, pattern->nnz * (int64_t)sizeof *pattern->col);
  return rc;
}

/* As add_rows, for columns that are in the list already. False: one is not, and the sums are useless. */
static bool add_known_rows(kcl_accumulator *s, const kcl_csr *B, combination c) {
  const uint32_t *row = s->row, now = s->now;
  const double *b = B->val;
  double *sum = s->sum;
  bool all = true;
  for (int64_t k = 0; k < c.count; k++) {
    const int64_t first = B->row_ptr[c.row[k]], end = B->row_ptr[c.row[k] + 1];
    prefetch_rows(B, c.row + k, c.all - k);
    for (int64_t l = first; l < end; l++) {
      all &= row[B->col[l]] == now;
      sum[B->col[l]] += c.factor[k] * b[l];
    }
  }
  return all;
}

static void refill_row(triple *t, kcl_accumulator *s, kcl_accumulator *inner, int64_t i) {
  const kcl_csr *C = t->C;
  const int64_t first = C->row_ptr[i];
  kcl_accumulator_begin(s, C->row_ptr[i + 1] - first, C->col + first);
  add_rows(inner, t->A, row_of(t->R, i));
  if (!add_known_rows(s, t->P, list_of(inner))) t->other = true;
  kcl_accumulator_gather(s, (double *)C->val + first);
  kcl_accumulator_clear(s), kcl_accumulator_clear(inner);
}

static void refill_rows(void *arg, kcl_accumulator *s, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) refill_row(arg, &s[0], &s[1], i);
}

/* R A P in a given pattern; *out stays NULL where that does not have all entries. */
static int refill(kcl_context *ctx, triple *t, const kcl_csr *pattern, kcl_csr **out) {
  const int64_t cols[2] = {pattern->cols, t->A->cols};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL;
  KCL_CALL(like(ctx, pattern, &C));
  t->C = C;
  if (!kcl_accumulator_for_each(pattern->rows, kcl_row_list_grain(pattern->rows), cols, refill_rows,
                                t))
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: a product of matrices");
  if (!t->other) *out = C, C = NULL;
  return KCL_OK;
}

int kcl_sparse_galerkin(kcl_context *ctx, const kcl_csr *R, const kcl_csr *A, const kcl_csr *P,
                        const kcl_csr *pattern, kcl_csr **out) {
  triple t = {.R = R, .A = A, .P = P};
  *out = NULL;
  if (pattern) KCL_CALL(refill(ctx, &t, pattern, out));
  if (*out) return KCL_OK;
  return kcl_row_list_make_through(ctx, R->rows, A->cols, P->cols, galerkin_row, &t, out);
}

/* ---------------------------------------------------------------- the transpose */

/* Rows of A are cut into blocks; next[block][j]: where the block's next entry of column j belongs. */
typedef struct transposing {
  const kcl_csr *A;
  kcl_csr *T;
  int64_t *next; /* [blocks, cols] */
  int blocks;
} transposing;

static void free_transposing(transposing *t) { kcl_csr_free(&t->T), free(t->next); }

static int64_t block_start(const transposing *t, int64_t b) {
  return kcl_sparse_block(t->A->rows, t->blocks, b);
}

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

static void add_up_counts(const transposing *t) {
  int64_t all = 0;
  for (int64_t j = 0; j < t->A->cols; j++) {
    for (int b = 0; b < t->blocks; b++) {
      int64_t *n = &t->next[b * t->A->cols + j], count = *n;
      *n = all, all += count;
    }
    t->T->row_ptr[j + 1] = all;
  }
}

static int count_columns(kcl_context *ctx, const kcl_csr *A, transposing *t) {
  *t = (transposing){.A = A};
  t->blocks = kcl_sparse_blocks();
  int rc = kcl_alloc(ctx, t->blocks * A->cols, sizeof *t->next, "columns", (void **)&t->next);
  if (!rc) kcl_for_each(t->blocks, 1, count_block, t);
  return rc;
}

int kcl_sparse_column_counts(kcl_context *ctx, const kcl_csr *A, int64_t **out) {
  transposing t;
  int rc = count_columns(ctx, A, &t);
  for (int64_t j = 0; !rc && j < A->cols; j++)
    for (int b = 1; b < t.blocks; b++) t.next[j] += t.next[b * A->cols + j];
  *out = t.next;
  return rc;
}

int kcl_sparse_transpose(kcl_context *ctx, const kcl_csr *A, kcl_csr **out) {
  KCL_OWNED_BY(free_transposing) transposing t = {0};
  *out = NULL;
  KCL_CALL(count_columns(ctx, A, &t));
  KCL_CALL(kcl_csr_create(ctx, A->cols, A->rows, 0, KCL_D, &t.T));
  add_up_counts(&t);
  KCL_CALL(kcl_sparse_entries(ctx, t.T, t.T->row_ptr[A->cols]));
  kcl_for_each(t.blocks, 1, fill_block, &t);
  *out = t.T, t.T = NULL;
  return KCL_OK;
}
