/* Incomplete factors: the matching of rows and columns is optimal, L U equals A on its pattern, pivots that vanish are replaced or
 * refused, Jacobi sweeps are tested before they are taken, and triangular solves by levels, in steps, are exact.
 */
#include "core/matrix/level_sets.h"
#include "factors/factor.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

/* ---------------------------------------------------------------- matrices */

/* n x n from a function of the place; zeros are left out. */
typedef number entry_at(int64_t n, int64_t i, int64_t j);
static kcl_csr *made(kcl_context *ctx, int64_t n, int64_t band, kcl_type t, entry_at *at) {
  kcl_csr *A = NULL;
  int64_t k = 0;
  if (kcl_csr_create(ctx, n, n, n * (2 * band + 1), t, &A)) exit(1);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i > band ? i - band : 0; j < n && j <= i + band; j++) {
      const number a = at(n, i, j);
      if (a == 0) continue;
      A->col[k] = (int32_t)j;
      kcl_set_element(t, A->val, k++, (double[]){creal(a), cimag(a)});
    }
    A->row_ptr[i + 1] = k;
  }
  A->nnz = A->stored = k;
  return A;
}

static number scattered(int64_t n, int64_t i, int64_t j) {
  const bool chain = j == (i * 7 + 3) % n; /* a permutation where 7 does not divide n */
  if (!chain && random_bits() % 8) return 0;
  return CMPLX(exp(4 * random_number()), random_number());
}

static number dominant(int64_t n, int64_t i, int64_t j) {
  if (i == j) return CMPLX(9 + (double)(n % 3), 1);
  return random_bits() % 3 ? 0 : random_number() + 0.5 * random_number() * I;
}

/* Blocks of `length` rows, each a chain: sweeps pass on a value by one row each. */
static int64_t length;
static number chains(int64_t n, int64_t i, int64_t j) {
  (void)n;
  return i == j ? 1 : j == i - 1 && i % length ? -1 : 0;
}

static number exchanged(int64_t n, int64_t i, int64_t j) {
  return (void)n, (i ^ 1) == j ? 3 : i == j ? 0 : 0.5 * (double)(i < j);
}

/* Its exchanged rows are a triangle; columns of many sizes. */
static number uneven_columns(int64_t n, int64_t i, int64_t j) {
  return exchanged(n, i, j) * (double)((j + 1) * (j + 1));
}

static number same_rows(int64_t n, int64_t i, int64_t j) { return (void)n, (void)i, j + 1; }

static number empty_row(int64_t n, int64_t i, int64_t j) {
  return (void)n, i == 2 ? 0 : i == j ? 2 : 1 / (double)(1 + i + j);
}

static number two_in_one_column(int64_t n, int64_t i, int64_t j) {
  return (void)n, i == 0 || i == 1 ? j == 0 : i == j ? 2 : 0.25;
}

/* ---------------------------------------------------------------- the matching */

/* Duals that bound every entry by 1, with 1 on the matching, prove that no other has a larger product. */
static void test_matching(const place *p, int64_t n, kcl_type t) {
  kcl_csr *A = made(p->ctx, n, n, t, scattered);
  kcl_matching m;
  int64_t alone;
  bool *taken = calloc((size_t)n, sizeof *taken);
  double most = 0, least = INFINITY;
  if (CHECKF(!kcl_factor_match(p->ctx, A, &m, &alone) && alone == -1, "%lld rows: %lld",
             (long long)n, (long long)alone)) {
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
        const double a = kcl_abs(t, A->val, k) * m.r[i] * m.c[A->col[k]];
        most = fmax(most, a);
        if (m.row[A->col[k]] == i) least = fmin(least, a), taken[i] = true;
      }
    for (int64_t i = 0; i < n; i++) CHECKF(taken[i], "%lld is in no column", (long long)i);
    CHECKF(most <= 1 + 1e-11 && least >= 1 - 1e-11,
           "%lld rows: entries to %.17g, diagonal from %.17g", (long long)n, most, least);
  }
  kcl_matching_free(&m), kcl_csr_free(&A), free(taken);
}

