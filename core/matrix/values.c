/* Statistics of the values of a host matrix, by blocks of 64 rows: first the sum, the largest and the diagonal modulus of each row, by a loop
 * over the rows, or over runs of rows with the same offsets, which needs no columns; then what is counted of them, in vectors. */
#include "core/matrix/structure.h"
#include <float.h>

enum { BLOCK_ROWS = 128 };

typedef struct value_counts {
  int64_t zeros, zero_diagonal, dominant, positive;
  int64_t zero_rows, first_zero_row;
  double norm;                /* the largest sum of a row */
  double least, most;         /* moduli of the diagonal */
  double least_row, most_row; /* largest moduli of rows */
} value_counts;

static const value_counts none_counted = {
    .first_zero_row = INT64_MAX, .least = INFINITY, .least_row = INFINITY};

typedef struct values_counting {
  const kcl_csr *A;
  const kcl_offset_runs *runs; /* NULL: not listed */
  _Atomic unsigned char *used; /* [cols]: columns with a value that is not 0 */
  _Atomic int64_t zero_cols, first_zero_col;
  _Atomic int64_t zeros, zero_diagonal, dominant, positive, zero_rows, first_zero_row;
  _Atomic int64_t norm, least, most, least_row, most_row; /* bits */
  kcl_mirror_search mirror;                               /* to begin with, of each part */
  _Atomic int64_t apart;                                  /* in the end, of all parts */
  _Atomic unsigned broken;
} values_counting;

/* The lesser of a and b; a where one is NaN. fmin and fmax would be function calls. */
static double lesser(double a, double b) { return b < a ? b : a; }
static double greater(double a, double b) { return b > a ? b : a; }

/* ---------------------------------------------------------------- columns of zeros */

static void mark_columns(void *arg, int64_t from, int64_t to) {
  values_counting *c = arg;
  const kcl_csr *A = c->A;
  for (int64_t k = A->row_ptr[from]; k < A->row_ptr[to]; k++)
    if (!atomic_load_explicit(&c->used[A->col[k]], memory_order_relaxed) &&
        kcl_abs(A->type, A->val, k) != 0)
      atomic_store_explicit(&c->used[A->col[k]], 1, memory_order_relaxed);
}

static void count_unused(void *arg, int64_t from, int64_t to) {
  values_counting *c = arg;
  int64_t count = 0, first = INT64_MAX;
  for (int64_t j = from; j < to; j++)
    if (!atomic_load_explicit(&c->used[j], memory_order_relaxed) && !count++) first = j;
  c->zero_cols += count;
  kcl_lower(&c->first_zero_col, first);
}

static int count_zero_columns(kcl_context *ctx, values_counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  KCL_CALL(kcl_alloc(ctx, A->cols, 1, "the map of columns", (void **)&c->used));
  c->first_zero_col = INT64_MAX;
  kcl_for(A->rows, KCL_FEW_ROWS, mark_columns, c);
  kcl_for(A->cols, KCL_FEW, count_unused, c);
  s->zero_cols = c->zero_cols, s->first_zero_col = c->zero_cols ? c->first_zero_col : -1;
  free((void *)c->used);
  return KCL_OK;
}

/* ---------------------------------------------------------------- moduli of rows */

typedef struct row_moduli { /* of a block; the diagonal is 0 where there is none */
  double sum[BLOCK_ROWS], largest[BLOCK_ROWS], diagonal[BLOCK_ROWS];
} row_moduli;

static inline double modulus(const kcl_type type, const double z[2]) {
  return type == KCL_S || type == KCL_D ? fabs(z[0]) : hypot(z[0], z[1]);
}

/* Rows [from, to) one by one. type is a constant at each call, here and below. */
static inline void moduli_by_rows(const kcl_csr *A, const kcl_type type, int64_t from, int64_t to,
                                  row_moduli *m, value_counts *c) {
  const int64_t *const row_ptr = A->row_ptr;
  const int32_t *const col = A->col;
  int64_t zeros = 0, positive = 0;
  for (int64_t i = from, k = row_ptr[from]; i < to; i++) {
    double diagonal = 0, sum = 0, largest = 0;
    for (const int64_t end = row_ptr[i + 1]; k < end; k++) {
      double z[2];
      kcl_element(type, A->val, k, z);
      const double a = modulus(type, z);
      zeros += a == 0;
      sum += a, largest = greater(largest, a);
      if (col[k] == i) diagonal = a, positive += z[0] > 0 && z[1] == 0;
    }
    m->sum[i - from] = sum;
    m->largest[i - from] = largest;
    m->diagonal[i - from] = diagonal;
  }
  c->zeros += zeros, c->positive += positive;
}

