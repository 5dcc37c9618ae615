/* Waits for other ranks, which leave the processor to others that need it. MPI polls without end in its blocking calls. */
#include "distributed/distributed.h"
#include <time.h>

/* Polls for 50 us, then sleeps between polls: a fiftieth of the time waited, 20 us to 1 ms and what the system adds. A rank that
 * went on polling, or that yielded, would use up its share of a processor that others need too, and be without one when the
 * message is there (docs/distributed.md). */
void kcl_comm_wait_until(bool (*done)(void *), void *arg) {
  const double POLL = 50e-6, LEAST = 20e-6, MOST = 1e-3, start = kcl_now();
  while (!done(arg)) {
    const double waited = kcl_now() - start, pause = fmin(fmax(waited / 50, LEAST), MOST);
    if (waited > POLL) nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
  }
}

typedef struct requests {
  int count;
  MPI_Request *list;
} requests;

static bool all_complete(void *arg) {
  const requests *r = arg;
  int done = 1;
  for (int i = 0; i < r->count && done; i++) MPI_Test(&r->list[i], &done, MPI_STATUS_IGNORE);
  return done;
}

void kcl_comm_wait(int count, MPI_Request *request) {
  kcl_comm_wait_until(all_complete, &(requests){count, request});
}

void kcl_comm_meet(MPI_Comm comm) {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  kcl_comm_wait(1, &request);
}
