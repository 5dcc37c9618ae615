/* Preconditioners that are given on several ranks, each a function of own rows; one that fails on one rank ends the solve on all. */
#include "tests/mpi/grid.h"

/* Without M, with it, and after an update, which keeps it. */
static void test_M(unsigned properties, const char *options, const char *method) {
  kcl_matrix *A = matrix_of_entries();
  kcl_solver *s = NULL, *plain = NULL;
  kcl_options *o = options_from("solver=cg precond=none");
  lines f = {.varies = properties & KCL_PRECOND_VARIES};
  CHECKF(!kcl_solver_create(A, NULL, o, &plain), "%s", kcl_error());
  const int64_t without = solve_checked(plain, "cg without M");
  CHECKF(!create_with_M(A, &f, properties, options, &s), "%s: %s", options, kcl_error());
  CHECKF(!strcmp(kcl_solver_text(s, "solver"), method) &&
             !strcmp(kcl_solver_text(s, "precond"), "shell"),
         "%s with %s", kcl_solver_text(s, "solver"), kcl_solver_text(s, "precond"));
  for (int step = 0; step < 2 && s; step++) {
    if (step) CHECKF(!kcl_solver_update(s, A, KCL_KEEP_NOTHING), "%s", kcl_error());
    f.calls = 0;
    const int64_t iterations = solve_checked(s, options);
    CHECKF(iterations < without && f.calls >= iterations,
           "%s: %lld iterations, without M %lld; %lld calls", options, (long long)iterations,
           (long long)without, (long long)f.calls);
  }
  kcl_options_free(&o), kcl_matrix_free(&A), kcl_solver_free(&s), kcl_solver_free(&plain);
}

/* ---------------------------------------------------------------- failures of M */

/* M fails on the last rank at one call; afterwards the solver can be used again. */
static void test_M_fails(const char *options) {
  kcl_matrix *A = matrix_of_entries();
  kcl_solver *s = NULL;
  lines f = {0};
  CHECKF(!create_with_M(A, &f, KCL_PRECOND_HERMITIAN, options, &s), "%s: %s", options, kcl_error());
  for (int64_t call = 1; call <= 7 && s; call += call == 1 ? 1 : 5) {
    f.calls = 0, f.trouble = rank == ranks - 1 ? call : 0;
    check_failed_solve(s, options, call);
  }
  f.trouble = 0;
  solve_checked(s, options);
  kcl_matrix_free(&A), kcl_solver_free(&s);
}

/* Ranks with different preconditioners set up nothing. */
static void test_M_differs(void) {
  kcl_matrix *A = matrix_of_entries();
  kcl_solver *s = NULL;
  lines f = {0};
  const bool last = rank == ranks - 1;
  const unsigned differ = KCL_PRECOND_HERMITIAN | (last ? KCL_PRECOND_VARIES : 0u);
  CHECKF(create_with_M(A, &f, differ, "solver=auto", &s) == KCL_USAGE && !s &&
             strstr(kcl_error(), "whether it varies"),
         "%s", kcl_error());
  CHECKF(last ? kcl_solver_create(A, NULL, NULL, &s) == KCL_USAGE
              : create_with_M(A, &f, 0, "", &s) == KCL_USAGE,
         "%s", kcl_error());
  CHECK(!s && strstr(kcl_error(), "preconditioner"));
  kcl_matrix_free(&A);
}

int main(int argc, char **argv) {
  const char *const *methods;
  const int count = methods_for(argc, argv, &methods);
  if (begin_ranks(argc, argv)) {
    test_M(KCL_PRECOND_HERMITIAN, "solver=cg", "cg");
    if (count > 2) {
      test_M(KCL_PRECOND_HERMITIAN | KCL_PRECOND_VARIES, "", "fcg");
      test_M(KCL_PRECOND_VARIES, "solver=fgmres restart=40", "fgmres");
    }
    for (int i = 0; i < count; i++) test_M_fails(methods[i]);
    if (ranks > 1) test_M_differs();
  }
  kcl_context_free(&c);
  return report_of_ranks();
}