/* Adds entry k of the first of these rows, k + step of the second, and so on. */
static inline void add_moduli(const void *val, const kcl_type type, int64_t k, int64_t step,
                              int64_t rows, row_moduli *m, value_counts *c) {
  double a[BLOCK_ROWS];
  int64_t zeros = 0;
  for (int64_t r = 0; r < rows; r++, k += step) {
    double z[2];
    kcl_element(type, val, k, z);
    a[r] = modulus(type, z);
  }
  for (int64_t r = 0; r < rows; r++) {
    zeros += a[r] == 0;
    m->sum[r] += a[r], m->largest[r] = greater(m->largest[r], a[r]);
  }
  c->zeros += zeros;
}

static inline void take_diagonal(const void *val, const kcl_type type, int64_t k, int64_t step,
                                 int64_t rows, row_moduli *m, value_counts *c) {
  int64_t positive = 0;
  for (int64_t r = 0; r < rows; r++, k += step) {
    double z[2];
    kcl_element(type, val, k, z);
    m->diagonal[r] = modulus(type, z), positive += (z[0] > 0) & (z[1] == 0);
  }
  c->positive += positive;
}

/* Rows [from, to) of one run, entry by entry. */
static inline void moduli_of_run(const kcl_csr *A, const kcl_type type, int64_t from, int64_t to,
                                 row_moduli *m, value_counts *c) {
  const int64_t first = A->row_ptr[from], length = kcl_row_length(A, from);
  memset(m, 0, sizeof *m);
  for (int64_t k = first; k < first + length; k++) {
    add_moduli(A->val, type, k, length, to - from, m, c);
    if (A->col[k] == from) take_diagonal(A->val, type, k, length, to - from, m, c);
  }
}

static inline void typed_moduli(const kcl_csr *A, const kcl_type type, bool run, int64_t from,
                                int64_t to, row_moduli *m, value_counts *c) {
  if (run)
    moduli_of_run(A, type, from, to, m, c);
  else
    moduli_by_rows(A, type, from, to, m, c);
}

/* run: the rows are of one run. */
static void find_moduli(const kcl_csr *A, bool run, int64_t from, int64_t to, row_moduli *m,
                        value_counts *c) {
  switch (A->type) {
  case KCL_S: typed_moduli(A, KCL_S, run, from, to, m, c); break;
  case KCL_D: typed_moduli(A, KCL_D, run, from, to, m, c); break;
  case KCL_C: typed_moduli(A, KCL_C, run, from, to, m, c); break;
  default: typed_moduli(A, KCL_Z, run, from, to, m, c);
  }
}

/* ---------------------------------------------------------------- counts */

/* Extremes of the rows at each place of a block: no reduction in the loop over blocks. */
typedef struct extremes {
  double norm[BLOCK_ROWS], least[BLOCK_ROWS], most[BLOCK_ROWS], least_row[BLOCK_ROWS],
      most_row[BLOCK_ROWS];
} extremes;

static void begin_extremes(extremes *e) {
  for (int r = 0; r < BLOCK_ROWS; r++)
    e->norm[r] = e->most[r] = e->most_row[r] = 0, e->least[r] = e->least_row[r] = INFINITY;
}

static void add_extremes(extremes *e, const row_moduli *m, int64_t rows) {
  for (int64_t r = 0; r < rows; r++) {
    e->norm[r] = kcl_larger_or_nan(e->norm[r], m->sum[r]);
    e->least[r] = lesser(e->least[r], m->diagonal[r]);
    e->most[r] = greater(e->most[r], m->diagonal[r]);
    e->least_row[r] = lesser(e->least_row[r], m->largest[r]);
    e->most_row[r] = greater(e->most_row[r], m->largest[r]);
  }
}

static void end_extremes(const extremes *e, value_counts *c) {
  for (int r = 0; r < BLOCK_ROWS; r++) {
    c->norm = kcl_larger_or_nan(c->norm, e->norm[r]);
    c->least = lesser(c->least, e->least[r]), c->most = greater(c->most, e->most[r]);
    c->least_row = lesser(c->least_row, e->least_row[r]);
    c->most_row = greater(c->most_row, e->most_row[r]);
  }
}

/* Rows from `first` on. */
static void count_rows(const kcl_csr *A, const row_moduli *m, int64_t first, int64_t rows,
                       value_counts *c) {
  int64_t dominant = 0, zero_diagonal = 0, zero_rows = 0;
  for (int64_t r = 0; r < rows; r++) {
    const double d = m->diagonal[r];
    dominant += (d > 0) & (d >= (m->sum[r] - d) * (1 - 1e-15));
    zero_diagonal += (first + r < A->cols) & (d == 0);
    zero_rows += m->sum[r] == 0;
  }
  for (int64_t r = 0; zero_rows && r < rows && c->first_zero_row == INT64_MAX; r++)
    if (m->sum[r] == 0) c->first_zero_row = first + r;
  c->dominant += dominant;
  c->zero_diagonal += zero_diagonal;
  c->zero_rows += zero_rows;
}

