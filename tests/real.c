/* Real matrices: every square one that our methods are for is solved (real.h: which ones). Unless one or all are asked
 * for: on a device each in every ninth format, in turn, with KRYLOCL_THOROUGH=1 in every third; and in at most 3,000
 * iterations, with KRYLOCL_THOROUGH=2 in as many as it takes.
 *
 * Positive definite ones: CG to 1e-8 in every format that fits on every executor, plain, then with Jacobi
 * where plain meets the iteration limit. With a real right-hand side, or complex: BiCG likewise. Every claim
 * is checked by a residual in long double, every answer against the direct solution within tol.h's
 * tol_forward: largest elements, condition estimate times backward errors. Not converging is no failure
 * where the reason is a limit; "not positive definite" of a definite matrix is one.
 */
#include "tests/calls.h"
#include "tests/real.h"
#include "tests/options.h"

/* ---------------------------------------------------------------- a system and its direct solution */

typedef struct system {
  const entry *e;
  kcl_csr *A;
  double *b, *x;     /* the direct solution */
  double kappa, eta; /* its condition estimate and backward error; kappa 0: there is none */
  int64_t reals;     /* doubles in a vector */
} system_;

static double *vector(const system_ *s) { return calloc((size_t)s->reals + 2, sizeof(double)); }

static bool right_hand_side(kcl_context *ctx, system_ *s) {
  s->reals = s->A->rows * (kcl_type_complex(s->A->type) ? 2 : 1);
  s->b = vector(s), s->x = vector(s);
  if (!s->e->rhs[0]) { /* b = A 1 */
    for (int64_t i = 0; i < s->A->rows; i++) s->x[i * s->reals / s->A->rows] = 1;
    kcl_csr_product(s->A, s->x, NULL, s->b);
    return true;
  }
  return given_side(ctx, s->e, s->A, s->b);
}

static void direct(kcl_context *ctx, system_ *s) {
  kcl_direct_info info;
  kcl_certificate c;
  if (kcl_direct_available() && s->e->nnz <= 4000000 && !kcl_direct(ctx, s->A, s->b, s->x, &info) &&
      !kcl_certify(ctx, s->A, s->b, s->x, &c))
    s->kappa = info.condition, s->eta = c.backward_error;
  else if (kcl_direct_available())
    skip("%s: no direct solution: %s", s->e->name, kcl_error());
}

static double largest(const system_ *s, const double *a, const double *b) {
  double m = 0;
  int w = kcl_type_complex(s->A->type) ? 2 : 1;
  for (int64_t i = 0; i < s->A->rows; i++) {
    double re = a[w * i] - (b ? b[w * i] : 0),
           im = w == 2 ? a[2 * i + 1] - (b ? b[2 * i + 1] : 0) : 0;
    m = fmax(m, hypot(re, im));
  }
  return m;
}

/* ---------------------------------------------------------------- one solve */

static void row(const system_ *s, const place *p, const kcl_options *o, const kcl_report *r,
                const char *difference) {
  printf("%-18s %8lld %9lld %-6s %-10s %c %-4s %-6s %7lld %8.2f %9.1e %9.1e %-22s %s\n", s->e->name,
         (long long)s->A->rows, (long long)s->A->nnz, p->name, o->format,
         kcl_type_letter(o->precision), o->solver, o->precond, (long long)r->iterations,
         r->seconds_solve, r->true_relative_residual, r->backward_error, difference,
         kcl_reason_text(r->reason));
  fflush(stdout);
}

/* Both x solve A x = b up to their backward errors: so how far apart may they be? */
static void compare(const system_ *s, const place *p, const kcl_options *o, const kcl_report *r,
                    const double *x, char text[40]) {
  snprintf(text, 40, "-");
  if (s->kappa == 0 || !r->converged) return;
  double bound = tol_forward(s->kappa, r->backward_error, s->eta),
         far = largest(s, x, s->x) / largest(s, x, NULL);
  snprintf(text, 40, "%.1e of %.1e", far, bound);
  CHECKF(far <= bound, "%s, %s, %s: %g from the direct solution, at most %g", s->e->name, p->name,
         o->format, far, bound);
}

