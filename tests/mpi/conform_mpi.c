/* Conformance on several ranks: every method in every format, and every preconditioner, solves with mpirun as alone. The
 * systems are generated; each rank recomputes the residual of the whole answer with its own copy of the matrix; iteration
 * counts are those of a solve by one process, up to rounding. What cannot run on several ranks is refused by name.
 * usage: conform_mpi [DEVICE]     default cpu; on another device fewer combinations
 */
#include "krylocl_mpi.h"
#include "tests/filter.h"
#include "tests/mpi/totals.h"
#include <math.h>

static int rank, ranks;
static bool few_combinations, mixed_devices;

typedef struct problem {
  const char *kind; /* of kcl_generate */
  bool pairs, spd;  /* complex; for methods for Hermitian matrices */
} problem;
static const problem problems[] = {{"poisson2d:19", false, true},
                                   {"convection:17", false, false},
                                   {"magnetic:13", true, true},
                                   {"helmholtz:11", true, false}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

typedef struct host { /* the whole system, on every rank */
  kcl *ctx, *alone;
  kcl_csr *A;
  kcl_dense *b;
  int64_t n;
  size_t size;
} host;

static const char *words(const kcl_options *o, const char *kind) {
  static char text[160];
  snprintf(text, sizeof text, "%s %s %s %s, type %c, %d ranks", o->solver, o->precond, o->format,
           kind, kcl_type_letter(o->precision), ranks);
  return text;
}

/* |b - A x| / |b|, of all rows, by plain loops in long double. */
static double residual(const host *h, const double *b, const double *x) {
  const int parts = kcl_type_complex(h->A->type) ? 2 : 1;
  const double *a = h->A->val;
  long double rr = 0, bb = 0;
  for (int64_t i = 0; i < h->n; i++) {
    long double r[2] = {b[parts * i], parts == 2 ? b[2 * i + 1] : 0};
    bb += r[0] * r[0] + r[1] * r[1];
    for (int64_t k = h->A->row_ptr[i]; k < h->A->row_ptr[i + 1]; k++) {
      const int64_t j = h->A->col[k];
      const long double are = a[parts * k], aim = parts == 2 ? a[2 * k + 1] : 0, xre = x[parts * j],
                        xim = parts == 2 ? x[2 * j + 1] : 0;
      r[0] -= are * xre - aim * xim, r[1] -= are * xim + aim * xre;
    }
    rr += r[0] * r[0] + r[1] * r[1];
  }
  return (double)sqrtl(rr / bb);
}

/* Rounding moves the step at which a residual passes the target by at most one where it falls smoothly. Recurrences with
 * shadow vectors amplify it: in float it decides after how many steps they claim convergence, and whether that holds. */
static bool same_count(const kcl_options *o, int64_t several, int64_t one) {
  static const char *const smooth[] = {"cg", "cg-single", "minres", "gmres"};
  const int64_t apart = several > one ? several - one : one - several;
  for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++)
    if (!strcmp(o->solver, smooth[i])) return apart <= 1;
  const bool single = o->precision == KCL_S || o->precision == KCL_C;
  return single || apart <= 2 + one / 4;
}

/* Is M the same on any number of ranks? The others are block diagonal, one block per rank, and of a positive definite matrix the
 * condition then is at most that number times as large as that of the best block diagonal M, I among them (Demmel 1983). 2: blocks
 * are not solved exactly. Without symmetry there is no bound. */
static bool is_whole(const char *precond) {
  static const char *const list[] = {"none", "jacobi", "chebyshev"};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (!strcmp(precond, list[i])) return true;
  return false;
}

static bool few_enough(const kcl_options *o, int64_t several, int64_t one, int64_t plain) {
  if (ranks == 1) return several == one;
  if (is_whole(o->precond)) return same_count(o, several, one);
  return plain < 0 || (double)several <= 2 * sqrt(ranks) * (double)plain;
}

