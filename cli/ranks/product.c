/* A product on several ranks: created, timed together, and timed on the device of each rank alone while the others wait. */
#include "cli/ranks/product.h"
#include "cli/ranks/files.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/codes.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include "krylocl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- timing */

/* The time of a first product gives the number of products per sample, the same on all ranks. */
int cli_product_time(kcl *ctx, kcl_operator *op, bool adjoint, int columns,
                     double sample[CLI_PRODUCT_SAMPLES]) {
  const double sample_seconds = 0.02, most = 1000;
  double once;
  int rc = cli_lib(ctx, kcl_operator_time(op, adjoint, columns, 1, 1, &once));
  if (rc) return rc;
  const double products = fmin(fmax(sample_seconds / fmax(once, 1e-9), 1), most);
  return cli_lib(
      ctx, kcl_operator_time(op, adjoint, columns, (int)products, CLI_PRODUCT_SAMPLES, sample));
}

/* A device that refuses the whole matrix has no time. */
static int time_whole_matrix(kcl *ctx, const kcl_csr *A, const kcl_operator_options *o,
                             double *seconds) {
  kcl_operator *op = NULL;
  double sample[CLI_PRODUCT_SAMPLES];
  int rc = kcl_operator_create(ctx, A, o, &op);
  *seconds = NAN;
  if (rc == KCL_MEMORY) return 0;
  CLI_TRY(cli_lib(ctx, rc));
  CLI_TRY(cli_product_time(ctx, op, false, 1, sample));
  *seconds = cli_median(sample, CLI_PRODUCT_SAMPLES);
done:
  kcl_operator_free(&op);
  return rc;
}

double cli_product_alone(const cli_product_part *list) {
  double least = INFINITY;
  for (int p = 0; p < cli_ranks(); p++) least = fmin(least, list[p].seconds_alone);
  return isinf(least) ? NAN : least;
}

#ifdef HAVE_MPI
#include "krylocl_mpi.h"

int cli_product_create(kcl *ctx, const kcl_csr *A, const kcl_operator_options *o,
                       kcl_operator **op) {
  if (cli_ranks() == 1) return kcl_operator_create(ctx, A, o, op);
  return kcl_mpi_operator_create(ctx, MPI_COMM_WORLD, A, KCL_MPI_ROOT, o, op);
}

/* ---------------------------------------------------------------- parts */

static int list_parts(kcl *ctx, kcl_operator *op, cli_product_part **list) {
  kcl_mpi_share *shares = NULL;
  int count, rc = cli_lib(ctx, kcl_mpi_operator_shares(op, &shares, &count));
  kcl_operator_info info;
  if (rc) return rc;
  kcl_operator_describe(op, &info);
  *list = calloc((size_t)count, sizeof **list);
  rc = cli_ranks_agreed(ctx, *list ? 0 : cli_fail(KCL_MEMORY, "out of memory: the ranks"));
  for (int p = 0; p < count && !rc; p++) {
    const kcl_mpi_share *s = &shares[p];
    cli_product_part *part = &(*list)[p];
    *part = (cli_product_part){.rows = s->rows,
                               .nonzeros = s->nonzeros,
                               .halo = s->halo,
                               .seconds_halo = s->seconds_halo / (double)info.products_timed};
    snprintf(part->format, sizeof part->format, "%s", s->format);
    snprintf(part->device, sizeof part->device, "%s", s->device);
  }
  free(shares);
  return rc;
}

int cli_product_parts(kcl *ctx, kcl_csr **A, const kcl_operator_options *o, kcl_operator *op,
                      cli_product_part **list) {
  int rc;
  CLI_TRY(list_parts(ctx, op, list));
  CLI_TRY(cli_ranks_copy_matrix(ctx, A));
  for (int p = 0; p < cli_ranks(); p++) {
    double seconds = NAN;
    rc = p == cli_rank() ? time_whole_matrix(ctx, *A, o, &seconds) : 0;
    CLI_TRY(cli_ranks_agreed(ctx, rc));
    cli_ranks_share_from(p, &seconds, sizeof seconds);
    (*list)[p].seconds_alone = seconds;
  }
done:
  return rc;
}

#else /* built without MPI */

int cli_product_create(kcl *ctx, const kcl_csr *A, const kcl_operator_options *o,
                       kcl_operator **op) {
  return kcl_operator_create(ctx, A, o, op);
}
int cli_product_parts(kcl *ctx, kcl_csr **A, const kcl_operator_options *o, kcl_operator *op,
                      cli_product_part **list) {
  return (void)op, (void)list, time_whole_matrix(ctx, *A, o, &(double){0});
}

#endif
