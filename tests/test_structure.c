/* Counts of the structure and tests of symmetry, made by 1, 2, 3 and 7 threads, against sequential references: symmetric,
 * Hermitian, skew and shifted matrices of all types, and each with one entry changed, lost, or off by rounding. */
#include "core/base/base.h"
#include "core/matrix/structure.h"
#include "core/matrix/stored.h"
#include "tests/check.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 9 * KCL_FEW_ROWS, TEAMS = 4, LONG = 700 };
static const int threads[TEAMS] = {1, 2, 3, 7};

/* ---------------------------------------------------------------- matrices */

typedef enum kind { SYMMETRIC, HERMITIAN, SKEW } kind;

/* a_ij of every matrix here, from its position: j < i. */
static void below(int64_t i, int64_t j, double z[2]) {
  z[0] = (double)((i * 7 + j * 13) % 101 - 50), z[1] = (double)((i * 3 + j) % 17 - 8);
}

static void value(kind k, bool complex, int64_t i, int64_t j, double z[2]) {
  static const double sign[3][2] = {{1, 1}, {1, -1}, {-1, 1}};
  below(i > j ? i : j, i > j ? j : i, z);
  if (i == j) z[0] = 3, z[1] = k == SYMMETRIC ? z[1] : 0;
  if (i < j) z[0] *= sign[k][0], z[1] *= sign[k][1];
  if (!complex) z[1] = 0;
}

/* Is (i, j) an entry? Diagonals at 0, 1, 40 and 5000, and a long first row and column. */
static int64_t columns(int64_t i, int32_t *col) {
  static const int64_t away[] = {-5000, -40, -1, 0, 1, 40, 5000};
  int64_t n = 0;
  for (int64_t j = 0; i == 0 && j < LONG; j++) col[n++] = (int32_t)(j * 50);
  if (i > 0 && i % 50 == 0 && i < 50 * LONG) col[n++] = 0;
  for (int d = 0; d < 7 && i > 0; d++) {
    int64_t j = i + away[d];
    bool half = away[d] == 40 || away[d] == -40; /* of every third pair */
    if (j > 0 && j < N && !(half && (i < j ? i : j) % 3)) col[n++] = (int32_t)j;
  }
  return n;
}

static kcl_csr *make(kcl_context *ctx, kind k, kcl_type type) {
  static int32_t col[LONG + 8];
  kcl_csr *A = NULL;
  int64_t nnz = 0;
  for (int64_t i = 0; i < N; i++) nnz += columns(i, col);
  if (kcl_csr_create(ctx, N, N, nnz, type, &A)) return NULL;
  for (int64_t i = 0, at = 0; i < N; i++) {
    for (int64_t n = columns(i, col), q = 0; q < n; q++, at++) {
      double z[2];
      value(k, kcl_type_complex(type), i, A->col[at] = col[q], z);
      kcl_set_element(type, A->val, at, z);
    }
    A->row_ptr[i + 1] = at;
  }
  return A;
}

/* ---------------------------------------------------------------- references */

static int64_t length(const kcl_csr *A, int64_t i) { return A->row_ptr[i + 1] - A->row_ptr[i]; }

static void transposed(const kcl_csr *A, int64_t i, int64_t j, bool *there, double z[2]) {
  *there = false, z[0] = z[1] = 0;
  for (int64_t k = A->row_ptr[j]; k < A->row_ptr[j + 1] && !*there; k++)
    if (A->col[k] == i) *there = true, kcl_element(A->type, A->val, k, z);
}

static double row_largest(const kcl_csr *A, int64_t i) {
  double largest = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    largest = fmax(largest, kcl_abs(A->type, A->val, k));
  return largest;
}

