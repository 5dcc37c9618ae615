/* Real matrices (real.h): least squares with every rectangular one and its adjoint, by every method for them in
 * every format that fits on every executor (a part of these unless asked for one or all), plain and with Jacobi. b
 * is the file's own or random, with no solution where there are more rows than columns. Every claim is checked by
 * a residual in long double, and every answer against the direct one of SuiteSparseQR within tol.h's tol_fit; x
 * itself where it is one of a kind, or both are of least norm.
 */
#include "solver/precond/setup.h"
#include "tests/calls.h"
#include "tests/real.h"
#include "tests/options.h"

typedef struct system {
  const entry *e;
  const char *what;
  const kcl_csr *A;
  double *b, *x, *fit;               /* x: the direct answer, rank < 0: there is none; fit: A x */
  double norm_A, norm_fit, norm_x;   /* |A|_F */
  double kappa, res, normal, norm_b; /* of the direct answer */
  int64_t rank;
} system_;

static double norm(const kcl_csr *A, const void *v, int64_t n) {
  double s = 0;
  for (int64_t i = 0; i < n; i++) s += pow(kcl_abs(A->type, v, i), 2);
  return sqrt(s);
}

static double *vector(const kcl_csr *A, int64_t n) {
  return calloc((size_t)n + 1, kcl_type_size(A->type));
}

static bool direct(kcl_context *ctx, system_ *s) {
  kcl_direct_info info;
  double doubt, gradient;
  s->rank = -1;
  if (!kcl_direct_least_squares()) {
    skip("%s: no direct solution: no SuiteSparseQR", s->e->name);
    return true;
  }
  if (!CHECKF(!kcl_direct(ctx, s->A, s->b, s->x, &info), "%s: %s", s->e->name, kcl_error()))
    return false;
  kcl_csr_product(s->A, s->x, NULL, s->fit);
  s->rank = info.rank, s->kappa = info.condition;
  s->norm_A = norm(s->A, s->A->val, s->A->nnz), s->norm_b = norm(s->A, s->b, s->A->rows);
  s->norm_fit = norm(s->A, s->fit, s->A->rows), s->norm_x = norm(s->A, s->x, s->A->cols);
  s->res = residual(s->A, s->b, s->x, &doubt);
  s->normal = normal_residual(s->A, s->b, s->x, &gradient);
  printf(
      "%-18s %-3s SuiteSparseQR: rank %lld, condition %.1e, residual %.1e, normal residual %.1e\n",
      s->e->name, s->what, (long long)s->rank, s->kappa, s->res, s->normal);
  return true;
}

/* |A (x - y)| / |A y| and |x - y| / |y| for the direct answer y. */
static void compare(const system_ *s, const char *words, bool least_norm, const double *x,
                    double res, double normal) {
  const kcl_csr *A = s->A;
  double *apart = vector(A, A->cols), *fit = vector(A, A->rows);
  int w = kcl_type_complex(A->type) ? 2 : 1;
  for (int64_t i = 0; i < w * A->cols; i++) apart[i] = x[i] - s->x[i];
  kcl_csr_product(A, apart, NULL, fit);
  double share = s->norm_fit / s->norm_b;
  double bound =
      tol_fit(s->kappa, res / share, normal) + tol_fit(s->kappa, s->res / share, s->normal);
  bound += tol_u(KCL_D) * s->norm_A * norm(A, apart, A->cols) / s->norm_fit; /* x - y rounded */
  double far = norm(A, fit, A->rows) / s->norm_fit;
  CHECKF(far <= bound, "%s: A x is %g from the direct one, at most %g", words, far, bound);
  if (s->rank == A->cols || (least_norm && s->rank == A->rows)) {
    bound *= 3 * s->kappa * s->norm_fit / (s->norm_A * s->norm_x);
    bound += 100 * (double)A->cols * tol_u(KCL_D); /* of x outside the range of A^H */
    far = norm(A, apart, A->cols) / s->norm_x;
    CHECKF(far <= bound, "%s: x is %g from the direct one, at most %g", words, far, bound);
  }
  printf(" %9.1e of %.1e", far, bound);
  free(apart), free(fit);
}

