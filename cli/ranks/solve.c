/* krylocl solve on one rank or several: the device of a rank, set-up, solves and their end. One process uses the ordinary
 * library. */
#include "cli/ranks/solve.h"
#include "cli/input/input.h"
#include "cli/ranks/ranks.h"
#include "cli/ranks/shares.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/say.h"

void cli_describe(cli_run *r) { kcl_solver_info(r->solver, &r->setup); }

void cli_setup_free(cli_run *r) {
  kcl_solver_free(&r->solver);
  free(r->shares);
  r->shares = NULL;
}

#ifdef HAVE_MPI
#include "krylocl_mpi.h"

int cli_ranks_device(kcl_context *ctx, const cli_options *o) {
  char word[300];
  CLI_CALL(kcl_mpi_set_partition(ctx, o->partition));
  CLI_CALL(kcl_context_set_reproducible(ctx, o->reproducible));
  CLI_CALL(kcl_mpi_set_shares(ctx, cli_share_rule(o)));
  if (cli_ranks_alone()) return kcl_select(ctx, o->devices ? o->devices : o->device, 0);
  if (!o->devices) return kcl_mpi_select(ctx, MPI_COMM_WORLD, o->device);
  cli_device_of_rank(o, cli_rank(), word, sizeof word);
  kcl_mpi_set_weight(ctx, cli_share_of_rank(o, cli_rank()));
  return kcl_mpi_select(ctx, MPI_COMM_WORLD, word);
}

int cli_setup(kcl_context *ctx, cli_run *r) {
  if (cli_ranks_alone()) return cli_solver_create(ctx, r->p.A, &r->asked, &r->solver);
  kcl_mpi_part part = {.A = r->p.A};
  int rc = r->p.spread
               ? kcl_mpi_setup_part(ctx, MPI_COMM_WORLD, &part, &r->asked, &r->solver)
               : kcl_mpi_setup(ctx, MPI_COMM_WORLD, r->p.A, KCL_MPI_ROOT, &r->asked, &r->solver);
  r->p.A = part.A;
  cli_ranks_wait(!rc);
  return rc;
}

/* Column j of v; NULL on a rank without vectors. */
static double *column_or_null(const kcl_dense *v, int64_t j) { return v ? cli_column(v, j) : NULL; }

int cli_solve_columns(kcl_context *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report) {
  (void)ctx;
  if (cli_ranks_alone())
    return cli_solver_solve(r->solver, count, cli_column(r->p.b, j), cli_column(r->p.x, j), report);
  if (!cli_rank()) cli_ranks_tell((int)count);
  cli_ranks_wait(false);
  int rc = cli_solver_solve(r->solver, count, column_or_null(r->p.b, j), column_or_null(r->p.x, j),
                            report);
  cli_ranks_wait(!rc);
  return rc;
}

/* Measures the stream rate, which kcl_mpi_share.seconds_alone needs. */
static void measure_own_rate(kcl_context *ctx, const cli_options *o) {
  kcl_device device;
  double rate;
  const bool reported = (!o->quiet || o->json) && !cli_interrupted();
  if (reported && !kcl_device_current(ctx, &device) && device.platform >= 0)
    kcl_stream_rate(ctx, &rate);
}

int cli_solves_end(kcl_context *ctx, cli_run *r) {
  if (cli_ranks_alone()) return 0;
  if (!cli_rank()) cli_ranks_tell(0);
  cli_ranks_wait(false);
  measure_own_rate(ctx, r->o);
  return cli_lib(kcl_mpi_shares(r->solver, &r->shares, &r->share_count));
}

#else /* built without MPI */

int cli_ranks_device(kcl_context *ctx, const cli_options *o) {
  CLI_CALL(kcl_context_set_reproducible(ctx, o->reproducible));
  return kcl_select(ctx, o->devices ? o->devices : o->device, 0);
}
int cli_setup(kcl_context *ctx, cli_run *r) {
  return cli_solver_create(ctx, r->p.A, &r->asked, &r->solver);
}
int cli_solve_columns(kcl_context *ctx, cli_run *r, int64_t j, int64_t count, kcl_report *report) {
  (void)ctx;
  return cli_solver_solve(r->solver, count, cli_column(r->p.b, j), cli_column(r->p.x, j), report);
}
int cli_solves_end(kcl_context *ctx, cli_run *r) { return (void)ctx, (void)r, 0; }

#endif
