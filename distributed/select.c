/* A device for each rank: GPU number r modulo their number for rank r of a host; and its share of the host's processors. */
#include "distributed/distributed.h"
#include <sched.h>
#include <stdio.h>

static bool leaves_choice(const char *device) {
  static const char *const words[] = {"auto", "gpu", "opencl"};
  if (!device || !*device) return true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(device, words[i])) return true;
  return false;
}

/* "P:D" of GPU number `local` modulo their number; empty: there are fewer than two. */
static int gpu_of(kcl_context *ctx, int local, char place[32]) {
  KCL_OWNED kcl_device *list = NULL;
  int count, gpus = 0, rc = kcl_device_list(ctx, &list, &count);
  place[0] = 0;
  if (rc) return rc;
  for (int i = 0; i < count; i++) gpus += kcl_is_gpu(&list[i]);
  for (int i = 0, g = 0; i < count && gpus > 1; i++) {
    if (!kcl_is_gpu(&list[i]) || g++ != local % gpus) continue;
    snprintf(place, 32, "%d:%d", list[i].platform, list[i].device);
  }
  return rc;
}

/* One of the ranks of a host. */
typedef struct claim {
  double
      part; /* of processors: a rank that computes on them needs four times those of one that feeds a device */
#ifdef __linux__
  cpu_set_t cpus; /* that it may use */
#endif
} claim;

static bool same_cpus(const claim *a, const claim *b) {
#ifdef __linux__
  return CPU_EQUAL(&a->cpus, &b->cpus);
#else
  return (void)a, (void)b, true;
#endif
}

/* This rank's part of the processors that it may use, which it divides with the others that may use the same. */
static double part_of(MPI_Comm host, bool native) {
  claim own = {.part = native ? 1 : 0.25};
  double same = 0;
  int count;
  MPI_Request request;
  MPI_Comm_size(host, &count);
#ifdef __linux__
  CPU_ZERO(&own.cpus);
  sched_getaffinity(0, sizeof own.cpus, &own.cpus);
#endif
  claim *all = malloc((size_t)count * sizeof *all);
  if (!all) MPI_Abort(host, KCL_MEMORY);
  MPI_Iallgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, host, &request);
  kcl_comm_wait(1, &request);
  for (int p = 0; p < count; p++)
    if (same_cpus(&own, &all[p])) same += all[p].part;
  free(all);
  return own.part / same;
}

static void divide_threads(MPI_Comm host, bool native) {
  const double part = part_of(host, native);
  const int all = kcl_threads(), own = (int)(part * all + 0.01);
  const bool told = getenv("OMP_NUM_THREADS") || all != kcl_cpus();
  if (!told && part < 1) kcl_set_threads(own > 1 ? own : 1);
}

static int select_here(kcl_context *ctx, MPI_Comm host, const char *device) {
  char place[32] = "";
  int local, rc = KCL_OK;
  MPI_Comm_rank(host, &local);
  if (!device) device = getenv("KRYLOCL_DEVICE");
  divide_threads(host, device && !strcmp(device, "cpu"));
  if (leaves_choice(device)) rc = gpu_of(ctx, local, place);
  return rc ? rc : kcl_select(ctx, place[0] ? place : device, 0);
}

int kcl_mpi_select(kcl_context *ctx, MPI_Comm comm, const char *device) {
  MPI_Comm host;
  KCL_ENTER(ctx);
  kcl_comm_meet(comm);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int rc = select_here(ctx, host, device);
  MPI_Comm_free(&host);
  return kcl_mpi_agree(ctx, comm, rc);
}
