/* Scaling by powers of two: systems whose rows differ so much that |b - A x| hides the small ones are solved in every
 * unknown, all that is reported is of the system as given, and systems that do not need it, or must not have it, are left
 * as they are.
 */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"

enum {
  N = 800,
  STRONG = N / 2,
  WRONG = 1
}; /* percent: what counts as wrong, and how many may be */

/* ---------------------------------------------------------------- systems */

typedef struct problem {
  kcl_csr *A;
  kcl_type type;
  void *b; /* [N] A times truth */
  number *truth;
} problem;

static double *powers_of_ten(double range) { /* [N] from 10^range to 1, the halves far apart */
  double *d = malloc(N * sizeof *d);
  for (int i = 0; i < N; i++)
    d[i] = pow(10, range * (i < STRONG ? 1 - 0.2 * i / N : 0.1 - 0.1 * i / (N - 1)));
  return d;
}

/* Entries of a network of N nodes in rows of 20, which row[i] and col[j] multiply. The first half of the nodes, STRONG, is
 * bound to the ground and converges at once; the other half is a grid that hardly is, and needs many iterations. */
static number entry(kcl_type t, bool hermitian, int i, int j) {
  const double part = !kcl_type_complex(t) ? 0 : i > j ? -0.25 : 0.25;
  if (i == j) return i < STRONG ? 40 : hermitian ? 4.005 * modulus(CMPLX(1, part)) : 3.2;
  if (abs(i - j) != 1 && abs(i - j) != 20) return 0;
  if (i < STRONG || (j < STRONG && hermitian)) return 0;
  return CMPLX(hermitian || i < j ? -1 : -0.5, part);
}

static problem network(kcl_context *ctx, kcl_type t, bool hermitian, const double *row,
                       const double *col) {
  problem s = {.type = t, .truth = malloc(N * sizeof *s.truth)};
  int64_t k = 0;
  if (kcl_csr_create(ctx, N, N, 5 * N, t, &s.A)) exit(1);
  s.b = calloc(N, kcl_type_size(t));
  for (int i = 0; i < N; i++) s.truth[i] = (1 + i % 3) / (col ? col[i] : 1);
  for (int i = 0; i < N; i++) {
    number sum = 0;
    for (int j = 0; j < N; j++) {
      number a = entry(t, hermitian, i, j) * row[i] * (col ? col[j] : 1);
      if (a == 0) continue;
      const double z[2] = {creal(a), cimag(a)};
      s.A->col[k] = j, kcl_set_element(t, s.A->val, k++, z);
      sum += a * s.truth[j];
    }
    s.A->row_ptr[i + 1] = k;
    const double z[2] = {creal(sum), cimag(sum)};
    kcl_set_element(t, s.b, i, z);
  }
  s.A->nnz = k;
  return s;
}

static void release(problem *s) { kcl_csr_free(&s->A), free(s->b), free(s->truth); }

/* ---------------------------------------------------------------- solves */

typedef struct result {
  kcl_report r;
  kcl_setup_info info;
  char method[64], reason[256];
  int rc;
  double wrong; /* percent of the unknowns that are off by more than WRONG percent */
} result;

static double percent_wrong(const problem *s, const void *x) {
  int count = 0;
  for (int i = 0; i < N; i++) {
    double z[2];
    kcl_element(s->type, x, i, z);
    count += !(cabs(CMPLX(z[0], z[1]) - s->truth[i]) <= WRONG / 100.0 * cabs(s->truth[i]));
  }
  return 100.0 * count / N;
}

/* Both residuals that are reported are what they say. */
static void check_residuals(const place *p, const kcl_solver *solver, const problem *s,
                            const void *x, const kcl_report *r) {
  double doubt, given = residual(s->A, s->b, x, &doubt);
  const int *power = solver->system.scaling.row;
  CHECKF(fabs(given - r->true_relative_residual) <= tol_certificate(given, doubt),
         "%s: certificate %g, residual %g", p->name, r->true_relative_residual, given);
  long double rr = 0, bb = 0;
  for (int i = 0; i < N; i++) {
    double z[2], a[2], v[2];
    kcl_element(s->type, s->b, i, z);
    exact left = CMPLX(z[0], z[1]), size = left;
    for (int64_t k = s->A->row_ptr[i]; k < s->A->row_ptr[i + 1]; k++) {
      kcl_element(s->type, s->A->val, k, a), kcl_element(s->type, x, s->A->col[k], v);
      left -= (exact)CMPLX(a[0], a[1]) * CMPLX(v[0], v[1]);
    }
    const long double factor = ldexpl(1, power ? power[i] : 0);
    rr += powl(modulus(left) * factor, 2), bb += powl(modulus(size) * factor, 2);
  }
  if (r->normal_residual >= 0) return;
  const double tested = (double)sqrtl(rr / bb);
  CHECKF(fabs(tested - r->tested_residual) <= 1e-3 * tested + 1e-15, "%s: tested %g, it is %g",
         p->name, r->tested_residual, tested);
}

