/* Whose rows: shares of the nonzeros by the weights of the ranks, as blocks of consecutive rows or as the parts of a graph
 * (metis.c), whose rows order.c moves. */
#include "distributed/distributed.h"

int64_t kcl_cut(const int64_t *row_ptr, int64_t rows, double want) {
  const int64_t lo = kcl_first_offset_from(row_ptr, 0, rows, (int64_t)ceil(want));
  return lo > 0 && want - (double)row_ptr[lo - 1] < (double)row_ptr[lo] - want ? lo - 1 : lo;
}

double kcl_want(double nonzeros, int ranks, const double *weight, int p) {
  double all = 0, before = 0;
  for (int q = 0; q < ranks; q++) all += weight[q];
  for (int q = 0; q < p; q++) before += weight[q];
  return nonzeros * before / all;
}

void kcl_settle(int64_t rows, int ranks, int64_t *first) {
  first[0] = 0, first[ranks] = rows;
  for (int p = 1; p < ranks; p++) {
    const int64_t least = first[p - 1] + 1, most = rows - (ranks - p);
    first[p] = first[p] < least ? least : first[p] > most ? most : first[p];
  }
}

void kcl_partition(const int64_t *row_ptr, int64_t rows, int ranks, const double *weight,
                   int64_t *first) {
  for (int p = 1; p < ranks; p++)
    first[p] = kcl_cut(row_ptr, rows, kcl_want((double)row_ptr[rows], ranks, weight, p));
  kcl_settle(rows, ranks, first);
}

void kcl_partition_equally(int64_t rows, int ranks, int64_t *first) {
  for (int p = 0; p <= ranks; p++) first[p] = rows * p / ranks;
}

int kcl_mpi_set_weight(kcl_context *ctx, double weight) {
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  if (!(weight >= 0 && weight < INFINITY))
    return kcl_fail(ctx, KCL_USAGE, "weight %g of a rank: it is positive, or 0", weight);
  ctx->weight = weight;
  return KCL_OK;
}

/* Names of kcl_share_rule, by number. */
static const char *const rules[] = {"auto", "nonzeros", "rates", "rows"};

int kcl_mpi_set_shares(kcl_context *ctx, const char *rule) {
  int i = 0;
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  while (rule && i <= KCL_SHARES_ROWS && strcmp(rule, rules[i])) i++;
  if (i > KCL_SHARES_ROWS)
    return kcl_fail(ctx, KCL_USAGE, "shares '%s': auto, nonzeros, rates or rows", rule);
  ctx->shares = (kcl_share_rule)i;
  return KCL_OK;
}

const char *kcl_shares_name(const kcl_context *ctx) { return rules[ctx->shares]; }

typedef struct worth {
  double weight, rate;
  char device[sizeof((kcl_device *)0)->name];
} worth;

static void gather_weights(kcl_comm *c, const worth *own, worth *all) {
  MPI_Request request;
  MPI_Iallgather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, c->comm, &request);
  kcl_comm_wait(1, &request);
}

/* All have a weight; all have devices of one name. */
static void compare_parts(const worth *all, int count, bool *told, bool *alike) {
  *told = *alike = true;
  for (int p = 0; p < count; p++) {
    *told = *told && all[p].weight > 0;
    *alike = *alike && !strcmp(all[p].device, all[0].device);
  }
}

int kcl_weigh(kcl_comm *c, double **weight) {
  const int count = c->ranks.count;
  worth own = {.weight = c->ctx->weight};
  KCL_OWNED worth *all = NULL;
  bool told, alike;
  int rc = kcl_alloc(c->ctx, count, sizeof *all, "the ranks", (void **)&all);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof **weight, "the ranks", (void **)weight);
  KCL_CALL(kcl_comm_agree(c, rc));
  memcpy(own.device, c->ctx->device.name, sizeof own.device);
  gather_weights(c, &own, all);
  compare_parts(all, count, &told, &alike);
  const kcl_share_rule rule = c->ctx->shares;
  const bool weighed = told && rule == KCL_SHARES_AUTO,
             rated = rule == KCL_SHARES_RATES || (rule == KCL_SHARES_AUTO && !told && !alike);
  if (rated) {
    KCL_CALL(kcl_comm_agree(c, kcl_stream_rate(c->ctx, &own.rate)));
    gather_weights(c, &own, all);
  }
  for (int p = 0; p < count; p++) (*weight)[p] = weighed ? all[p].weight : rated ? all[p].rate : 1;
  return KCL_OK;
}

int kcl_mpi_set_partition(kcl_context *ctx, const char *name) {
  const bool metis = name && !strcmp(name, "metis");
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  if (name && !metis && strcmp(name, "rows"))
    return kcl_fail(ctx, KCL_USAGE, "partition '%s': rows or metis", name);
#ifndef HAVE_METIS
  if (metis)
    return kcl_fail(ctx, KCL_DEVICE,
                    "partition metis: this library was built without METIS (libmetis-dev)");
#endif
  ctx->metis = metis;
  return KCL_OK;
}