/* Iterations of a solve by one process; -1: it does not converge there, or is refused. */
static int64_t alone(const host *h, const kcl_options *o) {
  kcl_solver *s = NULL;
  kcl_report r = {0};
  double *x = calloc((size_t)h->n, h->size);
  int rc = kcl_setup(h->alone, h->A, o, &s);
  if (!rc) rc = kcl_solve(s, h->b->val, x, &r);
  kcl_solver_free(&s);
  free(x);
  return !rc && r.converged ? r.iterations : -1;
}

static void check_shares(kcl_mpi_solver *s, const host *h, const char *kind) {
  kcl_mpi_share *list;
  int count;
  int64_t rows = 0, nonzeros = 0, halo = 0, sends = 0;
  double all = 0;
  if (!CHECKF(!kcl_mpi_shares(s, &list, &count) && count == ranks, "%s: shares", kind)) return;
  for (int p = 0; p < count; p++) {
    CHECKF(list[p].first_row == rows && list[p].rows > 0, "%s: rows of rank %d", kind, p);
    rows += list[p].rows, nonzeros += list[p].nonzeros;
    halo += list[p].halo, sends += list[p].sends, all += list[p].share;
  }
  CHECKF(rows == h->n && nonzeros == h->A->nnz && halo == sends && fabs(all - 1) < 1e-12,
         "%s: sums of the shares", kind);
  free(list);
}

static int64_t alone_without(const host *h, const kcl_options *o) {
  kcl_options plain = *o;
  plain.precond = "none";
  return strcmp(o->solver, "cg") ? -1 : alone(h, &plain);
}

static void solve(const host *h, const kcl_options *o, const char *kind, kcl_mpi_layout layout,
                  const kcl_csr *A, int64_t first) {
  const int64_t expected = alone(h, o), own = layout == KCL_MPI_ROWS ? A->rows : h->n;
  const bool root = layout == KCL_MPI_ROOT;
  kcl_mpi_solver *s = NULL;
  kcl_report r = {0};
  double *x = calloc((size_t)h->n, h->size), *whole = calloc((size_t)h->n, h->size);
  int rc = kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, A, layout, o, &s);
  if (expected < 0) {
    if (rank == 0 && rc) skip("%s: %s", words(o, kind), kcl_error(h->ctx));
    goto done;
  }
  if (!CHECKF(!rc, "%s: %s", words(o, kind), kcl_error(h->ctx))) goto done;
  check_shares(s, h, words(o, kind));
  const char *b = (const char *)h->b->val + (root ? 0 : (size_t)first * h->size);
  rc = kcl_mpi_solve(s, root && rank ? NULL : b, root && rank ? NULL : x, &r);
  if (!CHECKF(!rc, "%s: %s", words(o, kind), kcl_error(h->ctx))) goto done;
  if (root) {
    memcpy(whole, x, (size_t)h->n * h->size);
    MPI_Bcast(whole, (int)(h->n * (int64_t)h->size), MPI_BYTE, 0, MPI_COMM_WORLD);
  } else {
    memcpy((char *)whole + (size_t)first * h->size, x, (size_t)own * h->size);
    MPI_Allreduce(MPI_IN_PLACE, whole, (int)(h->n * (int64_t)(h->size / sizeof *whole)), MPI_DOUBLE,
                  MPI_SUM, MPI_COMM_WORLD); /* the others' parts are 0 */
  }
  const double res = residual(h, h->b->val, whole);
  CHECKF(r.converged && r.history_size == r.iterations + 1, "%s: %s after %lld", words(o, kind),
         kcl_reason_text(r.reason), (long long)r.iterations);
  CHECKF(res <= o->tol * 1.000001, "%s: claims %g, has %g", words(o, kind), o->tol, res);
  CHECKF(fabs(res - r.true_relative_residual) <= 1e-6 * res + 1e-15,
         "%s: certificate says %g, it is %g", words(o, kind), r.true_relative_residual, res);
  CHECKF(few_enough(o, r.iterations, expected, is_whole(o->precond) ? 0 : alone_without(h, o)),
         "%s: %lld iterations, alone %lld", words(o, kind), (long long)r.iterations,
         (long long)expected);
done:
  kcl_mpi_solver_free(&s);
  free(x), free(whole);
}

