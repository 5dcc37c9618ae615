/* Least squares with matrices that are not square, on several ranks: b is divided as the rows and x as the columns. Answers and
 * iterations are those of one process, and the gradient is recomputed here; what needs a square matrix is refused.
 * usage: rectangle_mpi [DEVICE]     default cpu */
#include "krylocl_mpi.h"
#include "tests/calls.h"
#include "tests/mpi/totals.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

static int rank, ranks;
static kcl_context *ctx, *one;

/* A band along the diagonal from corner to corner, random values; the largest in the middle. */
static kcl_csr *matrix(int64_t rows, int64_t cols, kcl_type type) {
  kcl_csr *A = NULL;
  int64_t at = 0;
  unsigned seed = 1;
  CHECKF(!kcl_csr_create(one, rows, cols, rows * 5, type, &A), "%s", kcl_error());
  for (int64_t i = 0; i < rows; i++) {
    const int64_t middle = i * (cols - 1) / (rows > 1 ? rows - 1 : 1);
    for (int64_t j = middle - 2; j <= middle + 2; j++) {
      double z[2] = {j == middle ? 4 : 0, 0};
      if (j < 0 || j >= cols) continue;
      for (int q = 0; q < 2; q++) z[q] += (seed = seed * 1664525 + 1013904223) / 4294967296.0 - 0.5;
      A->col[at] = (int32_t)j;
      if (type == KCL_D)
        ((double *)A->val)[at++] = z[0];
      else
        memcpy((number *)A->val + at++, z, sizeof z);
    }
    A->row_ptr[i + 1] = at;
  }
  A->nnz = at;
  return A;
}

static number at(kcl_type t, const void *v, int64_t i) {
  return t == KCL_D ? ((const double *)v)[i] : ((const number *)v)[i];
}

/* |A^H (b - A x)| / |A^H b|, by plain loops. */
static double gradient(const kcl_csr *A, const void *b, const void *x) {
  number *g = calloc((size_t)A->cols, sizeof *g), *h = calloc((size_t)A->cols, sizeof *h);
  double gg = 0, hh = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    number r = at(A->type, b, i);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      r -= at(A->type, A->val, k) * at(A->type, x, A->col[k]);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      g[A->col[k]] += conj(at(A->type, A->val, k)) * r;
      h[A->col[k]] += conj(at(A->type, A->val, k)) * at(A->type, b, i);
    }
  }
  for (int64_t j = 0; j < A->cols; j++)
    gg += creal(g[j] * conj(g[j])), hh += creal(h[j] * conj(h[j]));
  free(g), free(h);
  return sqrt(gg / hh);
}

/* Own rows of A, from `first` on. */
static kcl_csr *rows_of(const kcl_csr *A, int64_t first, int64_t end) {
  const size_t size = kcl_type_size(A->type);
  const int64_t from = A->row_ptr[first], n = A->row_ptr[end] - from;
  kcl_csr *own = NULL;
  CHECKF(!kcl_csr_create(one, end - first, A->cols, n, A->type, &own), "%s", kcl_error());
  for (int64_t i = 0; i <= own->rows; i++) own->row_ptr[i] = A->row_ptr[first + i] - from;
  memcpy(own->col, A->col + from, (size_t)n * sizeof *own->col);
  memcpy(own->val, (char *)A->val + (size_t)from * size, (size_t)n * size);
  return own;
}

/* ---------------------------------------------------------------- a solve */

enum { COLUMNS = 2 };

typedef struct solved {
  const char *name;
  const kcl_csr *A;
  kcl_options o;
  char *b, *x; /* [COLUMNS] whole, on every rank */
  kcl_report alone[COLUMNS];
} solved;

