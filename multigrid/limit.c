/* A sparser prolongation where P^T A P would be dense or expensive, for instance for graphs with long rows: the longest rows of P
 * are replaced by rows of T, from which P was smoothed and which reproduces the same vectors.
 *
 *   products of entries   at most sum_i |P_i| sum_k |P_k|, k: the columns of row i of A, |P_i|: the entries of row i
 *   entries               estimated from random keys of columns: the least of m of them is 1/m in the mean (Cohen 1998)
 *
 * Time: that of 4 products with A per attempt. */
#include "multigrid/coarsen.h"

/* P with rows of T in place of those that have more than `longest` entries. */
typedef struct limited {
  const kcl_csr *A, *P, *T;
  int64_t longest;
} limited;

static int64_t row_length_of(const kcl_csr *P, int64_t i) {
  return P->row_ptr[i + 1] - P->row_ptr[i];
}

static const kcl_csr *source_of_row(const limited *l, int64_t i) {
  return row_length_of(l->P, i) > l->longest ? l->T : l->P;
}

static double count_products(const void *arg, int64_t from, int64_t to) {
  const limited *l = arg;
  const kcl_csr *A = l->A;
  double all = 0;
  for (int64_t i = from; i < to; i++) {
    int64_t sum = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      sum += row_length_of(source_of_row(l, A->col[k]), A->col[k]);
    all += (double)row_length_of(source_of_row(l, i), i) * (double)sum;
  }
  return all;
}

/* ---------------------------------------------------------------- entries of P^T A P */

enum { KEYS_PER_SET = 4 };
typedef struct keys {
  float least[KEYS_PER_SET]; /* of a set of columns of P */
} keys;

typedef struct entry_estimate {
  const limited *l;
  keys *column, *row; /* sets: one column, rows of P */
  keys *coarse;       /* [blocks, columns] rows of P^T A P, as far as a block of A's rows reaches */
  int blocks;
} entry_estimate;

static const keys none = {{INFINITY, INFINITY, INFINITY, INFINITY}};

static keys joined(keys a, keys b) {
  for (int q = 0; q < KEYS_PER_SET; q++)
    a.least[q] = b.least[q] < a.least[q] ? b.least[q] : a.least[q];
  return a;
}

/* The keys of the union of the sets of row i's columns. */
static keys joined_of(const keys *set, const kcl_csr *A, int64_t i) {
  keys all = none;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) all = joined(all, set[A->col[k]]);
  return all;
}

/* Draws exponentially distributed keys from a hash. */
static void draw_keys(void *arg, int64_t from, int64_t to) {
  keys *column = arg;
  for (int64_t i = from * KEYS_PER_SET; i < to * KEYS_PER_SET; i++) {
    const uint64_t h = kcl_hash((uint64_t)i);
    column[i / KEYS_PER_SET].least[i % KEYS_PER_SET] =
        (float)-log(((double)(h >> 12) + 1) / (double)(UINT64_C(1) << 52));
  }
}

static void join_columns(void *arg, int64_t from, int64_t to) {
  const entry_estimate *e = arg;
  for (int64_t i = from; i < to; i++) e->row[i] = joined_of(e->column, source_of_row(e->l, i), i);
}

/* A sum of KEYS_PER_SET numbers, each exponential with mean 1/m. */
static double columns_of(const keys *k) {
  double sum = 0;
  for (int q = 0; q < KEYS_PER_SET; q++) sum += (double)k->least[q];
  return sum > 0 ? (KEYS_PER_SET - 1) / sum : 0;
}

/* Row i of A P is a part of the rows of P^T A P that row i of P has as columns. */
static void join_rows(const entry_estimate *e, keys *coarse, int64_t i) {
  const kcl_csr *P = source_of_row(e->l, i);
  const keys reached = joined_of(e->row, e->l->A, i);
  for (int64_t k = P->row_ptr[i]; k < P->row_ptr[i + 1]; k++)
    coarse[P->col[k]] = joined(coarse[P->col[k]], reached);
}

