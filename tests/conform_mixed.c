/* Mixed precision: float iterations that end in double. No claim is believed: the residual is recomputed here
 * in long double, and must be as small as a solve in double alone makes it.
 */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

typedef struct problem {
  const char *kind;
  bool pairs; /* complex */
  bool definite;
} problem;

static const problem problems[] = {
    {"poisson2d:12", false, true}, {"trefethen:150", false, true}, {"convection:12", false, false},
    {"magnetic:9", true, true},    {"helmholtz:12", true, false},
};

typedef struct system {
  const place *p;
  kcl_csr *A;
  double *b, *x; /* [rows], pairs when complex */
  kcl_options o;
  const char *kind;
} system_;

static int64_t numbers(const kcl_csr *A) { return A->rows * (kcl_type_complex(A->type) ? 2 : 1); }

static system_ system_of(const place *p, const char *kind, const char *solver) {
  system_ s = {.p = p, .o = cg_options(), .kind = kind};
  if (kcl_generate(p->ctx, kind, &s.A, NULL)) printf("%s\n", kcl_error()), exit(1);
  s.b = calloc((size_t)numbers(s.A), sizeof *s.b), s.x = calloc((size_t)numbers(s.A), sizeof *s.x);
  for (int64_t i = 0; i < numbers(s.A); i++) s.b[i] = random_number() + 3;
  s.o.mixed = true, s.o.solver = solver, s.o.format = "csr-scalar", s.o.restart = 4;
  s.o.precision = s.A->type, s.o.tol = 1e-10, s.o.max_iter = 20000;
  return s;
}

static void system_free(system_ *s) {
  free(s->b), free(s->x);
  kcl_csr_free(&s->A);
}

static void scale(double *v, int64_t n, double by) {
  for (int64_t i = 0; i < n; i++) v[i] *= by;
}

/* Solves from x; what is claimed is so, and the counts agree. */
static kcl_report solve_system(system_ *s, kcl_solver *solver) {
  kcl_report r = {0};
  double doubt;
  const char *what = s->kind, *method = s->o.solver;
  if (!CHECKF(kcl_solve_one(solver, s->b, s->x, &r) == KCL_OK, "%s", kcl_error())) return r;
  double res = residual(s->A, s->b, s->x, &doubt);
  CHECKF(r.mixed, "%s %s: not mixed", what, method);
  CHECKF(!r.converged || res <= tol_claim(s->o.tol, doubt), "%s %s: claims %g, has %g", what,
         method, s->o.tol, res);
  CHECKF(fabs(res - r.true_relative_residual) <= tol_certificate(res, doubt),
         "%s %s: certificate says %g, it is %g", what, method, r.true_relative_residual, res);
  CHECKF(r.history_size == r.iterations + 1, "%s %s: history of %lld, %lld iterations", what,
         method, (long long)r.history_size, (long long)r.iterations);
  CHECK(r.inner_iterations <= r.iterations && (r.inner_iterations > 0) == (r.outer_iterations > 0));
  return r;
}

static kcl_solver *ready(const system_ *s) {
  kcl_solver *solver = NULL;
  CHECKF(kcl_setup(s->p->ctx, s->A, &s->o, &solver) == KCL_OK, "%s %s: %s", s->kind, s->o.solver,
         kcl_error());
  return solver;
}

/* Set-up, one solve and the end of it. */
static kcl_report once(system_ *s) {
  kcl_solver *solver = ready(s);
  kcl_report r = {0};
  if (solver) r = solve_system(s, solver);
  r.history = NULL; /* the solver's */
  kcl_solver_free(&solver);
  return r;
}

/* ---------------------------------------------------------------- methods */

static void test_method(const place *p, const problem *q, const char *method, const char *precond) {
  system_ s = system_of(p, q->kind, method);
  s.o.precond = precond;
  if (!can(p, s.o.precision)) {
    system_free(&s);
    return;
  }
  kcl_solver *solver = NULL;
  int rc = kcl_setup(p->ctx, s.A, &s.o, &solver);
  const char *why = kcl_error();
  if (rc == KCL_USAGE) /* the matrix is not for this method, or the method not for this */
    CHECKF(strstr(why, method) && (strstr(why, "needs") || strstr(why, "no mixed")), "%s: %s",
           method, why);
  else if (CHECKF(!rc, "%s %s: %s", q->kind, method, why)) {
    kcl_report r = solve_system(&s, solver);
    CHECKF(r.converged, "%s %s: %s, true residual %g", q->kind, method, kcl_reason_text(r.reason),
           r.true_relative_residual);
    CHECK(r.inner_iterations > 0);
    memset(s.x, 0, (size_t)numbers(s.A) * sizeof *s.x); /* again, with the same solver */
    kcl_report again = solve_system(&s, solver);
    CHECKF(again.converged && again.iterations == r.iterations, "%s %s: %lld and %lld iterations",
           q->kind, method, (long long)r.iterations, (long long)again.iterations);
  }
  kcl_solver_free(&solver);
  system_free(&s);
}

