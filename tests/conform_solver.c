/* Methods and preconditioners: every one of the registries, in every format and type, on every executor,
 * on systems with known answers. No claim is believed: the residual is recomputed here in long double.
 */
#include "tests/conform.h"

static void *values_of(const kcl_csr *A, const number *v, double scale) {
  void *out = malloc((size_t)A->rows * kcl_type_size(A->type) + 1);
  kcl_copy(A->type, out, KCL_Z, v, A->rows, scale);
  return out;
}

/* b = A x for a known x. */
static number *image(const kcl_csr *A, const number *x) {
  number *b = filled(A->rows, 0);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      double a[2];
      kcl_element(A->type, A->val, k, a);
      b[i] += CMPLX(a[0], a[1]) * x[A->col[k]];
    }
  return b;
}

/* ---------------------------------------------------------------- every combination converges */

typedef struct problem {
  const char *kind;
  const char *solver; /* NULL: every one that fits */
  bool pairs;         /* complex */
  bool formats;       /* in every format; else in the first */
} problem;

typedef struct combination {
  const place *p;
  const kcl_csr *A; /* double or complex double */
  kcl_options o;
  const char *kind;
} combination;

static const char *words(const combination *c) {
  static char text[200];
  snprintf(text, sizeof text, "%s %s %s %s, %s, type %c", c->o.solver, c->o.precond, c->o.format,
           c->kind, c->p->name, kcl_type_letter(c->o.precision));
  return text;
}

/* An answer that is called good is good, and near the known one. */
static void check_answer(const combination *c, const void *b, const void *x, const kcl_report *r,
                         double tol) {
  double doubt, res = residual(c->A, b, x, &doubt);
  CHECKF(r->converged && r->reason == KCL_CONVERGED, "%s: %s after %lld, true %g", words(c),
         kcl_reason_text(r->reason), (long long)r->iterations, r->true_relative_residual);
  CHECKF(!r->converged || res <= tol_claim(tol, doubt), "%s: claims %g, has %g", words(c), tol,
         res);
  CHECKF(fabs(res - r->true_relative_residual) <= tol_certificate(res, doubt),
         "%s: certificate says %g, it is %g", words(c), r->true_relative_residual, res);
  CHECKF(r->history_size == r->iterations + 1, "%s: history of %lld for %lld iterations", words(c),
         (long long)r->history_size, (long long)r->iterations);
}

static void solve_combination(const combination *c, const void *b) {
  kcl_solver *s = NULL;
  kcl_report r;
  int rc = kcl_setup(c->p->ctx, c->A, &c->o, &s);
  if (rc == KCL_MEMORY) {
    skip("%s: %s", words(c), kcl_error(c->p->ctx));
    return;
  }
  if (!CHECKF(!rc, "%s: %s", words(c), kcl_error(c->p->ctx))) return;
  void *x = calloc((size_t)c->A->rows, kcl_type_size(c->A->type)),
       *again = calloc((size_t)c->A->rows, kcl_type_size(c->A->type));
  kcl_report twice;
  CHECKF(kcl_solve(s, b, x, &r) == KCL_OK, "%s: %s", words(c), kcl_error(c->p->ctx));
  check_answer(c, b, x, &r, c->o.tol);
  CHECK(kcl_solve(s, b, again, &twice) ==
        KCL_OK); /* several solves with one solver; same bits unless atomics */
  if (!scatters(c->p->ctx, c->o.format) || !c->p->ctx->opencl)
    CHECKF(!memcmp(x, again, (size_t)c->A->rows * kcl_type_size(c->A->type)),
           "%s: the second solve differs", words(c));
  free(x), free(again), kcl_solver_free(&s);
}

static bool fits(const char *solver, const problem *p) {
  if (!p->solver) return true;
  return !strcmp(p->solver, solver);
}

/* Every method with every preconditioner. A method's stages depend on whether the product scatters (coo) and not on the
 * format else: other formats with cg and bicg. On a device fewer of both: stages come from the recorder, the same on
 * every executor, and conform_spmv has the products. */
static bool is_met(const combination *c, const problem *p, int m, int q, int f) {
  kcl_type t = c->o.precision;
  bool coo = !strcmp(c->o.format, "coo"), pair = !m || !strcmp(c->o.solver, "bicg");
  if (!f && (p->pairs || !(q || quick(c->p)))) return half_of(c->p, t, m + q);
  if (!f) return !by_turns(c->p) || turn_of(t, m + q);
  if (!p->formats || q) return false;
  if (coo) return turn_of(t, 1) && (!quick(c->p) || m % 4 == 0);
  if (small()) /* the kernel that stays has texts of its own, but for images */
    return pair && setting("KRYLOCL_PERSISTENT") && !strstr(c->o.format, "image");
  if (!(pair || thorough() > 1)) return false;
  return turn_of(t, f + m) && (!by_turns(c->p) || (f + m) % (quick(c->p) ? 6 : 3) == 0);
}

