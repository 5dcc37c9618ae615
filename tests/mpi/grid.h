/* Programs on several ranks with functions of the caller's: a grid whose lines the ranks divide, its matrix by entries, M as a function,
 * solutions checked by plain loops over the whole grid, failures.
 * usage of each: mpirun -n N PROGRAM [DEVICE] */
#ifndef KCL_GRID_H
#define KCL_GRID_H
#include "krylocl_mpi.h"
#include "tests/mpi/totals.h"
#include "tests/tol.h"
#include <math.h>
#include <string.h>

enum { SIDE = 24, N = SIDE * SIDE, MOST = 5 * N };
static double centre = 4.1; /* the diagonal of A */
static double west = -1,
              east = -1; /* coefficients of x[i - 1] and x[i + 1]; equal: A is Hermitian */

static int rank, ranks;
static int64_t first, end; /* own rows: whole lines of the grid */
static kcl_context *c;

/* Element i of A x, the five-point stencil, from the whole x. */
static inline double product_at(const double *x, int64_t i) {
  return centre * x[i] - (i >= SIDE ? x[i - SIDE] : 0) - (i < N - SIDE ? x[i + SIDE] : 0) -
         (i % SIDE ? -west * x[i - 1] : 0) - ((i + 1) % SIDE ? -east * x[i + 1] : 0);
}

/* |b - A x| / |b| of the whole grid from own elements of x. */
static inline double residual_of(const double *b, const double *own) {
  double x[N] = {0}, all[N], rr = 0, bb = 0;
  memcpy(x + first, own, (size_t)(end - first) * sizeof *x);
  MPI_Allreduce(x, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t i = 0; i < N; i++) {
    const double r = b[i] - product_at(all, i);
    rr += r * r, bb += b[i] * b[i];
  }
  return sqrt(rr / bb);
}

static inline kcl_matrix *matrix_of_entries(void) {
  static int64_t row[N + 1];
  static int32_t col[MOST];
  static double val[MOST];
  kcl_matrix *A = NULL;
  int64_t k = 0;
  for (int64_t i = first; i < end; i++) {
    const int64_t near[] = {i - SIDE, i - 1, i, i + 1, i + SIDE};
    row[i - first] = k;
    for (int j = 0; j < 5; j++)
      if (near[j] >= 0 && near[j] < N && (j != 1 || i % SIDE) && (j != 3 || (i + 1) % SIDE)) {
        const double line[] = {-1, west, centre, east, -1};
        col[k] = (int32_t)near[j], val[k++] = line[j];
      }
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

static inline kcl_options *options_from(const char *text) {
  kcl_options *o = NULL;
  CHECKF(!kcl_options_create(&o) && !kcl_options_parse(o, text), "%s", kcl_error());
  return o;
}

/* The status and the message are those of the last rank, on every rank. */
static inline void check_failed_solve(kcl_solver *s, const char *what, int64_t call) {
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

static inline int64_t solve_checked(kcl_solver *s, const char *what) {
  double b[N], x[N] = {0};
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < N; i++) b[i] = 1 + i % 5;
  CHECKF(!kcl_solve_array(s, b + first, x, &r) && r.converged, "%s: %s", what, kcl_error());
  /* rounded like a product of 5 entries with |A| |x| / |b| <= |A| |A^-1| = 8.1 / 0.1 */
  const double doubt = tol_product(KCL_D, 5, 81), residual = residual_of(b, x);
  CHECKF(residual <= tol_claim(1e-8, doubt), "%s: residual %g", what, residual);
  return r.iterations;
}

/* ---------------------------------------------------------------- M */

/* z = T^-1 r, T the tridiagonal part of A in this rank's rows. */
typedef struct lines {
  int64_t calls, trouble; /* trouble: the call that fails, from 1 */
  bool varies;            /* each second call scales by 1.5 */
} lines;

static inline int solve_lines(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z,
                              void *queue) {
  lines *f = user;
  double upper[N], *v = z->data;
  const double *in = r->data;
  const int64_t n = end - first;
  (void)adjoint, (void)queue;
  if (++f->calls == f->trouble) return KCL_REFUSED;
  if (r->rows != n || z->rows != n || r->place != KCL_HOST) return KCL_USAGE;
  for (int64_t i = 0; i < n; i++) {
    const double pivot = centre - (i ? upper[i - 1] : 0);
    upper[i] = 1 / pivot, v[i] = (in[i] + (i ? v[i - 1] : 0)) / pivot;
  }
  for (int64_t i = n - 2; i >= 0; i--) v[i] += upper[i] * v[i + 1];
  for (int64_t i = 0; i < n && f->varies && f->calls % 2; i++) v[i] *= 1.5;
  return KCL_OK;
}

static inline int create_with_M(kcl_matrix *A, lines *f, unsigned properties, const char *options,
                                kcl_solver **s) {
  kcl_options *o = options_from(options);
  kcl_precond *M = NULL;
  CHECKF(!kcl_precond_create_shell(c, end - first, 'd', solve_lines, f, KCL_HOST, properties, &M),
         "%s", kcl_error());
  const int rc = kcl_solver_create(A, M, o, s);
  kcl_precond_free(&M), kcl_options_free(&o);
  return rc;
}

/* The device, and own rows. */
static inline bool begin_ranks(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first = (int64_t)SIDE * rank / ranks * SIDE, end = (int64_t)SIDE * (rank + 1) / ranks * SIDE;
  return CHECKF(!kcl_context_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "cpu", 0, &c), "%s",
                kcl_error());
}

/* Methods whose reductions differ; on a device most of the time is compiling. */
static inline int methods_for(int argc, char **argv, const char *const **list) {
  static const char *const methods[] = {"solver=cg", "solver=bicgstab", "solver=cg-pipelined",
                                        "solver=gmres", "solver=idr"};
  *list = methods;
  return argc > 1 && strcmp(argv[1], "cpu") ? 2 : 5;
}

#endif
