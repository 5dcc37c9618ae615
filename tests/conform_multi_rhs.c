/* Several right-hand sides at once: every method, preconditioner and type on every executor, with right-hand sides that
 * end at different times, one of zeros, one that is solved by its guess and one that breaks down. Each result must be that
 * of a solve alone: on the native executor with the same bits, elsewhere with the same reason and, up to rounding, the
 * same number of iterations. Every residual is recomputed.
 */
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"
#include "tests/suits.h"

typedef struct trial {
  const place *p;
  const kcl_csr *A; /* double or complex double */
  kcl_options o;
  const char *kind;
} trial;

static const char *words(const trial *c) {
  static char text[200];
  snprintf(text, sizeof text, "%s %s %s %s, %d at once, %s, type %c", c->o.solver, c->o.precond,
           c->o.format, c->kind, c->o.nrhs, c->p->name, kcl_type_letter(c->o.precision));
  return text;
}

/* y = A x in the matrix's type. */
static void multiply(const kcl_csr *A, const double *x, double *y) {
  kcl_csr_product(A, x, NULL, y);
}

/* Right-hand side j and its guess. 2 is zero, 4 is solved by its guess; the others contain increasingly many of the
 * matrix's eigenvectors, so that they end at different times; scales differ by powers of 1000. */
static void fill_rhs(const kcl_csr *A, int j, double *b, double *x) {
  int w = kcl_type_complex(A->type) ? 2 : 1;
  int64_t n = A->rows * w, m = A->cols * w;
  double *known = calloc((size_t)m, sizeof *known);
  for (int64_t i = 0; i < m; i++) x[i] = 0;
  for (int64_t i = 0; i < m; i++) {
    double smooth = 1 + 0.01 * random_number(), rough = random_number();
    known[i] = j % 3 == 0 ? rough : j % 3 == 1 ? smooth : (double)(i / w % 7 == 0) * rough;
  }
  multiply(A, known, b);
  for (int64_t i = 0; i < n; i++) b[i] = j == 2 ? 0 : ldexp(b[i], 10 * (j % 5) - 20);
  if (j == 2) x[0] = 5;
  if (j == 4)
    for (int64_t i = 0; i < m; i++) x[i] = ldexp(known[i], 20);
  free(known);
}

static void check_rhs(const trial *c, int k, int j, const double *b, const double *x,
                      const double *alone, const kcl_report *r, const kcl_report *one) {
  const kcl_csr *A = c->A;
  size_t size = (size_t)A->cols * kcl_type_size(A->type);
  double doubt, res = residual(A, b, x, &doubt);
  int64_t apart = r->iterations - one->iterations, allowed = one->iterations / 10 + 2;
  bool same = !c->p->ctx->opencl;
  CHECKF(r->reason == one->reason && r->converged == one->converged,
         "%s, right-hand side %d of %d: %s, alone %s", words(c), j, k, kcl_reason_text(r->reason),
         kcl_reason_text(one->reason));
  CHECKF(same ? apart == 0 : llabs((long long)apart) <= allowed,
         "%s, right-hand side %d of %d: %lld iterations, alone %lld", words(c), j, k,
         (long long)r->iterations, (long long)one->iterations);
  CHECKF(!same || !memcmp(x, alone, size), "%s, right-hand side %d of %d: other bits than alone",
         words(c), j, k);
  if (r->converged && !r->least_squares)
    CHECKF(res <= tol_claim(c->o.tol, doubt), "%s, right-hand side %d of %d: claims %g, has %g",
           words(c), j, k, c->o.tol, res);
  CHECKF(fabs(res - r->true_relative_residual) <= tol_certificate(res, doubt),
         "%s, right-hand side %d of %d: certificate says %g, it is %g", words(c), j, k,
         r->true_relative_residual, res);
  CHECKF(j == 2 ? r->history_size == 0 : r->history_size == r->iterations + 1,
         "%s, right-hand side %d of %d: history of %lld", words(c), j, k,
         (long long)r->history_size);
  for (int64_t i = 0; same && i < r->history_size && i < one->history_size; i++)
    if (r->history[i] != one->history[i]) {
      CHECKF(false, "%s, right-hand side %d of %d: history differs at %lld", words(c), j, k,
             (long long)i);
      break;
    }
}

