/* A context of several ranks: its functions for a matrix and a solver are those of this folder. */
#include "distributed/distributed.h"

typedef struct shared_world {
  kcl_world calls;
  MPI_Comm comm; /* a duplicate of the caller's */
} shared_world;

static MPI_Comm comm_of(const kcl_context *ctx) { return ((const shared_world *)ctx->world)->comm; }

static int set_up_in_world(kcl_context *ctx, const kcl_own_system *own, kcl_solver **out) {
  const kcl_shared_input input = {.own = *own, .layout = KCL_MPI_ROWS};
  return kcl_distributed_setup(ctx, comm_of(ctx), &input, out);
}

static int multiply_in_world(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *o,
                             kcl_operator **out) {
  return kcl_mpi_operator_create(ctx, comm_of(ctx), A, KCL_MPI_ROWS, o, out);
}

static void free_world(kcl_world *self) {
  shared_world *w = (shared_world *)self;
  int ended;
  MPI_Finalized(&ended);
  if (!ended) MPI_Comm_free(&w->comm);
  free(w);
}

static int add_world(kcl_context *ctx, MPI_Comm comm) {
  shared_world *w;
  int rc = kcl_alloc(ctx, 1, sizeof *w, "the ranks of a context", (void **)&w);
  if ((rc = kcl_mpi_agree(ctx, comm, rc))) {
    free(w);
    return rc;
  }
  w->calls.setup = set_up_in_world, w->calls.multiply = multiply_in_world;
  w->calls.free = free_world;
  MPI_Comm_dup(comm, &w->comm);
  MPI_Comm_rank(comm, &w->calls.rank), MPI_Comm_size(comm, &w->calls.ranks);
  ctx->world = &w->calls;
  return KCL_OK;
}

int kcl_context_create_mpi(MPI_Comm comm, const char *device, int threads, kcl_context **out) {
  KCL_OWNED_BY(kcl_context_free) kcl_context *ctx = NULL;
  int rc = kcl_need(NULL, "out", out);
  if (out) *out = NULL;
  if (rc) return rc;
  rc = kcl_context_create(NULL, threads, &ctx);
  if (!ctx) return rc; /* out of memory, or threads that all ranks refuse */
  KCL_CALL(kcl_mpi_select(ctx, comm, device));
  KCL_CALL(add_world(ctx, comm));
  *out = ctx, ctx = NULL;
  return KCL_OK;
}

int kcl_context_create_mpi_f(int comm, const char *device, int threads, kcl_context **out) {
  return kcl_context_create_mpi(MPI_Comm_f2c((MPI_Fint)comm), device, threads, out);
}

int kcl_context_agree(kcl_context *ctx, int status) {
  if (!ctx) return kcl_need(NULL, "c", ctx);
  return ctx->world ? kcl_mpi_agree(ctx, comm_of(ctx), status) : status;
}
