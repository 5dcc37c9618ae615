/* Statistics of a host matrix. */
#include "core/matrix/structure.h"
#include "core/matrix/repeats.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stats_counting {
  const kcl_csr *A;
  double row_mean;
  _Atomic unsigned char *seen; /* [rows + cols - 1]: diagonals with an entry */
  _Atomic int64_t least, most, empty, bandwidth, diagonals, diagonal_entries;
  _Atomic int64_t zeros, zero_diagonal, dominant, positive;
  _Atomic int64_t least_row, most_row; /* bits of the largest moduli of rows */
  _Atomic unsigned char *used;         /* [cols]: columns with a value that is not 0 */
  _Atomic int64_t zero_rows, first_zero_row, zero_cols, first_zero_col;
} stats_counting;

static double measure_lengths(const void *arg, int64_t from, int64_t to) {
  stats_counting *c = (stats_counting *)arg;
  int64_t least = INT64_MAX, most = 0, empty = 0;
  double deviation = 0;
  for (int64_t i = from; i < to; i++) {
    int64_t k = kcl_row_length(c->A, i);
    if (k < least) least = k;
    if (k > most) most = k;
    empty += k == 0;
    deviation += fabs((double)k - c->row_mean);
  }
  kcl_lower(&c->least, least), kcl_raise(&c->most, most);
  c->empty += empty;
  return deviation;
}

static void count_row_lengths(stats_counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  c->least = A->rows ? INT64_MAX : 0;
  c->row_mean = s->row_mean = A->rows ? (double)A->nnz / (double)A->rows : 0;
  double deviation = kcl_sum(A->rows, KCL_FEW_ROWS, measure_lengths, c);
  s->row_min = c->least;
  s->row_max = c->most;
  s->empty_rows = c->empty;
  if (A->nnz) s->row_deviation = 100 * deviation / (double)A->rows / s->row_mean;
}

/* Marks the diagonals of rows [from, to). Columns ascend, so the first or last of a row is the farthest from the diagonal. A row
 * like the one before has the same diagonals. */
static void mark_diagonals(void *arg, int64_t from, int64_t to) {
  stats_counting *c = arg;
  const kcl_csr *A = c->A;
  int64_t bandwidth = 0, diagonal_entries = 0;
  bool main = false; /* has the row an entry on the main diagonal? */
  for (int64_t i = from; i < to; i++, diagonal_entries += main) {
    const int64_t first = A->row_ptr[i], end = A->row_ptr[i + 1];
    _Atomic unsigned char *seen = c->seen + (A->rows - 1 - i);
    if (i > from && kcl_rows_moved(A, 1, i, 1)) continue;
    main = false;
    if (first == end) continue;
    if (i - A->col[first] > bandwidth) bandwidth = i - A->col[first];
    if (A->col[end - 1] - i > bandwidth) bandwidth = A->col[end - 1] - i;
    for (int64_t k = first; k < end; k++) {
      main |= A->col[k] == i;
      if (!atomic_load_explicit(&seen[A->col[k]], memory_order_relaxed))
        atomic_store_explicit(&seen[A->col[k]], 1, memory_order_relaxed);
    }
  }
  kcl_raise(&c->bandwidth, bandwidth);
  c->diagonal_entries += diagonal_entries;
}

static void count_marks(void *arg, int64_t from, int64_t to) {
  stats_counting *c = arg;
  int64_t count = 0;
  for (int64_t d = from; d < to; d++)
    count += atomic_load_explicit(&c->seen[d], memory_order_relaxed);
  c->diagonals += count;
}

/* Bandwidth, number of diagonals, entries of the main one. */
static void count_diagonals(stats_counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  kcl_for(A->rows, KCL_FEW_ROWS, mark_diagonals, c);
  kcl_for(A->rows + A->cols, KCL_FEW, count_marks, c);
  s->bandwidth = c->bandwidth, s->diagonals = c->diagonals;
  s->diagonal_entries = c->diagonal_entries;
}

/* The lesser of a and b; a where one is NaN. fmin and fmax would be function calls. */
static double lesser(double a, double b) { return b < a ? b : a; }
static double greater(double a, double b) { return b > a ? b : a; }

/* ---------------------------------------------------------------- columns of zeros */

static void mark_columns(void *arg, int64_t from, int64_t to) {
  stats_counting *c = arg;
  const kcl_csr *A = c->A;
  for (int64_t k = A->row_ptr[from]; k < A->row_ptr[to]; k++)
    if (!atomic_load_explicit(&c->used[A->col[k]], memory_order_relaxed) &&
        kcl_abs(A->type, A->val, k) != 0)
      atomic_store_explicit(&c->used[A->col[k]], 1, memory_order_relaxed);
}

static void count_unused(void *arg, int64_t from, int64_t to) {
  stats_counting *c = arg;
  int64_t count = 0, first = INT64_MAX;
  for (int64_t j = from; j < to; j++)
    if (!atomic_load_explicit(&c->used[j], memory_order_relaxed) && !count++) first = j;
  c->zero_cols += count;
  kcl_lower(&c->first_zero_col, first);
}

