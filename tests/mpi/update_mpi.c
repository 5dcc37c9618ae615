/* kcl_solver_update on several ranks: the answer is that of the new values whatever is kept, and what is kept shows in the
 * preconditioner. */
#include "tests/mpi/grid.h"

enum { KEEPS = KCL_KEEP_PRECOND + 1 };

static double number_of(kcl_solver *s, const char *name) {
  double v;
  CHECKF(!kcl_solver_number(s, name, &v), "%s", kcl_error());
  return v;
}

/* A becomes anisotropic; iterations and rows of the preconditioner, of both solves. */
typedef struct course {
  int64_t iterations[2];
  double rows[2];
} course;

static course solve_updated(const char *options, int keep) {
  course out = {{0}, {0}};
  kcl_options *o = options_from(options);
  kcl_solver *s = NULL;
  char way[2][80];
  centre = 4.1, west = east = -1;
  kcl_matrix *A = matrix_of_entries();
  CHECKF(!kcl_solver_create(A, NULL, o, &s), "%s: %s", options, kcl_error());
  for (int step = 0; step < 2 && s; step++) {
    if (step) {
      kcl_matrix_free(&A);
      centre = 2.1, west = east = -0.01;
      A = matrix_of_entries();
      CHECKF(!kcl_solver_update(s, A, keep), "%s, keep %d: %s", options, keep, kcl_error());
    }
    out.iterations[step] = solve_checked(s, options), out.rows[step] = number_of(s, "precond_rows");
    snprintf(way[step], sizeof way[step], "%s with %s", kcl_solver_text(s, "solver"),
             kcl_solver_text(s, "precond"));
  }
  CHECKF(!strcmp(way[0], way[1]), "%s, keep %d: %s, before %s", options, keep, way[1], way[0]);
  kcl_matrix_free(&A), kcl_options_free(&o), kcl_solver_free(&s);
  return out;
}

/* kept: from this value of `keep` on the coarse levels are those of the earlier values; 0: there are no others. */
static void test_update(const char *options, int kept) {
  course of[KEEPS];
  for (int keep = 0; keep < KEEPS; keep++) {
    of[keep] = solve_updated(options, keep);
    CHECKF(of[keep].iterations[0] == of[0].iterations[0], "%s: the first solve differs", options);
    CHECKF(keep < kept ? of[keep].rows[1] == of[0].rows[1] : of[keep].rows[1] == of[keep].rows[0],
           "%s, keep %d: %g rows of all levels, before %g", options, keep, of[keep].rows[1],
           of[keep].rows[0]);
  }
  CHECKF(!kept || of[0].rows[1] != of[0].rows[0], "%s: levels of both A are alike", options);
}

/* The M of the earlier values takes more iterations. */
static void test_old_M(const char *options) {
  const course fresh = solve_updated(options, KCL_KEEP_NOTHING),
               old = solve_updated(options, KCL_KEEP_PRECOND);
  CHECKF(old.iterations[1] > fresh.iterations[1], "%s: %lld iterations with the old M, %lld",
         options, (long long)old.iterations[1], (long long)fresh.iterations[1]);
}

/* The solver goes on with the earlier values. */
static void test_refused_update(void) {
  kcl_solver *s = NULL;
  kcl_matrix *A = matrix_of_entries(), *other = NULL;
  const int64_t row[] = {0, 1};
  const int32_t col[] = {0};
  const double val[] = {1};
  const kcl_entries e = {.size = sizeof e,
                         .rows = 1,
                         .cols = N,
                         .nnz = 1,
                         .row = row,
                         .col = col,
                         .val = val,
                         .layout = KCL_CSR,
                         .row_bits = 64,
                         .col_bits = 32,
                         .type = 'd'};
  CHECKF(!kcl_solver_create(A, NULL, NULL, &s) && !kcl_matrix_create(c, &e, &other), "%s",
         kcl_error());
  CHECKF(kcl_solver_update(s, A, 7) == KCL_USAGE && strstr(kcl_error(), "keep 7"), "%s",
         kcl_error());
  kcl_matrix *given = rank == ranks - 1 ? other : A;
  CHECKF(kcl_solver_update(s, given, KCL_KEEP_CHOICES) == KCL_USAGE &&
             strstr(kcl_error(), "pattern"),
         "%s", kcl_error());
  solve_checked(s, "after updates that were refused");
  kcl_matrix_free(&A), kcl_matrix_free(&other), kcl_solver_free(&s);
}

int main(int argc, char **argv) {
  if (begin_ranks(argc, argv)) {
    test_update("solver=cg precond=none", 0), test_update("solver=cg precond=jacobi", 0);
    test_update("solver=cg precond=chebyshev", 0), test_update("solver=gmres precond=ilu", 0);
    test_update("solver=cg precond=sa", KCL_KEEP_HIERARCHY);
    test_update("solver=cg precond=amg", KCL_KEEP_HIERARCHY);
    test_old_M("solver=cg precond=ic"), test_old_M("solver=cg precond=sa");
    solve_updated("", KCL_KEEP_CHOICES), test_refused_update();
  }
  kcl_context_free(&c);
  return report_of_ranks();
}
