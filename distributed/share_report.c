/* kcl_mpi_shares and kcl_mpi_operator_shares: what each rank has, how long it waited, and how long its device would take alone. */
#include "distributed/distributed.h"
#include "solver/operator.h"
#include <stdio.h>

/* Bytes of the rows of this rank, on its device. */
static double device_bytes(const kcl_engine *e) {
  const kcl_program *k = e->program;
  double n = 0;
  for (kcl_vec v = 0; v < k->vectors; v++) n += (double)k->vector[v].n;
  return kcl_engine_stored_bytes(e) + kcl_preconditioner_bytes(e->M) +
         n * kcl_rhs_width(k) * (double)kcl_type_size(k->type);
}

/* Nonzeros of all ranks over those of this rank's interior. */
static double times_interior(const kcl_distributed *m) {
  const kcl_domain *d = m->domain;
  const kcl_csr *interior = d->in_order.interior ? d->in_order.interior : d->given.interior;
  return kcl_comm_total(m->comm, (double)kcl_domain_nnz(d)) / (double)interior->nnz;
}

/* Seconds per iteration of the whole system, of all right-hand sides at once, on this device alone: those predicted for the
 * interior by the model that chooses formats (solver/engine/predict.c), for as many nonzeros as all ranks have. 0: the device
 * is not a GPU, its rates are not known, or its memory is too small. */
static double predict_seconds_alone(const kcl_distributed *m, double times) {
  const kcl_context *ctx = m->comm->ctx;
  const kcl_engine *e = m->selection->engine;
  const bool known = ctx->layout == KCL_LAYOUT_GPU && ctx->stream.rate > 0,
             fits = times * device_bytes(e) < (double)ctx->device.memory;
  double seconds = 0;
  if (!known || !fits) return 0;
  if (kcl_engine_predicted(m->system, e->method, e->precond, kcl_engine_format(e), &seconds))
    return 0;
  return times * seconds * e->program->nrhs;
}

static void describe_part(const kcl_distributed *m, kcl_mpi_share *own) {
  const kcl_domain *d = m->domain;
  own->rank = m->comm->ranks.rank, own->neighbours = d->neighbours;
  own->first_row = m->comm->first[own->rank], own->first_column = m->comm->column[own->rank];
  own->columns = d->columns;
  own->rows = kcl_domain_rows(d), own->nonzeros = kcl_domain_nnz(d);
  own->boundary_rows = d->given.outside->rows, own->halo = d->halo.count;
  own->sends = d->halo.sends;
  own->seconds_partition = m->seconds_partition;
  own->seconds_halo = m->seconds_halo, own->seconds_sum = m->seconds_sum;
}

static int gather_shares(kcl_comm *c, const kcl_mpi_share *own, kcl_mpi_share *list) {
  MPI_Request request;
  KCL_OWNED double *weight = NULL;
  double all = 0;
  KCL_CALL(kcl_weigh(c, &weight));
  MPI_Iallgather(own, sizeof *own, MPI_BYTE, list, sizeof *own, MPI_BYTE, c->comm, &request);
  kcl_comm_wait(1, &request);
  for (int p = 0; p < c->ranks.count; p++) all += weight[p];
  for (int p = 0; p < c->ranks.count; p++) list[p].share = weight[p] / all;
  return KCL_OK;
}

/* own: what is known of this rank beside its part of the system. */
static int list_shares(const kcl_system *system, kcl_mpi_share *own, kcl_mpi_share **list,
                       int *count) {
  const kcl_distributed *m = (kcl_distributed *)system->distribution;
  const kcl_csr *A = system->A;
  kcl_context *ctx = system->ctx;
  KCL_OWNED kcl_mpi_share *all = NULL;
  KCL_CALL(kcl_need(ctx, "list", list));
  KCL_CALL(kcl_need(ctx, "count", count));
  *list = NULL, *count = m ? m->comm->ranks.count : 1;
  const int rc = kcl_alloc(ctx, *count, sizeof *own, "the shares", (void **)&all);
  KCL_CALL(m ? kcl_comm_agree(m->comm, rc) : rc);
  own->threads = ctx->threads;
  snprintf(own->device, sizeof own->device, "%s", ctx->device.name);
  if (m) {
    describe_part(m, own);
    KCL_CALL(gather_shares(m->comm, own, all));
  } else {
    own->share = 1, own->rows = A->rows, own->columns = A->cols, own->nonzeros = A->nnz;
    all[0] = *own;
  }
  *list = all, all = NULL;
  return KCL_OK;
}

int kcl_mpi_shares(kcl_solver *s, kcl_mpi_share **list, int *count) {
  kcl_setup_info info;
  if (!s) return kcl_need(NULL, "s", s);
  KCL_ENTER(s->system.ctx);
  const kcl_distributed *m = (kcl_distributed *)s->system.distribution;
  kcl_mpi_share own = {.seconds_solve = s->seconds_solve};
  kcl_solver_info(s, &info);
  snprintf(own.format, sizeof own.format, "%s", info.format);
  if (m) own.seconds_alone = predict_seconds_alone(m, times_interior(m));
  return list_shares(&s->system, &own, list, count);
}

int kcl_mpi_operator_shares(kcl_operator *op, kcl_mpi_share **list, int *count) {
  kcl_operator_info info;
  if (!op) return kcl_need(NULL, "op", op);
  KCL_ENTER(op->system.ctx);
  kcl_mpi_share own = {.seconds_solve = op->seconds_timed};
  kcl_operator_describe(op, &info);
  snprintf(own.format, sizeof own.format, "%s", info.format);
  return list_shares(&op->system, &own, list, count);
}
