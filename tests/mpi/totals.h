/* The end of a test program on several ranks. */
#ifndef KCL_TOTALS_H
#define KCL_TOTALS_H
#include "tests/check.h"
#include <mpi.h>

/* Ends MPI; rank 0 prints the totals of all. The exit code is that of this rank's checks. */
static inline int report_of_ranks(void) {
  int counts[3] = {passed, failed, skipped}, all[3], rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(counts, all, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%d passed, %d failed, %d skipped\n", all[0], all[1], all[2]);
  return failed > 0;
}

#endif