static void test_no_matching(const place *p) {
  static entry_at *const kinds[] = {empty_row, two_in_one_column};
  for (int i = 0; i < 2; i++) {
    kcl_csr *A = made(p->ctx, 6, 6, KCL_D, kinds[i]);
    kcl_matching m;
    int64_t alone;
    CHECK(!kcl_factor_match(p->ctx, A, &m, &alone) && alone >= 0 && !m.row);
    kcl_matching_free(&m), kcl_csr_free(&A);
  }
}

/* ---------------------------------------------------------------- L U = A on the pattern */

static number value(const kcl_csr *A, int64_t k) {
  double a[2];
  kcl_element(A->type, A->val, k, a);
  return CMPLX(a[0], a[1]);
}

/* dense [n, n] of a sparse matrix. */
static number *dense(const kcl_csr *A) {
  number *D = filled(A->rows * A->rows, 0);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      D[i * A->rows + A->col[k]] = value(A, k);
  return D;
}

/* ((I + L) D (I + U))_ij and the sum of the moduli. */
static number product_at(const kcl_factors *f, const number *L, const number *U, int64_t i,
                         int64_t j, double *size) {
  const int64_t n = f->L->rows;
  number sum = 0;
  *size = 0;
  for (int64_t k = 0; k <= i && k <= j; k++) {
    double d[2];
    kcl_element(f->L->type, f->d, k, d);
    const number l = k == i ? 1 : L[i * n + k], u = k == j ? 1 : U[k * n + j],
                 term = l * u / CMPLX(d[0], d[1]);
    sum += term, *size += cabs(term);
  }
  return sum;
}

/* Each sum has at most n terms of a few roundings each. */
static void check_product(const kcl_csr *A, const kcl_factors *f) {
  const int64_t n = A->rows;
  number *L = dense(f->L), *U = dense(f->U);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double size;
      const number a = product_at(f, L, U, i, A->col[k], &size);
      CHECKF(cabs(a - value(A, k)) <= 8 * (double)(n + 4) * DBL_EPSILON * size,
             "(%lld, %d): %g off", (long long)i, A->col[k], cabs(a - value(A, k)));
    }
  free(L), free(U);
}

static void test_ilu(const place *p, int64_t n, kcl_type t) {
  kcl_csr *A = made(p->ctx, n, n, t, dominant), *B = NULL;
  kcl_factors f;
  int64_t zero;
  if (CHECK(!kcl_factor_matrix(p->ctx, A, NULL, 0, &B) && B->nnz == A->nnz) &&
      CHECK(!kcl_factor_ilu(p->ctx, B, &f, &zero) && zero == -1)) {
    CHECK(f.L->nnz + f.U->nnz + n == A->nnz);
    check_product(A, &f);
    kcl_factors_free(&f);
  }
  kcl_csr_free(&B), kcl_csr_free(&A);
}

/* With no threshold and room for all entries ILUT is the whole factorisation: L U = A everywhere; with a threshold and room
 * for three, no row has more. */
static void test_ilut(const place *p, int64_t n, kcl_type t) {
  kcl_csr *A = made(p->ctx, n, n, t, dominant);
  kcl_factors f;
  int64_t zero;
  if (CHECK(!kcl_factor_ilut(p->ctx, A, (int)n, 0, &f, &zero) && zero == -1)) check_product(A, &f);
  kcl_factors_free(&f);
  if (CHECK(!kcl_factor_ilut(p->ctx, A, 3, 1e-3, &f, &zero) && zero == -1))
    for (int64_t i = 0; i < n; i++)
      CHECK(f.L->row_ptr[i + 1] - f.L->row_ptr[i] <= 3 &&
            f.U->row_ptr[i + 1] - f.U->row_ptr[i] <= 3);
  CHECK(!kcl_csr_check(p->ctx, f.L) && !kcl_csr_check(p->ctx, f.U));
  kcl_factors_free(&f), kcl_csr_free(&A);
}

