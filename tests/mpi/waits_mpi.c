/* A rank that waits for another one leaves the processor to others: the time that it computes meanwhile is a small part of the
 * time that it waits, in every call. */
#include "tests/calls.h"
#include "tests/mpi/systems.h"
#include <time.h>

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct wait {
  double wall, cpu;
} wait;

static wait now(void) {
  return (wait){seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

/* Rank 0 comes a second late to the next call. */
static wait begin(void) {
  const wait start = now();
  if (!rank) nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  return start;
}

static void end(const char *call, wait start) {
  const wait stop = now();
  const double waited = stop.wall - start.wall, computed = stop.cpu - start.cpu;
  CHECKF(!rank || computed < 0.2 * fmax(waited, 1), "%s: %g s of processor time in %g s", call,
         computed, waited);
}

static void late(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  double b[81], x[81] = {0};
  kcl_options o = kcl_defaults;
  o.solver = "cg", o.precond = "none", o.format = "csr-scalar";
  for (int i = 0; i < 81; i++) b[i] = i;
  CHECK(!kcl_generate(ctx, "poisson2d:9", &A, NULL));
  wait start = begin();
  CHECK(!kcl_mpi_select(ctx, MPI_COMM_WORLD, "cpu"));
  end("kcl_mpi_select", start), start = begin();
  CHECK(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &s));
  end("kcl_mpi_setup", start), start = begin();
  CHECK(!kcl_solve_one(s, b, x, NULL));
  end("kcl_mpi_solve", start), start = begin();
  kcl_solver_free(&s);
  end("kcl_solver_free", start);
  kcl_csr_free(&A);
}

int main(int argc, char **argv) { return conform(argc, argv, late, NULL); }
