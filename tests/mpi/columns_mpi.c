/* Several right-hand sides at once on several ranks: each ends as it does alone. */
#include "tests/calls.h"
#include "tests/mpi/systems.h"

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
  kcl_solver *s = NULL;
  kcl_setup_info info = {.nrhs = 0};
  o.nrhs = at_once;
  int rc = kcl_mpi_setup(h->ctx, comm, root ? h->A : NULL, KCL_MPI_ROOT, &o, &s);
  kcl_solver_info(s, &info);
  if (!rc) rc = kcl_solve_many(s, COLUMNS, root ? m->B : NULL, root ? m->X : NULL, m->report);
  CHECKF(!rc, "%s, %d at once: %s", words(&o, "columns"), at_once, kcl_error());
  CHECKF((info.nrhs > 1) == (at_once > 1 && !mixed_devices), "%s: %d at once, asked for %d",
         words(&o, "columns"), info.nrhs, at_once);
  for (int j = 0; j < COLUMNS && !rc; j++)
    CHECKF(m->report[j].converged, "%s: column %d: %s", words(&o, "columns"), j,
           kcl_reason_text(m->report[j].reason));
  kcl_solver_free(&s);
}

/* A column of several at once and alone: the same iterations, and a certificate that holds. */
static void check_column(const host *h, const kcl_options *o, const char *kind, const many *four,
                         const many *one, int j) {
  const int64_t together = four->report[j].iterations, alone = one->report[j].iterations;
  const size_t at = (size_t)j * four->n;
  CHECKF(few_combinations ? same_count(o, together, alone) : together == alone,
         "%s: column %d: %lld iterations together, %lld alone", words(o, kind), j,
         (long long)together, (long long)alone);
  if (!mixed_devices && j == 0)
    CHECKF(four->report[j].bytes_per_iteration < one->report[j].bytes_per_iteration,
           "%s: %g bytes per iteration together, %g alone", words(o, kind),
           four->report[j].bytes_per_iteration, one->report[j].bytes_per_iteration);
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
  o.restart = p == problems ? 17 : 5; /* 17: sums of four columns exceed 512 bytes */
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
  kcl_options o = options_for(p, solver, "csr-scalar", 0);
  many one = many_columns(h), all = many_columns(h);
  o.restart = 5;
  if (mixed_devices || h->n <= 64 * ranks) goto done; /* refused: same_bits() */
  kcl_context_set_reproducible(h->ctx, 1);
  solve_columns(h, o, 3, MPI_COMM_SELF, &one), solve_columns(h, o, 3, MPI_COMM_WORLD, &all);
  kcl_context_set_reproducible(h->ctx, 0);
  CHECKF(rank || !memcmp(one.X, all.X, COLUMNS * one.n * sizeof *one.X),
         "%s: other bits of 3 columns at once", words(&o, p->kind));
done:
  free_columns(&one), free_columns(&all);
}

/* On a device, which compiles them, some methods alone. */
static bool taken(const char *solver) {
  return !few_combinations || (thorough() && wanted_solver(solver));
}

/* Methods that differ in what crosses ranks; on a device gmres with the first system alone, and reproducible sums of one real and
 * one complex system: the sums are one kernel, whatever the method. */
static void several_columns(const host *h, const problem *p) {
  static const char *const more[] = {"cg-pipelined", "idr", "gmres"};
  const char *first = p->spd ? "cg" : p->pairs ? "bicg" : "gmres";
  const bool all = !few_combinations || p == problems, sums = all || (p->pairs && !p->spd);
  if (all || (p->pairs && taken(first))) columns(h, p, first);
  if (all || (sums && taken(first))) reproducible_columns(h, p, first);
  for (int i = 0; i < 3 && p == problems; i++)
    if (!i || taken(more[i])) columns(h, p, more[i]);
}

int main(int argc, char **argv) { return conform(argc, argv, NULL, several_columns); }
