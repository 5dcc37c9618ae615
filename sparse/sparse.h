/* Sparse matrices that are computed from others, on the host: parts of set-ups of preconditioners. Every function
 * is parallel over rows and gives the same bits on any number of threads. Values are double, or pairs of doubles where a
 * function says so; matrices are square unless it says otherwise.
 */
#ifndef KCL_SPARSE_H
#define KCL_SPARSE_H

#include "core/base/base.h"

/* a rounded to its leading 29 bits: values that differ by rounding alone compare as equal, so that neither the device nor its
 * compiler's fused operations decide between symmetric choices. */
static inline double kcl_rounded(double a) {
  union {
    double value;
    uint64_t bits;
  } u = {a};
  u.bits = (u.bits + (1u << 23)) & ~UINT64_C(0xffffff);
  return u.value;
}

/* Random bits of a number, as in kernels/sparse.clh. */
static inline uint64_t kcl_hash(uint64_t i) {
  uint64_t h = (i + 1) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9u;
  return h ^ h >> 27;
}

/* Longer rows are not followed to their neighbours: one dense row must not make all others dense. */
enum { KCL_LONG_ROW = 1024 };
static inline bool kcl_long_row(const kcl_csr *A, int64_t i) {
  return A->row_ptr[i + 1] - A->row_ptr[i] > KCL_LONG_ROW;
}

/* ---------------------------------------------------------------- rows, one after another (rows.c) */

/* The sums of one row by column (sums.c), as in Gustavson's product (1978): dense arrays that are never cleared, since rows are
 * counted. */
typedef struct kcl_accumulator {
  uint32_t *row;   /* [cols] the last row that has the column */
  int32_t *list;   /* [cols + 1] the columns of this row */
  double *sum;     /* [cols] of a column that this row has; else anything */
  double *value;   /* [cols + 1] for the sums in the order of the list */
  uint64_t *set;   /* [cols / 64] bits, for ordering the list; zero in between */
  uint64_t *words; /* [cols / 64 / 64] the words of `set` that are not zero */
  int64_t count;   /* of the list */
  int64_t cols;
  uint32_t now; /* this row; not 0 */
} kcl_accumulator;
void kcl_accumulator_order(kcl_accumulator *s); /* the list by ascending column */
void kcl_accumulator_clear(kcl_accumulator *s); /* for the next row */
/* value[i] = the sum of list[i] */
static inline void kcl_accumulator_gather(const kcl_accumulator *s, double *value) {
  for (int64_t i = 0; i < s->count; i++) value[i] = s->sum[s->list[i]];
}
/* A row of these columns, whose sums are zero. */
static inline void kcl_accumulator_begin(kcl_accumulator *s, int64_t count, const int32_t *col) {
  for (int64_t i = 0; i < count; i++) {
    s->row[col[i]] = s->now;
    s->sum[col[i]] = 0;
    s->list[i] = col[i];
  }
  s->count = count;
}
/* body(arg, s, from, to) for parts of `grain` of [0, n), each thread with sums of its own: s[0] of cols[0] columns, s[1] of
 * cols[1]. False: memory ran out. */
typedef void kcl_accumulator_range(void *arg, kcl_accumulator *s, int64_t from, int64_t to);
bool kcl_accumulator_for_each(int64_t n, int64_t grain, const int64_t cols[2],
                              kcl_accumulator_range *body, void *arg);
/* Without branches, since whether a column is new is as good as random. */
static inline void kcl_accumulator_add(kcl_accumulator *s, int64_t n, const int32_t *col,
                                       const double *val, double factor) {
  uint32_t *row = s->row, now = s->now;
  int32_t *list = s->list + s->count, *end = list;
  double *sum = s->sum;
  for (int64_t i = 0; i < n; i++) {
    const int32_t c = col[i];
    const bool fresh = row[c] != now;
    const double before = fresh ? 0 : sum[c];
    sum[c] = before + factor * val[i];
    row[c] = now;
    *end = c;
    end += fresh;
  }
  s->count += end - list;
}

/* Adds `factor` times row `row` of C. */
static inline void kcl_accumulator_add_row(kcl_accumulator *s, const kcl_csr *C, int64_t row,
                                           double factor) {
  const int64_t first = C->row_ptr[row];
  kcl_accumulator_add(s, C->row_ptr[row + 1] - first, C->col + first,
                      (const double *)C->val + first, factor);
}

/* A growing list of entries: the rows of one part of a matrix. */
typedef struct kcl_row_list {
  int32_t *col; /* [count] */
  double *val;  /* [count, width] */
  int64_t count, capacity;
  int width;              /* numbers per entry: 2 of complex matrices */
  bool failed;            /* memory ran out */
  kcl_accumulator sums;   /* for the maker; empty between rows */
  kcl_accumulator *inner; /* the same, of other columns: kcl_row_list_make_through */
  void *scratch;          /* the same: freed with free() after the last row */
  int64_t refused;        /* the first row that could not be made; -1: none */
} kcl_row_list;
void kcl_row_list_put(kcl_row_list *r, int32_t col,
                      const double *val);                  /* columns ascend in a row */
bool kcl_row_list_reserve(kcl_row_list *r, int64_t count); /* room for so many more */
/* Appends row i. */
typedef void kcl_row_maker(void *arg, kcl_row_list *r, int64_t i);
/* *refused: the least row that the maker refused, -1: none; NULL: it refuses none. */
int kcl_row_list_make(kcl_context *ctx, int64_t rows, int64_t cols, kcl_type type,
                      kcl_row_maker *make, void *arg, int64_t *refused, kcl_csr **out);

