/* krylocl solve on several ranks: files that all ranks read and write, each its own rows. If something needs the
 * whole system (--check, --cache, --near-null, --coordinates, KRYLOCL_READ=root), rank 0 reads it and the library
 * distributes it. */
#include "cli/ranks/files.h"
#include "cli/input/input.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/terminal.h"

#ifdef HAVE_MPI
#include "krylocl_mpi.h"

bool cli_ranks_spread(const cli_options *o) {
  const char *read = getenv("KRYLOCL_READ");
  const bool checks = o->check && strcmp(o->check, "none") != 0,
             whole = checks || o->cache || o->near_null || o->coordinates;
  return cli_ranks() > 1 && !whole && !(read && !strcmp(read, "root"));
}

/* Rank 0 decides this for all: whether the system is generated, and where the files of a matrix of the collection
 * are. */
typedef struct place {
  int generated;
  char A[4096], b[4096]; /* b: "" if there is none beside A */
} place;

static int find_files(kcl_context *ctx, const cli_options *o, const char *path, place *p) {
  int rc = 0;
  *p = (place){.generated = cli_is_generated(path)};
  if (!cli_rank() && cli_is_collection(path)) {
    rc = cli_collection(ctx, o, path, p->A, sizeof p->A);
    if (!rc && !cli_collection_rhs(p->A, p->b, sizeof p->b)) p->b[0] = 0;
  } else
    snprintf(p->A, sizeof p->A, "%s", path);
  if ((rc = cli_ranks_agreed(ctx, rc))) return rc;
  cli_ranks_share(p, sizeof *p);
  return 0;
}

static int read_own_rows(kcl_context *ctx, const cli_options *o, const place *at,
                         kcl_mpi_part *part) {
  cli_busy(o, "%s %s", at->generated ? "generating" : "reading", cli_base(at->A));
  if (at->generated) return cli_lib(kcl_mpi_generate(ctx, MPI_COMM_WORLD, at->A, part));
  int rc = cli_lib(kcl_set_index_base(ctx, o->index_base && *o->index_base == '0' ? 0 : 1));
  return rc ? rc : cli_lib(kcl_mpi_read(ctx, MPI_COMM_WORLD, at->A, part));
}

int cli_ranks_read(kcl_context *ctx, const cli_options *o, const char *path, cli_problem *p,
                   kcl_dense **b, kcl_dense **x0) {
  CLI_OWNED_BY(kcl_mpi_part_free) kcl_mpi_part part = {0};
  place at;
  CLI_CALL(find_files(ctx, o, path, &at));
  CLI_CALL(read_own_rows(ctx, o, &at, &part));
  p->A = part.A, part.A = NULL;
  p->whole = *p->A;
  p->whole.row_ptr = NULL;
  p->whole.col = NULL;
  p->whole.val = NULL;
  p->columns = part.columns;
  p->first_row = part.first_row;
  p->whole.rows = part.rows;
  p->whole.nnz = part.nonzeros;
  p->whole.stored = part.stored;
  if (b) *b = part.b, part.b = NULL;
  if (x0) *x0 = part.x0, part.x0 = NULL;
  if (b && !*b && at.b[0]) CLI_CALL(cli_ranks_dense_read(ctx, at.b, p->A->rows, b));
  return 0;
}

int cli_ranks_dense_read(kcl_context *ctx, const char *path, int64_t own, kcl_dense **out) {
  return cli_lib(kcl_mpi_dense_read(ctx, MPI_COMM_WORLD, path, own, out));
}

int cli_ranks_dense_write(kcl_context *ctx, const char *path, const kcl_dense *own) {
  return cli_lib(kcl_mpi_dense_write(ctx, MPI_COMM_WORLD, path, own));
}

#else

bool cli_ranks_spread(const cli_options *o) { return (void)o, false; }
int cli_ranks_read(kcl_context *ctx, const cli_options *o, const char *path, cli_problem *p,
                   kcl_dense **b, kcl_dense **x0) {
  return (void)x0, cli_read(ctx, o, path, &p->A, b, x0);
}
int cli_ranks_dense_read(kcl_context *ctx, const char *path, int64_t own, kcl_dense **out) {
  return (void)own, cli_lib(kcl_dense_read(ctx, path, out));
}
int cli_ranks_dense_write(kcl_context *ctx, const char *path, const kcl_dense *own) {
  return cli_lib(kcl_dense_write(ctx, path, own));
}

#endif

int cli_ranks_copy_matrix(kcl_context *ctx, kcl_csr **A) {
  kcl_csr of_0 = *A ? **A : (kcl_csr){0};
  int rc = 0;
  if (cli_ranks() == 1) return 0;
  cli_ranks_share(&of_0, sizeof of_0);
  if (cli_rank()) rc = cli_lib(kcl_csr_create(ctx, of_0.rows, of_0.cols, of_0.nnz, of_0.type, A));
  if ((rc = cli_ranks_agreed(ctx, rc))) return rc;
  kcl_csr *own = *A;
  cli_ranks_share(own->row_ptr, ((size_t)own->rows + 1) * sizeof *own->row_ptr);
  cli_ranks_share(own->col, (size_t)own->nnz * sizeof *own->col);
  cli_ranks_share(own->val, (size_t)own->nnz * kcl_type_size(own->type));
  own->symmetry = of_0.symmetry, own->field = of_0.field, own->stored = of_0.stored;
  return 0;
}
