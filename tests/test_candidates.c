/* The ways that "auto" compares by seconds (solver/auto/candidates.c): which are listed, which of them look best, what is
 * remembered of them, and that repeated solves of a system end with one choice. */
#include "krylocl/explain.h"
#include "krylocl/io.h"
#include "solver/auto/auto.h"
#include "tests/calls.h"
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

/* Smooth coefficients: sa before amg; jumping ones: the other way round; not sa where convection outweighs diffusion. One way
 * begins. */
static void test_list(kcl_context *ctx) {
  static const struct {
    const char *what, *solver, *better, *worse;
  } all[] = {{"poisson2d:150", "cg", "sa", "amg"},
             {"jump2d:150", "cg", "amg", "sa"},
             {"heatsink:60", "cg", "sa", "amg"},
             {"convection:150", "idr", "sa", "ilut"},
             {"convection:600", "idr", "amg", "ilut"}};
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
    CHECK((found(list, count, all[i].solver, "sa") != NULL) ==
          (strcmp(all[i].what, "convection:600") != 0));
    for (int k = 0; k < count; k++) begin += list[k].begins;
    CHECKF(begin == 1 && list[0].begins && list[0].seconds_taken < 0, "%s: %d begin", all[i].what,
           begin);
    kcl_solver_free(&s), kcl_csr_free(&A);
  }
}

/* Seconds of multigrid's set-up, as predicted. */
static double predicted_setup(kcl_context *ctx, const char *what) {
  kcl_candidate_info list[MOST];
  kcl_csr *A = NULL;
  kcl_solver *s = prepared(ctx, what, &A);
  int count = 0;
  CHECK(!kcl_solver_candidates(s, MOST, list, &count));
  const kcl_candidate_info *amg = found(list, count, "cg", "amg");
  const double seconds = amg ? amg->seconds_setup : NAN;
  kcl_solver_free(&s), kcl_csr_free(&A);
  return seconds;
}

/* One pattern: half of the couplings of jump2d are weak, which shortens the set-up. */
static void test_weak_couplings(kcl_context *ctx) {
  const double all = predicted_setup(ctx, "poisson2d:150"),
               half = predicted_setup(ctx, "jump2d:150");
  CHECKF(half > 0.4 * all && half < 0.8 * all, "%g and %g s", half, all);
}

/* Jumping coefficients with a few controlled sources, as of a circuit: multigrid, not incomplete factors. */
static void test_network(kcl_context *ctx) {
  enum { EACH = 50 };
  const kcl_options o = kcl_defaults;
  kcl_candidate_info list[MOST];
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  int count = 0;
  CHECK(!kcl_generate(ctx, "jump2d:100", &A, NULL));
  for (int64_t i = 0; i < A->rows; i += EACH)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] > i) ((double *)A->val)[k] *= 0.99;
  A->symmetry = KCL_GENERAL;
  CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solver_candidates(s, MOST, list, &count), "%s",
         kcl_error());
  CHECK(found(list, count, "idr", "amg") && found(list, count, "idr", "ilut"));
  CHECK(!found(list, count, "idr", "ilu"));
  kcl_solver_free(&s), kcl_csr_free(&A);
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
static void solve_once(kcl_context *ctx, const char *what, const kcl_csr *A, char how[64]) {
  const kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  CHECKF(!kcl_setup(ctx, A, &o, &s), "%s: %s", what, kcl_error());
  kcl_setup_info info;
  kcl_report r = {.converged = false};
  double *b = calloc((size_t)A->rows, sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
  for (int64_t i = 0; i < A->rows; i++) b[i] = 1;
  CHECKF(!kcl_solve_one(s, b, x, &r) && r.converged && r.true_relative_residual <= 1e-8, "%s: %s",
         what, kcl_error());
  kcl_solver_info(s, &info);
  snprintf(how, 64, "%s %s", info.solver, s->direct ? "" : info.precond);
  free(b), free(x), kcl_solver_free(&s);
}

/* Whatever the first solve and one trial took, the memory decides from the third on. */
static void test_settled(kcl_context *ctx) {
  static const char *const all[] = {"poisson2d:120", "jump2d:100", "convection:90", "aniso2d:100",
                                    "heatsink:60"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char how[64], settled[64] = "";
    kcl_csr *A = NULL;
    CHECK(!kcl_generate(ctx, all[i], &A, NULL));
    for (int k = 0; k < SOLVES; k++) {
      solve_once(ctx, all[i], A, how);
      if (k == SETTLED) memcpy(settled, how, sizeof settled);
      CHECKF(k <= SETTLED || !strcmp(how, settled), "%s, solve %d: %s, not %s", all[i], k + 1, how,
             settled);
    }
    kcl_csr_free(&A);
  }
}

/* A and B in blocks on the diagonal. */
static kcl_csr *join(kcl_context *ctx, const kcl_csr *A, const kcl_csr *B) {
  kcl_csr *C = NULL;
  CHECK(!kcl_csr_create(ctx, A->rows + B->rows, A->cols + B->cols, A->nnz + B->nnz, KCL_D, &C));
  memcpy(C->row_ptr, A->row_ptr, (size_t)A->rows * sizeof *A->row_ptr);
  for (int64_t i = 0; i <= B->rows; i++) C->row_ptr[A->rows + i] = A->nnz + B->row_ptr[i];
  memcpy(C->col, A->col, (size_t)A->nnz * sizeof *A->col);
  for (int64_t k = 0; k < B->nnz; k++) C->col[A->nnz + k] = (int32_t)A->cols + B->col[k];
  memcpy(C->val, A->val, (size_t)A->nnz * sizeof(double));
  memcpy((double *)C->val + A->nnz, B->val, (size_t)B->nnz * sizeof(double));
  return C;
}

/* Convection in a part of the rows alone: sa promises few iterations and does not converge. The solve goes on with amg, and the next one
 * begins with it. */
static void test_promise(kcl_context *ctx) {
  kcl_csr *convection = NULL, *poisson = NULL;
  char how[64];
  CHECK(!kcl_generate(ctx, "convection:600", &convection, NULL) &&
        !kcl_generate(ctx, "poisson2d:600", &poisson, NULL));
  kcl_csr *A = join(ctx, convection, poisson);
  for (int k = 0; k < 2; k++) {
    solve_once(ctx, "convection and diffusion", A, how);
    CHECKF(!strcmp(how, "idr amg"), "solve %d: %s", k + 1, how);
  }
  kcl_candidate_info list[MOST];
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  int count = 0;
  CHECK(!kcl_setup(ctx, A, &o, &s) && !kcl_solver_candidates(s, MOST, list, &count));
  const kcl_candidate_info *sa = found(list, count, "idr", "sa");
  CHECK(sa && sa->failed);
  kcl_solver_free(&s);
  kcl_csr_free(&A), kcl_csr_free(&convection), kcl_csr_free(&poisson);
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
  char folder[] = "/tmp/krylocl-candidates-XXXXXX", command[100];
  kcl_context *ctx = NULL;
  if (!mkdtemp(folder) || setenv("KRYLOCL_CACHE", folder, 1)) return 1;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0)))
    return check_report();
  test_list(ctx), test_weak_couplings(ctx), test_network(ctx), test_arguments(ctx),
      test_memory(ctx), test_settled(ctx), test_promise(ctx);
  kcl_context_free(&ctx);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
  return check_report();
}