/* k right-hand sides, o.nrhs at once, and each alone with nrhs 1; on a device alone in one format for all, where only
 * rounding is compared. */
static void solve_both(const trial *c, int k) {
  const kcl_csr *A = c->A;
  int64_t w = kcl_type_complex(A->type) ? 2 : 1, n = A->rows * w, m = A->cols * w;
  kcl_solver *many = NULL, *single = NULL;
  kcl_options o = c->o;
  kcl_report *r = calloc((size_t)k, sizeof *r), one;
  double *B = calloc((size_t)(n * k), sizeof *B), *X = calloc((size_t)(m * k), sizeof *X);
  double *alone = calloc((size_t)(m * k), sizeof *alone);
  int rc = kcl_setup(c->p->ctx, A, &o, &many);
  o.nrhs = 0;
  if (by_turns(c->p)) o.format = "csr-scalar";
  if (!rc) rc = kcl_setup(c->p->ctx, A, &o, &single);
  if (!CHECKF(!rc, "%s: %s", words(c), kcl_error())) goto done;
  random_state = 88172645463325252u; /* whatever else was tested before */
  for (int j = 0; j < k; j++) fill_rhs(A, j, B + n * j, X + m * j);
  memcpy(alone, X, (size_t)(m * k) * sizeof *X);
  rc = kcl_solve_many(many, k, B, X, r);
  if (!CHECKF(!rc, "%s: %s", words(c), kcl_error())) goto done;
  for (int j = 0; j < k; j++) {
    CHECK(!kcl_solve_one(single, B + n * j, alone + m * j, &one));
    check_rhs(c, k, j, B + n * j, X + m * j, alone + m * j, &r[j], &one);
  }
done:
  free(r), free(B), free(X), free(alone);
  kcl_solver_free(&many), kcl_solver_free(&single);
}

/* ---------------------------------------------------------------- every method */

typedef struct problem {
  const char *kind, *solver; /* NULL: all that fit */
  bool pairs;                /* complex */
} problem;

/* The method that takes this preconditioner, if one is enough: cg where it does. */
static const char *one_of(const place *p, const kcl_csr *A, kcl_options o) {
  o.solver = "cg";
  return precond_suits(p->ctx, A, &o) ? "cg" : "bicgstab";
}

static void test_methods(const place *p, const problem *q) {
  kcl_csr *A = NULL;
  if (!CHECKF(!kcl_generate(p->ctx, q->kind, &A, NULL), "%s", kcl_error())) return;
  trial c = {.p = p, .A = A, .o = cg_options(), .kind = q->kind};
  c.o.restart = 4, c.o.format = "csr-scalar", c.o.nrhs = 3;
  for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
    if ((!kcl_type_complex(t) && q->pairs) || !can(p, t)) continue;
    c.o.precision = t, c.o.tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-8;
    for (int m = 0; m < kcl_list_size(KCL_SOLVERS); m++)
      for (int i = 0; i < kcl_list_size(KCL_PRECONDS); i++) {
        c.o.solver = kcl_list(KCL_SOLVERS, m).name, c.o.precond = kcl_list(KCL_PRECONDS, i).name;
        if (q->solver && strcmp(c.o.solver, q->solver)) continue;
        if (by_turns(p) && !turn_of(t, m + i)) continue;
        if (quick(p) && (i || m % 3)) continue; /* how columns are recorded does not depend on it */
        if (!precond_taken(p->ctx, A, &c.o)) continue;
        if (by_turns(p) && i > 1 && strcmp(c.o.solver, one_of(p, A, c.o)))
          continue; /* what a preconditioner records does not depend on the method */
        solve_both(&c, 5);
      }
  }
  kcl_csr_free(&A);
}

static const problem problems[] = {{"poisson2d:10", NULL, false},
                                   {"convection:9", "bicg", false},
                                   {"magnetic:6", "cg", true},
                                   {"helmholtz:6", "bicg", true}};

/* ---------------------------------------------------------------- values of nrhs, formats */

