/* Saddle point systems: the preconditioner schur, and where "auto" takes it. */
#include "core/base/context.h"
#include "tests/calls.h"
#include "solver/solver.h"
#include "tests/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 5 }; /* unknowns per constraint; constraint c has those of c and of c + 1 */

static double unknown_weight(int i) { return 1 + (i * 37) % 101; }

/* [D B^T; B C], D positive, C = `couple` between pairs, m constraints, an odd number of independent ones, on EACH m unknowns. */
static kcl_csr *saddle_matrix(kcl_context *ctx, int m, double couple) {
  const int n = EACH * m, rows = n + m;
  kcl_csr *A = NULL;
  CHECK(!kcl_csr_create(ctx, rows, rows, (int64_t)n * 3 + (int64_t)m * (2 * EACH + 2), KCL_D, &A));
  double *a = A->val;
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    const int c = i / EACH, before = (c + m - 1) % m;
    A->col[at] = i, a[at++] = unknown_weight(i);
    A->col[at] = n + (c < before ? c : before), a[at++] = 1;
    A->col[at] = n + (c < before ? before : c), a[at++] = 1;
    A->row_ptr[i + 1] = at;
  }
  for (int c = 0; c < m; c++) {
    const int next = (c + 1) % m, low = next < c ? next : c, high = next < c ? c : next;
    for (int k = 0; k < EACH; k++) A->col[at] = low * EACH + k, a[at++] = 1;
    for (int k = 0; k < EACH; k++) A->col[at] = high * EACH + k, a[at++] = 1;
    const int pair = c ^ 1;
    if (couple != 0 && pair < m) A->col[at] = n + pair, a[at++] = couple;
    A->row_ptr[n + c + 1] = at;
  }
  A->nnz = at;
  return A;
}

/* The answer of a solve of A x = A 1, and what it took. */
static kcl_report saddle_solve(kcl_context *ctx, const kcl_csr *A, const char *precond,
                               char used[32]) {
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  kcl_report r = {.converged = false};
  kcl_setup_info info;
  o.precond = precond, o.no_direct = true;
  double *b = calloc((size_t)A->rows, sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) b[i] += ((double *)A->val)[k];
  if (CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s", kcl_error())) {
    CHECKF(r.converged && r.true_relative_residual <= 1e-8, "%s: %g", precond,
           r.true_relative_residual);
    kcl_solver_info(s, &info);
    snprintf(used, 32, "%s %s", info.solver, info.precond);
  }
  free(b), free(x), kcl_solver_free(&s);
  return r;
}

/* Three eigenvalues: minres ends in three iterations. */
static void test_dense_complement(kcl_context *ctx) {
  char used[32] = "";
  kcl_csr *A = saddle_matrix(ctx, 61, 0);
  const kcl_report r = saddle_solve(ctx, A, "auto", used);
  CHECKF(!strcmp(used, "minres schur") && r.iterations <= 4, "%s, %lld iterations", used,
         (long long)r.iterations);
  kcl_csr_free(&A);
}

/* Coupled constraints are none. */
static void test_coupled(kcl_context *ctx) {
  char used[32] = "";
  kcl_csr *A = saddle_matrix(ctx, 61, 0.5);
  saddle_solve(ctx, A, "auto", used);
  CHECKF(!strstr(used, "schur"), "%s", used);
  kcl_csr_free(&A);
}

/* Many constraints: by name, with the diagonal of S, in fewer iterations than without. */
static void test_many(kcl_context *ctx) {
  char used[32] = "";
  kcl_csr *A = saddle_matrix(ctx, 701, 0);
  saddle_solve(ctx, A, "auto", used);
  CHECKF(!strstr(used, "schur"), "%s", used);
  const kcl_report with = saddle_solve(ctx, A, "schur", used),
                   without = saddle_solve(ctx, A, "none", used);
  CHECKF(with.iterations < without.iterations, "%lld iterations, %lld without",
         (long long)with.iterations, (long long)without.iterations);
  kcl_csr_free(&A);
}

int main(void) {
  kcl_context *ctx = NULL;
  if (setenv("KRYLOCL_CACHE", "", 1)) return 1;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0)))
    return check_report();
  test_dense_complement(ctx), test_coupled(ctx), test_many(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
