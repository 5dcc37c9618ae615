/* Ranks: sums in the order of the ranks, so that each has the same bits and all take the same decisions; and failures, which
 * travel with the sums: a rank that fails takes part until the next one. */
#include "distributed/distributed.h"
#include <stdio.h>

/* ---------------------------------------------------------------- sums */

/* A status, the dots of a stage, and how many ranks have stopped. */
enum { RECORD = 2 + 2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS };

/* A rank's record in memory that all share: one of gathers with an even number, one of the others. When one is written again,
 * all have read it, for they have written the other since. */
typedef struct record {
  _Atomic uint64_t number; /* of the gather, from 1 */
  double value[RECORD];
} record;

static record *record_of(const kcl_comm *c, int rank) {
  return (record *)(void *)c->window.of[rank] + c->gathers % 2;
}

static bool all_written(void *arg) {
  const kcl_comm *c = arg;
  for (int p = 0; p < c->ranks.count; p++)
    if (atomic_load_explicit(&record_of(c, p)->number, memory_order_acquire) < c->gathers)
      return false;
  return true;
}

static void write_own(kcl_comm *c, int n) {
  c->gathers++;
  record *own = record_of(c, c->ranks.rank);
  memcpy(own->value, c->records, (size_t)n * sizeof *c->records);
  atomic_store_explicit(&own->number, c->gathers, memory_order_release);
}

static void read_records(kcl_comm *c, int n, double *all) {
  kcl_comm_wait_until(all_written, c);
  for (int p = 0; p < c->ranks.count; p++, all += n)
    memcpy(all, record_of(c, p)->value, (size_t)n * sizeof *all);
}

/* The records of all ranks, n numbers behind a status each: on their way, and there. */
static void begin_gather(kcl_comm *c, int status, int n, const double *values) {
  double *own = c->records, *all = c->records + RECORD;
  own[0] = status;
  for (int i = 0; i < n; i++) own[1 + i] = values[i];
  if (c->window.open)
    write_own(c, n + 1);
  else
    MPI_Iallgather(own, n + 1, MPI_DOUBLE, all, n + 1, MPI_DOUBLE, c->comm, &c->gathering);
}

static const double *end_gather(kcl_comm *c, int n) {
  double *all = c->records + RECORD, start = kcl_now();
  if (c->window.open)
    read_records(c, n + 1, all);
  else
    kcl_comm_wait(1, &c->gathering);
  c->seconds += kcl_now() - start;
  return all;
}

static const double *gather_records(kcl_comm *c, int status, int n, const double *values) {
  begin_gather(c, status, n, values);
  return end_gather(c, n);
}

static void ranks_begin_sum(kcl_ranks *r, int status, int n, const double *values) {
  begin_gather((kcl_comm *)r, status, n, values);
}

static int ranks_end_sum(kcl_ranks *r, int n, double *values) {
  kcl_comm *c = (kcl_comm *)r;
  const double *all = end_gather(c, n);
  const int status = (int)c->records[0]; /* this rank's */
  int worst = 0;
  for (int i = 0; i < n; i++) values[i] = 0;
  for (int p = 0; p < r->count; p++, all += n + 1) {
    if (!worst) worst = (int)all[0];
    for (int i = 0; i < n; i++) values[i] += all[1 + i];
  }
  c->told = c->told || (worst && !status), c->failed = c->failed || worst;
  return worst;
}

static int ranks_sum(kcl_ranks *r, int status, int n, double *values) {
  ranks_begin_sum(r, status, n, values);
  return ranks_end_sum(r, n, values);
}

static int64_t ranks_decide(kcl_ranks *r, int64_t value) {
  const double own = (double)value;
  return (int64_t)gather_records((kcl_comm *)r, KCL_OK, 1, &own)[1];
}

static double ranks_largest(kcl_ranks *r, double own) {
  const double *all = gather_records((kcl_comm *)r, KCL_OK, 1, &own);
  double most = all[1];
  for (int p = 1; p < r->count; p++)
    if (!(all[2 * p + 1] <= most)) most = isnan(most) ? most : all[2 * p + 1];
  return most;
}

/* ---------------------------------------------------------------- failures */

/* The message of rank `who` becomes that of all, with its number unless the message is `plain`. */
static void share_message(kcl_context *ctx, MPI_Comm comm, int who, bool plain, int status) {
  char text[KCL_MESSAGE - 40];
  MPI_Request request;
  snprintf(text, sizeof text, "%s", kcl_error());
  MPI_Ibcast(text, sizeof text, MPI_CHAR, who, comm, &request);
  kcl_comm_wait(1, &request);
  if (plain)
    kcl_fail(ctx, (kcl_status)status, "%s", text);
  else
    kcl_fail(ctx, (kcl_status)status, "rank %d: %s", who, text);
}