/* This rank's block, of unequal lengths. */
static kcl_csr rows_of(const host *h, int64_t *first, int64_t **row_ptr) {
  const int64_t all = (int64_t)ranks * (ranks + 1) / 2, from = h->n * rank * (rank + 1) / 2 / all,
                to = h->n * (rank + 1) * (rank + 2) / 2 / all, at = h->A->row_ptr[from];
  kcl_csr own = *h->A;
  *row_ptr = malloc((size_t)(to - from + 1) * sizeof **row_ptr);
  for (int64_t i = from; i <= to; i++) (*row_ptr)[i - from] = h->A->row_ptr[i] - at;
  own.rows = to - from, own.nnz = h->A->row_ptr[to] - at, own.row_ptr = *row_ptr;
  own.col = h->A->col + at, own.val = (char *)h->A->val + (size_t)at * h->size;
  *first = from;
  return own;
}

static bool least_squares(const char *solver) {
  return !strcmp(solver, "cgls") || !strcmp(solver, "lsqr");
}
static kcl_options options_for(const problem *p, const char *solver, const char *format, int turn) {
  static const kcl_type real[] = {KCL_D, KCL_S}, pairs[] = {KCL_Z, KCL_C};
  kcl_options o = kcl_defaults;
  o.solver = solver, o.format = format, o.precond = "none", o.no_direct = true;
  o.precision = (p->pairs ? pairs : real)[turn % 2];
  o.tol = turn % 2 ? 1e-4 : 1e-8;
  return o;
}

static bool fits(const host *h, const problem *p, const char *solver) {
  kcl_options o = options_for(p, solver, "csr-scalar", 0);
  kcl_solver *s = NULL;
  int rc = kcl_setup(h->alone, h->A, &o, &s);
  kcl_solver_free(&s);
  return !rc;
}

/* Each method in each format; on a device, which compiles what it runs, a few, and on many ranks they take turns. */
static void methods(const host *h, const problem *p) {
  const int number = (int)(p - problems);
  const int solvers = kcl_list_size(KCL_SOLVERS), formats = kcl_list_size(KCL_FORMATS);
  for (int i = 0; i < solvers; i++) {
    const char *solver = kcl_list(KCL_SOLVERS, i).name;
    if (!wanted_solver(solver) || !fits(h, p, solver)) continue;
    for (int f = 0; f < formats; f++) {
      if (few_combinations && ((i + number) % 2 || f != (5 * i + 7 * number) % formats)) continue;
      if (ranks > 2 && (i + f + number) % 3) continue;
      kcl_options o = options_for(p, solver, kcl_list(KCL_FORMATS, f).name, i + f);
      if (!wanted_format(o.format)) continue;
      solve(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
    }
  }
}

/* Each preconditioner that suits; on a device, which compiles what it runs, one or some of each kind. */
static void preconditioners(const host *h, const problem *p) {
  static const char *const kinds[] = {"chebyshev", "ic", "amg"};
  const size_t count = getenv("KRYLOCL_THOROUGH") ? 3 : 1;
  for (int i = 0; i < kcl_list_size(KCL_PRECONDS); i++) {
    kcl_options o = options_for(p, p->spd ? "cg" : "gmres", "csr-scalar", 0);
    bool out = few_combinations;
    o.precond = kcl_list(KCL_PRECONDS, i).name;
    for (size_t k = 0; k < count && p == problems; k++) out = out && strcmp(o.precond, kinds[k]);
    if (!out && alone(h, &o) >= 0) solve(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
    o.solver = i % 2 ? "bicg" : "lsqr"; /* M^-H, and M for A^H A */
    if (!few_combinations && alone(h, &o) >= 0)
      solve(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
  }
}

/* Near-null vectors, here constants, go to the ranks with the rows of A; of another length they are refused. */
static void near_null(const host *h, const problem *p) {
  kcl_options o = options_for(p, "cg", "csr-scalar", 0);
  kcl_dense *ones = NULL;
  kcl_mpi_solver *s = NULL;
  CHECK(!kcl_dense_create(h->ctx, h->n, 1, KCL_D, &ones));
  for (int64_t i = 0; i < h->n; i++) ones->val[i] = 1;
  o.precond = "sa", o.near_null = ones;
  solve(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
  ones->rows--;
  int rc = kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, rank ? NULL : h->A, KCL_MPI_ROOT, &o, &s);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(h->ctx), "near-null"), "too short: %d, %s", rc,
         kcl_error(h->ctx));
  kcl_mpi_solver_free(&s), kcl_dense_free(&ones);
}

static void blocks(const host *h, const problem *p) {
  int64_t first, *row_ptr;
  const kcl_csr own = rows_of(h, &first, &row_ptr);
  kcl_options o = options_for(p, "auto", "auto", 0);
  o.precond = "auto";
  solve(h, &o, p->kind, KCL_MPI_ROWS, &own, first);
  free(row_ptr);
}

/* Elements exchanged per product. */
static int64_t volume(const host *h, const kcl_options *o, const char *partition) {
  kcl_mpi_solver *s = NULL;
  kcl_mpi_share *list = NULL;
  int64_t all = 0;
  int count = 0;
  kcl_mpi_set_partition(h->ctx, partition);
  CHECKF(!kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, rank ? NULL : h->A, KCL_MPI_ROOT, o, &s) &&
             !kcl_mpi_shares(s, &list, &count),
         "%s: %s", partition, kcl_error(h->ctx));
  for (int p = 0; p < count; p++) all += list[p].halo;
  free(list), kcl_mpi_solver_free(&s);
  return all;
}