static void every_option(combination *c, const problem *p, const void *b) {
  for (int m = 0; m < kcl_list_size(KCL_SOLVERS); m++)
    for (int q = 0; q < kcl_list_size(KCL_PRECONDS); q++)
      for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
        c->o.solver = kcl_list(KCL_SOLVERS, m).name, c->o.precond = kcl_list(KCL_PRECONDS, q).name;
        c->o.format = kcl_list(KCL_FORMATS, f).name;
        if (fits(c->o.solver, p) && is_met(c, p, m, q, f)) solve_combination(c, b);
      }
}

static void test_problem(const place *p, const problem *q) {
  kcl_csr *A = NULL;
  if (!CHECKF(kcl_generate(p->ctx, q->kind, &A, NULL) == KCL_OK, "%s", kcl_error(p->ctx))) return;
  number *x = random_vector(A->type, A->rows), *bv = image(A, x);
  void *b = values_of(A, bv, 1);
  combination c = {.p = p, .A = A, .o = kcl_defaults, .kind = q->kind};
  c.o.restart = 4; /* stages, and so the time to compile them, grow with it */
  for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
    if (!kcl_type_complex(t) && q->pairs) continue;
    if (small() && t == KCL_C && !q->pairs) continue;
    c.o.precision = t, c.o.tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-8;
    if (can(p, t)) every_option(&c, q, b);
  }
  free(x), free(bv), free(b), kcl_csr_free(&A);
}

static const problem problems[] = {{"poisson2d:10", NULL, false, true},
                                   {"convection:12", "bicg", false, false},
                                   {"trefethen:150", "cg", false, false},
                                   {"magnetic:9", "cg", true, false},
                                   {"helmholtz:12", "bicg", true, true}};
static const problem small_problems[] = {{"poisson2d:4", "cg", false, true},
                                         {"helmholtz:3", "bicg", true, true}};

/* ---------------------------------------------------------------- small dense systems by hand */