/* kcl_row_list_make for real rows that are made through others, of `inner` columns. */
int kcl_row_list_make_through(kcl_context *ctx, int64_t rows, int64_t inner, int64_t cols,
                              kcl_row_maker *make, void *arg, kcl_csr **out);
int64_t kcl_row_list_grain(
    int64_t rows); /* rows per part, for kcl_for_each with sums of their own */
/* C's entries per row, in row_ptr[1] on, become its row pointers; then there is room for its entries, not zeroed. */
int kcl_sparse_shape(kcl_context *ctx, kcl_csr *C);
int kcl_sparse_entries(kcl_context *ctx, kcl_csr *C, int64_t count); /* the room alone */

/* The members of each group, ascending: group g has member[start[g]] up to member[start[g + 1]]. group: [n], negative: in none;
 * start: [groups + 1], zero before. */
void kcl_sparse_members(int64_t n, const int32_t *group, int64_t groups, int64_t *start,
                        int32_t *member);
/* Blocks of rows that are visited side by side, each with an array of its own; where block b of n rows begins. */
int kcl_sparse_blocks(void);
static inline int64_t kcl_sparse_block(int64_t n, int blocks, int64_t b) { return n * b / blocks; }

/* A in double or in pairs of doubles: itself, or a copy, *owned. */
int kcl_sparse_wide(kcl_context *ctx, const kcl_csr *A, kcl_csr **owned, const kcl_csr **out);

/* A row as sums by column, real: what is added; then the row is put, by ascending column. With `most`, only its so many
 * largest moduli, the first columns among equals, scaled so that the sum of the row is kept. */
static inline void kcl_row_add(kcl_row_list *r, int32_t col, double value) {
  kcl_accumulator_add(&r->sums, 1, &col, &value, 1);
}
void kcl_row_put(kcl_row_list *r);
enum { KCL_MOST_KEPT = 64 };
void kcl_row_put_largest(kcl_row_list *r, int most); /* KCL_MOST_KEPT or fewer */

/* ---------------------------------------------------------------- products, transposes, eigenvalues */

int kcl_sparse_product(kcl_context *ctx, const kcl_csr *A, const kcl_csr *B,
                       kcl_csr **out); /* A B */
/* (R A) P. pattern: a matrix that has its pattern, as far as is known; or NULL. */
int kcl_sparse_galerkin(kcl_context *ctx, const kcl_csr *R, const kcl_csr *A, const kcl_csr *P,
                        const kcl_csr *pattern, kcl_csr **out);
int kcl_sparse_transpose(kcl_context *ctx, const kcl_csr *A, kcl_csr **out);
int kcl_sparse_column_counts(kcl_context *ctx, const kcl_csr *A,
                             int64_t **out); /* [cols], to free() */
/* As large as the largest eigenvalue of D^-1 A, A Hermitian, up to a few percent: Lanczos steps from a fixed vector (Lanczos
 * 1950), bounded by Gershgorin's circles. d: 1 / a_ii, real. Also for complex A. */
int kcl_sparse_largest(kcl_context *ctx, const kcl_csr *A, const double *d, double *out);
/* kcl_sparse_largest for a matrix on several processes, of which A has own rows and columns. */
typedef struct kcl_others {
  int64_t first_row;  /* number of A's first row in the whole matrix */
  const double *size; /* [rows] sums of |a_ij| over columns of others */
  /* q [rows], or pairs: the entries in these columns times their elements of v, of which own ones are given. */
  void (*multiply)(const struct kcl_others *, const double *v, double *q);
  double (*sum)(const struct kcl_others *, double), (*largest)(const struct kcl_others *, double);
  int (*agree)(const struct kcl_others *, int status); /* the first that is not KCL_OK, of all */
} kcl_others;
int kcl_sparse_largest_of_all(kcl_context *ctx, const kcl_csr *A, const double *d,
                              const kcl_others *others, double *out);
/* The estimate from the coefficients of Lanczos, [KCL_LANCZOS_STEPS]; beta[0]: the norm of the first vector. */
enum { KCL_LANCZOS_STEPS = 5 };
double kcl_largest_ritz(const double *alpha, const double *beta, double bound);

/* ---------------------------------------------------------------- approximate inverses; also complex (local.c) */

/* The pattern of F^power with the diagonal, F the entries with |a_ij|^2 > drop^2 |a_ii a_jj|; lower: of its lower triangle. At
 * most `most` entries per row: the largest by products of |a_ij| / sqrt |a_ii a_jj|. Values mean nothing. */
int kcl_sparse_pattern(kcl_context *ctx, const kcl_csr *A, bool lower, int power, double drop,
                       int most, kcl_csr **out);
/* G of this lower pattern with G^H G near A^-1 and diag(G A G^H) = 1 (FSAI: Kolotilina & Yeremin 1993), A Hermitian. *refused:
 * a row whose part of A is not positive definite, or -1. */
int kcl_sparse_fsai(kcl_context *ctx, const kcl_csr *A, const kcl_csr *pattern, int64_t *refused,
                    kcl_csr **out);
/* M of this pattern that minimises |I - M A|_F (SPAI: Grote & Huckle 1997). */
int kcl_sparse_spai(kcl_context *ctx, const kcl_csr *A, const kcl_csr *pattern, kcl_csr **out);

#endif