static kcl_mirror mirror_of(const kcl_csr *A, double *asymmetry) {
  const double unit = A->type == KCL_S || A->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  double shift[2];
  bool there;
  kcl_mirror m = {true, true, true, true};
  transposed(A, 0, 0, &there, shift);
  *asymmetry = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    double d[2];
    transposed(A, i, i, &there, d);
    m.shifted_skew = m.shifted_skew && d[0] == shift[0] && d[1] == 0;
    m.skew = m.skew && d[0] == 0 && d[1] == 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t j = A->col[k];
      double a[2], b[2];
      kcl_element(A->type, A->val, k, a), transposed(A, i, j, &there, b);
      m.symmetric = m.symmetric && there && a[0] == b[0] && a[1] == b[1];
      m.hermitian = m.hermitian && there && a[0] == b[0] && a[1] == -b[1];
      if (i != j) m.shifted_skew = m.shifted_skew && there && a[0] == -b[0] && a[1] == b[1];
      m.skew = m.skew && there && a[0] == -b[0] && a[1] == -b[1];
      double apart = hypot(a[0] - b[0], a[1] + b[1]);
      if (apart > 0)
        *asymmetry = fmax(*asymmetry, apart / fmax(row_largest(A, i), row_largest(A, j)) / unit);
    }
  }
  return m;
}

static int longer_first(const void *a, const void *b) {
  return (*(const int64_t *)b > *(const int64_t *)a) - (*(const int64_t *)b < *(const int64_t *)a);
}

static void count(const kcl_csr *A, kcl_stats *s) {
  static int64_t rows[KCL_SIGMA], of_length[LONG + 1];
  int64_t filled = 0;
  memset(of_length, 0, sizeof of_length);
  for (int64_t lo = 0; lo < A->rows; lo += KCL_SIGMA) {
    int64_t n = lo + KCL_SIGMA < A->rows ? KCL_SIGMA : A->rows - lo;
    for (int64_t i = 0; i < n; i++) {
      rows[i] = length(A, lo + i), of_length[rows[i]]++;
      if (rows[i] > s->row_max) s->row_max = rows[i];
    }
    for (int sorted = 0; sorted < 2; sorted++) {
      for (int64_t base = 0; base < n; base += KCL_SLICE) {
        int64_t width = 0;
        for (int64_t i = base; i < base + KCL_SLICE && i < n; i++)
          if (rows[i] > width) width = rows[i];
        *(sorted ? &s->sell_sorted_padded : &s->sell_padded) += width * KCL_SLICE;
      }
      qsort(rows, (size_t)n, sizeof *rows, longer_first);
    }
  }
  s->hyb_width = s->row_max;
  while (s->hyb_width > 0 && 3 * (filled += of_length[s->hyb_width]) < A->rows) s->hyb_width--;
  for (int64_t i = 0; i < A->rows; i++)
    if (length(A, i) > s->hyb_width) s->hyb_overflow += length(A, i) - s->hyb_width;
}

/* ---------------------------------------------------------------- tests */

static bool equal(kcl_mirror a, kcl_mirror b) {
  return a.symmetric == b.symmetric && a.hermitian == b.hermitian &&
         a.shifted_skew == b.shifted_skew && a.skew == b.skew;
}

static void test_symmetry(kcl_context *ctx, const kcl_csr *A, const char *what) {
  double wanted, first = -1;
  const kcl_mirror m = mirror_of(A, &wanted);
  for (int t = 0; t < TEAMS; t++) {
    double got;
    kcl_mirror now;
    kcl_set_threads(threads[t]);
    CHECKF(!kcl_mirrored(ctx, A, &now) && equal(m, now), "%s, type %c, %d threads", what,
           kcl_type_letter(A->type), threads[t]);
    if (!CHECK(!kcl_asymmetry(ctx, A, &got))) continue;
    if (t == 0) first = got;
    CHECKF(got == first && (wanted < 1e6 ? got == wanted : got >= 1e6 && got <= wanted),
           "%s, type %c, %d threads: asymmetry %g for %g", what, kcl_type_letter(A->type),
           threads[t], got, wanted);
  }
}