static void check_answers(const solved *s, const char *x, const kcl_report *r) {
  const size_t size = kcl_type_size(s->A->type);
  for (int j = 0; j < COLUMNS; j++) {
    const char *b = s->b + (size_t)(j * s->A->rows) * size,
               *own = x + (size_t)(j * s->A->cols) * size;
    const int64_t apart = llabs(r[j].iterations - s->alone[j].iterations);
    CHECKF(r[j].converged || r[j].least_squares, "%s: %s", s->name, kcl_reason_text(r[j].reason));
    CHECKF(r[j].reason == s->alone[j].reason, "%s: %s, alone %s", s->name,
           kcl_reason_text(r[j].reason), kcl_reason_text(s->alone[j].reason));
    CHECKF(apart <= 2 + s->alone[j].iterations / 4, "%s: %lld iterations, alone %lld", s->name,
           (long long)r[j].iterations, (long long)s->alone[j].iterations);
    CHECKF(r[j].converged || gradient(s->A, b, own) < 1e-6, "%s: gradient %g", s->name,
           gradient(s->A, b, own));
    for (int64_t i = 0; i < s->A->cols; i++)
      CHECKF(cabs(at(s->A->type, own, i) -
                  at(s->A->type, s->x + (size_t)(j * s->A->cols) * size, i)) < 1e-6,
             "%s: x %lld", s->name, (long long)i);
  }
}

/* Own elements [first, first + n) of each column, of `all`, to the rank or back. */
static void copy(char *own, int64_t n, char *whole, int64_t first, int64_t all, size_t size,
                 bool back) {
  for (int j = 0; j < COLUMNS; j++) {
    char *a = own + (size_t)(j * n) * size, *w = whole + (size_t)(j * all + first) * size;
    memcpy(back ? w : a, back ? a : w, (size_t)n * size);
  }
}

/* Each rank has its rows of A and b, and its elements of x. */
static void solve_rows(const solved *s) {
  const kcl_csr *A = s->A;
  const size_t size = kcl_type_size(A->type);
  const int64_t first = A->rows * rank / ranks, end = A->rows * (rank + 1) / ranks;
  kcl_mpi_part part = {.A = rows_of(A, first, end)};
  kcl_mpi_share *list = NULL;
  kcl_solver *m = NULL;
  kcl_report r[COLUMNS];
  int count;
  int64_t columns = 0;
  char *b = calloc(COLUMNS * (size_t)A->rows, size), *x = calloc(COLUMNS * (size_t)A->cols, size),
       *whole = calloc(COLUMNS * (size_t)A->cols, size);
  copy(b, end - first, s->b, first, A->rows, size, false);
  CHECKF(!kcl_mpi_setup_part(ctx, MPI_COMM_WORLD, &part, &s->o, &m), "%s: %s", s->name,
         kcl_error());
  CHECK(!kcl_mpi_shares(m, &list, &count));
  for (int p = 0; p < count; columns += list[p++].columns)
    CHECKF(list[p].first_column == columns, "%s: first column of %d", s->name, p);
  CHECKF(columns == A->cols, "%s: %lld columns", s->name, (long long)columns);
  CHECKF(!kcl_solve_many(m, COLUMNS, b, x, r), "%s: %s", s->name, kcl_error());
  copy(x, list[rank].columns, whole, list[rank].first_column, A->cols, size, true);
  MPI_Allreduce(MPI_IN_PLACE, whole, (int)(COLUMNS * A->cols * (int64_t)(size / 8)), MPI_DOUBLE,
                MPI_SUM, MPI_COMM_WORLD); /* the others' parts are 0 */
  check_answers(s, whole, r);
  CHECKF(!kcl_solve_many(m, COLUMNS, b, x, r), "%s: %s", s->name, kcl_error());
  CHECKF(r[0].iterations <= 1, "%s: %lld iterations from the answer", s->name,
         (long long)r[0].iterations);
  free(list), free(b), free(x), free(whole), kcl_csr_free(&part.A), kcl_solver_free(&m);
}

static void solve_root(const solved *s) {
  const size_t size = kcl_type_size(s->A->type);
  kcl_solver *m = NULL;
  kcl_report r[COLUMNS];
  char *x = calloc(COLUMNS * (size_t)s->A->cols, size);
  CHECKF(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : s->A, KCL_MPI_ROOT, &s->o, &m), "%s: %s",
         s->name, kcl_error());
  CHECKF(!kcl_solve_many(m, COLUMNS, rank ? NULL : s->b, rank ? NULL : x, r), "%s: %s", s->name,
         kcl_error());
  if (!rank) check_answers(s, x, r);
  kcl_solver_free(&m), free(x);
}

