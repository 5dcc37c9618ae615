/* Why solves end, on every executor: systems of two or three unknowns solved by hand, the reason and the number of
 * iterations known; what set-up refuses; a solver that is interrupted, refuses infinities, and works on.
 */
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

/* A dense n x n matrix, zeros left out. */
static kcl_csr *dense(kcl_context *ctx, int n, const double *a) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, n, n, n * n, KCL_D, &A)) exit(1);
  int64_t k = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      if (a[i * n + j] != 0) A->col[k] = j, ((double *)A->val)[k++] = a[i * n + j];
    A->row_ptr[i + 1] = k;
  }
  A->nnz = k;
  return A;
}

/* ---------------------------------------------------------------- by hand */

enum { ANY = -1 };
typedef struct hand {
  const char *what, *solver;
  int n;
  double a[9], b[3]; /* [n, n] [n] */
  kcl_reason reason;
  int steps; /* expected iterations, or ANY */
  double x0[3];
  int max_iter; /* 0: the default */
  double tol;   /* 0: 1e-8 */
} hand;

static void check_hand(const place *p, const hand *h, const kcl_csr *A, const double *x,
                       const kcl_report *r, double tol) {
  CHECKF(r->reason == h->reason && r->converged == (h->reason == KCL_CONVERGED),
         "%s, %s, %s: %s after %lld", h->what, h->solver, p->name, kcl_reason_text(r->reason),
         (long long)r->iterations);
  CHECKF(h->steps == ANY || r->iterations == h->steps, "%s, %s, %s: %lld iterations, not %d",
         h->what, h->solver, p->name, (long long)r->iterations, h->steps);
  double doubt, res = residual(A, h->b, x, &doubt);
  if (r->converged) CHECKF(res <= tol_claim(tol, doubt), "%s: true residual %g", h->what, res);
  for (int i = 0; i < h->n; i++)
    CHECKF(isfinite(x[i]), "%s, %s, %s: x[%d] = %g", h->what, h->solver, p->name, i, x[i]);
}

static void solve_by_hand(const place *p, const hand *h, kcl_type precision) {
  if (!wanted_solver(h->solver) || !can(p, precision)) return;
  kcl_csr *A = dense(p->ctx, h->n, h->a);
  kcl_solver *s = NULL;
  kcl_report r = {.iterations = -2};
  double x[3];
  kcl_options o = cg_options();
  o.solver = h->solver, o.precision = precision, o.max_iter = h->max_iter;
  o.tol = h->tol > 0 ? h->tol : 1e-8, o.format = "csr-scalar";
  A->symmetry = !strcmp(h->solver, "cg") ? KCL_SYMMETRIC : KCL_GENERAL;
  memcpy(x, h->x0, sizeof x);
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s), "%s: %s", h->what, kcl_error()) &&
      CHECKF(!kcl_solve_one(s, h->b, x, &r), "%s: %s", h->what, kcl_error()))
    check_hand(p, h, A, x, &r, o.tol);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

#define SPD                                                                                        \
  { 4, 1, 0, 1, 3, 1, 0, 1, 2 }
#define INDEFINITE                                                                                 \
  { 4, 0, 0, 0, 1, 0, 0, 0, -1 } /* seen after the first step */

static const hand answers[] = {
    {"identity", "cg", 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 2, 3}, KCL_CONVERGED, .steps = 1},
    {"two eigenvalues", "cg", 3, {2, 0, 0, 0, 5, 0, 0, 0, 5}, {1, 2, 3}, KCL_CONVERGED, .steps = 2},
    {"exact guess", "cg", 2, {2, 1, 1, 2}, {3, 3}, KCL_CONVERGED, .steps = 0, .x0 = {1, 1}},
    {"exact guess", "bicg", 2, {2, 1, 0, 2}, {3, 2}, KCL_CONVERGED, .steps = 0, .x0 = {1, 1}},
    {"b = 0", "cg", 2, {2, 1, 1, 2}, {0, 0}, KCL_CONVERGED, .steps = 0, .x0 = {5, 7}},
    {"b = 0, NaN guess", "cg", 2, {2, 1, 1, 2}, {0, 0}, KCL_CONVERGED, .steps = 0, .x0 = {NAN, 7}},
    {"limit", "cg", 3, SPD, {1, 2, 3}, KCL_ITERATION_LIMIT, .steps = 1, .max_iter = 1},
    {"limit met in time", "cg", 2, {2, 0, 0, 5}, {1, 2}, KCL_CONVERGED, .steps = 2, .max_iter = 2}};