/* A dense n x n matrix, zeros left out. */
static kcl_csr *dense(kcl *ctx, int n, const double *a) {
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

typedef struct hand {
  const char *what, *solver;
  double a[9], b[3], x0[3];
  int n, max_iter;
  double tol;
  kcl_type precision;
  kcl_reason reason;
  int iterations; /* expected; -1: any */
} hand;

static void solve_by_hand(const place *p, const hand *h) {
  kcl_csr *A = dense(p->ctx, h->n, h->a);
  kcl_solver *s = NULL;
  kcl_report r = {.iterations = -2};
  double x[3];
  kcl_options o = kcl_defaults;
  o.solver = h->solver, o.precision = h->precision, o.max_iter = h->max_iter, o.tol = h->tol;
  o.format = "csr-scalar";
  A->symmetry = !strcmp(h->solver, "cg") ? KCL_SYMMETRIC : KCL_GENERAL;
  memcpy(x, h->x0, sizeof x);
  if (can(p, h->precision) &&
      CHECKF(!kcl_setup(p->ctx, A, &o, &s), "%s: %s", h->what, kcl_error(p->ctx)) &&
      CHECKF(!kcl_solve(s, h->b, x, &r), "%s: %s", h->what, kcl_error(p->ctx))) {
    CHECKF(r.reason == h->reason && r.converged == (h->reason == KCL_CONVERGED),
           "%s, %s: %s after %lld", h->what, p->name, kcl_reason_text(r.reason),
           (long long)r.iterations);
    CHECKF(h->iterations < 0 || r.iterations == h->iterations, "%s, %s: %lld iterations, not %d",
           h->what, p->name, (long long)r.iterations, h->iterations);
    double doubt, res = residual(A, h->b, x, &doubt);
    if (r.converged) CHECKF(res <= tol_claim(h->tol, doubt), "%s: true residual %g", h->what, res);
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
}

static void test_by_hand(const place *p) {
  const double nan = NAN, inf = INFINITY;
  const hand all[] = {
      {"identity",
       "cg",
       {1, 0, 0, 0, 1, 0, 0, 0, 1},
       {1, 2, 3},
       {0},
       3,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       1},
      {"two eigenvalues",
       "cg",
       {2, 0, 0, 0, 5, 0, 0, 0, 5},
       {1, 2, 3},
       {0},
       3,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       2},
      {"exact guess", "cg", {2, 1, 1, 2}, {3, 3}, {1, 1}, 2, 0, 1e-8, KCL_D, KCL_CONVERGED, 0},
      {"exact guess, bicg",
       "bicg",
       {2, 1, 0, 2},
       {3, 2},
       {1, 1},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       0},
      {"zero right-hand side",
       "cg",
       {2, 1, 1, 2},
       {0, 0},
       {5, 7},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       0},
      {"zero right-hand side, NaN guess",
       "cg",
       {2, 1, 1, 2},
       {0, 0},
       {nan, 7},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       0},
      {"negative definite",
       "cg",
       {-2, 0, 0, -3},
       {1, 1},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_INDEFINITE,
       -1},
      {"indefinite", "cg", {1, 0, 0, -1}, {1, 1}, {0}, 2, 0, 1e-8, KCL_D, KCL_INDEFINITE, -1},
      {"indefinite, one reduction",
       "cg-single",
       {1, 0, 0, -1},
       {1, 1},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_INDEFINITE,
       -1},
      {"indefinite later, pipelined",
       "cg-pipelined",
       {4, 0, 0, 0, 1, 0, 0, 0, -1},
       {1, 1, 1},
       {0},
       3,
       0,
       1e-8,
       KCL_D,
       KCL_INDEFINITE,
       -1},
      {"indefinite later",
       "cg",
       {4, 0, 0, 0, 1, 0, 0, 0, -1},
       {1, 1, 1},
       {0},
       3,
       0,
       1e-8,
       KCL_D,
       KCL_INDEFINITE,
       -1},
      {"singular", "cg", {1, 0, 0, 0}, {0, 1}, {0}, 2, 0, 1e-8, KCL_D, KCL_INDEFINITE, 0},
      {"limit",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1, 2, 3},
       {0},
       3,
       1,
       1e-8,
       KCL_D,
       KCL_ITERATION_LIMIT,
       1},
      {"limit met in time", "cg", {2, 0, 0, 5}, {1, 2}, {0}, 2, 2, 1e-8, KCL_D, KCL_CONVERGED, 2},
      {"rotation: sigma",
       "bicg",
       {0, 1, -1, 0},
       {1, 0},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_BREAKDOWN_SIGMA,
       0},
      /* r* = r = e1, so r1 = -a21/a11 e2 and r1* = -a12/a11 e2 = 0 */
      {"triangular: rho",
       "bicg",
       {1, 0, 1, 1},
       {1, 0},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_BREAKDOWN_RHO,
       1},
      /* the same with |r1| = |r0| / 2: a new shadow is tried, and has the answer in a step */
      {"triangular: a new shadow",
       "bicg",
       {2, 0, 1, 1},
       {1, 0},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       2},
      {"NaN in the matrix",
       "bicg",
       {nan, 1, 1, 2},
       {1, 1},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_NOT_FINITE,
       -1},
      {"NaN in the matrix, cg",
       "cg",
       {nan, 1, 1, 2},
       {1, 1},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_NOT_FINITE,
       -1},
      {"infinity in the matrix",
       "bicg",
       {inf, 1, 1, 2},
       {1, 1},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_NOT_FINITE,
       -1},
      {"NaN as guess", "cg", {2, 1, 1, 2}, {1, 1}, {nan, 0}, 2, 0, 1e-8, KCL_D, KCL_NOT_FINITE, 0},
      {"single asked for 1e-12",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1, 2, 3},
       {0},
       3,
       0,
       1e-12,
       KCL_S,
       KCL_STAGNATED,
       -1},
      {"tiny",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1e-200, 2e-200, 3e-200},
       {0},
       3,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       3},
      {"tiny, single",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1e-200, 2e-200, 3e-200},
       {0},
       3,
       0,
       1e-5,
       KCL_S,
       KCL_CONVERGED,
       3},
      {"subnormal",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1e-309, 2e-309, 3e-309},
       {0},
       3,
       0,
       1e-3,
       KCL_D,
       KCL_CONVERGED,
       -1},
      {"small, single",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {5e-10, 1e-10, 2e-10},
       {0},
       3,
       0,
       1e-5,
       KCL_S,
       KCL_CONVERGED,
       3},
      {"huge",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1e300, 2e300, 3e300},
       {0},
       3,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       3},
      {"huge, single",
       "cg",
       {4, 1, 0, 1, 3, 1, 0, 1, 2},
       {1e300, 2e300, 3e300},
       {0},
       3,
       0,
       1e-5,
       KCL_S,
       KCL_CONVERGED,
       3},
      {"tiny matrix",
       "cg",
       {4e-100, 1e-100, 1e-100, 3e-100},
       {1, 2},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       2},
      {"tiny matrix, bicg",
       "bicg",
       {4e-120, 1e-120, 2e-120, 3e-120},
       {1, 2},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       2},
      {"tiny matrix in single, bicg",
       "bicg",
       {4e-22, 1e-22, 2e-22, 3e-22},
       {1, 2},
       {0},
       2,
       0,
       1e-4,
       KCL_S,
       KCL_CONVERGED,
       -1},
      {"huge matrix",
       "cg",
       {4e100, 1e100, 1e100, 3e100},
       {1, 2},
       {0},
       2,
       0,
       1e-8,
       KCL_D,
       KCL_CONVERGED,
       2},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) solve_by_hand(p, &all[i]);
}