/* Parts of METIS: the caller's numbers, also where every rank has rows already, and fewer elements exchanged than between slabs of a
 * square grid: four squares of it have 4 n / 2 elements on each side of their borders, four slabs 6 n. */
static void parts(const host *h, const problem *p) {
  int64_t first, *row_ptr;
  const kcl_csr own = rows_of(h, &first, &row_ptr);
  const kcl_options o = options_for(p, p->spd ? "cg" : "gmres", "csr-scalar", 0);
  const int rc = kcl_mpi_set_partition(h->ctx, "metis");
  if (rc) {
    if (!rank) skip("partition metis: %s", kcl_error(h->ctx));
    goto done;
  }
  solve(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
  solve(h, &o, p->kind, KCL_MPI_ROWS, &own, first);
  if (p == problems && ranks == 4) CHECK(volume(h, &o, "metis") < volume(h, &o, "rows"));
done:
  kcl_mpi_set_partition(h->ctx, NULL);
  free(row_ptr);
}

enum { COLUMNS = 5 };

/* Right-hand sides and answers, column by column. */
typedef struct many {
  size_t n; /* doubles of a column */
  double *B, *X;
  kcl_report report[COLUMNS];
} many;

/* The last column is 0; the others end at different times and have scales of their own. */
static many many_columns(const host *h) {
  const size_t parts = h->size / sizeof(double), n = (size_t)h->n * parts;
  many m = {.n = n, .B = calloc(COLUMNS * n, sizeof *m.B), .X = calloc(COLUMNS * n, sizeof *m.X)};
  const double *b = h->b->val;
  for (size_t j = 0; j < COLUMNS - 1; j++)
    for (size_t i = 0; i < n; i++)
      m.B[j * n + i] = j == 1 ? 1 : ldexp(b[(i + 7 * j * parts) % n], 9 * (int)j);
  return m;
}

static void free_columns(many *m) { free(m->B), free(m->X); }

/* X = A^-1 B, so many columns at once; both on rank 0. */
static void solve_columns(const host *h, kcl_options o, int at_once, MPI_Comm comm, many *m) {
  const bool root = comm == MPI_COMM_SELF || !rank;
  kcl_mpi_solver *s = NULL;
  kcl_setup_info info = {.nrhs = 0};
  o.nrhs = at_once;
  int rc = kcl_mpi_setup(h->ctx, comm, root ? h->A : NULL, KCL_MPI_ROOT, &o, &s);
  kcl_mpi_solver_info(s, &info);
  if (!rc) rc = kcl_mpi_solve_many(s, COLUMNS, root ? m->B : NULL, root ? m->X : NULL, m->report);
  CHECKF(!rc, "%s, %d at once: %s", words(&o, "columns"), at_once, kcl_error(h->ctx));
  CHECKF((info.nrhs > 1) == (at_once > 1 && !mixed_devices), "%s: %d at once, asked for %d",
         words(&o, "columns"), info.nrhs, at_once);
  for (int j = 0; j < COLUMNS && !rc; j++)
    CHECKF(m->report[j].converged, "%s: column %d: %s", words(&o, "columns"), j,
           kcl_reason_text(m->report[j].reason));
  kcl_mpi_solver_free(&s);
}

/* A column of several at once and alone: the same iterations, and a certificate that holds. */
static void check_column(const host *h, const kcl_options *o, const char *kind, const many *four,
                         const many *one, int j) {
  const int64_t together = four->report[j].iterations, alone = one->report[j].iterations;
  const size_t at = (size_t)j * four->n;
  CHECKF(few_combinations ? same_count(o, together, alone) : together == alone,
         "%s: column %d: %lld iterations together, %lld alone", words(o, kind), j,
         (long long)together, (long long)alone);
  if (rank || j == COLUMNS - 1) return;
  const double res = residual(h, four->B + at, four->X + at);
  CHECKF(res <= o->tol * 1.000001 &&
             fabs(res - four->report[j].true_relative_residual) <= 1e-6 * res + 1e-15,
         "%s: column %d: %g, its certificate says %g", words(o, kind), j, res,
         four->report[j].true_relative_residual);
}

/* Several right-hand sides at once, one of them 0: natively each has the bits of a solve alone. */
static void columns(const host *h, const problem *p, const char *solver) {
  kcl_options o = options_for(p, solver, "csr-scalar", 0);
  many one = many_columns(h), four = many_columns(h);
  o.precond = p->spd ? "jacobi" : "none";
  solve_columns(h, o, 1, MPI_COMM_WORLD, &one), solve_columns(h, o, 4, MPI_COMM_WORLD, &four);
  for (int j = 0; j < COLUMNS; j++) check_column(h, &o, p->kind, &four, &one, j);
  if (!few_combinations)
    CHECKF(rank || !memcmp(one.X, four.X, COLUMNS * one.n * sizeof *one.X),
           "%s: bits of 4 columns at once", words(&o, p->kind));
  free_columns(&one), free_columns(&four);
}

/* Reproducible sums of three columns at once: the bits of each rank alone. */
static void reproducible_columns(const host *h, const problem *p, const char *solver) {
  const kcl_options o = options_for(p, solver, "csr-scalar", 0);
  many one = many_columns(h), all = many_columns(h);
  if (mixed_devices || h->n <= 64 * ranks) goto done; /* refused: same_bits() */
  kcl_mpi_set_reproducible(h->ctx, 1);
  solve_columns(h, o, 3, MPI_COMM_SELF, &one), solve_columns(h, o, 3, MPI_COMM_WORLD, &all);
  kcl_mpi_set_reproducible(h->ctx, 0);
  CHECKF(rank || !memcmp(one.X, all.X, COLUMNS * one.n * sizeof *one.X),
         "%s: other bits of 3 columns at once", words(&o, p->kind));
done:
  free_columns(&one), free_columns(&all);
}

/* Nearly A = -A^H, but not so that lsqr would be taken at once: the methods that come first break down or come no nearer, lsqr
 * solves it. So the last way of the plan is reached on all ranks, and with it A^H. */
static void next_ways(kcl *ctx) {
  enum { ROWS = 60 };
  const int all = ROWS * ranks;
  kcl_mpi_solver *s = NULL;
  kcl_csr *A = NULL;
  kcl_report r = {0};
  kcl_options o = kcl_defaults;
  double b[ROWS], x[ROWS] = {0};
  int64_t at = 0;
  CHECK(!kcl_csr_create(ctx, ROWS, all, 2 * ROWS, KCL_D, &A));
  for (int i = 0; i < ROWS; i++) {
    const int row = rank * ROWS + i;
    if (row) A->col[at] = row - 1, ((double *)A->val)[at++] = row == 1 ? -1 - 1e-12 : -1;
    if (row + 1 < all) A->col[at] = row + 1, ((double *)A->val)[at++] = 1;
    A->row_ptr[i + 1] = at, b[i] = row + 1;
  }
  A->nnz = at;
  o.format = "csr-scalar", o.precond = "none";
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROWS, &o, &s);
  if (!rc) rc = kcl_mpi_solve(s, b, x, &r);
  CHECKF(!rc && r.converged && strstr(r.changes, "continued with lsqr"), "next ways: %s; %s",
         rc ? kcl_error(ctx) : kcl_reason_text(r.reason), rc ? "" : r.changes);
  CHECK(rc || rank || fabs(x[1] - 1) < 1e-6); /* the first row */
  kcl_mpi_solver_free(&s), kcl_csr_free(&A);
}