static void test_counts(kcl_context *ctx, const kcl_csr *A, const char *what) {
  kcl_stats want = {0};
  count(A, &want);
  CHECK(want.sell_sorted_padded < want.sell_padded && want.sell_padded > A->nnz + A->nnz / 10);
  CHECK(want.row_max > 256 && want.hyb_overflow > 0);
  for (int t = 0; t < TEAMS; t++) {
    kcl_stats s = {0};
    kcl_set_threads(threads[t]);
    if (!CHECK(!kcl_structure(ctx, A, &s))) continue;
    CHECKF(s.row_max == want.row_max && s.sell_padded == want.sell_padded &&
               s.sell_sorted_padded == want.sell_sorted_padded,
           "%s, %d threads: slices", what, threads[t]);
    CHECKF(s.hyb_width == want.hyb_width && s.hyb_overflow == want.hyb_overflow,
           "%s, %d threads: width %lld for %lld", what, threads[t], (long long)s.hyb_width,
           (long long)want.hyb_width);
  }
}

/* An entry far down, so that other threads have finished before it. */
static int64_t last_below(const kcl_csr *A) {
  int64_t k = A->row_ptr[N - 1];
  while (A->col[k + 1] < N - 1) k++;
  return k;
}

static void test_kind(kcl_context *ctx, kind k, kcl_type type) {
  static const char *const names[] = {"symmetric", "Hermitian", "skew"};
  kcl_csr *A = make(ctx, k, type);
  if (!CHECK(A)) return;
  const int64_t at = last_below(A);
  const double unit = type == KCL_S || type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  double z[2], changed[2];
  kcl_element(type, A->val, at, z);
  test_symmetry(ctx, A, names[k]);
  memcpy(changed, z, sizeof z), changed[0] *= 1 + 8 * unit;
  kcl_set_element(type, A->val, at, changed);
  test_symmetry(ctx, A, "an entry off by rounding");
  changed[0] = z[0] + 1, kcl_set_element(type, A->val, at, changed);
  test_symmetry(ctx, A, "another entry");
  kcl_set_element(type, A->val, at, z), A->col[at]--; /* (i, j) becomes (i, j - 1) */
  test_symmetry(ctx, A, "an entry elsewhere");
  A->col[at]++;
  int64_t diagonal = A->row_ptr[N / 2];
  while (A->col[diagonal] < N / 2) diagonal++;
  changed[0] = 4, changed[1] = 0;
  kcl_set_element(type, A->val, diagonal, changed);
  test_symmetry(ctx, A, "another diagonal");
  if (k == SYMMETRIC && type == KCL_D) test_counts(ctx, A, names[k]);
  kcl_csr_free(&A);
}

/* Statistics of one matrix become those of another with its structure. */
static void test_values(kcl_context *ctx, kcl_type type) {
  kcl_csr *A[] = {make(ctx, SYMMETRIC, type), make(ctx, SKEW, type)};
  kcl_stats s, fresh;
  memset(&s, 0, sizeof s), memset(&fresh, 0, sizeof fresh);
  for (int from = 0; from < 2 && CHECK(A[0] && A[1]); from++) {
    CHECK(!kcl_csr_stats(ctx, A[!from], &fresh));
    CHECK(!kcl_csr_stats(ctx, A[from], &s) && memcmp(&s, &fresh, sizeof s));
    CHECK(!kcl_csr_values(ctx, A[!from], NULL, NULL, &s) &&
          !kcl_compression(ctx, A[!from], NULL, &s) && !memcmp(&s, &fresh, sizeof s));
  }
  kcl_csr_free(&A[0]), kcl_csr_free(&A[1]);
}

/* Rows that only a few threads have, empty ones, and none. */
static void test_small(kcl_context *ctx) {
  kcl_csr *A = NULL;
  for (int64_t n = 0; n <= 3; n++) {
    if (!CHECK(!kcl_csr_create(ctx, n, n, n > 1 ? 1 : 0, KCL_D, &A))) return;
    for (int64_t i = 0; n > 1 && i < n; i++) A->row_ptr[i + 1] = 1;
    if (n > 1) A->col[0] = 1, *(double *)A->val = 5; /* a_01 alone */
    test_symmetry(ctx, A, "small");
    kcl_mirror m;
    CHECK(!kcl_mirrored(ctx, A, &m) && m.symmetric == (n < 2));
    kcl_csr_free(&A);
  }
}

