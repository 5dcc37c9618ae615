/* A preconditioner that is another one in each application (KCL_PRECOND_VARIES): fcg against an fcg of this test, fgmres against its own
 * residual; other methods are refused by name, and auto takes one of these two. */
#include "solver/precond_object.h"
#include "tests/calls.h"
#include "tests/numbers.h"
#include "tests/shells.h"

/* So many sweeps of Jacobi's iteration as the number of the call says: in each call Hermitian, and definite for these A. */
typedef struct sweeper {
  const kcl_csr *A;
  int64_t calls;
} sweeper;

enum { MOST_SWEEPS = 4 };

static void sweep_often(sweeper *f, const number *r, number *z) {
  const int64_t n = f->A->rows, sweeps = 1 + f->calls++ * 3 % MOST_SWEEPS;
  number *y = filled(n, 0);
  for (int64_t i = 0; i < n; i++) z[i] = 0;
  for (int s = 0; s < sweeps; s++) {
    multiply_pairs(f->A, z, y);
    for (int64_t i = 0; i < n; i++) z[i] += 0.2 * (r[i] - y[i]);
  }
  free(y);
}

static int apply_sweeps(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z,
                        void *queue) {
  sweeper *f = user;
  const int64_t n = f->A->rows;
  (void)adjoint, (void)queue;
  number *from = filled(n, 0), *to = filled(n, 0);
  kcl_copy(KCL_Z, from, f->A->type, r->data, n, 1);
  sweep_often(f, from, to);
  kcl_copy(f->A->type, z->data, KCL_Z, to, n, 1);
  free(from), free(to);
  return KCL_OK;
}

/* ---------------------------------------------------------------- solves */

typedef struct solved {
  int rc;
  kcl_report r;
  char method[24];
  double last; /* of the history */
} solved;

static solved solve_with(const place *p, const kcl_csr *A, unsigned properties, const char *solver,
                         double tol) {
  sweeper f = {.A = A};
  kcl_options o = cg_options();
  kcl_precond *M = NULL;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  solved out = {0};
  void *x = zeros(A), *b = calloc((size_t)A->rows, kcl_type_size(A->type));
  for (int64_t i = 0; i < A->rows; i++)
    kcl_set_element(A->type, b, i, (double[]){1 + (double)(i % 3), 0});
  o.solver = solver, o.precision = A->type, o.format = "csr-scalar", o.tol = tol,
  o.no_direct = true, o.restart = 8;
  out.rc =
      kcl_precond_of_function(p->ctx, A->rows, A->type, apply_sweeps, &f, KCL_HOST, properties, &M);
  if (!out.rc) out.rc = kcl_setup_with(p->ctx, A, M, &o, &s);
  if (!out.rc) out.rc = kcl_solve_one(s, b, x, &out.r);
  if (!out.rc) out.last = out.r.history[out.r.history_size - 1];
  if (s) kcl_solver_info(s, &info), snprintf(out.method, sizeof out.method, "%s", info.solver);
  kcl_solver_free(&s), kcl_precond_free(&M), free(x), free(b);
  return out;
}

static bool solved_by(const place *p, const kcl_csr *A, const solved *s, const char *method) {
  return CHECKF(!s->rc && s->r.converged && !strcmp(s->method, method),
                "%s for %s, %s in %c: %s, %s", s->method, method, p->name, kcl_type_letter(A->type),
                kcl_reason_text(s->r.reason), kcl_error());
}

/* ---------------------------------------------------------------- fcg */

/* Iterations of Notay's FCG(1) in this test: p = z - (q^H z / sigma) p, alpha = p^H r / sigma. */
static int64_t fcg_here(const kcl_csr *A, double tol) {
  const int64_t n = A->rows;
  sweeper f = {.A = A};
  number *r = filled(n, 0), *z = filled(n, 0), *p = filled(n, 0), *q = filled(n, 0);
  double rr = 0, target, sigma = 1;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) r[i] = 1 + (double)(i % 3), rr += creal(r[i] * conj(r[i]));
  for (target = tol * tol * rr; rr > target && count < 1000; count++) {
    number tau = 0, rho = 0;
    sweep_often(&f, r, z);
    for (int64_t i = 0; i < n && count; i++) tau += conj(q[i]) * z[i];
    for (int64_t i = 0; i < n; i++) p[i] = z[i] - tau / sigma * p[i], rho += conj(p[i]) * r[i];
    multiply_pairs(A, p, q), sigma = rr = 0;
    for (int64_t i = 0; i < n; i++) sigma += creal(conj(p[i]) * q[i]);
    for (int64_t i = 0; i < n; i++) r[i] -= rho / sigma * q[i], rr += creal(r[i] * conj(r[i]));
  }
  free(r), free(z), free(p), free(q);
  return count;
}