/* The answer of the ranks of comm with reproducible sums: on rank 0, else x stays. */
static int reproduce(const host *h, const kcl_options *o, MPI_Comm comm, double *x) {
  const bool root = comm == MPI_COMM_SELF || !rank;
  kcl_mpi_solver *s = NULL;
  kcl_report r = {0};
  kcl_mpi_set_reproducible(h->ctx, 1);
  int rc = kcl_mpi_setup(h->ctx, comm, root ? h->A : NULL, KCL_MPI_ROOT, o, &s);
  kcl_mpi_set_reproducible(h->ctx, 0);
  if (!rc) rc = kcl_mpi_solve(s, root ? h->b->val : NULL, root ? x : NULL, &r);
  if (!rc) CHECKF(r.converged, "%s: %s", words(o, "reproducible"), kcl_reason_text(r.reason));
  kcl_mpi_solver_free(&s);
  return rc;
}

/* Reproducible sums: each rank alone and all together have the same bits of x. */
static void same_bits(const host *h, const kcl_options *o, const char *kind) {
  double *one = calloc((size_t)h->n, h->size), *all = calloc((size_t)h->n, h->size);
  int rc = reproduce(h, o, MPI_COMM_SELF, one);
  CHECKF(!rc, "%s: alone: %s", words(o, kind), kcl_error(h->ctx));
  rc = reproduce(h, o, MPI_COMM_WORLD, all);
  if (rc) {
    CHECKF(strstr(kcl_error(h->ctx), mixed_devices        ? "devices of one kind"
                                     : h->n <= 64 * ranks ? "blocks of reproducible sums"
                                                          : "no failure is expected"),
           "%s: %s", words(o, kind), kcl_error(h->ctx));
  } else if (!rank) {
    CHECKF(!memcmp(one, all, (size_t)h->n * h->size), "%s: other bits", words(o, kind));
  }
  free(one), free(all);
}

