/* Vectors between the caller and their owners: from rank 0, where they are, or moved with the rows of parts. */
#include "distributed/distributed.h"
#include <string.h>

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