/* A 3 x 4 matrix whose only entry is a_01, 0 in the end. */
static void test_zeros(kcl_context *ctx, kcl_type type) {
  const double five[2] = {5, 0}, zero[2] = {0, 0};
  kcl_csr *A = NULL;
  kcl_stats s;
  if (!CHECK(!kcl_csr_create(ctx, 3, 4, 1, type, &A))) return;
  A->row_ptr[1] = A->row_ptr[2] = A->row_ptr[3] = 1, A->col[0] = 1;
  kcl_set_element(type, A->val, 0, five);
  CHECK(!kcl_csr_stats(ctx, A, &s) && s.zero_rows == 2 && s.first_zero_row == 1);
  CHECK(s.zero_cols == 3 && s.first_zero_col == 0 && s.empty_rows == 2);
  kcl_set_element(type, A->val, 0, zero);
  CHECK(!kcl_csr_stats(ctx, A, &s) && s.zero_rows == 3 && s.zero_cols == 4 && s.empty_rows == 2);
  kcl_csr_free(&A);
  if (!CHECK(!kcl_csr_create(ctx, 1, 1, 1, type, &A))) return;
  A->row_ptr[1] = 1, kcl_set_element(type, A->val, 0, five);
  CHECK(!kcl_csr_stats(ctx, A, &s) && s.zero_rows == 0 && s.first_zero_row == -1);
  CHECK(s.zero_cols == 0 && s.first_zero_col == -1);
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- rows that repeat */

/* A grid of 200 x 200: few distinct rows, in runs. lopsided: without the entries before the diagonal. */
static kcl_csr *make_repeating(kcl_context *ctx, kcl_type type, bool lopsided) {
  static const int64_t away[] = {-200, -1, 0, 1, 200};
  enum { ROWS = 40000 };
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, ROWS, ROWS, 5 * ROWS, type, &A)) return NULL;
  int64_t at = 0;
  for (int64_t i = 0; i < ROWS; i++) {
    for (int d = 0; d < 5; d++) {
      const int64_t j = i + away[d];
      if (j < 0 || j >= ROWS || (lopsided && d == 1)) continue;
      if ((d == 1 || d == 3) && i / 200 != j / 200) continue;
      A->col[at++] = (int32_t)j;
    }
    A->row_ptr[i + 1] = at;
  }
  A->nnz = A->stored = at;
  return A;
}

typedef enum change {
  EVEN,
  UPPER_DOUBLE,
  BY_ROW,
  SKEW_VALUES,
  SHIFTED,
  LOWER_ZERO,
  NOT_A_NUMBER,
  CHANGES
} change;

/* Rows come in bands of two materials. */
static double band(int64_t i) { return 1 + (double)(i / 4000 % 2); }

/* The values of an entry depend on its side of the diagonal and on the band of the farther of its row and column. BY_ROW: where a
 * band of 2 ends, on that of its row, so that symmetry is lost there alone, among rows that were met elsewhere before. */
static void change_values(kcl_csr *A, change what) {
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const bool below = A->col[k]<i, above = A->col[k]> i;
      double z[2] = {below || above ? -1 : 4, 0};
      if (kcl_type_complex(A->type)) z[1] = below ? 0.5 : above ? -0.5 : 0;
      const bool own = below || (what == BY_ROW && band(i) > band(A->col[k]));
      const double scale = band(own ? i : A->col[k]);
      z[0] *= scale, z[1] *= scale;
      if (what == UPPER_DOUBLE && above) z[0] *= 2;
      if ((what == SKEW_VALUES || what == SHIFTED) && above) z[0] = -z[0];
      if (what == SKEW_VALUES && !below && !above) z[0] = 0;
      if (what == SHIFTED && !below && !above) z[0] = 4;
      if (what == LOWER_ZERO && !above) z[0] = z[1] = 0;
      if (what == NOT_A_NUMBER && !below && !above) z[0] = NAN;
      kcl_set_element(A->type, A->val, k, z);
    }
}