static void reproducible(const host *h, const problem *p) {
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) {
    const char *solver = kcl_list(KCL_SOLVERS, i).name;
    kcl_options o = options_for(p, solver, i % 2 ? "auto" : "csr-scalar", i / 2);
    o.precond = i % 3 ? "none" : "jacobi";
    if (!wanted_solver(solver) || least_squares(solver) || alone(h, &o) < 0) continue;
    if (few_combinations && i % 3 != (int)(p - problems) % 3) continue;
    same_bits(h, &o, p->kind);
  }
}

/* Rows that ranks have already must begin with blocks. */
static void between_blocks(const host *h) {
  int64_t first, *row_ptr;
  const kcl_csr own = rows_of(h, &first, &row_ptr);
  const kcl_options o = options_for(&problems[0], "cg", "csr-scalar", 0);
  const bool within = rank && first % 64; /* the blocks of so few rows */
  kcl_mpi_solver *s = NULL;
  int any = within;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  kcl_mpi_set_reproducible(h->ctx, 1);
  int rc = kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, &own, KCL_MPI_ROWS, &o, &s);
  kcl_mpi_set_reproducible(h->ctx, 0);
  const char *why = mixed_devices ? "one kind" : "begin at a multiple of 64";
  CHECKF(any ? rc == KCL_USAGE && strstr(kcl_error(h->ctx), why) : !rc,
         "rows between blocks: %d, %s", rc, kcl_error(h->ctx));
  kcl_mpi_solver_free(&s);
  free(row_ptr);
}