static number hermitian(int64_t n, int64_t i, int64_t j) {
  const int64_t lo = i < j ? i : j, hi = i + j - lo, hash = (lo * 31 + hi * 17) % 64;
  if (i == j) return (double)n + 4;
  return hash % 3 ? 0 : CMPLX((double)hash / 32 - 1, i < j ? 0.5 : -0.5);
}

static number indefinite(int64_t n, int64_t i, int64_t j) {
  return (void)n, i == j ? 1 : llabs(i - j) == 1 ? 40 : 0;
}

static void test_ic(const place *p, int64_t n, kcl_type t) {
  kcl_csr *A = made(p->ctx, n, n, t, hermitian), *B = NULL;
  kcl_factors f;
  int64_t zero;
  if (CHECK(!kcl_factor_matrix(p->ctx, A, NULL, 0, &B) && !kcl_factor_ic(p->ctx, B, &f, &zero) &&
            zero == -1 && !f.U && !kcl_csr_adjoint(p->ctx, f.L, &f.U)))
    check_product(A, &f);
  kcl_factors_free(&f), kcl_csr_free(&B), kcl_csr_free(&A);
  A = made(p->ctx, 6, 1, t, indefinite);
  CHECK(!kcl_factor_ic(p->ctx, A, &f, &zero) && zero == 1 && !f.L);
  kcl_csr_free(&A);
}

/* A row that is longer than the others is searched, not walked along: the same entries. */
static number arrow(int64_t n, int64_t i, int64_t j) {
  return i == j ? 4 + (double)(i % 5) : !i || !j || j == n - 1 ? 0.5 : 0;
}

static number late_hub(int64_t n, int64_t i, int64_t j) {
  return i == j ? 4 : i == n / 2 || j == n / 2 ? 0.1 : 0;
}

