/* Vectors between the caller and the owners of their rows: from rank 0, where they are, or moved with the rows of parts. */
#include "distributed/distributed.h"
#include <string.h>

int kcl_take_vector(const kcl_mpi_solver *m, kcl_type type, const void *held, void *own) {
  const size_t size = kcl_type_size(type);
  if (m->order) return kcl_order_give(m->order, size, held, own);
  if (m->layout == KCL_MPI_ROWS)
    memcpy(own, held, (size_t)m->held * size);
  else
    kcl_comm_give(m->comm, m->comm->first, size, held, own);
  return KCL_OK;
}

int kcl_return_vector(const kcl_mpi_solver *m, kcl_type type, const void *own, void *held) {
  const size_t size = kcl_type_size(type);
  if (m->order) return kcl_order_return(m->order, size, own, held);
  if (m->layout == KCL_MPI_ROWS)
    memcpy(held, own, (size_t)m->held * size);
  else
    kcl_comm_collect(m->comm, m->comm->first, size, own, held);
  return KCL_OK;
}