static void shape(int64_t rows, int64_t cols, kcl_type type, const char *solver,
                  const char *precond, const char *format) {
  static char name[100];
  kcl_csr *A = matrix(rows, cols, type);
  const size_t size = kcl_type_size(type);
  solved s = {.name = name, .A = A, .o = kcl_defaults};
  kcl_solver *alone = NULL;
  snprintf(name, sizeof name, "%s %s %s %lld x %lld type %c", solver, precond, format,
           (long long)rows, (long long)cols, kcl_type_letter(type));
  s.o.solver = solver, s.o.precond = precond, s.o.format = format, s.o.precision = type;
  s.o.nrhs = COLUMNS;
  s.b = calloc(COLUMNS * (size_t)rows, size), s.x = calloc(COLUMNS * (size_t)cols, size);
  for (int64_t i = 0; i < COLUMNS * rows * (int64_t)(size / 8); i++)
    ((double *)(void *)s.b)[i] = sin((double)i) + 2;
  CHECKF(!kcl_setup(one, A, &s.o, &alone) && !kcl_solve_many(alone, COLUMNS, s.b, s.x, s.alone),
         "%s: %s", name, kcl_error());
  solve_root(&s);
  if (ranks > 1) solve_rows(&s);
  kcl_solver_free(&alone), kcl_csr_free(&A), free(s.b), free(s.x);
}

/* ---------------------------------------------------------------- what is refused */

static void refuse(const kcl_csr *A, const char *solver, const char *why) {
  kcl_solver *m = NULL;
  kcl_options o = kcl_defaults;
  o.solver = solver;
  const int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &m);
  CHECKF(rc && strstr(kcl_error(), why), "%s: %d, %s", why, rc, rc ? kcl_error() : "");
  kcl_solver_free(&m);
}

static void refused(void) {
  kcl_csr *A = matrix(40, 30, KCL_D), *few = matrix(40, ranks - 1, KCL_D);
  refuse(A, "gmres", "needs a square one");
  CHECK(!kcl_context_set_reproducible(ctx, 1));
  refuse(A, "auto", "reproducible sums: the matrix is 40 by 30");
  CHECK(!kcl_context_set_reproducible(ctx, 0));
  refuse(few, "lsqr", "too few");
  kcl_csr_free(&A), kcl_csr_free(&few);
}

int main(int argc, char **argv) {
  static const char *const formats[] = {"csr-scalar", "sell", "auto"};
  const char *device = argc > 1 ? argv[1] : "cpu";
  const bool native = !strcmp(device, "cpu");
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  /* In the last a rank has as many rows as columns, and another has not. */
  const int64_t shapes[][2] = {{90, 31}, {31, 90}, {51, 50},
                               {50, 51}, {48, 50}, {ranks + 1, ranks}};
  kcl_context_create(NULL, 0, &ctx), kcl_context_create(NULL, 0, &one);
  CHECKF(!kcl_mpi_select(ctx, MPI_COMM_WORLD, device), "%s", kcl_error());
  CHECKF(!kcl_select(one, "cpu", 1), "%s", kcl_error());
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int f = 0; f < (native ? 3 : 1); f++) {
      const int64_t *n = shapes[i];
      shape(n[0], n[1], KCL_D, "lsqr", "none", formats[f]);
      if (!native) continue;
      shape(n[0], n[1], KCL_D, "cgls", "none", formats[f]);
      shape(n[0], n[1], KCL_Z, "lsqr", "none", formats[f]);
      if (n[0] > n[1]) shape(n[0], n[1], KCL_Z, "cgls", "jacobi", formats[f]);
    }
  if (ranks > 1) refused();
  kcl_context_free(&ctx), kcl_context_free(&one);
  return report_of_ranks();
}