/* On a device programs are compiled first, so there not every method meets every problem. */
static void test_methods(const place *p) {
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    for (int m = 0; m < kcl_list_size(KCL_SOLVERS); m++)
      for (int j = 0; j < 2; j++) {
        const char *method = kcl_list(KCL_SOLVERS, m).name;
        bool cg = !strcmp(method, "cg"), common = cg || !strcmp(method, "bicgstab");
        if (by_turns(p) && (j ? !cg : !common)) continue;
        test_method(p, &problems[i], method, j ? "jacobi" : "none");
      }
}

/* By name, and with the reason. */
static void test_refusals(const place *p) {
  static const char *const none[] = {"cg-single", "cg-pipelined", "cgls", "lsqr"};
  for (kcl_type t = KCL_S; t <= KCL_C; t += 2) {
    system_ s = system_of(p, "poisson2d:5", "cg");
    kcl_solver *solver = NULL;
    s.o.precision = t;
    CHECK(kcl_setup(p->ctx, s.A, &s.o, &solver) == KCL_USAGE && !solver);
    CHECKF(strstr(kcl_error(), "ends in double"), "%s", kcl_error());
    system_free(&s);
  }
  for (size_t i = 0; i < sizeof none / sizeof *none && can(p, KCL_D); i++) {
    system_ s = system_of(p, "poisson2d:5", none[i]);
    kcl_solver *solver = NULL;
    CHECK(kcl_setup(p->ctx, s.A, &s.o, &solver) == KCL_USAGE && !solver);
    CHECKF(strstr(kcl_error(), none[i]), "%s", kcl_error());
    system_free(&s);
  }
}

/* ---------------------------------------------------------------- sizes of numbers */

static void test_scales(const place *p) {
  static const double of_A[] = {1, 1e-60, 1e60, 1e-290}, of_b[] = {1, 1e-280, 1e280, 1e-310};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++) {
      system_ s = system_of(p, j ? "magnetic:6" : "poisson2d:9", "cg");
      scale(s.A->val, s.A->nnz * (j ? 2 : 1), of_A[i]);
      scale(s.b, numbers(s.A), of_b[i == 3 ? 1 : i]);
      if (i == 3) s.o.precond = "jacobi"; /* x is finite: 1e-280 / 1e-290 */
      kcl_report r = once(&s);
      CHECKF(r.converged && r.inner_iterations == r.iterations, "A %g: %s, %lld of %lld", of_A[i],
             kcl_reason_text(r.reason), (long long)r.inner_iterations, (long long)r.iterations);
      system_free(&s);
    }
  system_ s = system_of(p, "poisson2d:9", "cg"); /* beyond float's range while it falls */
  s.o.tol = 1e-15;
  kcl_report r = once(&s);
  CHECKF(r.converged || r.true_relative_residual < 1e-14, "tol 1e-15: %g",
         r.true_relative_residual);
  system_free(&s);
}

/* From an x so far from the answer that the squares of residuals are beyond float's range, until they are near 1. */
static void test_far_start(const place *p) {
  static const char *const method[] = {"cg", "bicgstab"}; /* one resumes, one starts anew */
  for (int i = 0; i < 2; i++) {
    system_ s = system_of(p, "poisson2d:9", method[i]);
    for (int64_t j = 0; j < numbers(s.A); j++) s.x[j] = 1e30 * random_number();
    kcl_report r = once(&s);
    CHECKF(r.converged && r.inner_iterations == r.iterations,
           "%s from 1e30: %s, %lld of %lld iterations in float, %s", method[i],
           kcl_reason_text(r.reason), (long long)r.inner_iterations, (long long)r.iterations,
           r.mixed_end);
    system_free(&s);
  }
}

static void test_nothing_to_do(const place *p) {
  system_ s = system_of(p, "poisson2d:9", "cg");
  kcl_solver *solver = ready(&s);
  kcl_report r;
  if (solver) {
    kcl_report first = solve_system(&s, solver);
    kcl_report from_answer = solve_system(&s, solver);
    CHECK(first.iterations > 0 && from_answer.converged && from_answer.iterations == 0);
    scale(s.b, numbers(s.A), 0);
    CHECK(kcl_solve_one(solver, s.b, s.x, &r) == KCL_OK && r.converged && r.iterations == 0);
    for (int64_t i = 0; i < numbers(s.A); i++) CHECK(s.x[i] == 0);
  }
  kcl_solver_free(&solver), system_free(&s);
}

/* ---------------------------------------------------------------- how it ends */

/* The biharmonic operator in one dimension, by a third, so that float rounds it. Its condition number, 1.7e7 for 150 elements, times
 * the unit roundoff is 1 in float and 2e-9 in double. */
static kcl_csr *beam(kcl_context *ctx, int n) {
  kcl_csr *A = NULL;
  int64_t q = 0;
  if (kcl_csr_create(ctx, n, n, 5 * (int64_t)n, KCL_D, &A)) exit(1);
  for (int i = 0; i < n; i++, A->row_ptr[i] = q)
    for (int j = i - 2; j <= i + 2; j++)
      if (j >= 0 && j < n)
        A->col[q] = j, ((double *)A->val)[q++] = (i == j ? 6 : abs(i - j) > 1 ? 1 : -4) / 3.0;
  A->nnz = q;
  return A;
}