/* own: this rank's, 0 where another rank's failure was only passed on. files: messages of input have a file and a line, to which
 * the number of the rank that read it adds nothing. */
static int agree_on_status(kcl_context *ctx, MPI_Comm comm, int own, bool files) {
  int count, who = -1, failed = 0, status = KCL_OK;
  MPI_Request request;
  MPI_Comm_size(comm, &count);
  int *all = malloc((size_t)count * sizeof *all);
  if (!all) MPI_Abort(comm, KCL_MEMORY);
  MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
  kcl_comm_wait(1, &request);
  for (int p = count - 1; p >= 0; p--)
    if (all[p]) who = p, status = all[p], failed++;
  free(all);
  if (status)
    share_message(ctx, comm, who, failed == count || (files && status == KCL_INPUT), status);
  return status;
}

/* Where no sum has told of a failure yet, one does: ranks that are a call further end there. Then all are here. */
int kcl_comm_agree(kcl_comm *c, int status) {
  if (!c->failed) c->ranks.sum(&c->ranks, status, 0, NULL);
  if (!c->failed) return KCL_OK;
  const int own = c->told ? KCL_OK : status;
  c->told = c->failed = false;
  return agree_on_status(c->ctx, c->comm, own, c->files);
}

int kcl_mpi_agree(kcl_context *ctx, MPI_Comm comm, int status) {
  return ctx ? agree_on_status(ctx, comm, status, false) : KCL_USAGE;
}

/* ---------------------------------------------------------------- numbers of all ranks */

double kcl_comm_total(kcl_comm *c, double own) {
  c->ranks.sum(&c->ranks, KCL_OK, 1, &own);
  return own;
}

double kcl_comm_largest(kcl_comm *c, double own) { return c->ranks.largest(&c->ranks, own); }

bool kcl_comm_differs(kcl_comm *c, double own) {
  return kcl_comm_largest(c, own) != -kcl_comm_largest(c, -own);
}

/* ---------------------------------------------------------------- opening and closing */

/* Where all ranks are on this host. */
static int open_records(kcl_comm *c) {
  kcl_window w = {.of = NULL};
  int here;
  MPI_Comm_size(c->host, &here);
  if (kcl_comm_largest(c, -here) != -c->ranks.count) return KCL_OK;
  const int rc = kcl_window_open(c, 2 * sizeof(record), &w);
  c->window = w; /* from now on */
  return rc;
}

int kcl_comm_create(kcl_context *ctx, MPI_Comm comm, kcl_comm **out) {
  kcl_comm *c = NULL;
  MPI_Request request;
  int count, rc = kcl_alloc(ctx, 1, sizeof *c, "the ranks", (void **)&c);
  MPI_Comm_size(comm, &count);
  if (!rc) rc = kcl_alloc(ctx, count + 1, sizeof *c->first, "the ranks", (void **)&c->first);
  if (!rc) rc = kcl_alloc(ctx, count + 1, sizeof *c->column, "the ranks", (void **)&c->column);
  if (!rc)
    rc = kcl_alloc(ctx, (int64_t)(count + 1) * RECORD, sizeof *c->records, "the ranks",
                   (void **)&c->records);
  rc = agree_on_status(ctx, comm, rc, false);
  if (rc) {
    if (c) free(c->first), free(c->column), free(c->records);
    free(c);
    return rc;
  }
  c->ctx = ctx, c->ranks = (kcl_ranks){.count = count,
                                       .sum = ranks_sum,
                                       .begin_sum = ranks_begin_sum,
                                       .end_sum = ranks_end_sum,
                                       .decide = ranks_decide,
                                       .largest = ranks_largest};
  MPI_Comm_rank(comm, &c->ranks.rank);
  MPI_Comm_idup(comm, &c->comm, &request);
  kcl_comm_wait(1, &request);
  KCL_TRY(kcl_comm_agree(c, kcl_window_hosts(c)));
  KCL_TRY(open_records(c));
  *out = c, c = NULL;
done:
  if (c) kcl_comm_free(&c);
  return rc;
}

void kcl_comm_free(kcl_comm **c) {
  if (!*c) return;
  kcl_comm_meet((*c)->comm);
  kcl_window_close(*c, &(*c)->window);
  free((*c)->on_host);
  MPI_Comm_free(&(*c)->host), MPI_Comm_free(&(*c)->comm);
  free((*c)->blocks.count), free((*c)->blocks.own);
  free((*c)->first), free((*c)->column), free((*c)->records), free(*c);
  *c = NULL;
}