static void join_block(void *arg, int64_t from, int64_t to) {
  const entry_estimate *e = arg;
  const int64_t rows = e->l->P->rows, cols = e->l->P->cols;
  for (int64_t block = from; block < to; block++) {
    const int64_t end = kcl_sparse_block(rows, e->blocks, block + 1);
    keys *coarse = e->coarse + block * cols;
    for (int64_t j = 0; j < cols; j++) coarse[j] = none;
    for (int64_t i = kcl_sparse_block(rows, e->blocks, block); i < end; i++)
      join_rows(e, coarse, i);
  }
}

static double sum_columns(const void *arg, int64_t from, int64_t to) {
  const entry_estimate *e = arg;
  const int64_t cols = e->l->P->cols;
  double all = 0;
  for (int64_t j = from; j < to; j++) {
    keys reached = e->coarse[j];
    for (int block = 1; block < e->blocks; block++)
      reached = joined(reached, e->coarse[block * cols + j]);
    all += columns_of(&reached);
  }
  return all;
}

static double entries(entry_estimate *e) {
  kcl_for(e->l->A->rows, KCL_FEW_ROWS, join_columns, e);
  kcl_for_each(e->blocks, 1, join_block, e);
  return kcl_sum(e->l->P->cols, KCL_FEW_ROWS, sum_columns, e);
}

/* ---------------------------------------------------------------- fewer entries in P, until it fits */

typedef struct limit_copying {
  const limited *from;
  kcl_csr *to;
} limit_copying;

static void copy_rows(void *arg, int64_t from, int64_t to) {
  const limit_copying *c = arg;
  for (int64_t i = from; i < to; i++) {
    const kcl_csr *P = source_of_row(c->from, i);
    const int64_t first = P->row_ptr[i], count = row_length_of(P, i), at = c->to->row_ptr[i];
    memcpy(c->to->col + at, P->col + first, (size_t)count * sizeof *P->col);
    memcpy((double *)c->to->val + at, (const double *)P->val + first,
           (size_t)count * sizeof(double));
  }
}

static int make_limited(kcl_context *ctx, const limited *l, kcl_csr **out) {
  const int64_t rows = l->P->rows;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL;
  KCL_CALL(kcl_csr_create(ctx, rows, l->P->cols, 0, KCL_D, &C));
  for (int64_t i = 0; i < rows; i++) C->row_ptr[i + 1] = row_length_of(source_of_row(l, i), i);
  KCL_CALL(kcl_sparse_shape(ctx, C));
  kcl_for_each(rows, kcl_row_list_grain(rows), copy_rows, &(limit_copying){l, C});
  *out = C, C = NULL;
  return KCL_OK;
}

static int begin_estimate(kcl_context *ctx, entry_estimate *e, int64_t rows, int64_t cols) {
  e->blocks = kcl_sparse_blocks();
  KCL_CALL(kcl_alloc_unset(ctx, rows + (1 + e->blocks) * cols, sizeof *e->row, "an estimate",
                           (void **)&e->row));
  e->column = e->row + rows, e->coarse = e->column + cols;
  kcl_for(cols, KCL_FEW_ROWS, draw_keys, e->column);
  return KCL_OK;
}

static void free_estimate(entry_estimate *e) { free(e->row); }

/* Does P^T A P take more than `most` products? Not counted where the longest row of P, before any limit, rules it out. */
static bool too_many_products(const limited *l, int64_t longest, double most) {
  return (double)longest * (double)longest * (double)l->A->nnz > most &&
         kcl_sum(l->A->rows, KCL_FEW_ROWS, count_products, l) > most;
}

int kcl_amg_limit(kcl_context *ctx, const kcl_csr *A, const kcl_csr *T, double most_products,
                  double most_entries, kcl_csr **P) {
  const int64_t longest = kcl_csr_longest_row(*P);
  limited l = {.A = A, .P = *P, .T = T, .longest = longest};
  KCL_OWNED_BY(free_estimate) entry_estimate e = {.l = &l};
  kcl_csr *C = NULL;
  KCL_CALL(begin_estimate(ctx, &e, A->rows, T->cols));
  while (l.longest && (too_many_products(&l, longest, most_products) || entries(&e) > most_entries))
    l.longest /= 2;
  if (l.longest == longest) return KCL_OK;
  KCL_CALL(make_limited(ctx, &l, &C));
  kcl_csr_free(P), *P = C;
  return KCL_OK;
}