static kcl_reason solve_with(const system_ *s, const place *p, const kcl_options *o) {
  kcl_solver *k = NULL;
  kcl_report r = {.reason = KCL_NOT_FINITE};
  double *x = vector(s), tol = o->tol;
  char difference[40];
  int rc = kcl_setup(p->ctx, s->A, o, &k);
  if (rc == KCL_REFUSED || rc == KCL_USAGE)
    skip("%s, %s, %s %s: %s", s->e->name, p->name, o->format, o->precond, kcl_error());
  else if (CHECKF(!rc && !kcl_solve_one(k, s->b, x, &r), "%s: %s", s->e->name, kcl_error())) {
    double doubt, res = residual(s->A, s->b, x, &doubt);
    compare(s, p, o, &r, x, difference), row(s, p, o, &r, difference);
    CHECKF(!r.converged || res <= tol_claim(tol, doubt), "%s, %s, %s: claims %g, has %g",
           s->e->name, p->name, o->format, tol, res);
    CHECKF(!(fabs(res - r.true_relative_residual) > tol_certificate(res, doubt)),
           "%s: the certificate says %g, it is %g", s->e->name, r.true_relative_residual, res);
    CHECKF(!s->e->definite || r.converged || r.reason == KCL_ITERATION_LIMIT ||
               r.reason == KCL_STAGNATED || o->precision == KCL_C,
           "%s, %s, %s: %s", s->e->name, p->name, o->format, kcl_reason_text(r.reason));
  }
  free(x), kcl_solver_free(&k);
  return rc ? KCL_INTERRUPTED : r.reason;
}

static int systems; /* so far */

/* In every format, on every executor; with Jacobi as soon as it does not work without. */
static void solve_everywhere(const system_ *s, kcl_options o) {
  for (int p = 0; p < place_count; p++) {
    o.precond = "none";
    for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
      o.format = kcl_list(KCL_FORMATS, f).name;
      if (by_turns(&places[p]) && !everything && (f + systems) % (thorough() ? 3 : 9)) continue;
      kcl_reason r = can(&places[p], o.precision) ? solve_with(s, &places[p], &o) : KCL_CONVERGED;
      if (r == KCL_CONVERGED || r == KCL_INTERRUPTED || !strcmp(o.precond, "jacobi")) continue;
      o.precond = "jacobi", f--;
    }
  }
}

static void solve_system(system_ *s) {
  bool pairs = kcl_type_complex(s->A->type);
  kcl_options o = cg_options();
  o.solver = s->e->definite ? "cg" : "bicg", o.precision = pairs ? KCL_Z : KCL_D, o.tol = 1e-8;
  o.max_iter = s->A->rows < 2000 ? 20000 : s->A->rows < 20000 ? 10 * s->A->rows : 20000;
  if (!right_hand_side(places[0].ctx, s)) return;
  if (thorough() < 2 && !everything && o.max_iter > 3000) o.max_iter = 3000;
  systems++;
  direct(places[0].ctx, s);
  solve_everywhere(s, o);
  o.precision = KCL_C, o.tol = 1e-4, o.max_iter = 3000;
  if (pairs) solve_everywhere(s, o);
}

static void test_matrix(const entry *e) {
  system_ s = {.e = e};
  kcl_context *ctx = places[0].ctx;
  bool wanted =
      e->definite || e->rhs[0] || !strcmp(e->name, "young1c") || !strncmp(e->name, "conf5", 5);
  if (CHECKF(!kcl_csr_read(ctx, path_of(e->name, ".mtx.gz"), &s.A), "%s", kcl_error())) {
    CHECKF(s.A->rows == e->rows && s.A->cols == e->cols && s.A->nnz == e->nnz,
           "%s: %lld x %lld with %lld entries", e->name, (long long)s.A->rows, (long long)s.A->cols,
           (long long)s.A->nnz);
    if (!strncmp(e->name, "conf5", 5)) fermion(&s.A);
    if (e->rows == e->cols && wanted)
      solve_system(&s);
    else
      printf("%-18s %8lld %9lld read; %s\n", e->name, (long long)e->rows, (long long)e->nnz,
             e->rows == e->cols ? "neither positive definite nor with a right-hand side"
                                : "rectangular: real_least");
  }
  free(s.b), free(s.x), kcl_csr_free(&s.A);
}

int main(int argc, char **argv) {
  printf("%-18s %8s %9s %-6s %-10s %c %-4s %-6s %7s %8s %9s %9s %-22s %s\n", "matrix", "rows",
         "nonzeros", "on", "format", 't', "with", "", "steps", "seconds", "residual", "backward",
         "off the direct answer", "outcome");
  return for_each_matrix(argc, argv, test_matrix);
}