static result solve_problem(const place *p, const problem *s, const kcl_options *o) {
  result q = {.wrong = 100};
  kcl_solver *solver = NULL;
  void *x = calloc(N, kcl_type_size(s->type));
  if (!(q.rc = kcl_setup(p->ctx, s->A, o, &solver))) {
    q.rc = kcl_solve_one(solver, s->b, x, &q.r);
    kcl_solver_info(solver, &q.info);
    snprintf(q.method, sizeof q.method, "%s", q.info.solver);
    snprintf(q.reason, sizeof q.reason, "%s", q.info.scale_reason);
    q.wrong = percent_wrong(s, x);
    check_residuals(p, solver, s, x, &q.r);
  }
  CHECKF(!q.rc, "%s: %s", p->name, kcl_error());
  kcl_solver_free(&solver), free(x);
  return q;
}

static kcl_options options(kcl_type t, const char *solver, kcl_scale_rule scale) {
  kcl_options o = kcl_defaults;
  o.format = "csr-scalar", o.precision = t, o.solver = solver, o.scale = scale;
  return o;
}

/* ---------------------------------------------------------------- where it helps */

/* Rows from 1 to 3e12, as in a model of a power grid; in float, where the tolerance is 1e-5, to 3e8. */
static void test_rows(const place *p, kcl_type t) {
  const bool single = t == KCL_S || t == KCL_C;
  double *row = powers_of_ten(log10(single ? 2e7 : 2e11));
  problem s = network(p->ctx, t, false, row, NULL);
  kcl_options o = options(t, "auto", KCL_SCALE_NONE);
  o.no_direct = true;
  result q = solve_problem(p, &s, &o);
  CHECKF(q.r.converged && !q.info.scaled && q.wrong > WRONG,
         "%s, %c: as given %s, %g %% of the unknowns are wrong", p->name, kcl_type_letter(t),
         kcl_reason_text(q.r.reason), q.wrong);
  o.scale = KCL_SCALE_AUTO, q = solve_problem(p, &s, &o);
  CHECKF(q.r.converged && q.info.scaled && q.wrong == 0 && q.r.componentwise_error < 1e-3,
         "%s, %c: scaled %s, %g %% wrong, %g", p->name, kcl_type_letter(t),
         kcl_reason_text(q.r.reason), q.wrong, q.r.componentwise_error);
  CHECKF(q.info.row_powers[1] - q.info.row_powers[0] > (single ? 20 : 30), "%s: %d to %d", p->name,
         q.info.row_powers[0], q.info.row_powers[1]);
  CHECKF(strstr(q.reason, "rows by 2^"), "%s: %s", p->name, q.reason);
  release(&s), free(row);
}

/* cg applies to R A R, with a preconditioner and without. */
static void test_hermitian(const place *p, kcl_type t) {
  const bool single = t == KCL_S || t == KCL_C;
  double *d = powers_of_ten(single ? 5 : 8);
  problem s = network(p->ctx, t, true, d, d);
  for (int plain = 0; plain < 2; plain++) {
    kcl_options o = options(t, "cg", KCL_SCALE_AUTO);
    if (plain) o.precond = "none";
    result q = solve_problem(p, &s, &o);
    CHECKF(q.r.converged && q.info.scaled && !strcmp(q.method, "cg") && q.r.iterations < 200,
           "%s, %c: %s in %lld", p->name, kcl_type_letter(t), kcl_reason_text(q.r.reason),
           (long long)q.r.iterations);
    CHECKF(q.wrong == 0, "%s, %c: %g %% wrong", p->name, kcl_type_letter(t), q.wrong);
    const double scaled = q.r.componentwise_error;
    o.scale = KCL_SCALE_NONE, q = solve_problem(p, &s, &o);
    CHECKF(q.r.componentwise_error > 100 * scaled && (!plain || q.wrong > WRONG),
           "%s, %c: as given %g %% wrong, %g and %g", p->name, kcl_type_letter(t), q.wrong,
           q.r.componentwise_error, scaled);
  }
  release(&s), free(d);
}

