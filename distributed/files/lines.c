/* Text that all ranks read: bytes are divided evenly and cut at line ends, so that each line is of one rank. A rank knows how
 * many lines it has, and the sum over those before it numbers an error as a reader of the whole file would. */
#include "core/base/context.h"
#include "distributed/files/files.h"
#include <stdlib.h>
#include <string.h>

int kcl_look_together(kcl_comm *c, const char *path,
                      int (*look)(kcl *ctx, const char *path, kcl_look *out), kcl_look *out) {
  int rc = c->ranks.rank ? KCL_OK : look(c->ctx, path, out);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  kcl_tell(c, out, sizeof *out);
  out->head.name = path;
  if (kcl_comm_differs(c, (double)kcl_text_size(path))) out->layout = KCL_FILE_WHOLE;
  return KCL_OK;
}

/* The first line that begins in [from, to); -1: none does. The byte before `from` tells whether one begins there. */
static int first_line(kcl *ctx, const char *path, int64_t from, int64_t to, int64_t *out) {
  kcl_text t;
  *out = -1;
  if (from >= to) return KCL_OK;
  int rc = kcl_text_open_part(ctx, path, from - 1, to, &t);
  if (rc) return rc;
  const char *end = memchr(t.data, '\n', t.size);
  if (end && from + (end - t.data) < to) *out = from + (end - t.data);
  kcl_text_close(&t);
  return KCL_OK;
}

int kcl_open_lines(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *out) {
  const int count = c->ranks.count, me = c->ranks.rank;
  const double each = (double)(look->size - look->body) / count;
  const int64_t from = look->body + (int64_t)(each * me),
                to = me + 1 < count ? look->body + (int64_t)(each * (me + 1)) : look->size;
  int64_t own = look->body, *all = NULL, end = look->size;
  MPI_Request request;
  int rc = kcl_alloc(c->ctx, count, sizeof *all, "the ranks", (void **)&all);
  *out = (kcl_text){.name = path};
  if (!rc && me) rc = first_line(c->ctx, path, from, to, &own);
  KCL_TRY(kcl_comm_agree(c, rc));
  MPI_Iallgather(&own, 1, MPI_INT64_T, all, 1, MPI_INT64_T, c->comm, &request);
  kcl_comm_wait(1, &request);
  for (int p = count - 1; p > me; p--)
    if (all[p] >= 0) end = all[p];
  if (own >= 0 && own < end) rc = kcl_text_open_part(c->ctx, path, own, end, out);
  rc = kcl_comm_agree(c, rc);
done:
  free(all);
  return rc;
}

int64_t kcl_comm_before(kcl_comm *c, int64_t own, int64_t *all) {
  int64_t before = 0;
  MPI_Request request[2];
  MPI_Iexscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, c->comm, &request[0]);
  MPI_Iallreduce(&own, all, 1, MPI_INT64_T, MPI_SUM, c->comm, &request[1]);
  kcl_comm_wait(2, request);
  return c->ranks.rank ? before : 0; /* undefined on rank 0 */
}

int kcl_agree_on_lines(kcl_comm *c, const char *path, int64_t head, int64_t own, mm_error *bad,
                       int64_t *all) {
  int64_t errors;
  int rc = KCL_OK;
  const int64_t before = kcl_comm_before(c, own, all),
                earlier = kcl_comm_before(c, bad != NULL, &errors);
  if (!errors) return KCL_OK;
  if (bad && !earlier) {
    bad->line += head + before;
    rc = mm_error_report(c->ctx, path, bad);
  }
  return kcl_comm_agree(c, rc);
}