static const hand indefinite[] = {
    {"negative definite", "cg", 2, {-2, 0, 0, -3}, {1, 1}, KCL_INDEFINITE, .steps = ANY},
    {"indefinite", "cg", 2, {1, 0, 0, -1}, {1, 1}, KCL_INDEFINITE, .steps = ANY},
    {"indefinite", "cg-single", 2, {1, 0, 0, -1}, {1, 1}, KCL_INDEFINITE, .steps = ANY},
    {"indefinite later", "cg", 3, INDEFINITE, {1, 1, 1}, KCL_INDEFINITE, .steps = ANY},
    {"indefinite later", "cg-pipelined", 3, INDEFINITE, {1, 1, 1}, KCL_INDEFINITE, .steps = ANY},
    {"singular", "cg", 2, {1, 0, 0, 0}, {0, 1}, KCL_INDEFINITE, .steps = 0}};

static const hand breakdowns[] = {
    {"rotation: sigma", "bicg", 2, {0, 1, -1, 0}, {1, 0}, KCL_BREAKDOWN_SIGMA, .steps = 0},
    /* r* = r = e1, so r1 = -a21/a11 e2 and r1* = -a12/a11 e2 = 0 */
    {"triangular: rho", "bicg", 2, {1, 0, 1, 1}, {1, 0}, KCL_BREAKDOWN_RHO, .steps = 1},
    /* the same with |r1| = |r0| / 2: a new shadow residual is tried, and has the answer in a step */
    {"triangular: a new shadow", "bicg", 2, {2, 0, 1, 1}, {1, 0}, KCL_CONVERGED, .steps = 2},
    {"NaN guess", "cg", 2, {2, 1, 1, 2}, {1, 1}, KCL_NOT_FINITE, .steps = 0, .x0 = {NAN, 0}}};

static const hand scales[] = {
    {"tiny", "cg", 3, SPD, {1e-200, 2e-200, 3e-200}, KCL_CONVERGED, .steps = 3},
    {"subnormal", "cg", 3, SPD, {1e-309, 2e-309, 3e-309}, KCL_CONVERGED, .steps = ANY, .tol = 1e-3},
    {"huge", "cg", 3, SPD, {1e300, 2e300, 3e300}, KCL_CONVERGED, .steps = 3},
    {"tiny A", "cg", 2, {4e-100, 1e-100, 1e-100, 3e-100}, {1, 2}, KCL_CONVERGED, .steps = 2},
    {"tiny A", "bicg", 2, {4e-120, 1e-120, 2e-120, 3e-120}, {1, 2}, KCL_CONVERGED, .steps = 2},
    {"huge A", "cg", 2, {4e100, 1e100, 1e100, 3e100}, {1, 2}, KCL_CONVERGED, .steps = 2},
    {"x beyond the range", "cg", 1, {1e-200}, {1e200}, KCL_NOT_FINITE, .steps = ANY},
    {"an element beyond the range",
     "bicg",
     2,
     {1, 0, 0, 1e-200},
     {1, 1e200},
     KCL_NOT_FINITE,
     .steps = ANY}};

static const hand in_single[] = {
    {"asked for too much", "cg", 3, SPD, {1, 2, 3}, KCL_STAGNATED, .steps = ANY, .tol = 1e-12},
    {"tiny", "cg", 3, SPD, {1e-200, 2e-200, 3e-200}, KCL_CONVERGED, .steps = 3, .tol = 1e-5},
    {"small", "cg", 3, SPD, {5e-10, 1e-10, 2e-10}, KCL_CONVERGED, .steps = 3, .tol = 1e-5},
    {"huge", "cg", 3, SPD, {1e300, 2e300, 3e300}, KCL_CONVERGED, .steps = 3, .tol = 1e-5},
    {"tiny A",
     "bicg",
     2,
     {4e-22, 1e-22, 2e-22, 3e-22},
     {1, 2},
     KCL_CONVERGED,
     .steps = ANY,
     .tol = 1e-4}};

static void test_table(const place *p, const hand *table, size_t bytes, kcl_type precision) {
  for (size_t i = 0; i < bytes / sizeof *table; i++) solve_by_hand(p, &table[i], precision);
}

static void test_by_hand(const place *p) {
  test_table(p, answers, sizeof answers, KCL_D);
  test_table(p, indefinite, sizeof indefinite, KCL_D);
  test_table(p, breakdowns, sizeof breakdowns, KCL_D);
  test_table(p, scales, sizeof scales, KCL_D);
  test_table(p, in_single, sizeof in_single, KCL_S);
}

/* ---------------------------------------------------------------- what set-up refuses */

