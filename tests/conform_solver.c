/* Methods and preconditioners: every one of the registries, in every format and type, on every executor,
 * on systems with known answers. No claim is believed: the residual is recomputed here in long double.
 */
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"
#include "tests/suits.h"

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
  if (rc == KCL_REFUSED) {
    skip("%s is refused for %s", c->o.format, c->kind);
    return;
  }
  if (!CHECKF(!rc, "%s: %s", words(c), kcl_error())) return;
  void *x = calloc((size_t)c->A->rows, kcl_type_size(c->A->type)),
       *again = calloc((size_t)c->A->rows, kcl_type_size(c->A->type));
  kcl_report twice;
  CHECKF(kcl_solve_one(s, b, x, &r) == KCL_OK, "%s: %s", words(c), kcl_error());
  check_answer(c, b, x, &r, c->o.tol);
  CHECK(kcl_solve_one(s, b, again, &twice) ==
        KCL_OK); /* several solves with one solver; same bits unless atomics */
  if (!scatters(c->p->ctx, c->o.format) || !c->p->ctx->opencl)
    CHECKF(!memcmp(x, again, (size_t)c->A->rows * kcl_type_size(c->A->type)),
           "%s: the second solve differs", words(c));
  free(x), free(again), kcl_solver_free(&s);
}

static bool fits(const char *solver, const problem *p) {
  return wanted_solver(solver) && (!p->solver || !strcmp(p->solver, solver));
}

/* Every method with every preconditioner; on a device all methods with every third of them, and the methods of further
 * systems with all. A method's stages depend on whether the product scatters (coo) and not on the format else: other formats
 * with cg and bicg. On a device fewer of both: stages come from the recorder, the same on every executor, and conform_spmv has
 * the products. */
static bool is_met(const combination *c, const problem *p, int m, int q, int f) {
  kcl_type t = c->o.precision;
  const int mode = setting("KRYLOCL_PERSISTENT");
  if (quick(c->p) && q > 1 && (m + q) % 6) return false; /* conform_precond has their products */
  if (quick(c->p) && q == 1 && !p->solver && m % 3) return false;
  if (by_turns(c->p) && !p->solver && q > 1 && (m + q) % 3) return false; /* of all types some */
  bool coo = !strcmp(c->o.format, "coo"), pair = !m || !strcmp(c->o.solver, "bicg");
  if (!f && (p->pairs || !q) && !quick(c->p)) return half_of(c->p, t, m + q);
  if (!f) return !by_turns(c->p) || turn_of(t, m + q);
  if (!p->formats || q) return false;
  if (coo) return turn_of(t, 1) && (!quick(c->p) || m % 4 == 0);
  if (small()) /* the persistent kernel has a source of its own, but for images: in each mode by cg or by bicg */
    return pair && mode && (f + !m + mode) % 2 && !strstr(c->o.format, "image");
  if (!(pair || thorough() > 1)) return false;
  return turn_of(t, f + m) && (!by_turns(c->p) || (f + m) % (quick(c->p) ? 6 : 3) == 0);
}

static void every_option(combination *c, const problem *p, const void *b) {
  for (int m = 0; m < kcl_list_size(KCL_SOLVERS); m++)
    for (int q = 0; q < kcl_list_size(KCL_PRECONDS); q++)
      for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
        c->o.solver = kcl_list(KCL_SOLVERS, m).name, c->o.precond = kcl_list(KCL_PRECONDS, q).name;
        c->o.format = kcl_list(KCL_FORMATS, f).name;
        if (fits(c->o.solver, p) && is_met(c, p, m, q, f) && precond_taken(c->p->ctx, c->A, &c->o))
          solve_combination(c, b);
      }
}

static void test_problem(const place *p, const problem *q) {
  kcl_csr *A = NULL;
  if (!CHECKF(kcl_generate(p->ctx, q->kind, &A, NULL) == KCL_OK, "%s", kcl_error())) return;
  number *x = random_vector(A->type, A->rows), *bv = image(A, x);
  void *b = values_of(A, bv, 1);
  combination c = {.p = p, .A = A, .o = cg_options(), .kind = q->kind};
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
                                         {"helmholtz:3", "bicg", true, true},
                                         {"poisson2d:4", NULL, false, false}};