/* ---------------------------------------------------------------- CG and the spectrum */

/* Householder-like A = D + shift-free similarity is not needed: a diagonal matrix has its eigenvalues
 * at hand. With k distinct ones CG ends after k steps (Saad 2003, 6.11.1), two more for rounding. */
static void test_spectrum(const place *p, int distinct, kcl_type t) {
  enum { N = 240 };
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  o.precision = t, o.tol = 1e-5;
  if (!can(p, t) || kcl_csr_create(p->ctx, N, N, N, KCL_Z, &A)) return;
  for (int i = 0; i < N; i++) {
    A->row_ptr[i + 1] = i + 1, A->col[i] = i;
    ((number *)A->val)[i] = 1 + i % distinct * 0.5;
  }
  number *b = random_vector(KCL_Z, N), *x = filled(N, 0);
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve(s, b, x, &r), "%s", kcl_error(p->ctx))) {
    double top = 1 + 0.5 * (distinct - 1);
    CHECKF(r.converged && r.iterations <= distinct + 2,
           "%d distinct eigenvalues, %s, type %c: %s after %lld", distinct, p->name,
           kcl_type_letter(t), kcl_reason_text(r.reason), (long long)r.iterations);
    CHECKF(fabs(r.ritz_max - top) < 0.02 * top && fabs(r.ritz_min - 1) < 0.05,
           "Ritz values %g to %g of 1 to %g", r.ritz_min, r.ritz_max, top);
  }
  free(b), free(x), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- refusals and interruptions */

static void refused(kcl *ctx, const kcl_csr *A, const char *solver, const char *precond, int status,
                    const char *word) {
  kcl_solver *s = NULL;
  kcl_options o = kcl_defaults;
  o.solver = solver, o.precond = precond;
  int rc = kcl_setup(ctx, A, &o, &s);
  CHECKF(rc == status && !s && strstr(kcl_error(ctx), word),
         "%s %s: status %d, not %d with '%s': %s", solver, precond, rc, status, word,
         kcl_error(ctx));
  kcl_solver_free(&s);
}

static void test_refusals(const place *p) {
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
    kcl_options o = kcl_defaults;
    kcl_solver *s = NULL;
    o.solver = "bicg", o.precision = KCL_D;
    CHECK(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(p->ctx), "complex"));
    kcl_solver_free(&s);
  }
  kcl_csr_free(&A);
}

/* Cycles as long as the method would have them, and so long that stages are full and cut. */
static void test_restart(const place *p) {
  kcl_csr *A = NULL;
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  bool all = !by_turns(p);
  o.solver = "gmres", o.precond = "jacobi", o.tol = 1e-8, o.format = "csr-scalar";
  if (!CHECK(!kcl_generate(p->ctx, "convection:12", &A, NULL))) return;
  number *x = random_vector(A->type, A->rows), *bv = image(A, x);
  void *b = values_of(A, bv, 1);
  combination c = {.p = p, .A = A, .o = o, .kind = "convection:12"};
  for (int i = 0; all && can(p, KCL_D) && i < 2; i++)
    c.o.restart = i ? 40 : 0, solve_combination(&c, b);
  for (int i = 0; i < 2; i++) {
    o.restart = i ? 51 : -1;
    CHECKF(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(p->ctx), "1 to 50"),
           "restart %d: %s", o.restart, kcl_error(p->ctx));
    kcl_solver_free(&s);
  }
  free(x), free(bv), free(b), kcl_csr_free(&A);
}

