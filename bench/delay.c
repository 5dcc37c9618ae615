/* Latency added to the messages of a solve on several ranks, for a program that was linked with MPI's shared library:
 *
 *   mpicc -shared -fPIC -O2 bench/delay.c -o delay.so
 *   DELAY_US=200 mpirun -n 2 -x DELAY_US -x LD_PRELOAD=./delay.so krylocl solve ...
 *
 * An exchange of halos (MPI_Startall) is complete no sooner than the latency after a rank began it, a sum (MPI_Iallgather of numbers)
 * no sooner than log2 ranks latencies, as if its messages followed one another. What else a rank computes meanwhile hides it. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 256 }; /* requests in flight */
static struct flight {
  MPI_Request request;
  double ready;
} flights[MOST];
static int count;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void delay(MPI_Request request, double times) {
  const char *us = getenv("DELAY_US");
  const double latency = us ? 1e-6 * atof(us) : 0;
  if (latency > 0 && count < MOST)
    flights[count++] = (struct flight){request, now() + times * latency};
}

int MPI_Startall(int n, MPI_Request *request) {
  const int rc = PMPI_Startall(n, request);
  for (int i = 0; i < n; i++) delay(request[i], 1);
  return rc;
}

int MPI_Iallgather(const void *out, int sends, MPI_Datatype type, void *in, int receives,
                   MPI_Datatype received, MPI_Comm comm, MPI_Request *request) {
  int ranks;
  const int rc = PMPI_Iallgather(out, sends, type, in, receives, received, comm, request);
  PMPI_Comm_size(comm, &ranks);
  if (type == MPI_DOUBLE) delay(*request, log2((double)ranks));
  return rc;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  for (int i = 0; i < count; i++) {
    if (flights[i].request != *request) continue;
    if (now() < flights[i].ready) return *done = 0, MPI_SUCCESS;
    flights[i] = flights[--count];
    break;
  }
  return PMPI_Test(request, done, status);
}