/* How many problems; the last small one, which has all methods, only where methods are named. */
static size_t count_problems(void) {
  const size_t few_problems = sizeof small_problems / sizeof *small_problems;
  if (!small()) return sizeof problems / sizeof *problems;
  return getenv("KRYLOCL_SOLVERS") ? few_problems : few_problems - 1;
}

/* ---------------------------------------------------------------- CG and the spectrum */

/* Householder-like A = D + shift-free similarity is not needed: a diagonal matrix has its eigenvalues
 * at hand. With k distinct ones CG ends after k steps (Saad 2003, 6.11.1), two more for rounding. */
static void test_spectrum(const place *p, int distinct, kcl_type t) {
  enum { N = 240 };
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.precision = t, o.tol = 1e-5;
  if (!wanted_solver("cg") || !can(p, t) || kcl_csr_create(p->ctx, N, N, N, KCL_Z, &A)) return;
  for (int i = 0; i < N; i++) {
    A->row_ptr[i + 1] = i + 1, A->col[i] = i;
    ((number *)A->val)[i] = 1 + i % distinct * 0.5;
  }
  number *b = random_vector(KCL_Z, N), *x = filled(N, 0);
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s", kcl_error())) {
    double top = 1 + 0.5 * (distinct - 1);
    CHECKF(r.converged && r.iterations <= distinct + 2,
           "%d distinct eigenvalues, %s, type %c: %s after %lld", distinct, p->name,
           kcl_type_letter(t), kcl_reason_text(r.reason), (long long)r.iterations);
    CHECKF(fabs(r.ritz_max - top) < 0.02 * top && fabs(r.ritz_min - 1) < 0.05,
           "Ritz values %g to %g of 1 to %g", r.ritz_min, r.ritz_max, top);
  }
  free(b), free(x), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Cycles as long as the method would have them, and so long that stages are full and cut. */
static void test_restart(const place *p) {
  kcl_csr *A = NULL;
  kcl_options o = cg_options();
  kcl_solver *s = NULL;
  bool all = !by_turns(p);
  o.solver = "gmres", o.precond = "jacobi", o.tol = 1e-8, o.format = "csr-scalar";
  if (!wanted_solver("gmres")) return;
  if (!CHECK(!kcl_generate(p->ctx, "convection:12", &A, NULL))) return;
  number *x = random_vector(A->type, A->rows), *bv = image(A, x);
  void *b = values_of(A, bv, 1);
  combination c = {.p = p, .A = A, .o = o, .kind = "convection:12"};
  for (int i = 0; all && can(p, KCL_D) && i < 2; i++)
    c.o.restart = i ? 40 : 0, solve_combination(&c, b);
  for (int i = 0; i < 2; i++) {
    o.restart = i ? 1001 : -1;
    CHECKF(kcl_setup(p->ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(), "1 to 1000"),
           "restart %d: %s", o.restart, kcl_error());
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
  kcl_options o = cg_options();
  const double unit = t == KCL_S || t == KCL_C ? 6e-8 : 1.1e-16;
  o.solver = solver, o.precision = t, o.tol = 1e-30;
  if (!wanted_solver(solver) || !can(p, t)) return;
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:8", &A, NULL))) return;
  number *x = random_vector(A->type, A->rows), *bv = image(A, x);
  void *b = values_of(A, bv, 1);
  memset(x, 0, (size_t)A->rows * sizeof *x);
  if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s", kcl_error()))
    CHECKF(r.reason != KCL_INDEFINITE && r.true_relative_residual < 100 * unit,
           "%s, %s, type %c: %s, residual %g", solver, p->name, kcl_type_letter(t),
           kcl_reason_text(r.reason), r.true_relative_residual);
  free(x), free(bv), free(b), kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  static const char *const variants[] = {"cg", "cg-single", "cg-pipelined"};
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    if (!small()) {
      test_restart(p), test_spectrum(p, 5, KCL_C), test_spectrum(p, 11, KCL_Z);
      for (int t = KCL_S; t <= KCL_Z; t++)
        for (int m = 0; m < 3; m++)
          if (!quick(p) || turn_of(t, m)) test_attainable(p, variants[m], t);
    }
    for (size_t q = 0; q < count_problems(); q++)
      test_problem(p, small() ? &small_problems[q] : &problems[q]);
  }
  close_places();
  return check_report();
}
