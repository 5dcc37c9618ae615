/* Cycles of gmres and fgmres of any length: the residual of a cyclic shift of n unknowns and b = e_1 stays until iteration n, where
 * it vanishes (Nachtigal, Reddy & Trefethen 1992). So a cycle of n solves it in n iterations, and shorter ones never do. */
#include "tests/calls.h"
#include "tests/conform.h"

enum { MOST = 200 };

/* a_ij = 1 for j = i + 1 modulo n */
static void solve_shift(kcl_context *ctx, const char *solver, kcl_type t, int n, int restart,
                        kcl_report *r) {
  int64_t row_ptr[MOST + 1];
  int32_t col[MOST];
  double ones[2 * MOST], val[2 * MOST], b[2 * MOST] = {1}, x[2 * MOST] = {0}, typed[2 * MOST];
  kcl_solver *s = NULL;
  kcl_options o = kcl_defaults;
  for (int i = 0; i < n; i++) ones[2 * i] = 1, ones[2 * i + 1] = 0;
  for (int i = 0; i <= n; i++) row_ptr[i] = i;
  for (int i = 0; i < n; i++) col[i] = (i + 1) % n;
  kcl_copy(t, val, KCL_Z, ones, n, 1), kcl_copy(t, typed, KCL_Z, b, n, 1);
  const kcl_csr A = {
      .rows = n, .cols = n, .nnz = n, .row_ptr = row_ptr, .col = col, .val = val, .type = t};
  o.solver = solver, o.precond = "none", o.format = "csr-scalar", o.precision = t;
  o.restart = restart, o.max_iter = n + 5, o.no_direct = true, o.tol = 1e-4;
  CHECKF(!kcl_setup(ctx, &A, &o, &s) && !kcl_solve_one(s, typed, x, r), "%s(%d): %s", solver,
         restart, kcl_error());
  kcl_solver_free(&s);
}

static void check_cycle(const place *p, const char *solver, kcl_type t, int n) {
  kcl_report whole = {0}, shorter = {0};
  solve_shift(p->ctx, solver, t, n, n, &whole);
  CHECKF(whole.converged && whole.iterations == n, "%s, %s(%d), %c: %lld iterations, residual %g",
         p->name, solver, n, kcl_type_letter(t), (long long)whole.iterations,
         whole.true_relative_residual);
  solve_shift(p->ctx, solver, t, n, n - 1, &shorter);
  CHECKF(!shorter.converged && shorter.true_relative_residual > 0.9,
         "%s, %s(%d) of %d unknowns, %c: residual %g", p->name, solver, n - 1, n,
         kcl_type_letter(t), shorter.true_relative_residual);
}

static void check_refused_cycle(kcl_context *ctx, int restart, const char *says) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_options o = kcl_defaults;
  o.solver = "gmres", o.restart = restart;
  CHECK(!kcl_generate(ctx, "poisson2d:5", &A, NULL));
  CHECKF(kcl_setup(ctx, A, &o, &s) == KCL_USAGE && strstr(kcl_error(), says), "restart %d: %s",
         restart, kcl_error());
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    double most = 0;
    CHECK(!kcl_context_number(p->ctx, "max_restart", &most));
    CHECKF(most == (p->ctx->opencl ? 50 : KCL_MAX_RESTART), "%s: %g", p->name, most);
    check_refused_cycle(p->ctx, (int)most + 1, p->ctx->opencl ? "local memory" : "out of range");
    for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
      if (!can(p, t) || p->ctx->opencl) continue;
      check_cycle(p, "gmres", t, 64), check_cycle(p, "fgmres", t, 130);
    }
    if (!p->ctx->opencl) check_cycle(p, "gmres", KCL_D, MOST);
  }
  close_places();
  return check_report();
}