static int count_zero_columns(kcl_context *ctx, stats_counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  int rc = kcl_alloc(ctx, A->cols, 1, "the map of columns", (void **)&c->used);
  if (rc) return rc;
  c->first_zero_col = INT64_MAX;
  kcl_for(A->rows, KCL_FEW_ROWS, mark_columns, c);
  kcl_for(A->cols, KCL_FEW, count_unused, c);
  s->zero_cols = c->zero_cols, s->first_zero_col = c->zero_cols ? c->first_zero_col : -1;
  free((void *)c->used);
  return KCL_OK;
}

/* ---------------------------------------------------------------- values by rows */

static stats_counting counting(const kcl_csr *A) {
  return (stats_counting){.A = A,
                          .least = kcl_bits(INFINITY),
                          .least_row = kcl_bits(INFINITY),
                          .first_zero_row = INT64_MAX};
}

static inline double modulus(const kcl_type type, const double z[2]) {
  return type == KCL_S || type == KCL_D ? fabs(z[0]) : hypot(z[0], z[1]);
}

/* type is a constant at each call. */
static inline double typed_row_values(stats_counting *c, const kcl_type type, int64_t from,
                                      int64_t to) {
  const int64_t *const row_ptr = c->A->row_ptr, cols = c->A->cols;
  const int32_t *const col = c->A->col;
  const void *const val = c->A->val;
  int64_t zeros = 0, zero_diagonal = 0, dominant = 0, positive = 0;
  double largest = 0, least = INFINITY, most = 0; /* the last two: moduli of the diagonal */
  double least_row = INFINITY, most_row = 0;
  int64_t zero_rows = 0, first_zero_row = INT64_MAX;
  for (int64_t i = from, k = row_ptr[from]; i < to; i++) {
    double diagonal = 0, sum = 0, in_row = 0;
    for (const int64_t end = row_ptr[i + 1]; k < end; k++) {
      double z[2];
      kcl_element(type, val, k, z);
      const double a = modulus(type, z);
      zeros += a == 0;
      sum += a, in_row = greater(in_row, a);
      if (col[k] == i) diagonal = a, positive += z[0] > 0 && z[1] == 0;
    }
    zero_diagonal += i < cols && diagonal == 0;
    least = lesser(least, diagonal), most = greater(most, diagonal);
    dominant += diagonal > 0 && diagonal >= (sum - diagonal) * (1 - 1e-15);
    least_row = lesser(least_row, in_row), most_row = greater(most_row, in_row);
    if (sum == 0 && !zero_rows++) first_zero_row = i;
    largest = kcl_larger_or_nan(largest, sum);
  }
  c->zeros += zeros;
  c->zero_diagonal += zero_diagonal;
  c->dominant += dominant;
  c->positive += positive;
  kcl_lower(&c->least, kcl_bits(least)), kcl_raise(&c->most, kcl_bits(most));
  kcl_lower(&c->least_row, kcl_bits(least_row)), kcl_raise(&c->most_row, kcl_bits(most_row));
  c->zero_rows += zero_rows;
  kcl_lower(&c->first_zero_row, first_zero_row);
  return largest;
}

static double row_values(const void *arg, int64_t from, int64_t to) {
  stats_counting *c = (stats_counting *)arg;
  switch (c->A->type) {
  case KCL_S: return typed_row_values(c, KCL_S, from, to);
  case KCL_D: return typed_row_values(c, KCL_D, from, to);
  case KCL_C: return typed_row_values(c, KCL_C, from, to);
  default: return typed_row_values(c, KCL_Z, from, to);
  }
}

static void add_rows_like(stats_counting *c, const stats_counting *one, int64_t times) {
  c->zeros += times * one->zeros;
  c->zero_diagonal += times * one->zero_diagonal;
  c->dominant += times * one->dominant;
  c->positive += times * one->positive;
  c->zero_rows += times * one->zero_rows;
  kcl_lower(&c->least, one->least), kcl_raise(&c->most, one->most);
  kcl_lower(&c->least_row, one->least_row), kcl_raise(&c->most_row, one->most_row);
  kcl_lower(&c->first_zero_row, one->first_zero_row);
}

/* Each distinct row counts as often as it occurs. */
static int distinct_row_values(kcl_context *ctx, stats_counting *c, const kcl_distinct_rows *d,
                               double *largest) {
  const kcl_repeats *rows = &d->found;
  int64_t *times;
  int rc = kcl_alloc(ctx, rows->count, sizeof *times, "distinct rows", (void **)&times);
  if (rc) return rc;
  *largest = 0;
  for (int64_t n = 0; n < rows->runs; n++)
    times[rows->code[d->run[n]]] += d->run[n + 1] - d->run[n];
  for (int64_t p = 0; p < rows->count; p++) {
    stats_counting one = counting(c->A);
    *largest = kcl_larger_or_nan(*largest, row_values(&one, rows->row[p], rows->row[p] + 1));
    add_rows_like(c, &one, times[p]);
  }
  free(times);
  return KCL_OK;
}

