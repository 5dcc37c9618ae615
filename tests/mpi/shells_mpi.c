/* Functions of the caller's on several ranks: a preconditioner of own rows. Solutions are checked by plain loops over the whole grid; a
 * function that fails on one rank ends the solve on all.
 * usage: mpirun -n N shells_mpi [DEVICE] */
#include "krylocl_mpi.h"
#include "tests/mpi/totals.h"
#include "tests/tol.h"
#include <math.h>
#include <string.h>

enum { SIDE = 24, N = SIDE * SIDE, MOST = 5 * N };
static const double CENTRE = 4.1;

static int rank, ranks;
static int64_t first, end; /* own rows: whole lines of the grid */
static kcl_context *c;

/* Element i of A x, the five-point stencil, from the whole x. */
static double product_at(const double *x, int64_t i) {
  return CENTRE * x[i] - (i >= SIDE ? x[i - SIDE] : 0) - (i < N - SIDE ? x[i + SIDE] : 0) -
         (i % SIDE ? x[i - 1] : 0) - ((i + 1) % SIDE ? x[i + 1] : 0);
}

/* |b - A x| / |b| of the whole grid from own elements of x. */
static double residual_of(const double *b, const double *own) {
  double x[N] = {0}, all[N], rr = 0, bb = 0;
  memcpy(x + first, own, (size_t)(end - first) * sizeof *x);
  MPI_Allreduce(x, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t i = 0; i < N; i++) {
    const double r = b[i] - product_at(all, i);
    rr += r * r, bb += b[i] * b[i];
  }
  return sqrt(rr / bb);
}

static kcl_matrix *matrix_of_entries(void) {
  static int64_t row[N + 1];
  static int32_t col[MOST];
  static double val[MOST];
  kcl_matrix *A = NULL;
  int64_t k = 0;
  for (int64_t i = first; i < end; i++) {
    const int64_t near[] = {i - SIDE, i - 1, i, i + 1, i + SIDE};
    row[i - first] = k;
    for (int j = 0; j < 5; j++)
      if (near[j] >= 0 && near[j] < N && (j != 1 || i % SIDE) && (j != 3 || (i + 1) % SIDE))
        col[k] = (int32_t)near[j], val[k++] = j == 2 ? CENTRE : -1;
  }
  row[end - first] = k;
  const kcl_entries e = {.size = sizeof e,
                         .rows = end - first,
                         .cols = N,
                         .nnz = k,
                         .row = row,
                         .col = col,
                         .val = val,
                         .layout = KCL_CSR,
                         .row_bits = 64,
                         .col_bits = 32,
                         .type = 'd'};
  CHECKF(!kcl_matrix_create(c, &e, &A), "%s", kcl_error());
  return A;
}

static kcl_options *options_from(const char *text) {
  kcl_options *o = NULL;
  CHECKF(!kcl_options_create(&o) && !kcl_options_parse(o, text), "%s", kcl_error());
  return o;
}

/* ---------------------------------------------------------------- M */

/* z = T^-1 r, T the tridiagonal part of A in this rank's rows. */
typedef struct lines {
  int64_t calls, trouble; /* trouble: the call that fails, from 1 */
  bool varies;            /* each second call scales by 1.5 */
} lines;

static int solve_lines(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z, void *queue) {
  lines *f = user;
  double upper[N], *v = z->data;
  const double *in = r->data;
  const int64_t n = end - first;
  (void)adjoint, (void)queue;
  if (++f->calls == f->trouble) return KCL_REFUSED;
  if (r->rows != n || z->rows != n || r->place != KCL_HOST) return KCL_USAGE;
  for (int64_t i = 0; i < n; i++) {
    const double pivot = CENTRE - (i ? upper[i - 1] : 0);
    upper[i] = 1 / pivot, v[i] = (in[i] + (i ? v[i - 1] : 0)) / pivot;
  }
  for (int64_t i = n - 2; i >= 0; i--) v[i] += upper[i] * v[i + 1];
  for (int64_t i = 0; i < n && f->varies && f->calls % 2; i++) v[i] *= 1.5;
  return KCL_OK;
}

static int create_with_M(kcl_matrix *A, lines *f, unsigned properties, const char *options,
                         kcl_solver **s) {
  kcl_options *o = options_from(options);
  kcl_precond *M = NULL;
  CHECKF(!kcl_precond_create_shell(c, end - first, 'd', solve_lines, f, KCL_HOST, properties, &M),
         "%s", kcl_error());
  const int rc = kcl_solver_create(A, M, o, s);
  kcl_precond_free(&M), kcl_options_free(&o);
  return rc;
}

static int64_t solve_checked(kcl_solver *s, const char *what) {
  double b[N], x[N] = {0};
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1 + i % 5;
  CHECKF(!kcl_solve_array(s, b + first, x, &r) && r.converged, "%s: %s", what, kcl_error());
  const double residual = residual_of(b, x);
  CHECKF(residual <= tol_claim(1e-8, 0), "%s: residual %g", what, residual);
  return r.iterations;
}

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

/* ---------------------------------------------------------------- failures */

/* The status and the message are those of the last rank, on every rank. */
static void check_failed_solve(kcl_solver *s, const char *what, int64_t call) {
  double b[N], x[N] = {0};
  kcl_result r = {.size = sizeof r};
  char text[60] = "";
  for (int i = 0; i < N; i++) b[i] = 1;
  const int rc = kcl_solve_array(s, b, x, &r);
  if (ranks > 1) snprintf(text, sizeof text, "rank %d: ", ranks - 1);
  strcat(text, "the function that multiplies by ");
  CHECKF(rc == KCL_REFUSED && !strncmp(kcl_error(), text, strlen(text)), "%s, call %lld: %d, %s",
         what, (long long)call, rc, kcl_error());
}

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
  static const char *const methods[] = {"solver=cg", "solver=cg-pipelined", "solver=bicgstab",
                                        "solver=gmres", "solver=idr"};
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first = (int64_t)SIDE * rank / ranks * SIDE, end = (int64_t)SIDE * (rank + 1) / ranks * SIDE;
  if (CHECKF(!kcl_context_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "cpu", 0, &c), "%s",
             kcl_error())) {
    test_M(KCL_PRECOND_HERMITIAN, "solver=cg", "cg");
    test_M(KCL_PRECOND_HERMITIAN | KCL_PRECOND_VARIES, "", "fcg");
    test_M(KCL_PRECOND_VARIES, "solver=fgmres restart=40", "fgmres");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) test_M_fails(methods[i]);
    if (ranks > 1) test_M_differs();
  }
  kcl_context_free(&c);
  return report_of_ranks();
}