static void test_fall_back(const place *p) {
  system_ s = system_of(p, "poisson2d:14", "cg");
  kcl_csr_free(&s.A);
  s.A = beam(p->ctx, 150), s.kind = "beam", s.o.tol = 1e-8;
  kcl_report r = once(&s);
  CHECKF(r.converged, "beam: %s, %g", kcl_reason_text(r.reason), r.true_relative_residual);
  CHECK(r.iterations > r.inner_iterations && r.inner_iterations > 0 && r.mixed_end[0]);
  system_free(&s);
}

static int stop_at_once(void *user, const kcl_progress *p) {
  int *calls = user;
  ++*calls;
  return p->iteration > 0;
}

static void test_stops(const place *p) {
  system_ s = system_of(p, "poisson2d:60", "cg");
  int calls = 0;
  s.o.max_iter = 5;
  kcl_report r = once(&s);
  CHECK(r.reason == KCL_ITERATION_LIMIT && r.iterations == 5 && !r.converged);
  s.o.max_iter = 0, s.o.progress = stop_at_once, s.o.user = &calls;
  r = once(&s);
  CHECK(r.reason == KCL_INTERRUPTED && calls == 1 && !r.converged && r.iterations > 0);
  CHECK(s.x[0] != 0); /* what was done is kept */
  s.o.progress = NULL, s.b[7] = NAN;
  kcl_solver *solver = ready(&s);
  CHECK(solver && kcl_solve_one(solver, s.b, s.x, &r) == KCL_INPUT);
  kcl_solver_free(&solver), system_free(&s);
}

/* A method that resumes keeps what it learnt. 60^2, all values floats: 207 iterations in double, 237 in float,
 * 400 with a restart at each correction. The bound stands between. */
static void test_direction(const place *p) {
  system_ s = system_of(p, "poisson2d:60", "cg");
  kcl_report mixed = once(&s), twice;
  s.o.mixed = false;
  memset(s.x, 0, (size_t)numbers(s.A) * sizeof *s.x);
  kcl_solver *solver = ready(&s);
  CHECK(solver && kcl_solve_one(solver, s.b, s.x, &twice) == KCL_OK && twice.converged &&
        !twice.mixed);
  CHECKF(mixed.converged && mixed.outer_iterations > 5 &&
             mixed.iterations <= twice.iterations * 5 / 4,
         "%lld iterations in float, %lld in double", (long long)mixed.iterations,
         (long long)twice.iterations);
  kcl_solver_free(&solver), system_free(&s);
}

/* A diagonal that is zero in float, unless it is scaled: float is not used, double answers. */
static void test_declined(const place *p) {
  static double val[] = {1, 1e-60, 1};
  static int64_t row_ptr[] = {0, 1, 2, 3};
  static int32_t col[] = {0, 1, 2};
  kcl_csr A = {3,        3, 3,    row_ptr, col, val,   KCL_D, KCL_SYMMETRIC,
               KCL_REAL, 3, NULL, 0,       0,   false, NULL};
  double b[] = {1, 1e-60, 2}, x[3] = {0};
  kcl_options o = cg_options();
  kcl_setup_info info;
  kcl_solver *solver = NULL;
  kcl_report r;
  o.mixed = true, o.format = "csr-scalar", o.precond = "jacobi", o.scale = KCL_SCALE_NONE;
  if (!CHECKF(!kcl_setup(p->ctx, &A, &o, &solver), "%s", kcl_error())) return;
  kcl_solver_info(solver, &info);
  CHECKF(strstr(info.mixed, "not used: in float, jacobi") && info.bytes_float == 0, "%s",
         info.mixed);
  CHECK(kcl_solve_one(solver, b, x, &r) == KCL_OK && r.converged && !r.mixed &&
        fabs(x[1] - 1) <= 4 * tol_u(KCL_D));
  kcl_solver_free(&solver);
}

/* With format auto bytes decide; the sentence says what was done. */
static void test_choice(const place *p) {
  static const char *const kinds[] = {"poisson2d:30", "trefethen:400", "spd:300"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    system_ s = system_of(p, kinds[i], "cg");
    kcl_setup_info info;
    kcl_report r;
    s.o.format = "auto";
    kcl_solver *solver = ready(&s);
    if (solver) {
      kcl_solver_info(solver, &info);
      bool used = info.bytes_float > 0;
      CHECKF(used == !strstr(info.mixed, "not used"), "%s: %s", kinds[i], info.mixed);
      CHECK(kcl_solve_one(solver, s.b, s.x, &r) == KCL_OK && r.mixed == used);
    }
    kcl_solver_free(&solver), system_free(&s);
  }
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    test_refusals(p);
    if (!can(p, KCL_D) || !can(p, KCL_Z)) continue;
    test_methods(p);
    test_scales(p);
    test_far_start(p);
    test_nothing_to_do(p);
    test_fall_back(p);
    test_stops(p);
    test_direction(p);
    test_choice(p);
    test_declined(p);
  }
  close_places();
  return check_report();
}
