/* Conformance on several ranks: every method in every format, and every preconditioner, solves with mpirun as alone. Each rank
 * recomputes the residual of the whole answer with its own copy of the matrix; iteration counts are those of a solve by one
 * process, up to rounding.
 */
#include "tests/calls.h"
#include "tests/mpi/systems.h"

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

static void check_shares(kcl_solver *s, const host *h, const char *kind) {
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

static void solve_spread(const host *h, const kcl_options *o, const char *kind,
                         kcl_mpi_layout layout, const kcl_csr *A, int64_t first) {
  const int64_t expected = alone(h, o), own = layout == KCL_MPI_ROWS ? A->rows : h->n;
  const bool root = layout == KCL_MPI_ROOT;
  kcl_solver *s = NULL;
  kcl_report r = {0};
  double *x = calloc((size_t)h->n, h->size), *whole = calloc((size_t)h->n, h->size);
  int rc = kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, A, layout, o, &s);
  if (expected < 0) {
    if (rank == 0 && rc) skip("%s: %s", words(o, kind), kcl_error());
    goto done;
  }
  if (!CHECKF(!rc, "%s: %s", words(o, kind), kcl_error())) goto done;
  check_shares(s, h, words(o, kind));
  const char *b = (const char *)h->b->val + (root ? 0 : (size_t)first * h->size);
  rc = kcl_solve_one(s, root && rank ? NULL : b, root && rank ? NULL : x, &r);
  if (!CHECKF(!rc, "%s: %s", words(o, kind), kcl_error())) goto done;
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
  kcl_solver_free(&s);
  free(x), free(whole);
}

static bool fits(const host *h, const problem *p, const char *solver) {
  kcl_options o = options_for(p, solver, "csr-scalar", 0);
  kcl_solver *s = NULL;
  int rc = kcl_setup(h->alone, h->A, &o, &s);
  kcl_solver_free(&s);
  return !rc;
}

/* Each method in each format; on a device, which compiles what it runs, a few; on many ranks in every third, by default in
 * every seventh. */
static void methods(const host *h, const problem *p) {
  const int number = (int)(p - problems);
  const int solvers = kcl_list_size(KCL_SOLVERS), formats = kcl_list_size(KCL_FORMATS);
  for (int i = 0; i < solvers; i++) {
    const char *solver = kcl_list(KCL_SOLVERS, i).name;
    if (!wanted_solver(solver) || !fits(h, p, solver)) continue;
    for (int f = 0; f < formats; f++) {
      if (few_combinations && ((i + number) % 2 || f != (5 * i + 7 * number) % formats)) continue;
      if ((i + f + number) % (!thorough() ? 7 : ranks > 2 ? 3 : 1)) continue;
      kcl_options o = options_for(p, solver, kcl_list(KCL_FORMATS, f).name, i + f);
      if (!wanted_format(o.format)) continue;
      solve_spread(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
    }
  }
}

/* Each preconditioner that suits; on a device, which compiles what it runs, one or some of each kind; by default on many ranks
 * every third. */
static void preconditioners(const host *h, const problem *p) {
  static const char *const kinds[] = {"chebyshev", "ic", "amg"};
  const size_t count = getenv("KRYLOCL_THOROUGH") ? 3 : 1;
  for (int i = 0; i < kcl_list_size(KCL_PRECONDS); i++) {
    kcl_options o = options_for(p, p->spd ? "cg" : "gmres", "csr-scalar", 0);
    bool out = few_combinations;
    if (ranks > 2 && !thorough() && i % 3) continue;
    o.precond = kcl_list(KCL_PRECONDS, i).name;
    for (size_t k = 0; k < count && p == problems; k++) out = out && strcmp(o.precond, kinds[k]);
    if (!out && alone(h, &o) >= 0)
      solve_spread(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
    o.solver = i % 2 ? "bicg" : "lsqr"; /* M^-H, and M for A^H A */
    if (!few_combinations && alone(h, &o) >= 0)
      solve_spread(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
  }
}

/* Near-null vectors, here constants, go to the ranks with the rows of A; of another length they are refused. */
static void near_null(const host *h, const problem *p) {
  kcl_options o = options_for(p, "cg", "csr-scalar", 0);
  kcl_dense *ones = NULL;
  kcl_solver *s = NULL;
  CHECK(!kcl_dense_create(h->ctx, h->n, 1, KCL_D, &ones));
  for (int64_t i = 0; i < h->n; i++) ones->val[i] = 1;
  o.precond = "sa", o.near_null = ones;
  solve_spread(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
  ones->rows--;
  int rc = kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, rank ? NULL : h->A, KCL_MPI_ROOT, &o, &s);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), "near-null"), "too short: %d, %s", rc, kcl_error());
  kcl_solver_free(&s), kcl_dense_free(&ones);
}

