/* Memory that the ranks of a host share. Halos and sums between them are written and read there; a number beside the values
 * says when. Ranks of other hosts, and of a host without shared memory, are reached by messages alone. For tests,
 * KRYLOCL_MPI_SHARED=N divides a host into hosts of N ranks; 0: no memory is shared. */
#include "distributed/distributed.h"
#include <limits.h>

enum { PAGE = 4096 };

static int most_sharing(void) {
  const char *word = getenv("KRYLOCL_MPI_SHARED");
  return word ? atoi(word) : INT_MAX;
}

/* The largest of all. */
static int largest_on_host(MPI_Comm comm, int own) {
  int all;
  MPI_Request request;
  MPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MAX, comm, &request);
  kcl_comm_wait(1, &request);
  return all;
}

static void find_host(const kcl_comm *c, MPI_Comm *host) {
  const int most = most_sharing();
  MPI_Comm machine;
  int here;
  MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->ranks.rank, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &here);
  MPI_Comm_split(machine, most > 0 ? here / most : 0, here, host);
  MPI_Comm_free(&machine);
  MPI_Comm_set_errhandler(*host, MPI_ERRORS_RETURN);
}

/* c->host, and for each rank its number there. */
int kcl_window_hosts(kcl_comm *c) {
  const int count = c->ranks.count;
  MPI_Group all, host;
  int *number = NULL, rc;
  find_host(c, &c->host);
  MPI_Comm_group(c->comm, &all), MPI_Comm_group(c->host, &host);
  rc = kcl_alloc(c->ctx, count, sizeof *number, "the ranks", (void **)&number);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof *number, "the ranks", (void **)&c->on_host);
  for (int p = 0; p < count && !rc; p++) number[p] = p;
  if (!rc) MPI_Group_translate_ranks(all, count, number, host, c->on_host);
  MPI_Group_free(&all), MPI_Group_free(&host);
  free(number);
  return rc;
}

/* Other ranks of the host as well, or none of them. */
static bool allocate_window(const kcl_comm *c, size_t bytes, kcl_window *w) {
  MPI_Info apart;
  void *base = NULL;
  MPI_Info_create(&apart);
  MPI_Info_set(apart, "alloc_shared_noncontig", "true"); /* pages of each rank's own */
  const bool works =
      most_sharing() > 0 && MPI_Win_allocate_shared((MPI_Aint)(bytes + PAGE), 1, apart, c->host,
                                                    &base, &w->win) == MPI_SUCCESS;
  MPI_Info_free(&apart);
  if (works) memset(base, 0, bytes + PAGE); /* numbers from 0, which MPI does not promise */
  const bool all = !largest_on_host(c->host, !works);
  if (works && !all) MPI_Win_free(&w->win);
  return all;
}

static char *page_size(void *p) { return (char *)(((uintptr_t)p + PAGE - 1) / PAGE * PAGE); }

int kcl_window_open(kcl_comm *c, size_t bytes, kcl_window *w) {
  const int count = c->ranks.count;
  int rc = kcl_alloc(c->ctx, count, sizeof *w->of, "shared memory", (void **)&w->of);
  const int any = largest_on_host(c->comm, rc);
  if (any) return rc ? rc : kcl_fail(c->ctx, (kcl_status)any, "another rank is out of memory");
  w->open = allocate_window(c, bytes, w);
  for (int p = 0; p < count && w->open; p++) {
    MPI_Aint size;
    int unit;
    void *base;
    if (c->on_host[p] == MPI_UNDEFINED) continue;
    MPI_Win_shared_query(w->win, c->on_host[p], &size, &unit, &base);
    w->of[p] = page_size(base);
  }
  if (w->open) MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
  return KCL_OK;
}

void kcl_window_close(const kcl_comm *c, kcl_window *w) {
  const bool stays = w->open && largest_on_host(c->host, c->ctx->device_failed);
  if (w->open) MPI_Win_unlock_all(w->win);
  if (w->open && !stays) MPI_Win_free(&w->win);
  free(w->of);
  *w = (kcl_window){.of = NULL};
}