static void test_numbers(const place *p) {
  static const int at_once[] = {1, 2, 3, 5, 8};
  kcl_csr *A = NULL;
  const char *kind = small() ? "poisson2d:4" : "poisson2d:12";
  if (!CHECK(!kcl_generate(p->ctx, kind, &A, NULL))) return;
  trial c = {.p = p, .A = A, .o = cg_options(), .kind = kind};
  c.o.format = "csr-scalar", c.o.solver = "cg", c.o.precond = "jacobi";
  for (kcl_type t = KCL_S; t <= KCL_Z; t++)
    for (int i = 0; i < 5; i++) {
      c.o.precision = t, c.o.tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-8;
      c.o.nrhs = at_once[i];
      if (!can(p, t) || (small() ? i != 2 : !half_of(p, t, i) || (quick(p) && !turn_of(t, i))))
        continue;
      solve_both(&c, at_once[i]);                /* all at once */
      if (!small() && i == 2) solve_both(&c, 8); /* the last block is incomplete */
    }
  kcl_csr_free(&A);
}

/* On a device by cg, whose product has the source that both products of bicg have. */
static void test_formats(const place *p) {
  kcl_csr *A = NULL;
  trial c = {.p = p, .o = cg_options(), .kind = by_turns(p) ? "magnetic:6" : "helmholtz:6"};
  if (!CHECK(!kcl_generate(p->ctx, c.kind, &A, NULL))) return;
  c.A = A, c.o.solver = by_turns(p) ? "cg" : "bicg", c.o.precond = "none", c.o.nrhs = 3;
  for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
    kcl_stats stats;
    kcl_cost cost;
    c.o.format = kcl_list(KCL_FORMATS, f).name;
    c.o.precision = f % 2 ? KCL_C : KCL_Z, c.o.tol = f % 2 ? 1e-4 : 1e-8;
    CHECK(!kcl_csr_stats(p->ctx, A, &stats));
    CHECK(!kcl_format_cost(p->ctx, &stats, c.o.precision, c.o.format, &cost));
    if (cost.refusal || (quick(p) && f % 3)) continue; /* conform_operator has their products */
    if (can(p, c.o.precision)) solve_both(&c, 5);
  }
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- breakdowns, limits, bad input */

/* A = diag(1, 2, ..., n - 1, last) */
static kcl_csr *diagonal(const place *p, kcl_type type, int n, double last) {
  kcl_csr *A = NULL;
  if (!CHECK(!kcl_csr_create(p->ctx, n, n, n, type, &A))) return NULL;
  for (int i = 0; i < n; i++) {
    const number d = i < n - 1 ? i + 1 : last;
    A->row_ptr[i + 1] = i + 1, A->col[i] = i;
    kcl_copy(type, (char *)A->val + (size_t)i * kcl_type_size(type), KCL_Z, &d, 1, 1);
  }
  return A;
}

/* A right-hand side without the last unit vector never meets the -1. Limit: 3 iterations. */
static void test_breakdown(const place *p, kcl_type t) {
  enum { N = 8, K = 5 };
  static const kcl_reason expected[K] = {KCL_INDEFINITE, KCL_CONVERGED, KCL_CONVERGED,
                                         KCL_ITERATION_LIMIT, KCL_NOT_FINITE};
  static const int iterations[K] = {-1, 1, 0, 3, 0};
  kcl_type wide = kcl_wide_type(t);
  kcl_csr *A = can(p, t) ? diagonal(p, wide, N, -1) : NULL;
  kcl_solver *s = NULL;
  kcl_report r[K];
  number b[K * N] = {0}, bt[K * N], x[K * N] = {0}; /* x: of type `wide` */
  kcl_options o = cg_options();
  o.nrhs = K, o.precision = t, o.tol = 1e-4, o.max_iter = 3, o.format = "csr-scalar";
  if (!A) return;
  size_t size = kcl_type_size(wide);
  b[7] = 1, b[0] = 0.25;                                       /* A is not positive for it */
  b[N + 3] = 5;                                                /* an eigenvector: one iteration */
  for (int i = 0; i < 7; i++) b[3 * N + i] = b[4 * N + i] = 1; /* seven iterations are needed */
  ((double *)x)[4 * N * (int)(size / 8) + 1] = NAN;
  kcl_copy(wide, bt, KCL_Z, b, K * N, 1);
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_many(s, K, bt, x, r), "%s", kcl_error()))
    for (int j = 0; j < K; j++) {
      CHECKF(r[j].reason == expected[j] && r[j].converged == (expected[j] == KCL_CONVERGED) &&
                 (iterations[j] < 0 || r[j].iterations == iterations[j]),
             "%s, type %c, right-hand side %d: %s after %lld", p->name, kcl_type_letter(t), j,
             kcl_reason_text(r[j].reason), (long long)r[j].iterations);
      double doubt, res = residual(A, (char *)bt + (size_t)j * N * size,
                                   (char *)x + (size_t)j * N * size, &doubt);
      if (r[j].converged) CHECKF(res <= tol_claim(o.tol, doubt), "right-hand side %d: %g", j, res);
    }
  /* the same solver again; the right-hand side that broke down is replaced */
  memset(x, 0, sizeof x);
  for (int i = 0; i < N; i++) b[i] = i == 2, b[4 * N + i] = i == 5;
  kcl_copy(wide, bt, KCL_Z, b, K * N, 1);
  CHECK(s && !kcl_solve_many(s, K, bt, x, r) && r[0].converged && r[4].converged &&
        r[0].iterations == 1 && r[4].iterations == 1 && r[3].reason == KCL_ITERATION_LIMIT);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* The least |b - D x| / |b| of any x of floats, D = diag(1, 2, ..., n): of each quotient the nearest floats are
 * tried. Exact but for the sum, for b has 8 bits, a float 24 and D 6. */
