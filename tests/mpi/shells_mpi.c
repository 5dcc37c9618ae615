/* Matrices without entries on several ranks: the function of each computes own rows and exchanges elements of x by itself. One that fails on
 * one rank ends the solve on all. */
#include "tests/mpi/grid.h"

/* y = A x, or A^H x of the transposed coefficients; the lines before and behind own rows come from the neighbours. */
typedef struct stencil {
  int64_t calls, trouble; /* as of lines */
  double x[N + 2 * SIDE]; /* own elements behind SIDE of the rank before */
} stencil;

static void exchange_lines(stencil *f, int64_t n) {
  const int before = rank ? rank - 1 : MPI_PROC_NULL,
            behind = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double *own = f->x + SIDE;
  MPI_Sendrecv(own, SIDE, MPI_DOUBLE, before, 0, own + n, SIDE, MPI_DOUBLE, behind, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(own + n - SIDE, SIDE, MPI_DOUBLE, behind, 0, f->x, SIDE, MPI_DOUBLE, before, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int apply_stencil(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y,
                         void *queue) {
  stencil *f = user;
  const int64_t n = end - first;
  const double left = adjoint ? east : west, right = adjoint ? west : east, *in = f->x;
  double *out = y->data;
  (void)queue;
  memset(f->x, 0, sizeof f->x);
  memcpy(f->x + SIDE, x->data, (size_t)n * sizeof *f->x);
  exchange_lines(f, n);
  if (++f->calls == f->trouble) return KCL_REFUSED;
  if (x->rows != n || y->rows != n || x->place != KCL_HOST) return KCL_USAGE;
  for (int64_t i = 0; i < n; i++)
    out[i] = centre * in[i + SIDE] - in[i] - in[i + 2 * SIDE] +
             (i % SIDE ? left * in[i + SIDE - 1] : 0) +
             ((i + 1) % SIDE ? right * in[i + SIDE + 1] : 0);
  return KCL_OK;
}

/* A solver of the stencil; M: as above, of own rows, or NULL. */
static kcl_solver *solver_of_stencil(stencil *f, unsigned properties, lines *M, const char *text) {
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_options *o = options_from(text);
  const int64_t n = end - first;
  CHECKF(!kcl_matrix_create_shell(c, n, n, 'd', apply_stencil, f, KCL_HOST, properties, &A), "%s",
         kcl_error());
  const int rc =
      M ? create_with_M(A, M, KCL_PRECOND_HERMITIAN, text, &s) : kcl_solver_create(A, NULL, o, &s);
  CHECKF(!rc, "%s: %s", text, kcl_error());
  kcl_matrix_free(&A), kcl_options_free(&o);
  return s;
}

enum { HERMITIAN = KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE };

/* As many iterations as with entries. */
static void test_A(const char *options) {
  static stencil f;
  kcl_matrix *A = matrix_of_entries();
  kcl_options *o = options_from(options);
  kcl_solver *s = solver_of_stencil(&f, HERMITIAN, NULL, options), *other = NULL;
  CHECKF(!kcl_solver_create(A, NULL, o, &other), "%s", kcl_error());
  const int64_t iterations = solve_checked(s, options), expected = solve_checked(other, options);
  CHECKF(llabs(iterations - expected) <= 1, "%s: %lld iterations, with entries %lld", options,
         (long long)iterations, (long long)expected);
  kcl_solver_free(&s), kcl_solver_free(&other), kcl_matrix_free(&A), kcl_options_free(&o);
}

/* A fails on the last rank at one call. */
static void test_A_fails(const char *options) {
  static stencil f;
  lines M = {0};
  kcl_solver *s = solver_of_stencil(&f, HERMITIAN, &M, options);
  for (int64_t call = 1; call <= 7 && s; call += call == 1 ? 1 : 5) {
    f.calls = 0, f.trouble = rank == ranks - 1 ? call : 0;
    check_failed_solve(s, options, call);
  }
  f.trouble = 0;
  solve_checked(s, options);
  kcl_solver_free(&s);
}

/* Methods that multiply by A^H. */
static void test_adjoint(const char *options) {
  static stencil f;
  west = -1.3, east = -0.7;
  kcl_solver *s = solver_of_stencil(&f, KCL_SHELL_ADJOINT, NULL, options);
  solve_checked(s, options);
  kcl_solver_free(&s);
  west = east = -1;
}

/* A = [2 I; I], rows 2 i and 2 i + 1 from element i of x. */
static int apply_twice(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y, void *queue) {
  const double *in = x->data;
  double *out = y->data;
  (void)user, (void)queue;
  for (int64_t i = 0; i < end - first; i++)
    if (adjoint)
      out[i] = 2 * in[2 * i] + in[2 * i + 1];
    else
      out[2 * i] = 2 * in[i], out[2 * i + 1] = in[i];
  return KCL_OK;
}

static void test_rectangle(const char *options) {
  double b[2 * N], x[N] = {0}, worst = 0;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_options *o = options_from(options);
  kcl_result r = {.size = sizeof r};
  const int64_t n = end - first;
  for (int64_t i = 0; i < 2 * n; i++) b[i] = i % 2 ? 1 : 2;
  CHECKF(!kcl_matrix_create_shell(c, 2 * n, n, 'd', apply_twice, NULL, KCL_HOST, KCL_SHELL_ADJOINT,
                                  &A) &&
             !kcl_solver_create(A, NULL, o, &s) && !kcl_solve_array(s, b, x, &r) && r.converged,
         "%s: %s", options, kcl_error());
  for (int64_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - 1));
  CHECKF(worst <= 1e-8, "%s: x differs by %g", options, worst); /* A^H A = 5 I */
  kcl_options_free(&o), kcl_matrix_free(&A), kcl_solver_free(&s);
}

/* ---------------------------------------------------------------- refused */

static void check_refused(int64_t rows, unsigned properties, const char *words) {
  static stencil f;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  CHECKF(!kcl_matrix_create_shell(c, rows, end - first, 'd', apply_stencil, &f, KCL_HOST,
                                  properties, &A),
         "%s", kcl_error());
  CHECKF(kcl_solver_create(A, NULL, NULL, &s) == KCL_USAGE && !s && strstr(kcl_error(), words),
         "instead of %s: %s", words, kcl_error());
  kcl_matrix_free(&A), kcl_solver_free(&s);
}

static void test_refused(void) {
  const int64_t n = end - first;
  const bool last = rank == ranks - 1;
  kcl_matrix *A = matrix_of_entries();
  kcl_solver *s = NULL;
  check_refused(n, last ? KCL_SHELL_ADJOINT : 0, "whether it has an adjoint");
  check_refused(n + (last ? 1 : 0) - (rank ? 0 : 1), 0, "as many of both");
  if (last)
    check_refused(n, 0, "a function on some ranks");
  else
    CHECK(kcl_solver_create(A, NULL, NULL, &s) == KCL_USAGE && !s);
  if (!kcl_mpi_set_partition(c, "metis")) {
    lines f = {0};
    check_refused(n, 0, "partition metis");
    CHECKF(create_with_M(A, &f, 0, "", &s) == KCL_USAGE && strstr(kcl_error(), "partition metis"),
           "%s", kcl_error());
  }
  kcl_mpi_set_partition(c, "rows"), kcl_matrix_free(&A);
}

int main(int argc, char **argv) {
  const char *const *methods;
  const int count = methods_for(argc, argv, &methods);
  if (begin_ranks(argc, argv)) {
    for (int i = 0; i < count; i++) test_A(methods[i]), test_A_fails(methods[i]);
    if (count > 2) test_adjoint("solver=bicg"), test_adjoint("solver=lsqr");
    test_rectangle("solver=cgls");
    if (ranks > 1) test_refused();
  }
  kcl_context_free(&c);
  return report_of_ranks();
}
