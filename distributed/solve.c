/* Vectors of kcl_solve on several ranks: right-hand sides and guesses go to the ranks that own their elements, and x comes
 * back. */
#include "distributed/distributed.h"

int kcl_distributed_agree(kcl_distribution *self, int status, int64_t k) {
  kcl_comm *c = ((kcl_distributed *)self)->comm;
  if (kcl_comm_differs(c, (double)k) && !status)
    status = kcl_fail(c->ctx, KCL_USAGE, "the ranks have different numbers of columns or products");
  return kcl_comm_agree(c, status);
}

/* Room for own parts, as many as are solved at once. */
static int allocate_parts(kcl_distributed *m) {
  const kcl_csr *A = m->system->A;
  const int64_t at_once = m->selection->engine->program->nrhs;
  const size_t size = kcl_type_size(m->type);
  int rc = KCL_OK;
  if (!m->b) rc = kcl_alloc(m->comm->ctx, at_once * A->rows, size, "b", (void **)&m->b);
  if (!rc && !m->x) rc = kcl_alloc(m->comm->ctx, at_once * A->cols, size, "x", (void **)&m->x);
  return kcl_comm_agree(m->comm, rc);
}

int kcl_distributed_take(kcl_distribution *self, int64_t from, int nrhs, const void *B,
                         const void *X, kcl_rhs *list) {
  kcl_distributed *m = (kcl_distributed *)self;
  const kcl_csr *A = m->system->A;
  const size_t size = kcl_type_size(m->type);
  int rc = allocate_parts(m);
  for (int i = 0; i < nrhs && !rc; i++) {
    const size_t column = (size_t)(from + i) * size;
    char *b = m->b + (size_t)(i * A->rows) * size, *x = m->x + (size_t)(i * A->cols) * size;
    list[i].b = b, list[i].x = x;
    rc = kcl_take_vector(m, m->comm->first, m->type, (const char *)B + column * (size_t)m->held, b);
    if (!rc)
      rc = kcl_take_vector(m, m->comm->column, m->type,
                           (const char *)X + column * (size_t)m->held_x, x);
  }
  return rc;
}

void kcl_distributed_add_sizes(kcl_distributed *m, const kcl_engine *e) {
  const kcl_precond_size own = e->M ? e->M->size : (kcl_precond_size){0};
  kcl_comm *c = m->comm;
  const double nnz = kcl_comm_total(c, (double)kcl_domain_nnz(m->domain));
  m->bytes_stored = kcl_comm_total(c, kcl_engine_stored_bytes(e));
  m->bytes_precond = kcl_comm_total(c, kcl_preconditioner_bytes(e->M));
  m->precond = (kcl_precond_size){.levels = (int)kcl_comm_largest(c, own.levels),
                                  .rows = kcl_comm_total(c, own.rows),
                                  .nonzeros = kcl_comm_total(c, own.nonzeros)};
  m->precond.complexity = nnz > 0 ? m->precond.nonzeros / nnz : 1;
}

void kcl_distributed_describe(const kcl_distribution *self, kcl_setup_info *out) {
  const kcl_distributed *m = (const kcl_distributed *)self;
  out->bytes_stored = m->bytes_stored, out->bytes_precond = m->bytes_precond;
  out->precond_levels = m->precond.levels, out->precond_rows = m->precond.rows;
  out->precond_nonzeros = m->precond.nonzeros, out->precond_complexity = m->precond.complexity;
}

int kcl_distributed_give_back(kcl_distribution *self, int64_t from, int nrhs, const kcl_rhs *list,
                              void *X) {
  kcl_distributed *m = (kcl_distributed *)self;
  const size_t held = (size_t)m->held_x * kcl_type_size(m->type);
  int rc = KCL_OK;
  for (int i = 0; i < nrhs && !rc; i++) {
    char *x = (char *)X + (size_t)(from + i) * held;
    rc = kcl_return_vector(m, m->comm->column, m->type, list[i].x, x);
    list[i].report->x_sum = held ? kcl_checksum(x, held) : 0;
  }
  if (!rc && m->selection->changes[0]) kcl_distributed_add_sizes(m, m->selection->engine);
  return rc;
}

void kcl_distributed_time(kcl_distribution *self, bool running) {
  kcl_distributed *m = (kcl_distributed *)self;
  if (running) {
    m->domain->seconds = m->comm->seconds = 0;
    if (m->adjoint) m->adjoint->seconds = 0;
    return;
  }
  m->seconds_sum = m->comm->seconds;
  m->seconds_halo = m->domain->seconds + (m->adjoint ? m->adjoint->seconds : 0);
}