static void refused(const host *h, const kcl_options *o, const char *why) {
  double *x = calloc((size_t)h->n, h->size);
  int rc = reproduce(h, o, MPI_COMM_WORLD, x);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(h->ctx), why), "%s: %d, %s", why, rc,
         kcl_error(h->ctx));
  free(x);
}

/* What they exclude is refused by name. */
static void not_reproducible(const host *h, const char *solver, const char *format,
                             const char *precond, const char *why) {
  kcl_options o = options_for(&problems[0], solver, format, 0);
  o.precond = precond;
  refused(h, &o, mixed_devices ? "one kind" : why);
}

static void not_in_parts(const host *h) {
  CHECK(kcl_mpi_set_partition(h->ctx, "slabs") == KCL_USAGE);
  const kcl_options o = options_for(&problems[0], "cg", "csr-scalar", 0);
  if (!kcl_mpi_set_partition(h->ctx, "metis")) refused(h, &o, "metis: not with reproducible sums");
  kcl_mpi_set_partition(h->ctx, NULL);
}

/* Methods that differ in what crosses ranks; on a device, which compiles them, two of them for the first system. */
static void several_columns(const host *h, const problem *p) {
  static const char *const more[] = {"cg-pipelined", "idr", "gmres"};
  const char *first = p->spd ? "cg" : p->pairs ? "bicg" : "gmres";
  const bool all = !few_combinations || thorough();
  if (p == problems || all) columns(h, p, first), reproducible_columns(h, p, first);
  for (int i = 0; i < (all ? 3 : 1) && p == problems; i++) columns(h, p, more[i]);
}

static void system_of(kcl *ctx, kcl *one, const problem *p) {
  host h = {.ctx = ctx, .alone = one};
  if (!CHECK(!kcl_generate(one, p->kind, &h.A, &h.b))) return;
  h.n = h.A->rows, h.size = kcl_type_size(h.A->type);
  methods(&h, p);
  preconditioners(&h, p);
  if (!few_combinations) blocks(&h, p), parts(&h, p);
  if (p == problems && !few_combinations) near_null(&h, p);
  several_columns(&h, p);
  reproducible(&h, p);
  if (p == problems) {
    between_blocks(&h);
    not_reproducible(&h, "cg", "ell", "none", "ell: not with reproducible sums");
    not_reproducible(&h, "cg", "csr-scalar", "amg", "amg: not with reproducible sums");
    not_reproducible(&h, "lsqr", "csr-scalar", "none", "lsqr: not with reproducible sums"),
        not_in_parts(&h);
  }
  kcl_csr_free(&h.A), kcl_dense_free(&h.b);
}

/* A failure on one rank is that of all, with its number in the message. */
static void failures(kcl *ctx) {
  const int who = ranks - 1;
  kcl_mpi_solver *s = NULL;
  kcl_csr *A = NULL;
  int rc = kcl_mpi_agree(ctx, MPI_COMM_WORLD, rank == who ? KCL_INPUT : KCL_OK);
  CHECKF(rc == KCL_INPUT, "agreement: %d", rc);
  CHECKF(ranks == 1 || strstr(kcl_error(ctx), "rank "), "agreement: %s", kcl_error(ctx));
  CHECK(!kcl_csr_create(ctx, 2, 2 * ranks, 2, KCL_D, &A));
  A->row_ptr[1] = 1, A->row_ptr[2] = 2;
  A->col[0] = 2 * rank,
  A->col[1] = rank == who ? 99 : 2 * rank + 1; /* a column that is not there */
  rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROWS, NULL, &s);
  CHECKF(rc == KCL_USAGE && !s, "a column that is not there: %d, %s", rc, kcl_error(ctx));
  CHECKF(ranks == 1 || strstr(kcl_error(ctx), "rank "), "names the rank: %s", kcl_error(ctx));
  kcl_csr_free(&A);
}