/* Rows from 1e-300 to 1e300, by iterations and directly: a factorisation of the system as given calls it singular. */
static void test_extremes(const place *p) {
  double row[N];
  for (int i = 0; i < N; i++) row[i] = pow(10, 600.0 * (i * 37 % N) / (N - 1) - 300);
  problem s = network(p->ctx, KCL_D, false, row, NULL);
  for (int direct = 0; direct < 1 + kcl_direct_available(); direct++) {
    kcl_options o = options(KCL_D, direct ? "direct" : "auto", KCL_SCALE_AUTO);
    o.no_direct = !direct;
    result q = solve_problem(p, &s, &o);
    CHECKF(q.r.converged && q.info.scaled && q.wrong == 0 && q.r.tested_residual <= 1e-8,
           "%s, %s: %s, %g %% wrong", p->name, q.method, kcl_reason_text(q.r.reason), q.wrong);
  }
  release(&s);
}

/* Large rows where b is small: |R r| is small long before |r| is. Convergence is of both. */
static void test_both_targets(const place *p) {
  double row[N];
  for (int i = 0; i < N; i++) row[i] = i % 2 ? 1e7 : 1;
  problem s = network(p->ctx, KCL_D, false, row, NULL);
  double *b = s.b;
  for (int i = 0; i < N; i++) b[i] = i % 2 ? 0 : 1;
  kcl_options o = options(KCL_D, "auto", KCL_SCALE_AUTO);
  o.no_direct = true;
  result q = solve_problem(p, &s, &o);
  CHECKF(q.r.converged && q.info.scaled && q.r.true_relative_residual <= 1e-8 &&
             q.r.tested_residual < 1e-10,
         "%s: %s, %g and %g", p->name, kcl_reason_text(q.r.reason), q.r.true_relative_residual,
         q.r.tested_residual);
  release(&s);
}

/* Several right-hand sides at once, an initial guess that is the solution among them. */
static void test_several(const place *p) {
  double *row = powers_of_ten(12);
  problem s = network(p->ctx, KCL_D, false, row, NULL);
  double *B = malloc(3 * N * sizeof *B), *X = calloc(3 * N, sizeof *X);
  const double factor[] = {1, 0, -1e-7};
  kcl_report r[3];
  kcl_solver *solver = NULL;
  kcl_options o = options(KCL_D, "auto", KCL_SCALE_AUTO);
  o.nrhs = 3;
  for (int i = 0; i < 3 * N; i++) B[i] = factor[i / N] * ((double *)s.b)[i % N];
  for (int again = 0; again < 2; again++) {
    if (!CHECKF(!kcl_setup(p->ctx, s.A, &o, &solver) && !kcl_solve_many(solver, 3, B, X, r), "%s",
                kcl_error()))
      break;
    for (int j = 0; j < 3; j++) {
      CHECKF(r[j].converged && (!again || !r[j].iterations), "%s, column %d: %s", p->name, j,
             kcl_reason_text(r[j].reason));
      for (int i = 0; i < N; i++)
        if (!CHECK(fabs(X[j * N + i] - factor[j] * creal(s.truth[i])) <=
                   0.01 * fabs(factor[j] * creal(s.truth[i]))))
          break;
    }
    kcl_solver_free(&solver);
  }
  free(B), free(X), release(&s), free(row);
}

/* Corrections in float are of the scaled system. */
static void test_mixed(const place *p) {
  double *d = powers_of_ten(6);
  problem s = network(p->ctx, KCL_D, true, d, d);
  kcl_options o = options(KCL_D, "cg", KCL_SCALE_AUTO);
  o.mixed = true;
  result q = solve_problem(p, &s, &o);
  CHECKF(q.r.converged && q.r.mixed && q.info.scaled && q.wrong == 0, "%s: %s, %g %% wrong, %s",
         p->name, kcl_reason_text(q.r.reason), q.wrong, q.r.mixed_end);
  release(&s), free(d);
}

/* ---------------------------------------------------------------- where it is left out */

static void expect_none(const place *p, const problem *s, const kcl_options *o, const char *why) {
  result q = solve_problem(p, s, o);
  CHECKF(!q.rc && !q.info.scaled && (*why ? strstr(q.reason, why) != NULL : !q.reason[0]),
         "%s, %s: scaled %d, %s", p->name, why, q.info.scaled, q.reason);
}