static double least_residual(const double *b, int n) {
  double rr = 0, bb = 0;
  for (int i = 0; i < n; i++) {
    const float near = (float)(b[i] / (i + 1));
    const float at[] = {nextafterf(near, -INFINITY), near, nextafterf(near, INFINITY)};
    double least = INFINITY;
    for (int j = 0; j < 3; j++) least = fmin(least, fabs(b[i] - (i + 1) * (double)at[j]));
    rr += least * least, bb += b[i] * b[i];
  }
  return sqrt(rr / bb);
}

/* A claim that does not hold restarts its right-hand side and leaves the others alone. Single precision is asked for half of
 * the least residual it can have, however it rounds: recurrences continue to fall, so claims are made, and no x can fulfil them.
 * Beside it right-hand sides that converge at once: unit vectors, where the entry of D is a power of 2. */
static void test_claims(const place *p) {
  enum { N = 60, K = 5 };
  kcl_csr *A = diagonal(p, KCL_D, N, N);
  trial c = {.p = p, .A = A, .o = cg_options(), .kind = "diagonal"};
  c.o.solver = "cg", c.o.precond = "none", c.o.format = "csr-scalar", c.o.nrhs = K;
  c.o.precision = KCL_S, c.o.tol = 1, c.o.max_iter = 1000;
  double B[K * N], X[K * N] = {0};
  kcl_report r[K], one;
  kcl_solver *s = NULL, *single = NULL;
  for (int j = 0; j < K; j++) {
    for (int i = 0; i < N; i++) B[j * N + i] = j % 2 ? i + 1 == 1 << j : random_number();
    if (j % 2 == 0) c.o.tol = fmin(c.o.tol, least_residual(B + j * N, N) / 2);
  }
  kcl_options o = c.o;
  o.nrhs = 1;
  if (A && CHECK(!kcl_setup(p->ctx, A, &c.o, &s) && !kcl_setup(p->ctx, A, &o, &single)) &&
      CHECK(!kcl_solve_many(s, K, B, X, r)))
    for (int j = 0; j < K; j++) {
      double x[N] = {0};
      const kcl_reason expected = j % 2 ? KCL_CONVERGED : KCL_STAGNATED;
      CHECK(!kcl_solve_one(single, B + j * N, x, &one));
      CHECKF(r[j].reason == expected && one.reason == expected &&
                 !r[j].residual_restarts == (expected == KCL_CONVERGED) &&
                 !one.residual_restarts == !r[j].residual_restarts,
             "%s, right-hand side %d: %s, %d restarts, %lld iterations, residual %g, alone %s, %d, "
             "%lld, %g; "
             "asked for %g",
             words(&c), j, kcl_reason_text(r[j].reason), r[j].residual_restarts,
             (long long)r[j].iterations, r[j].true_relative_residual, kcl_reason_text(one.reason),
             one.residual_restarts, (long long)one.iterations, one.true_relative_residual, c.o.tol);
      if (!p->ctx->opencl)
        CHECKF(r[j].residual_restarts == one.residual_restarts &&
                   r[j].iterations == one.iterations && !memcmp(x, X + j * N, sizeof x),
               "%s, right-hand side %d: not as alone", words(&c), j);
    }
  kcl_solver_free(&s), kcl_solver_free(&single), kcl_csr_free(&A);
}

