/* The ways that "auto" compares by seconds (solver/auto/candidates.c): which are listed, which of them look best, what is
 * remembered of them, and that repeated solves of a system end with one choice. */
#include "krylocl/explain.h"
#include "krylocl/io.h"
#include "solver/auto/auto.h"
#include "solver/calls.h"
#include "solver/solver.h"
#include "tests/check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, SOLVES = 10, SETTLED = 2 };

static kcl_solver *prepared(kcl_context *ctx, const char *what, kcl_csr **A) {
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  CHECKF(!kcl_generate(ctx, what, A, NULL) && !kcl_setup(ctx, *A, &o, &s), "%s: %s", what,
         kcl_error());
  return s;
}

static const kcl_candidate_info *found(const kcl_candidate_info *list, int count,
                                       const char *solver, const char *precond) {
  for (int i = 0; i < count; i++)
    if (!strcmp(list[i].solver, solver) && !strcmp(list[i].precond, precond)) return &list[i];
  return NULL;
}

/* Smooth coefficients: sa before amg; jumping ones: the other way round; without multigrid where A is not Hermitian and its
 * coefficients vary. One way begins. */
static void test_list(kcl_context *ctx) {
  static const struct {
    const char *what, *solver, *better, *worse;
  } all[] = {{"poisson2d:150", "cg", "sa", "amg"},
             {"jump2d:150", "cg", "amg", "sa"},
             {"heatsink:60", "cg", "sa", "amg"},
             {"convection:150", "idr", "sa", "ilut"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    kcl_candidate_info list[MOST];
    kcl_csr *A = NULL;
    kcl_solver *s = prepared(ctx, all[i].what, &A);
    int count = 0, begin = 0;
    CHECK(!kcl_solver_candidates(s, MOST, list, &count) && count > 2);
    const kcl_candidate_info *better = found(list, count, all[i].solver, all[i].better),
                             *worse = found(list, count, all[i].solver, all[i].worse);
    CHECKF(better && worse && better->seconds > better->seconds_setup &&
               better->seconds < worse->seconds,
           "%s: %g and %g s", all[i].what, better ? better->seconds : -1,
           worse ? worse->seconds : -1);
    for (int k = 0; k < count; k++) begin += list[k].begins;
    CHECKF(begin == 1 && list[0].begins && list[0].seconds_taken < 0, "%s: %d begin", all[i].what,
           begin);
    kcl_solver_free(&s), kcl_csr_free(&A);
  }
}

static void test_arguments(kcl_context *ctx) {
  kcl_candidate_info one[1];
  kcl_csr *A = NULL;
  int count = 7;
  CHECK(kcl_solver_candidates(NULL, 1, one, &count) == KCL_USAGE);
  kcl_solver *s = prepared(ctx, "poisson2d:20", &A);
  CHECK(!kcl_solver_candidates(s, 1, one, &count) && count == 1 && !strcmp(one->solver, "cg"));
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Solves A x = 1 in a solver of its own; how it ended. */
static void solve_once(kcl_context *ctx, const char *what, char how[64]) {
  kcl_csr *A = NULL;
  kcl_solver *s = prepared(ctx, what, &A);
  kcl_setup_info info;
  kcl_report r = {.converged = false};
  double *b = calloc((size_t)A->rows, sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1;
  CHECKF(!kcl_solve_one(s, b, x, &r) && r.converged && r.true_relative_residual <= 1e-8, "%s: %s",
         what, kcl_error());
  kcl_solver_info(s, &info);
  snprintf(how, 64, "%s %s", info.solver, s->direct ? "" : info.precond);
  free(b), free(x), kcl_solver_free(&s), kcl_csr_free(&A);
}

/* Whatever the first solve and one trial took, the memory decides from the third on. */
static void test_settled(kcl_context *ctx) {
  static const char *const all[] = {"poisson2d:120", "jump2d:100", "convection:90", "aniso2d:100",
                                    "heatsink:60"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char how[64], settled[64] = "";
    for (int k = 0; k < SOLVES; k++) {
      solve_once(ctx, all[i], how);
      if (k == SETTLED) memcpy(settled, how, sizeof settled);
      CHECKF(k <= SETTLED || !strcmp(how, settled), "%s, solve %d: %s, not %s", all[i], k + 1, how,
             settled);
    }
  }
}

/* A memory of two whole solves: the faster one begins, the other is told, and one that failed is left out. */
static void test_memory(kcl_context *ctx) {
  kcl_candidate_info list[MOST];
  kcl_csr *A = NULL;
  kcl_solver *s = prepared(ctx, "poisson2d:130", &A);
  int count = 0;
  kcl_selection *c = &s->selection;
  kcl_outcome_remember(c, "cg", "amg", 0.5, 3);
  kcl_outcome_remember(c, "cg", "sa", 0.25, 3);
  kcl_outcome_remember(c, "cg", "sa", 0.3, 3); /* about as long */
  CHECK(!kcl_solver_candidates(s, MOST, list, &count));
  const kcl_candidate_info *sa = found(list, count, "cg", "sa"),
                           *amg = found(list, count, "cg", "amg");
  CHECK(sa && sa->begins && sa->seconds_taken == 0.25);
  CHECK(amg && !amg->begins && amg->seconds_taken == 0.5);
  kcl_outcome_failed(c, "cg", "sa");
  CHECK(!kcl_solver_candidates(s, MOST, list, &count));
  sa = found(list, count, "cg", "sa"), amg = found(list, count, "cg", "amg");
  CHECK(sa && sa->failed && !sa->begins && amg && amg->begins);
  kcl_solver_free(&s), kcl_csr_free(&A);
}

int main(void) {
  kcl_context *ctx = NULL;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0)))
    return check_report();
  test_list(ctx), test_arguments(ctx), test_memory(ctx), test_settled(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