/* From runs of rows with the same offsets the same is counted as from all rows, on any number of threads. */
static void compare_by_offsets(kcl_context *ctx, const kcl_csr *A, const kcl_stats *all, int what) {
  kcl_offset_runs *runs = NULL;
  kcl_stats s;
  memset(&s, 0, sizeof s);
  if (!CHECK(!kcl_offset_runs_find(ctx, A, &runs) && kcl_offset_runs_listed(runs))) return;
  for (int team = 1; team <= 4; team += 3) {
    kcl_set_threads(team);
    CHECK(!kcl_csr_structure(ctx, A, &s) && !kcl_csr_values(ctx, A, NULL, runs, &s));
    CHECKF(!memcmp(all, &s, sizeof s), "change %d, type %c: other counts by offsets", what,
           kcl_type_letter(A->type));
  }
  kcl_set_threads(0);
  kcl_offset_runs_free(&runs);
}

/* From distinct rows the same is counted as from all rows. */
static void compare_counts(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *before,
                           int what) {
  kcl_distinct_rows d = {.A = A};
  kcl_stats all, few;
  kcl_mirror m = {0}, in_runs = {0};
  bool same = false;
  memset(&all, 0, sizeof all), memset(&few, 0, sizeof few);
  CHECK(!kcl_distinct_rows_renew(ctx, &d, before, &same) && same);
  CHECK(!kcl_mirrored(ctx, A, &m) && !kcl_mirrored_in_runs(ctx, &d, &in_runs));
  CHECKF(equal(m, in_runs), "change %d, type %c: %d%d%d%d, in runs %d%d%d%d", what,
         kcl_type_letter(A->type), m.symmetric, m.hermitian, m.shifted_skew, m.skew,
         in_runs.symmetric, in_runs.hermitian, in_runs.shifted_skew, in_runs.skew);
  CHECK(!kcl_csr_structure(ctx, A, &all) && !kcl_csr_structure(ctx, A, &few));
  CHECK(!kcl_csr_values(ctx, A, NULL, NULL, &all) && !kcl_csr_values(ctx, A, &d, NULL, &few));
  CHECKF(!memcmp(&all, &few, sizeof all), "change %d, type %c: other counts in runs", what,
         kcl_type_letter(A->type));
  compare_by_offsets(ctx, A, &all, what);
  CHECK(isnan(all.norm_inf) == (what == NOT_A_NUMBER));
  kcl_distinct_rows_free(&d);
}

static void test_repeating(kcl_context *ctx, kcl_type type, bool lopsided) {
  kcl_csr *A = make_repeating(ctx, type, lopsided);
  if (!CHECK(A)) return;
  kcl_distinct_rows before = {.A = A}, d = {.A = A};
  kcl_repeats rows;
  bool few = false, same = true;
  change_values(A, EVEN);
  CHECK(!kcl_repeats_find_rows(ctx, A, &before, true, &rows));
  CHECK(!kcl_distinct_rows_list_runs(ctx, &before, &few) && few);
  for (change c = EVEN; c < CHANGES; c++) {
    change_values(A, c);
    compare_counts(ctx, A, &before, c);
  }
  change_values(A, EVEN);
  kcl_set_element(type, A->val, A->nnz / 2, (double[]){7, 0});
  CHECK(!kcl_distinct_rows_renew(ctx, &d, &before, &same) && !same && !d.found.A);
  kcl_distinct_rows_free(&before), kcl_csr_free(&A);
}