/* The ratio of two moduli, given by their bits: finite where both are finite and neither is 0. */
static double quotient(int64_t most, int64_t least) {
  const double a = kcl_of_bits(most), b = kcl_of_bits(least);
  return a < INFINITY && b > 0 ? fmin(a / b, DBL_MAX) : INFINITY;
}

/* Columns of zeros are those of earlier values where neither these nor those have explicit zeros. */
static int count_values(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                        kcl_stats *s) {
  stats_counting c = counting(A);
  int rc = KCL_OK;
  const bool by_structure = s->zero_cols >= 0 && !s->explicit_zeros;
  if (distinct)
    rc = distinct_row_values(ctx, &c, distinct, &s->norm_inf);
  else
    s->norm_inf = kcl_largest(A->rows, KCL_FEW_ROWS, row_values, &c);
  if (rc) return rc;
  s->explicit_zeros = c.zeros, s->zero_diagonal = c.zero_diagonal;
  s->positive_diagonal = c.positive == A->rows;
  s->diagonal_ratio = quotient(c.most, c.least);
  s->row_ratio = A->rows ? quotient(c.most_row, c.least_row) : 1;
  s->dominant_rows = A->rows ? (double)c.dominant / (double)A->rows : 0;
  s->zero_rows = c.zero_rows, s->first_zero_row = c.zero_rows ? c.first_zero_row : -1;
  return by_structure && !c.zeros ? KCL_OK : count_zero_columns(ctx, &c, s);
}

int kcl_check_declared(kcl_context *ctx, const kcl_csr *A, const kcl_stats *s) {
  const bool skew = A->symmetry == KCL_SKEW;
  const char *mirror = skew ? "-a_ji" : A->symmetry == KCL_HERMITIAN ? "conj(a_ji)" : "a_ji";
  const bool exact = skew ? s->shifted_skew : A->symmetry == KCL_SYMMETRIC && s->symmetric;
  if (exact || (!skew && s->asymmetry <= KCL_MAX_ASYMMETRY)) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "A is declared %s and is not: it must hold both triangles, with a_ij = %s for "
                  "every entry; declare KCL_GENERAL where that is not known",
                  kcl_symmetry_name(A->symmetry), mirror);
}

/* Is A exactly what A->symmetry declares? */
static bool has_declared(const kcl_csr *A, const kcl_mirror *m) {
  switch (A->symmetry) {
  case KCL_SYMMETRIC: return m->symmetric;
  case KCL_HERMITIAN: return m->hermitian;
  case KCL_SKEW: return m->skew;
  default: return true;
  }
}

/* A real matrix that is what it is declared is nothing else. */
static int symmetry(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                    kcl_stats *s) {
  const bool skew = A->symmetry == KCL_SKEW;
  kcl_mirror m;
  s->asymmetry = INFINITY;
  if (A->rows != A->cols) return A->symmetry ? kcl_check_declared(ctx, A, s) : KCL_OK;
  int rc = distinct ? kcl_mirrored_in_runs(ctx, distinct, &m) : kcl_mirrored(ctx, A, &m);
  if (rc) return rc;
  const bool holds = has_declared(A, &m);
  const bool settled = holds && A->symmetry != KCL_GENERAL && !kcl_type_complex(A->type);
  s->hermitian = settled ? !skew : m.hermitian;
  s->symmetric = settled ? !skew : m.symmetric;
  s->shifted_skew = settled ? skew : m.shifted_skew;
  if (s->hermitian) s->asymmetry = 0;
  if (!s->hermitian && !settled) rc = kcl_asymmetry(ctx, A, &s->asymmetry);
  return rc || holds ? rc : kcl_check_declared(ctx, A, s);
}

int kcl_csr_structure(kcl_context *ctx, const kcl_csr *A, kcl_stats *out) {
  stats_counting c = {.A = A};
  int rc;
  *out = (kcl_stats){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .stored = A->stored};
  out->zero_cols = -1; /* not counted */
  KCL_TRY(kcl_alloc(ctx, A->rows + A->cols, 1, "the map of diagonals", (void **)&c.seen));
  count_row_lengths(&c, out);
  count_diagonals(&c, out);
  KCL_TRY(kcl_structure(ctx, A, out));
  out->slice_span = kcl_slice_span(A);
done:
  free((void *)c.seen);
  return rc;
}

int kcl_csr_values(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                   kcl_stats *out) {
  if (!kcl_distinct_rows_listed(distinct, A) || A->rows != A->cols) distinct = NULL;
  int rc = count_values(ctx, A, distinct, out);
  return rc ? rc : symmetry(ctx, A, distinct, out);
}

int kcl_csr_stats(kcl_context *ctx, const kcl_csr *A, kcl_stats *out) {
  int rc;
  if ((rc = kcl_need(ctx, "out", out)) || (rc = kcl_csr_need(ctx, A))) return rc;
  rc = kcl_csr_structure(ctx, A, out);
  if (!rc) rc = kcl_csr_values(ctx, A, NULL, out);
  return rc ? rc : kcl_compression(ctx, A, NULL, out);
}