static void check(const system_ *s, const char *words, const kcl_options *o, const kcl_report *r,
                  const double *x) {
  double doubt, gradient, res = residual(s->A, s->b, x, &doubt);
  double normal = normal_residual(s->A, s->b, x, &gradient);
  printf("%-18s %-50s %7lld %8.2f %9.1e %9.1e", s->e->name, words, (long long)r->iterations,
         r->seconds_solve, res, normal);
  CHECKF(!(r->converged || r->least_squares) ||
             (r->least_squares ? normal : res) <= tol_claim(o->tol, doubt),
         "%s, %s: claims %g, has %g and %g", s->e->name, words, o->tol, res, normal);
  CHECKF(fabs(res - r->true_relative_residual) <= tol_certificate(res, doubt),
         "%s, %s: the certificate says %g, it is %g", s->e->name, words, r->true_relative_residual,
         res);
  CHECKF(!r->least_squares || fabs(normal - r->normal_residual) <= 1e-3 * normal + 1e-14,
         "%s, %s: the certificate says %g, it is %g", s->e->name, words, r->normal_residual,
         normal);
  CHECKF(r->converged || r->least_squares || r->reason == KCL_ITERATION_LIMIT ||
             r->reason == KCL_STAGNATED,
         "%s, %s: %s", s->e->name, words, kcl_reason_text(r->reason));
  if ((r->converged || r->least_squares) && s->rank >= 0)
    compare(s, words, !strcmp(o->precond, "none"), x, res, normal);
  printf(" %s%s\n", r->least_squares ? "least squares, " : "", kcl_reason_text(r->reason));
  fflush(stdout);
}

static void solve_least(const system_ *s, const place *p, const kcl_options *o) {
  char words[160];
  kcl_solver *k = NULL;
  kcl_report r;
  double *x = vector(s->A, s->A->cols);
  snprintf(words, sizeof words, "%s %s %s %s, %s", s->what, o->solver, o->precond, o->format,
           p->name);
  int rc = kcl_setup(p->ctx, s->A, o, &k);
  if (rc == KCL_REFUSED || rc == KCL_USAGE)
    skip("%s, %s: %s", s->e->name, words, kcl_error());
  else if (CHECKF(!rc && !kcl_solve_one(k, s->b, x, &r), "%s: %s", s->e->name, kcl_error()))
    check(s, words, o, &r, x);
  free(x), kcl_solver_free(&k);
}

static void solve_everywhere(const system_ *s) {
  const kcl_method *m;
  kcl_options o = cg_options();
  o.precision = s->A->type, o.tol = 1e-8, o.max_iter = 20000;
  for (int p = 0; p < place_count; p++)
    for (int i = 0; can(&places[p], o.precision) && i < kcl_list_size(KCL_SOLVERS); i++) {
      o.solver = kcl_list(KCL_SOLVERS, i).name;
      if (kcl_method_find(places[p].ctx, o.solver, &m) || !m->least_squares) continue;
      for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++)
        for (int q = 0; q < kcl_list_size(KCL_PRECONDS); q++) {
          o.format = kcl_list(KCL_FORMATS, f).name, o.precond = kcl_list(KCL_PRECONDS, q).name;
          if (!kcl_precond_at(q)->least_squares) continue;
          if (!everything && (f + i + q) % ((places[p].ctx->opencl ? 6 : 3) * (thorough() ? 1 : 3)))
            continue;
          solve_least(s, &places[p], &o);
        }
    }
}

static void test_system(const entry *e, const kcl_csr *A, const char *what, bool own) {
  system_ s = {.e = e, .what = what, .A = A};
  s.b = vector(A, A->rows), s.fit = vector(A, A->rows), s.x = vector(A, A->cols);
  for (int64_t i = 0; i < A->rows; i++)
    s.b[i] = random_number(); /* of real ones: there are no others */
  if ((!own || given_side(places[0].ctx, e, A, s.b)) && direct(places[0].ctx, &s))
    solve_everywhere(&s);
  free(s.b), free(s.fit), free(s.x);
}

static void test_matrix(const entry *e) {
  kcl_csr *A = NULL, *H = NULL;
  if (e->rows == e->cols) return;
  if (CHECKF(!kcl_csr_read(places[0].ctx, path_of(e->name, ".mtx.gz"), &A) &&
                 !kcl_csr_adjoint(places[0].ctx, A, &H) && !kcl_type_complex(A->type),
             "%s: %s", e->name, kcl_error()))
    test_system(e, A, "A", e->rhs[0]), test_system(e, H, "A^H", false);
  kcl_csr_free(&A), kcl_csr_free(&H);
}

int main(int argc, char **argv) {
  printf("%-18s %-50s %7s %8s %9s %9s %s\n", "matrix", "solve", "steps", "seconds", "residual",
         "normal", "off the direct answer, outcome");
  return for_each_matrix(argc, argv, test_matrix);
}