/* Values that differ in the rows of a run: D A D of whole numbers, whose products are exact. what: of messages alone. */
static void compare_varied(kcl_context *ctx, const kcl_csr *A, int what, bool symmetric) {
  kcl_stats all;
  memset(&all, 0, sizeof all);
  CHECK(!kcl_csr_structure(ctx, A, &all) && !kcl_csr_values(ctx, A, NULL, NULL, &all));
  CHECK(all.symmetric == symmetric);
  compare_by_offsets(ctx, A, &all, what);
}

static void test_varied_runs(kcl_context *ctx, kcl_type type) {
  kcl_csr *A = make_repeating(ctx, type, false);
  if (!CHECK(A)) return;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const double z[2] = {(double)((1 + i % 11) * (1 + A->col[k] % 11)), 0};
      kcl_set_element(type, A->val, k, z);
    }
  compare_varied(ctx, A, 100, true);
  for (int part = 1; part < 4; part++) {
    const int64_t k = A->row_ptr[A->rows * part / 4];
    double z[2];
    kcl_element(type, A->val, k, z);
    kcl_set_element(type, A->val, k, (double[]){z[0] + 1, z[1]});
    compare_varied(ctx, A, 100 + part, false);
    kcl_set_element(type, A->val, k, z);
  }
  kcl_csr_free(&A);
}

/* Zeros come and go; columns of zeros are counted anew where they may have changed. */
static void test_zeros_again(kcl_context *ctx) {
  kcl_csr *A = make_repeating(ctx, KCL_D, false);
  kcl_stats s;
  if (!CHECK(A)) return;
  change_values(A, EVEN);
  CHECK(!kcl_csr_stats(ctx, A, &s) && s.zero_cols == 0);
  for (int64_t k = 0; k < A->nnz; k++)
    if (A->col[k] == 777) ((double *)A->val)[k] = 0;
  CHECK(!kcl_csr_values(ctx, A, NULL, NULL, &s) && s.zero_cols == 1 && s.first_zero_col == 777);
  change_values(A, EVEN);
  CHECK(!kcl_csr_values(ctx, A, NULL, NULL, &s) && s.zero_cols == 0 && s.first_zero_col == -1);
  kcl_csr_free(&A);
}

/* Formats that do not say so have sizes that do not depend on values that repeat. */
static void test_formats(kcl_type type) {
  kcl_stats s = {.rows = 1000, .cols = 1000, .nnz = 5000, .row_mean = 5, .row_max = 5}, few;
  s.sell_padded = s.sell_padded2 = s.sell_padded4 = s.sell_sorted_padded = 5120;
  s.row_patterns = s.distinct_pairs = s.distinct_values = KCL_MOST_REPEATS + 1;
  s.hermitian = s.symmetric = true, s.diagonals = 5, few = s;
  few.row_patterns = few.pattern_runs = few.distinct_pairs = few.distinct_values = 3;
  few.pattern_entries = 15, few.values_fit_float = true;
  for (int i = 0; i < kcl_format_count; i++) {
    const kcl_format *f = kcl_format_at(i, type);
    const kcl_size a = f->size(&s, type), b = f->size(&few, type);
    const bool refuses = f->refuses && f->refuses(&s, type),
               then = f->refuses && f->refuses(&few, type);
    const bool differs = a.total != b.total || a.largest != b.largest || refuses != then;
    CHECKF(!differs || f->counts_repeats, "%s: bytes depend on values", f->name);
  }
}

int main(void) {
  kcl_context *ctx = NULL;
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  for (int t = KCL_S; t <= KCL_Z; t++) {
    test_kind(ctx, SYMMETRIC, t), test_kind(ctx, SKEW, t);
    if (kcl_type_complex(t)) test_kind(ctx, HERMITIAN, t);
    test_values(ctx, t), test_zeros(ctx, t), test_formats(t);
    test_repeating(ctx, t, false), test_repeating(ctx, t, true), test_varied_runs(ctx, t);
  }
  test_zeros_again(ctx);
  test_small(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