static void test_arrow(const place *p) {
  kcl_csr *A = made(p->ctx, 90, 90, KCL_D, arrow), *B = NULL;
  kcl_factors f;
  int64_t zero;
  if (CHECK(!kcl_factor_matrix(p->ctx, A, NULL, 0, &B) && !kcl_factor_ilu(p->ctx, B, &f, &zero) &&
            zero == -1))
    check_product(A, &f);
  kcl_factors_free(&f), kcl_csr_free(&B), kcl_csr_free(&A);
  A = made(p->ctx, 200, 200, KCL_D, late_hub), B = made(p->ctx, 200, 200, KCL_D, late_hub);
  if (CHECK(!kcl_factor_ic(p->ctx, B, &f, &zero) && zero == -1 &&
            !kcl_csr_adjoint(p->ctx, f.L, &f.U)))
    check_product(A, &f);
  kcl_factors_free(&f), kcl_csr_free(&B), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- sweeps */

/* A chain of n levels is solved by n - 1 sweeps and not before. */
/* Eight strips of `m` rows, coupled with neighbours in the strips beside them: about as many waves. */
static kcl_csr *strips(const place *p, int64_t m) {
  const int64_t n = 8 * m, beside[] = {-m - 1, -m, 1 - m, 0, m - 1, m, m + 1};
  kcl_csr *A = NULL;
  if (kcl_csr_create(p->ctx, n, n, 7 * n, KCL_D, &A)) exit(1);
  for (int64_t i = 0, at = 0; i < n; A->row_ptr[++i] = at)
    for (int q = 0; q < 7; q++) {
      const int64_t j = i + beside[q];
      if (j < 0 || j >= n) continue;
      A->col[at] = (int32_t)j,
      ((double *)A->val)[at++] = q == 3 ? 8 : -1 / (1 + (double)((i + j) % 7));
    }
  A->nnz = A->stored = A->row_ptr[n];
  return A;
}

typedef int factoring(kcl_context *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero);

static int factor_by_threshold(kcl_context *ctx, kcl_csr *B, kcl_factors *out, int64_t *zero) {
  return kcl_factor_ilut(ctx, B, 20, 1e-3, out, zero);
}

/* Factors by one thread and by five: the same bits; and the same first row whose pivot vanishes. */
static void test_threads(const place *p, factoring *factor, bool breaks) {
  const int64_t m = 4096;
  kcl_factors f[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
  int64_t zero[2];
  const int before = kcl_threads();
  for (int t = 0; t < 2; t++) {
    kcl_csr *B = strips(p, m);
    for (int64_t k = B->row_ptr[m + 5]; breaks && k < B->row_ptr[m + 6]; k++)
      ((double *)B->val)[k] = 0;
    for (int64_t k = B->row_ptr[7]; breaks && k < B->row_ptr[8]; k++) ((double *)B->val)[k] = 0;
    kcl_set_threads(t ? 5 : 1);
    CHECK(!factor(p->ctx, B, &f[t], &zero[t]));
    kcl_csr_free(&B);
  }
  kcl_set_threads(before);
  CHECKF(zero[0] == zero[1] && zero[0] == (breaks ? 7 : -1), "%lld %lld", (long long)zero[0],
         (long long)zero[1]);
  CHECK(breaks || (f[0].L->nnz > 3 * m && f[0].L->nnz == f[1].L->nnz));
  CHECK(breaks || !memcmp(f[0].L->val, f[1].L->val, (size_t)f[0].L->nnz * sizeof(double)));
  CHECK(breaks || !memcmp(f[0].d, f[1].d, (size_t)(8 * m) * sizeof(double)));
  if (f[0].U)
    CHECK(f[0].U->nnz == f[1].U->nnz &&
          !memcmp(f[0].U->val, f[1].U->val, (size_t)f[0].U->nnz * sizeof(double)));
  kcl_factors_free(&f[0]), kcl_factors_free(&f[1]);
}

static void test_sweeps(const place *p) {
  for (int upper = 0; upper < 2; upper++) {
    kcl_csr *N = NULL;
    double v[12] = {0}, y[12], error[KCL_MOST_SWEEPS + 1];
    if (kcl_csr_create(p->ctx, 6, 6, 5, KCL_D, &N)) exit(1);
    for (int i = 0; i < 6; i++) {
      const bool has = upper ? i < 5 : i > 0;
      N->row_ptr[i + 1] = N->row_ptr[i] + has;
      if (has)
        N->col[N->row_ptr[i]] = upper ? i + 1 : i - 1, ((double *)N->val)[N->row_ptr[i]] = -10;
      v[2 * i] = 1;
    }
    CHECK(!kcl_sweep_errors(p->ctx, N, upper, v, y, error));
    CHECKF(y[upper ? 0 : 10] == 111111, "%g", y[upper ? 0 : 10]);
    CHECKF(error[4] > 0.5 && error[5] == 0 && error[6] == 0, "%g %g", error[4], error[5]);
    kcl_csr_free(&N);
  }
}

static void test_levels(const place *p) {
  kcl_level_sets s;
  kcl_csr *A = made(p->ctx, 5, 1, KCL_D, dominant);
  CHECK(kcl_level_sets_find(p->ctx, A, &s) == KCL_USAGE && !s.level); /* a diagonal */
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- whole solves */

typedef struct solved {
  kcl_status status;
  kcl_report r;
  double *x;      /* [n] */
  char note[160]; /* of set-up */
} solved;

/* A x = A 1 with this preconditioner. */
static solved solve_with(const place *p, const kcl_csr *A, const char *precond,
                         const char *method) {
  kcl_options o = cg_options();
  kcl_solver *s = NULL;
  double *b = calloc((size_t)A->rows, sizeof *b);
  solved out = {.x = calloc((size_t)A->rows, sizeof *out.x)};
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) b[i] += ((double *)A->val)[k];
  o.precond = precond, o.solver = method, o.format = "csr-scalar";
  out.status = kcl_setup(p->ctx, A, &o, &s);
  if (!out.status) out.status = kcl_solve_one(s, b, out.x, &out.r);
  if (s) {
    kcl_setup_info info;
    kcl_solver_info(s, &info);
    snprintf(out.note, sizeof out.note, "%s", info.precond_note);
  }
  free(b), kcl_solver_free(&s);
  return out;
}

static const char *const factored[] = {"ilu", "ilut"};
enum { FACTORED = sizeof factored / sizeof *factored };

static void test_breakdowns(const place *p) {
  static const struct {
    entry_at *at;
    bool refused;
  } cases[] = {
      {exchanged, false}, {same_rows, false}, {empty_row, true}, {two_in_one_column, true}};
  for (int c = 0; c < 4; c++)
    for (int f = 0; f < FACTORED; f++) {
      kcl_csr *A = made(p->ctx, 6, 6, KCL_D, cases[c].at);
      solved s = solve_with(p, A, factored[f], "gmres");
      if (cases[c].refused)
        CHECKF(s.status == KCL_USAGE && strstr(kcl_error(), "singular"), "%s, %d: %s", factored[f],
               c, kcl_error());
      else
        CHECKF(!s.status && s.r.converged, "%s, %d: %s", factored[f], c, kcl_error());
      for (int i = 0; i < 6; i++) CHECK(isfinite(s.x[i]));
      free(s.x), kcl_csr_free(&A);
    }
}

/* Factors of exchanged and scaled rows and columns are those of A: where nothing is left out, a solve takes one iteration. */
static void test_exchanged_columns(const place *p) {
  for (int f = 0; f < FACTORED; f++) {
    kcl_csr *A = made(p->ctx, 6, 6, KCL_D, uneven_columns);
    solved s = solve_with(p, A, factored[f], "gmres");
    CHECKF(!s.status && s.r.converged && s.r.iterations == 1, "%s: %lld iterations, %s",
           factored[f], (long long)s.r.iterations, kcl_error());
    free(s.x), kcl_csr_free(&A);
  }
}

/* A diagonal that is too small for IC(0) of a positive definite matrix is made larger; of an indefinite one, refused. */
static number circulant(int64_t n, int64_t i, int64_t j) {
  static const double row[] = {3, -2, 0, 2}; /* Kershaw 1978 */
  const int64_t d = llabs(i - j);
  return d < n ? row[d < 4 ? d : 0] : 0;
}

/* An inverse beyond numbers: refused, or a larger diagonal; M^-1 is finite. */
static number growing(int64_t n, int64_t i, int64_t j) {
  return (void)n, i == j ? 1 : j == i - 1 ? -1000 : 0;
}

static void test_growth(const place *p) {
  kcl_csr *A = made(p->ctx, 400, 1, KCL_D, growing);
  for (int f = 0; f < FACTORED; f++) {
    solved s = solve_with(p, A, factored[f], "gmres");
    CHECKF(s.status ? s.status == KCL_USAGE && strstr(kcl_error(), factored[f]) != NULL
                    : strstr(s.note, "diagonal +") && s.r.reason != KCL_NOT_FINITE,
           "%s: %s, %s", factored[f], s.note, kcl_error());
    free(s.x);
  }
  kcl_csr_free(&A);
}

static void test_shift(const place *p) {
  kcl_csr *A = made(p->ctx, 4, 4, KCL_D, circulant);
  solved s = solve_with(p, A, "ic", "cg");
  CHECKF(!s.status && s.r.converged && strstr(s.note, "diagonal +"), "%s, %s", s.note, kcl_error());
  free(s.x), kcl_csr_free(&A), A = made(p->ctx, 6, 1, KCL_D, indefinite);
  s = solve_with(p, A, "ic", "minres");
  CHECKF(s.status == KCL_USAGE && strstr(kcl_error(), "positive definite"), "%s", kcl_error());
  free(s.x), kcl_csr_free(&A);
}

/* Levels wide enough for all threads, and chains that one thread solves: exact, with the same bits. */
static void test_steps(const place *p, const char *precond) {
  static const int64_t lengths[] = {2, 10, 5000};
  const int before = kcl_threads();
  for (int i = 0; i < 3; i++) {
    length = lengths[i];
    kcl_csr *A = made(p->ctx, 60000, 1, KCL_D, chains);
    solved first = {0};
    for (int threads = 1; threads <= 4; threads *= 2) {
      kcl_set_threads(threads);
      solved s = solve_with(p, A, precond, "bicgstab");
      CHECKF(!s.status && s.r.converged && s.r.iterations <= 2,
             "%s, chains of %lld: %lld iterations, %s", precond, (long long)length,
             (long long)s.r.iterations, kcl_error());
      if (threads == 1)
        first = s;
      else
        CHECKF(!memcmp(s.x, first.x, 60000 * sizeof *s.x), "%s: other bits with %d threads",
               precond, threads),
            free(s.x);
    }
    free(first.x), kcl_csr_free(&A);
  }
  kcl_set_threads(before);
}

/* ---------------------------------------------------------------- the layout of GPUs */

/* One work-group, a launch per level, and what is refused; sweeps where they serve. */
static void test_device(const place *p) {
  static const struct {
    int64_t rows, length;
    const char *note; /* NULL: refused */
  } cases[] = {{200, 1, "sweeps"},
               {200, 50, "levels"},
               {40000, 10, "levels"},
               {40000, 300, "levels"},
               {40000, 1100, NULL}};
  for (int c = 0; c < (small() ? 2 : 5); c++) { /* a simulated device has no time for the others */
    length = cases[c].length;
    kcl_csr *A = made(p->ctx, cases[c].rows, 1, KCL_D, chains);
    solved s = solve_with(p, A, "ilu", "bicgstab");
    if (cases[c].note)
      CHECKF(!s.status && s.r.converged && s.r.iterations <= 2 && strstr(s.note, cases[c].note),
             "chains of %lld: %s, %lld iterations, %s", (long long)length, s.note,
             (long long)s.r.iterations, kcl_error());
    else
      CHECKF(s.status == KCL_USAGE && strstr(kcl_error(), "levels"), "%s", kcl_error());
    free(s.x), kcl_csr_free(&A);
  }
}

/* Factors with more distinct rows than a table of patterns holds. */
static void test_distinct_rows(const place *p) {
  kcl_csr *A = NULL;
  if (small() || !CHECK(!kcl_generate(p->ctx, "spd:70000x3", &A, NULL))) return;
  solved s = solve_with(p, A, "ic", "cg");
  CHECKF(!s.status && s.r.converged, "%s: %s", s.note, kcl_error());
  free(s.x), kcl_csr_free(&A);
}

int main(void) {
  static const int64_t sizes[] = {1, 2, 31, 33, 120, 400};
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    if (p->ctx->opencl) continue;
    for (int s = 0; s < 6; s++)
      for (kcl_type t = KCL_D; t <= KCL_Z; t += 2) {
        test_matching(p, sizes[s], t);
        if (sizes[s] <= 120)
          test_ilu(p, sizes[s], t), test_ilut(p, sizes[s], t), test_ic(p, sizes[s], t);
      }
    for (int breaks = 0; breaks < 2; breaks++)
      test_threads(p, kcl_factor_ilu, breaks), test_threads(p, kcl_factor_ic, breaks),
          test_threads(p, factor_by_threshold, breaks);
    test_no_matching(p), test_arrow(p), test_sweeps(p), test_levels(p), test_breakdowns(p),
        test_exchanged_columns(p), test_shift(p), test_growth(p);
    for (int f = 0; f < FACTORED; f++) test_steps(p, factored[f]);
  }
  close_places();
  as_gpu(test_device);
  as_gpu(test_distinct_rows);
  return check_report();
}