static void test_left_out(const place *p) {
  double *row = powers_of_ten(12), ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  problem even = network(p->ctx, KCL_D, false, ones, NULL),
          s = network(p->ctx, KCL_D, false, row, NULL);
  kcl_options o = options(KCL_D, "auto", KCL_SCALE_AUTO);
  expect_none(p, &even, &o, "");
  o.scale = KCL_SCALE_NONE, expect_none(p, &s, &o, "");
  o.scale = KCL_SCALE_AUTO, o.atol = 1e-3, expect_none(p, &s, &o, ""), o.atol = 0;
  o.tol = 1e-18, o.max_iter = 2, expect_none(p, &s, &o, ""), o.tol = -1;
  o.solver = "lsqr", expect_none(p, &s, &o, "least squares");
  o.solver = "auto";
  s.A->cols = N + 1, s.A->col[0] = 0; /* one column more, empty */
  kcl_solver *solver = NULL;
  kcl_setup_info info = {0};
  CHECK(!kcl_setup(p->ctx, s.A, &o, &solver));
  kcl_solver_info(solver, &info);
  CHECKF(!info.scaled && info.scale_reason && strstr(info.scale_reason, "least squares"), "%s: %s",
         p->name, info.scale_reason ? info.scale_reason : "");
  kcl_solver_free(&solver);
  s.A->cols = N;
  for (int64_t k = s.A->row_ptr[9]; k < s.A->row_ptr[10]; k++) ((double *)s.A->val)[k] = 0;
  expect_none(p, &s, &o, "");
  o.scale = (kcl_scale_rule)7;
  CHECK(kcl_setup(p->ctx, s.A, &o, &solver) == KCL_USAGE && strstr(kcl_error(), "scale"));
  release(&even), release(&s), free(row);
}

/* A format that is named and lives on rows that repeat is used, and the system not scaled. */
static void test_format(const place *p) {
  enum { LARGE = 70000 };
  kcl_csr *A = NULL;
  if (kcl_csr_create(p->ctx, LARGE, LARGE, 2 * LARGE, KCL_D, &A)) exit(1);
  double *val = A->val;
  int64_t k = 0;
  for (int i = 0; i < LARGE; i++) {
    if (i) A->col[k] = i - 1, val[k++] = i % 2 ? -1 : -1e9;
    A->col[k] = i, val[k++] = i % 2 ? 2 : 3e9;
    A->row_ptr[i + 1] = k;
  }
  A->nnz = k;
  kcl_solver *solver = NULL;
  kcl_setup_info info;
  kcl_options o = options(KCL_D, "idr", KCL_SCALE_AUTO);
  o.format = "pattern", o.precond = "none";
  CHECKF(!kcl_setup(p->ctx, A, &o, &solver), "%s", kcl_error());
  kcl_solver_info(solver, &info);
  CHECKF(info.format && !strcmp(info.format, "pattern"), "%s: pattern, %s", p->name,
         info.scale_reason);
  kcl_solver_free(&solver), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- the scaling itself */

/* Largest moduli of rows and columns near 1, by powers of two, and no number rounded. */
static void test_equilibrate(kcl_context *ctx) {
  double *row = powers_of_ten(12), *col = powers_of_ten(5), most[2][N] = {{0}};
  problem s = network(ctx, KCL_Z, false, row, col);
  kcl_scaling c = {.unit = 3};
  number *val = malloc((size_t)s.A->nnz * sizeof *val), *given = s.A->val;
  CHECK(!kcl_equilibrate(ctx, s.A, false, NULL, &c));
  kcl_scale_values(&c, s.A, KCL_Z, val);
  for (int i = 0; i < N; i++)
    for (int64_t k = s.A->row_ptr[i]; k < s.A->row_ptr[i + 1]; k++) {
      const int j = s.A->col[k];
      CHECK(val[k] == given[k] * ldexp(1, 3 + c.row[i] + c.col[j]));
      most[0][i] = fmax(most[0][i], cabs(val[k]) / 8);
      most[1][j] = fmax(most[1][j], cabs(val[k]) / 8);
    }
  for (int i = 0; i < 2 * N; i++)
    CHECKF(most[i / N][i % N] >= 0.25 && most[i / N][i % N] < 4, "%d: %g", i, most[i / N][i % N]);
  kcl_scaling_free(&c), free(val), release(&s), free(row), free(col);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    for (kcl_type t = KCL_S; t <= KCL_Z; t++)
      if (can(p, t)) test_rows(p, t), test_hermitian(p, t);
    if (!can(p, KCL_D)) continue;
    test_extremes(p), test_both_targets(p), test_several(p), test_mixed(p);
    test_left_out(p), test_format(p);
  }
  if (place_count) test_equilibrate(places[0].ctx);
  close_places();
  return check_report();
}