static int stop_at(void *user, const kcl_progress *p) {
  CHECK(p->running >= 1 && p->running <= 3 && p->relative_residual >= 0);
  return p->iteration >= *(int64_t *)user;
}

static void test_input(const place *p) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r[3];
  int64_t when = 8;
  kcl_options o = cg_options();
  static double b[3 * 400], x[3 * 400];
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:20", &A, NULL))) return;
  o.format = "csr-scalar";
  for (int i = 0; i < 2; i++) {
    o.nrhs = i ? 9 : -1;
    CHECKF(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(), "1 to 8"),
           "%d right-hand sides: %s", o.nrhs, kcl_error());
    kcl_solver_free(&s);
  }
  o.nrhs = 3, o.progress = stop_at, o.user = &when;
  for (int i = 0; i < 3 * 400; i++) b[i] = random_number(), x[i] = 0;
  if (CHECK(!kcl_setup(p->ctx, A, &o, &s))) {
    CHECK(kcl_solve_many(s, -1, b, x, r) == KCL_USAGE);
    CHECK(!kcl_solve_many(s, 3, b, x, r));
    int interrupted = 0;
    for (int j = 0; j < 3; j++) {
      double doubt, res = residual(A, b + 400 * j, x + 400 * j, &doubt);
      interrupted += r[j].reason == KCL_INTERRUPTED;
      CHECKF(fabs(res - r[j].true_relative_residual) <= tol_certificate(res, doubt),
             "right-hand side %d", j);
    }
    CHECKF(interrupted >= 1, "%d right-hand sides interrupted", interrupted);
    b[400 + 7] = NAN;
    CHECKF(kcl_solve_many(s, 3, b, x, r) == KCL_INPUT && strstr(kcl_error(), "column 2"), "NaN: %s",
           kcl_error());
    b[400 + 7] = 1, when = INT64_MAX;
    CHECK(!kcl_solve_many(s, 3, b, x, r) && r[0].converged && r[1].converged && r[2].converged);
    kcl_setup_info info;
    kcl_solver_info(s, &info);
    double seconds = 0;
    for (int j = 0; j < 3; j++) seconds += r[j].seconds_solve;
    CHECKF(info.nrhs == 3 || info.nrhs == 1, "%d at once", info.nrhs);
    CHECKF(seconds > 0 && r[0].bytes_per_iteration > 0 &&
               r[0].bytes_per_iteration <= kcl_bytes_per_iteration(s),
           "%g bytes of %g", r[0].bytes_per_iteration, kcl_bytes_per_iteration(s));
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* The timing loop checks the product of every right-hand side. */
static void test_bench(const place *p) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  const kcl_bench_plan plan = {.iterations = 5, .samples = 1};
  kcl_bench_row row = {0};
  o.nrhs = 5, o.format = "csr-scalar";
  if (!CHECK(!kcl_generate(p->ctx, "poisson3d:6", &A, NULL))) return;
  CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_bench_solver(s, &plan, &row) && row.validated &&
             row.nrhs > 0 && row.iteration.seconds[0] > 0 && row.product.seconds[0] > 0,
         "%s", kcl_error());
  kcl_bench_free(&row);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    test_numbers(p);
    for (kcl_type t = KCL_S; t <= KCL_Z; t++)
      if (!small() || t == KCL_D || t == KCL_C) test_breakdown(p, t);
    if (small()) continue;
    for (size_t q = 0; q < sizeof problems / sizeof *problems; q++) test_methods(p, &problems[q]);
    test_formats(p), test_claims(p), test_input(p), test_bench(p);
  }
  close_places();
  return check_report();
}
