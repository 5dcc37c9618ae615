/* Vectors between the caller and their owners: from rank 0, where they are, or moved with the rows of parts. */
#include "distributed/distributed.h"

static size_t own_bytes(const kcl_comm *c, const int64_t *first, size_t size) {
  return (size_t)(first[c->ranks.rank + 1] - first[c->ranks.rank]) * size;
}

int kcl_take_vector(const kcl_distributed *m, const int64_t *first, kcl_type type, const void *held,
                    void *own) {
  const size_t size = kcl_type_size(type);
  if (m->order) return kcl_order_give(m->order, size, held, own);
  if (m->layout == KCL_MPI_ROWS)
    memcpy(own, held, own_bytes(m->comm, first, size));
  else
    kcl_comm_give(m->comm, first, size, held, own);
  return KCL_OK;
}

int kcl_return_vector(const kcl_distributed *m, const int64_t *first, kcl_type type,
                      const void *own, void *held) {
  const size_t size = kcl_type_size(type);
  if (m->order) return kcl_order_return(m->order, size, own, held);
  if (m->layout == KCL_MPI_ROWS)
    memcpy(held, own, own_bytes(m->comm, first, size));
  else
    kcl_comm_collect(m->comm, first, size, own, held);
  return KCL_OK;
}

int kcl_distribute_near_null(kcl_distributed *m) {
  kcl_comm *c = m->comm;
  const kcl_dense *given = m->system->options.near_null;
  const int me = c->ranks.rank;
  if (m->layout == KCL_MPI_ROWS && !m->order) return KCL_OK;
  const int64_t cols = kcl_ranks_decide(&c->ranks, given ? given->cols : 0),
                own = c->first[me + 1] - c->first[me];
  int rc = m->held && given ? kcl_dense_need(m->comm->ctx, "near_null", given) : KCL_OK;
  m->system->options.near_null = NULL;
  if (!cols) return KCL_OK;
  if (!rc && m->held &&
      (!given || given->cols != cols || given->rows != m->held || given->type != KCL_D))
    rc = kcl_fail(m->comm->ctx, KCL_USAGE,
                  "near-null vectors are real and have %lld rows, as the matrix",
                  (long long)m->held);
  if (!rc) rc = kcl_dense_create(m->comm->ctx, own, cols, KCL_D, &m->near_null);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  for (int64_t j = 0; j < cols && !rc; j++)
    rc = kcl_take_vector(m, c->first, KCL_D, m->held ? given->val + j * given->rows : NULL,
                         m->near_null->val + j * own);
  m->system->options.near_null = m->near_null;
  return rc;
}
