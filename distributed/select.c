/* A device for each rank: GPU number r modulo their number for rank r of a host; and its share of the host's processors. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool leaves_choice(const char *device) {
  static const char *const words[] = {"auto", "gpu", "opencl"};
  if (!device || !*device) return true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(device, words[i])) return true;
  return false;
}

/* "P:D" of GPU number `local` modulo their number; empty: there are fewer than two. */
static int gpu_of(kcl *ctx, int local, char place[32]) {
  kcl_device *list;
  int count, gpus = 0, rc = kcl_device_list(ctx, &list, &count);
  place[0] = 0;
  if (rc) return rc;
  for (int i = 0; i < count; i++) gpus += kcl_is_gpu(&list[i]);
  for (int i = 0, g = 0; i < count && gpus > 1; i++) {
    if (!kcl_is_gpu(&list[i]) || g++ != local % gpus) continue;
    snprintf(place, 32, "%d:%d", list[i].platform, list[i].device);
  }
  free(list);
  return rc;
}

/* Ranks of this host that may use the processors of this rank: as many divide them. */
static int sharers(MPI_Comm host) {
  int count, same = 0;
  MPI_Comm_size(host, &count);
#ifdef __linux__
  cpu_set_t own, *all = malloc((size_t)count * sizeof *all);
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  if (!all) MPI_Abort(host, KCL_MEMORY);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, host);
  for (int p = 0; p < count; p++) same += CPU_EQUAL(&own, &all[p]) != 0;
  free(all);
#else
  same = count;
#endif
  return same;
}

static void divide_threads(MPI_Comm host) {
  const int same = sharers(host), all = kcl_threads();
  const bool told = getenv("OMP_NUM_THREADS") || all != kcl_cpus();
  if (!told && same > 1) kcl_set_threads(all > same ? all / same : 1);
}

static int select_here(kcl *ctx, MPI_Comm host, const char *device) {
  char place[32] = "";
  int local, rc = KCL_OK;
  MPI_Comm_rank(host, &local);
  if (!device) device = getenv("KRYLOCL_DEVICE");
  divide_threads(host);
  if (leaves_choice(device)) rc = gpu_of(ctx, local, place);
  return rc ? rc : kcl_select(ctx, place[0] ? place : device, 0);
}

int kcl_mpi_select(kcl *ctx, MPI_Comm comm, const char *device) {
  MPI_Comm host;
  if (!ctx) return KCL_USAGE;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int rc = select_here(ctx, host, device);
  MPI_Comm_free(&host);
  return kcl_mpi_agree(ctx, comm, rc);
}