static void blocks(const host *h, const problem *p) {
  int64_t first, *row_ptr;
  const kcl_csr own = rows_of(h, &first, &row_ptr);
  kcl_options o = options_for(p, "auto", "auto", 0);
  o.precond = "auto";
  solve_spread(h, &o, p->kind, KCL_MPI_ROWS, &own, first);
  free(row_ptr);
}

/* Elements exchanged per product. */
static int64_t volume(const host *h, const kcl_options *o, const char *partition) {
  kcl_solver *s = NULL;
  kcl_mpi_share *list = NULL;
  int64_t all = 0;
  int count = 0;
  kcl_mpi_set_partition(h->ctx, partition);
  CHECKF(!kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, rank ? NULL : h->A, KCL_MPI_ROOT, o, &s) &&
             !kcl_mpi_shares(s, &list, &count),
         "%s: %s", partition, kcl_error());
  for (int p = 0; p < count; p++) all += list[p].halo;
  free(list), kcl_solver_free(&s);
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
    if (!rank) skip("partition metis: %s", kcl_error());
    goto done;
  }
  solve_spread(h, &o, p->kind, KCL_MPI_ROOT, rank ? NULL : h->A, 0);
  solve_spread(h, &o, p->kind, KCL_MPI_ROWS, &own, first);
  if (p == problems && ranks == 4) CHECK(volume(h, &o, "metis") < volume(h, &o, "rows"));
done:
  kcl_mpi_set_partition(h->ctx, NULL);
  free(row_ptr);
}

/* Shares of nonzeros by weights, of which a rank may have almost all. */
static void weights(kcl_context *ctx) {
  const double weight[] = {3, 1, 1e-9, 2};
  double all = 0;
  kcl_solver *s = NULL;
  kcl_mpi_share *list = NULL;
  kcl_csr *A = NULL;
  int count;
  CHECK(kcl_mpi_set_weight(ctx, -1) == KCL_USAGE && kcl_mpi_set_weight(ctx, NAN) == KCL_USAGE);
  if (ranks == 1 || ranks > 4) return;
  CHECK(!kcl_mpi_set_weight(ctx, weight[rank]) && !kcl_generate(ctx, "poisson2d:40", &A, NULL));
  CHECKF(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, NULL, &s) &&
             !kcl_mpi_shares(s, &list, &count),
         "%s", kcl_error());
  for (int p = 0; p < ranks; p++) all += weight[p];
  for (int p = 0; p < ranks && list; p++) {
    const double want = weight[p] / all, has = (double)list[p].nonzeros / (double)A->nnz;
    CHECKF(fabs(want - has) < 0.01 && list[p].rows >= 1, "rank %d has %g of the nonzeros, not %g",
           p, has, want);
  }
  free(list), kcl_solver_free(&s), kcl_csr_free(&A);
  CHECK(!kcl_mpi_set_weight(ctx, 0));
}

static void test(const host *h, const problem *p) {
  methods(h, p);
  preconditioners(h, p);
  if (!few_combinations) blocks(h, p), parts(h, p);
  if (p == problems && !few_combinations) near_null(h, p);
}

int main(int argc, char **argv) { return conform(argc, argv, weights, test); }