/* Asked for more than its numbers can tell, no variant of CG takes rounding for an indefinite matrix, and x is as good
 * as can be had. */
static void test_attainable(const place *p, const char *solver, kcl_type t) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  const double unit = t == KCL_S || t == KCL_C ? 6e-8 : 1.1e-16;
  o.solver = solver, o.precision = t, o.tol = 1e-30;
  if (!can(p, t)) return;
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:8", &A, NULL))) return;
  number *x = random_vector(A->type, A->rows), *bv = image(A, x);
  void *b = values_of(A, bv, 1);
  memset(x, 0, (size_t)A->rows * sizeof *x);
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve(s, b, x, &r), "%s", kcl_error(p->ctx)))
    CHECKF(r.reason != KCL_INDEFINITE && r.true_relative_residual < 100 * unit,
           "%s, %s, type %c: %s, residual %g", solver, p->name, kcl_type_letter(t),
           kcl_reason_text(r.reason), r.true_relative_residual);
  free(x), free(bv), free(b), kcl_solver_free(&s), kcl_csr_free(&A);
}

static int stop_at(void *user, const kcl_progress *p) {
  CHECK(p->target > 0 && p->max_iter > 0 && p->relative_residual >= 0);
  return p->iteration >= *(int64_t *)user;
}

enum {
  SEQUENCE_ROWS = 10000
}; /* of poisson2d:100, which takes 280 iterations: a GPU is not looked at before 96 */

static int refuse_infinite(kcl_solver *s, kcl *ctx) {
  static double b[SEQUENCE_ROWS], x[SEQUENCE_ROWS];
  kcl_report r;
  b[7] = INFINITY;
  int rc = kcl_solve(s, b, x, &r);
  CHECKF(rc == KCL_INPUT && strstr(kcl_error(ctx), "finite"), "infinite b: status %d", rc);
  b[7] = NAN;
  rc = kcl_solve(s, b, x, &r);
  return CHECKF(rc == KCL_INPUT, "b with NaN: status %d", rc);
}

/* Interrupted, then a right-hand side that is not finite, then a guess that is not: and the same solver works on. */
static void test_sequence(const place *p) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  int64_t when = 8;
  kcl_options o = kcl_defaults;
  static double b[SEQUENCE_ROWS], x[SEQUENCE_ROWS];
  memset(x, 0, sizeof x);
  o.progress = stop_at, o.user = &when, o.format = "csr-scalar";
  for (int i = 0; i < SEQUENCE_ROWS; i++) b[i] = random_number();
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:100", &A, NULL) && !kcl_setup(p->ctx, A, &o, &s)))
    return;
  CHECK(!kcl_solve(s, b, x, &r) && r.reason == KCL_INTERRUPTED && !r.converged);
  CHECKF(r.iterations >= when && r.iterations < 250 && r.true_relative_residual < 1e3,
         "interrupted after %lld, residual %g", (long long)r.iterations, r.true_relative_residual);
  double doubt, res = residual(A, b, x, &doubt);
  CHECKF(fabs(res - r.true_relative_residual) <= tol_certificate(res, doubt),
         "x of the interrupted solve is what was certified");
  when = INT64_MAX;
  refuse_infinite(s, p->ctx);
  x[3] = NAN;
  CHECK(!kcl_solve(s, b, x, &r) && r.reason == KCL_NOT_FINITE && !r.converged);
  for (int i = 0; i < SEQUENCE_ROWS; i++) x[i] = i % 7;
  CHECKF(!kcl_solve(s, b, x, &r) && r.converged, "after NaN, %s: %s", p->name,
         kcl_reason_text(r.reason));
  CHECK((res = residual(A, b, x, &doubt)) <= tol_claim(1e-8, doubt));
  int64_t first = r.iterations;
  CHECKF(!kcl_solve(s, b, x, &r) && r.converged && r.iterations == 0,
         "from its own answer: %lld after %lld", (long long)r.iterations, (long long)first);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    if (!small()) {
      test_by_hand(p), test_refusals(p), test_sequence(p), test_restart(p);
      test_spectrum(p, 5, KCL_C), test_spectrum(p, 11, KCL_Z);
      for (int t = KCL_S; t <= KCL_Z; t++)
        test_attainable(p, "cg", t), test_attainable(p, "cg-single", t),
            test_attainable(p, "cg-pipelined", t);
    }
    for (size_t q = 0; q < (small() ? 2 : sizeof problems / sizeof *problems); q++)
      test_problem(p, small() ? &small_problems[q] : &problems[q]);
  }
  close_places();
  return check_report();
}