static void refused(kcl_context *ctx, const kcl_csr *A, const char *solver, const char *precond,
                    int status, const char *word) {
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  o.solver = solver, o.precond = precond;
  int rc = kcl_setup(ctx, A, &o, &s);
  CHECKF(rc == status && !s && strstr(kcl_error(), word), "%s %s: status %d, not %d with '%s': %s",
         solver, precond, rc, status, word, kcl_error());
  kcl_solver_free(&s);
}

static void test_refusals(const place *p) {
  if (!wanted_solver("cg") || !wanted_solver("bicg")) return;
  const double general[] = {1, 2, 3, 4}, hollow[] = {0, 1, 1, 0};
  kcl_csr *A = dense(p->ctx, 2, general), *H = dense(p->ctx, 2, hollow);
  refused(p->ctx, A, "cg", "none", KCL_USAGE, "bicg");
  refused(p->ctx, A, "cgg", "none", KCL_USAGE, "did you mean cg");
  refused(p->ctx, A, "bicg", "jacoby", KCL_USAGE, "jacobi");
  refused(p->ctx, H, "bicg", "jacobi", KCL_USAGE, "diagonal");
  A->cols = 3;
  refused(p->ctx, A, "bicg", "none", KCL_INPUT, "square");
  A->cols = 2;
  kcl_csr_free(&A), kcl_csr_free(&H);
  if (CHECK(!kcl_generate(p->ctx, "helmholtz:3", &A, NULL))) {
    refused(p->ctx, A, "cg", "none", KCL_USAGE, "Hermitian");
    kcl_options o = cg_options();
    kcl_solver *s = NULL;
    o.solver = "bicg", o.precision = KCL_D;
    CHECK(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(), "complex"));
    kcl_solver_free(&s);
  }
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- one solver, several solves */

static int stop_at(void *user, const kcl_progress *p) {
  CHECK(p->target > 0 && p->max_iter > 0 && p->relative_residual >= 0);
  return p->iteration >= *(int64_t *)user;
}

/* Rows of poisson2d:100, which takes 280 iterations: a GPU is not polled before 96. */
enum { SEQUENCE_ROWS = 10000 };

static int refuse_infinite(kcl_solver *s) {
  static double b[SEQUENCE_ROWS], x[SEQUENCE_ROWS];
  kcl_report r;
  b[7] = INFINITY;
  int rc = kcl_solve_one(s, b, x, &r);
  CHECKF(rc == KCL_INPUT && strstr(kcl_error(), "finite"), "infinite b: status %d", rc);
  b[7] = NAN;
  rc = kcl_solve_one(s, b, x, &r);
  return CHECKF(rc == KCL_INPUT, "b with NaN: status %d", rc);
}

/* Interrupted, then a right-hand side that is not finite, then a guess that is not: and the same solver works on. */
static void test_sequence(const place *p) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  int64_t when = 8;
  kcl_options o = cg_options();
  static double b[SEQUENCE_ROWS], x[SEQUENCE_ROWS];
  if (!wanted_solver("cg") || !can(p, KCL_D)) return;
  memset(x, 0, sizeof x);
  o.progress = stop_at, o.user = &when, o.format = "csr-scalar";
  for (int i = 0; i < SEQUENCE_ROWS; i++) b[i] = random_number();
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:100", &A, NULL) && !kcl_setup(p->ctx, A, &o, &s)))
    return;
  CHECK(!kcl_solve_one(s, b, x, &r) && r.reason == KCL_INTERRUPTED && !r.converged);
  CHECKF(r.iterations >= when && r.iterations < 250 && r.true_relative_residual < 1e3,
         "interrupted after %lld, residual %g", (long long)r.iterations, r.true_relative_residual);
  double doubt, res = residual(A, b, x, &doubt);
  CHECKF(fabs(res - r.true_relative_residual) <= tol_certificate(res, doubt),
         "x of the interrupted solve is what was certified");
  when = INT64_MAX;
  refuse_infinite(s);
  x[3] = NAN;
  CHECK(!kcl_solve_one(s, b, x, &r) && r.reason == KCL_NOT_FINITE && !r.converged);
  for (int i = 0; i < SEQUENCE_ROWS; i++) x[i] = i % 7;
  CHECKF(!kcl_solve_one(s, b, x, &r) && r.converged, "after NaN, %s: %s", p->name,
         kcl_reason_text(r.reason));
  CHECK((res = residual(A, b, x, &doubt)) <= tol_claim(1e-8, doubt));
  int64_t first = r.iterations;
  CHECKF(!kcl_solve_one(s, b, x, &r) && r.converged && r.iterations == 0,
         "from its own answer: %lld after %lld", (long long)r.iterations, (long long)first);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++)
    test_by_hand(&places[i]), test_refusals(&places[i]), test_sequence(&places[i]);
  close_places();
  return check_report();
}