static void merge_counts(values_counting *all, const value_counts *c, int64_t times) {
  all->zeros += times * c->zeros;
  all->zero_diagonal += times * c->zero_diagonal;
  all->dominant += times * c->dominant;
  all->positive += times * c->positive;
  all->zero_rows += times * c->zero_rows;
  kcl_lower(&all->first_zero_row, c->first_zero_row), kcl_raise(&all->norm, kcl_bits(c->norm));
  kcl_lower(&all->least, kcl_bits(c->least)), kcl_raise(&all->most, kcl_bits(c->most));
  kcl_lower(&all->least_row, kcl_bits(c->least_row));
  kcl_raise(&all->most_row, kcl_bits(c->most_row));
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* mirror: where runs are listed, the images of these rows are searched for while they are in cache; or NULL. */
static void count_in_rows(const kcl_csr *A, const kcl_offset_runs *runs, int64_t from, int64_t to,
                          value_counts *c, kcl_mirror_search *mirror) {
  enum { CACHED_ROWS = 16 * BLOCK_ROWS };
  extremes e;
  row_moduli m;
  int64_t n = runs ? kcl_offset_run_of(runs, from) : 0;
  begin_extremes(&e);
  for (int64_t i = from, end; i < to; i = end) {
    end = least_of(i + CACHED_ROWS, to);
    if (runs) end = least_of(end, runs->first[n + 1]), n += end == runs->first[n + 1];
    for (int64_t at = i; at < end; at += BLOCK_ROWS) {
      const int64_t rows = least_of(BLOCK_ROWS, end - at);
      find_moduli(A, runs, at, at + rows, &m, c);
      add_extremes(&e, &m, rows), count_rows(A, &m, at, rows, c);
    }
    if (mirror) kcl_mirror_search_rows(mirror, i, end);
  }
  end_extremes(&e, c);
}

static void count_values_of_rows(void *arg, int64_t from, int64_t to) {
  values_counting *c = arg;
  value_counts own = none_counted;
  kcl_mirror_search mirror = c->mirror;
  if (from == to) return;
  count_in_rows(c->A, c->runs, from, to, &own, mirror.A ? &mirror : NULL);
  merge_counts(c, &own, 1);
  c->apart += mirror.apart;
  c->broken |= mirror.broken;
}

/* Each distinct row counts as often as it occurs. */
static int count_distinct_rows(kcl_context *ctx, values_counting *c, const kcl_distinct_rows *d) {
  const kcl_repeats *rows = &d->found;
  KCL_OWNED int64_t *times = NULL;
  KCL_CALL(kcl_alloc(ctx, rows->count, sizeof *times, "distinct rows", (void **)&times));
  for (int64_t n = 0; n < rows->runs; n++)
    times[rows->code[d->run[n]]] += d->run[n + 1] - d->run[n];
  for (int64_t p = 0; p < rows->count; p++) {
    value_counts one = none_counted;
    count_in_rows(c->A, NULL, rows->row[p], rows->row[p] + 1, &one, NULL);
    merge_counts(c, &one, times[p]);
  }
  return KCL_OK;
}

/* The ratio of two moduli, given by their bits: finite where both are finite and neither is 0. */
static double ratio_of_moduli(int64_t most, int64_t least) {
  const double a = kcl_of_bits(most), b = kcl_of_bits(least);
  return a < INFINITY && b > 0 ? fmin(a / b, DBL_MAX) : INFINITY;
}

static void report_counts(const values_counting *c, kcl_stats *s) {
  const int64_t rows = c->A->rows;
  s->norm_inf = kcl_of_bits(c->norm);
  s->explicit_zeros = c->zeros, s->zero_diagonal = c->zero_diagonal;
  s->positive_diagonal = c->positive == rows;
  s->diagonal_ratio = ratio_of_moduli(c->most, c->least);
  s->row_ratio = rows ? ratio_of_moduli(c->most_row, c->least_row) : 1;
  s->dominant_rows = rows ? (double)c->dominant / (double)rows : 0;
  s->zero_rows = c->zero_rows, s->first_zero_row = c->zero_rows ? c->first_zero_row : -1;
}

/* Columns of zeros are those of earlier values where neither these nor those have explicit zeros. */
int kcl_count_values(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                     const kcl_offset_runs *runs, kcl_stats *s, kcl_mirror *m) {
  values_counting c = {.A = A,
                       .runs = kcl_offset_runs_listed(runs) ? runs : NULL,
                       .first_zero_row = INT64_MAX,
                       .least = kcl_bits(INFINITY),
                       .least_row = kcl_bits(INFINITY)};
  const bool by_structure = s->zero_cols >= 0 && !s->explicit_zeros;
  const bool mirrors = c.runs && !distinct && A->rows == A->cols;
  if (mirrors) c.mirror = kcl_mirror_search_begin(A, runs);
  if (distinct)
    KCL_CALL(count_distinct_rows(ctx, &c, distinct));
  else
    kcl_for(A->rows, KCL_FEW_ROWS, count_values_of_rows, &c);
  report_counts(&c, s);
  c.mirror.apart = c.apart, c.mirror.broken = c.broken;
  if (mirrors) *m = kcl_mirror_search_end(&c.mirror);
  return by_structure && !c.zeros ? KCL_OK : count_zero_columns(ctx, &c, s);
}
