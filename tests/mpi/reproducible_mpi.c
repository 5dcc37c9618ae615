/* Reproducible sums: the bits of x do not depend on the number of ranks, and what would make them depend on it is refused by
 * name. */
#include "tests/calls.h"
#include "tests/mpi/systems.h"

static bool least_squares(const char *solver) {
  return !strcmp(solver, "cgls") || !strcmp(solver, "lsqr");
}

/* The answer of the ranks of comm with reproducible sums: on rank 0; elsewhere x is unchanged. */
static int reproduce(const host *h, const kcl_options *o, MPI_Comm comm, double *x) {
  const bool root = comm == MPI_COMM_SELF || !rank;
  kcl_solver *s = NULL;
  kcl_report r = {0};
  kcl_context_set_reproducible(h->ctx, 1);
  int rc = kcl_mpi_setup(h->ctx, comm, root ? h->A : NULL, KCL_MPI_ROOT, o, &s);
  kcl_context_set_reproducible(h->ctx, 0);
  if (!rc) rc = kcl_solve_one(s, root ? h->b->val : NULL, root ? x : NULL, &r);
  if (!rc) CHECKF(r.converged, "%s: %s", words(o, "reproducible"), kcl_reason_text(r.reason));
  kcl_solver_free(&s);
  return rc;
}

/* Reproducible sums: each rank alone and all together have the same bits of x. */
static void same_bits(const host *h, const kcl_options *o, const char *kind) {
  double *one = calloc((size_t)h->n, h->size), *all = calloc((size_t)h->n, h->size);
  int rc = reproduce(h, o, MPI_COMM_SELF, one);
  CHECKF(!rc, "%s: alone: %s", words(o, kind), kcl_error());
  rc = reproduce(h, o, MPI_COMM_WORLD, all);
  if (rc) {
    CHECKF(strstr(kcl_error(), mixed_devices        ? "devices of one kind"
                               : h->n <= 64 * ranks ? "blocks of reproducible sums"
                                                    : "no failure is expected"),
           "%s: %s", words(o, kind), kcl_error());
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
  kcl_solver *s = NULL;
  int any = within;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  kcl_context_set_reproducible(h->ctx, 1);
  int rc = kcl_mpi_setup(h->ctx, MPI_COMM_WORLD, &own, KCL_MPI_ROWS, &o, &s);
  kcl_context_set_reproducible(h->ctx, 0);
  const char *why = mixed_devices ? "one kind" : "begin at a multiple of 64";
  CHECKF(any ? rc == KCL_USAGE && strstr(kcl_error(), why) : !rc, "rows between blocks: %d, %s", rc,
         kcl_error());
  kcl_solver_free(&s);
  free(row_ptr);
}

static void refused(const host *h, const kcl_options *o, const char *why) {
  double *x = calloc((size_t)h->n, h->size);
  int rc = reproduce(h, o, MPI_COMM_WORLD, x);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), why), "%s: %d, %s", why, rc, kcl_error());
  free(x);
}

/* Options that they exclude are refused by name. */
static void not_reproducible(const host *h, const char *solver, const char *format,
                             const char *precond, const char *why) {
  kcl_options o = options_for(&problems[0], solver, format, 0);
  o.precond = precond;
  refused(h, &o, why);
}

static void not_in_parts(const host *h) {
  CHECK(kcl_mpi_set_partition(h->ctx, "slabs") == KCL_USAGE);
  const kcl_options o = options_for(&problems[0], "cg", "csr-scalar", 0);
  if (ranks > 1 && !kcl_mpi_set_partition(h->ctx, "metis"))
    refused(h, &o, "metis: not with reproducible sums");
  kcl_mpi_set_partition(h->ctx, NULL);
}

static void test(const host *h, const problem *p) {
  reproducible(h, p);
  if (p != problems) return;
  between_blocks(h);
  not_reproducible(h, "cg", "ell", "none", "ell: not with reproducible sums");
  not_reproducible(h, "cg", "csr-scalar", "amg", "amg: not with reproducible sums");
  not_reproducible(h, "lsqr", "csr-scalar", "none", "lsqr: not with reproducible sums");
  not_in_parts(h);
}

int main(int argc, char **argv) { return conform(argc, argv, NULL, test); }