static void test_fcg(const place *p, const char *name, kcl_type t) {
  enum { VARYING = KCL_PRECOND_HERMITIAN | KCL_PRECOND_VARIES };
  const double tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-8;
  kcl_csr *A = generated(p->ctx, name, t);
  const solved s = solve_with(p, A, VARYING, "fcg", tol);
  const int64_t expected = fcg_here(A, tol);
  if (solved_by(p, A, &s, "fcg"))
    CHECKF(llabs(s.r.iterations - expected) <= 1,
           "%s on %s, type %c: %lld iterations, %lld expected", name, p->name, kcl_type_letter(t),
           (long long)s.r.iterations, (long long)expected);
  /* cg believes that M is the same */
  const solved plain = solve_with(p, A, KCL_PRECOND_HERMITIAN, "cg", tol);
  CHECKF(!plain.rc && (!plain.r.converged || plain.r.iterations > s.r.iterations),
         "%s on %s: cg takes %lld iterations, fcg %lld", name, p->name,
         (long long)plain.r.iterations, (long long)s.r.iterations);
  const solved chosen = solve_with(p, A, VARYING, "auto", tol);
  solved_by(p, A, &chosen, "fcg");
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- fgmres */

/* The estimate of the last iteration is the residual, which x = x + M^-1 V y would not have: gmres has to begin again. */
static void test_fgmres(const place *p, const char *name, kcl_type t) {
  const bool single = t == KCL_S || t == KCL_C;
  const double tol = single ? 1e-3 : 1e-8;
  kcl_csr *A = generated(p->ctx, name, t);
  const solved s = solve_with(p, A, KCL_PRECOND_VARIES, "fgmres", tol);
  if (solved_by(p, A, &s, "fgmres"))
    CHECKF(s.r.residual_restarts == 0 && s.r.true_relative_residual <= 1.01 * tol &&
               fabs(s.last - s.r.true_relative_residual) <= 0.01 * tol,
           "%s on %s, type %c: claims %g, has %g, %d restarts", name, p->name, kcl_type_letter(t),
           s.last, s.r.true_relative_residual, s.r.residual_restarts);
  const solved plain = solve_with(p, A, 0, "gmres", tol);
  CHECKF(!plain.rc && (plain.r.residual_restarts > 0 || !plain.r.converged ||
                       plain.r.iterations > s.r.iterations),
         "%s on %s: gmres takes %lld iterations without a restart", name, p->name,
         (long long)plain.r.iterations);
  const solved chosen = solve_with(p, A, KCL_PRECOND_VARIES, "auto", tol);
  solved_by(p, A, &chosen, "fgmres");
  kcl_csr_free(&A);
}

/* With M the same fgmres is gmres, and fcg is cg. */
static void test_constant(const place *p) {
  static const struct {
    const char *kind, *flexible, *other, *precond;
  } pairs[] = {{"convection:20", "fgmres", "gmres", "ilu"},
               {"poisson2d:30", "fcg", "cg", "ic"},
               {"poisson2d:30", "fcg", "cg", "none"},
               {"convection:20", "fgmres", "gmres", "none"}};
  for (int i = 0; i < 4; i++) {
    kcl_csr *A = generated(p->ctx, pairs[i].kind, KCL_D);
    void *b = random_b(A);
    int64_t iterations[2] = {0};
    for (int j = 0; j < 2; j++) {
      void *x = zeros(A);
      kcl_options o = cg_options();
      kcl_solver *s = NULL;
      kcl_report r = {0};
      o.solver = j ? pairs[i].other : pairs[i].flexible, o.precond = pairs[i].precond;
      CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r) && r.converged, "%s: %s",
             o.solver, kcl_error());
      iterations[j] = r.iterations;
      kcl_solver_free(&s), free(x);
    }
    CHECKF(llabs(iterations[0] - iterations[1]) <= 1, "%s on %s: %lld iterations, %s %lld",
           pairs[i].flexible, p->name, (long long)iterations[0], pairs[i].other,
           (long long)iterations[1]);
    free(b), kcl_csr_free(&A);
  }
}

/* ---------------------------------------------------------------- others */

static void test_refused(const place *p) {
  kcl_csr *A = generated(p->ctx, "poisson2d:10", KCL_D);
  for (int i = 0; i < kcl_method_count; i++) {
    const kcl_method *m = kcl_method_at(i);
    if (m->flexible || m->least_squares) continue;
    const solved s = solve_with(p, A, KCL_PRECOND_HERMITIAN | KCL_PRECOND_VARIES, m->name, 1e-8);
    CHECKF(s.rc == KCL_USAGE && strstr(kcl_error(), "varies between applications") &&
               strstr(kcl_error(), m->name),
           "%s: %d, %s", m->name, s.rc, kcl_error());
  }
  const solved s = solve_with(p, A, KCL_PRECOND_VARIES, "fcg", 1e-8);
  CHECKF(s.rc == KCL_USAGE && strstr(kcl_error(), "is not Hermitian"), "%s", kcl_error());
  kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
      if (!can(p, t) || (quick(p) && t != KCL_D)) continue;
      test_fcg(p, "poisson2d:24", t);
      test_fgmres(p, "convection:16", t);
    }
    if (can(p, KCL_Z)) test_fcg(p, "magnetic:12", KCL_Z), test_fgmres(p, "helmholtz:10", KCL_Z);
    if (can(p, KCL_D)) test_constant(p), test_refused(p);
  }
  close_places();
  return check_report();
}