/* The last rank's rows have no columns of their own, so there is no M of its block, though A is regular. */
static void fails_on_one(kcl *ctx, const char *precond) {
  kcl_mpi_solver *s = NULL;
  kcl_options o = kcl_defaults;
  kcl_csr *A = NULL;
  const int to = (rank + ranks - 1) % ranks;
  o.solver = "gmres", o.precond = precond;
  CHECK(!kcl_csr_create(ctx, 2, 2 * ranks, 4, KCL_D, &A));
  for (int i = 0; i < 2; i++) {
    const bool own = rank != ranks - 1;
    A->row_ptr[i + 1] = 2 * (i + 1);
    for (int j = 0; j < 2; j++) {
      A->col[2 * i + j] = 2 * (own ? rank : to) + j;
      ((double *)A->val)[2 * i + j] = i == j ? 2 : 1;
    }
  }
  int rc = kcl_mpi_setup(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROWS, &o, &s);
  CHECKF(rc == KCL_USAGE && !s && strstr(kcl_error(ctx), precond) &&
             strstr(kcl_error(ctx), "rank "),
         "%s of a singular block: %d, %s", precond, rc, kcl_error(ctx));
  kcl_csr_free(&A);
}

/* A device for all ranks, or one for each, between commas. */
static const char *device_of(const char *list, int number) {
  static char word[100];
  for (; number && strchr(list, ','); number--) list = strchr(list, ',') + 1;
  snprintf(word, sizeof word, "%.*s", (int)strcspn(list, ","), list);
  return word;
}

/* Shares of nonzeros by weights, of which a rank may have almost all. */
static void weights(kcl *ctx) {
  const double weight[] = {3, 1, 1e-9, 2};
  double all = 0;
  kcl_mpi_solver *s = NULL;
  kcl_mpi_share *list = NULL;
  kcl_csr *A = NULL;
  int count;
  CHECK(kcl_mpi_set_weight(ctx, -1) == KCL_USAGE && kcl_mpi_set_weight(ctx, NAN) == KCL_USAGE);
  if (ranks == 1 || ranks > 4) return;
  CHECK(!kcl_mpi_set_weight(ctx, weight[rank]) && !kcl_generate(ctx, "poisson2d:40", &A, NULL));
  CHECKF(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, NULL, &s) &&
             !kcl_mpi_shares(s, &list, &count),
         "%s", kcl_error(ctx));
  for (int p = 0; p < ranks; p++) all += weight[p];
  for (int p = 0; p < ranks && list; p++) {
    const double want = weight[p] / all, has = (double)list[p].nonzeros / (double)A->nnz;
    CHECKF(fabs(want - has) < 0.01 && list[p].rows >= 1, "rank %d has %g of the nonzeros, not %g",
           p, has, want);
  }
  free(list), kcl_mpi_solver_free(&s), kcl_csr_free(&A);
  CHECK(!kcl_mpi_set_weight(ctx, 0));
}

int main(int argc, char **argv) {
  const char *device = argc > 1 ? argv[1] : "cpu";
  kcl *ctx, *one;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  few_combinations = strcmp(device, "cpu") != 0,
  mixed_devices = strchr(device, ',') && strstr(device, "cpu");
  kcl_create(&ctx), kcl_create(&one);
  CHECKF(!kcl_mpi_select(ctx, MPI_COMM_WORLD, device_of(device, rank)), "%s", kcl_error(ctx));
  CHECKF(!kcl_select(one, "cpu", 1), "%s", kcl_error(one));
  failures(ctx), weights(ctx);
  if (ranks == 2 && !few_combinations) next_ways(ctx); /* some thousand iterations */
  if (ranks > 1 && !few_combinations)
    fails_on_one(ctx, "jacobi"), fails_on_one(ctx, "block-jacobi"), fails_on_one(ctx, "ilu");
  for (int i = 0; i < PROBLEMS && !failed; i++) system_of(ctx, one, &problems[i]);
  kcl_destroy(&ctx), kcl_destroy(&one);
  return report_of_ranks();
}
