/* Text that all ranks read: bytes are divided evenly and cut at line ends, so that each line is of one rank. A rank knows how
 * many lines it has, and the sum over those before it numbers an error as a reader of the whole file would. Text that rank 0
 * alone can have, since it is packed or on its host, goes to the others in such parts. */
#include "distributed/files/files.h"
#include <sys/stat.h>

/* It can be read twice. */
static bool is_file(const char *path) {
  struct stat info;
  return strcmp(path, "-") && !stat(path, &info) && S_ISREG(info.st_mode);
}

/* Rank 0: a text that can be dealt out; else the file is read as a whole. */
static int look_inside(kcl_context *ctx, const char *path, kcl_looker *look, kcl_look *out,
                       kcl_text *held) {
  kcl_look inside;
  int rc = kcl_text_open(ctx, path, held);
  if (!rc) rc = kcl_look_in(ctx, held, look, &inside);
  if (!rc && (inside.layout == KCL_FILE_LINES || inside.layout == KCL_FILE_NUMBERS))
    *out = inside, out->dealt = true;
  else
    kcl_text_close(held);
  return rc;
}

int kcl_look_together(kcl_comm *c, const char *path, kcl_looker *look, kcl_look *out,
                      kcl_text *held) {
  const bool root = !c->ranks.rank;
  int rc = root ? kcl_look_at(c->ctx, path, look, out) : KCL_OK;
  *held = (kcl_text){.name = path};
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  const int64_t size = kcl_text_size(path);
  KCL_CALL(kcl_check_same_file(c, path, size));
  if (kcl_comm_differs(c, (double)size) && root) /* some do not see it */
    out->size = -1, out->layout = KCL_FILE_WHOLE;
  if (root && out->size < 0 && is_file(path)) rc = look_inside(c->ctx, path, look, out, held);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  kcl_tell(c, out, sizeof *out);
  out->head.name = path;
  return KCL_OK;
}

/* The first line that begins in [from, to); -1: none does. The byte before `from` tells whether one begins there. */
static int first_line(kcl_context *ctx, const char *path, int64_t from, int64_t to, int64_t *out) {
  kcl_text t;
  *out = -1;
  if (from >= to) return KCL_OK;
  KCL_CALL(kcl_text_open_part(ctx, path, from - 1, to, &t));
  const char *end = memchr(t.data, '\n', t.size);
  if (end && from + (end - t.data) < to) *out = from + (end - t.data);
  kcl_text_close(&t);
  return KCL_OK;
}

static int open_own(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *out) {
  const int count = c->ranks.count, me = c->ranks.rank;
  const double each = (double)(look->size - look->body) / count;
  const int64_t from = look->body + (int64_t)(each * me),
                to = me + 1 < count ? look->body + (int64_t)(each * (me + 1)) : look->size;
  int64_t own = look->body, end = look->size;
  KCL_OWNED int64_t *all = NULL;
  MPI_Request request;
  int rc = kcl_alloc(c->ctx, count, sizeof *all, "the ranks", (void **)&all);
  *out = (kcl_text){.name = path};
  if (!rc && me) rc = first_line(c->ctx, path, from, to, &own);
  KCL_CALL(kcl_comm_agree(c, rc));
  MPI_Iallgather(&own, 1, MPI_INT64_T, all, 1, MPI_INT64_T, c->comm, &request);
  kcl_comm_wait(1, &request);
  for (int p = count - 1; p > me; p--)
    if (all[p] >= 0) end = all[p];
  if (own >= 0 && own < end) rc = kcl_text_open_part(c->ctx, path, own, end, out);
  return kcl_comm_agree(c, rc);
}

/* cut [ranks + 1]: where each one's lines begin in the text. */
static void cut_text(const kcl_text *t, int64_t body, int ranks, int64_t *cut) {
  const double each = (double)((int64_t)t->size - body) / ranks;
  cut[0] = body, cut[ranks] = (int64_t)t->size;
  for (int p = 1; p < ranks; p++) {
    int64_t at = body + (int64_t)(each * p);
    if (at < cut[p - 1]) at = cut[p - 1];
    const char *end = at > body ? memchr(t->data + at - 1, '\n', t->size - (size_t)at + 1) : NULL;
    cut[p] = at == body ? body : end ? end + 1 - t->data : cut[ranks];
  }
}

/* The last part first: what was sent is released. */
static void send_parts(kcl_comm *c, kcl_text *held, const int64_t *cut) {
  for (int p = c->ranks.count - 1; p > 0; p--) {
    char *from = held->data + cut[p], *to = held->data + cut[p + 1];
    kcl_comm_exchange(c, p, from, (size_t)(to - from), p, NULL, 0);
    kcl_text_release(from, to);
  }
}

static int deal(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                kcl_text *out) {
  const int me = c->ranks.rank;
  KCL_OWNED int64_t *cut = NULL;
  int rc = kcl_alloc(c->ctx, c->ranks.count + 1, sizeof *cut, "the ranks", (void **)&cut);
  KCL_CALL(kcl_comm_agree(c, rc));
  if (!me) cut_text(held, look->body, c->ranks.count, cut);
  kcl_tell(c, cut, (size_t)(c->ranks.count + 1) * sizeof *cut);
  const size_t own = (size_t)(cut[me + 1] - cut[me]);
  if (me) rc = kcl_text_create(c->ctx, path, own, out);
  KCL_CALL(kcl_comm_agree(c, rc));
  if (me)
    kcl_comm_exchange(c, 0, NULL, 0, 0, out->data, own);
  else {
    send_parts(c, held, cut);
    *out = *held, *held = (kcl_text){.name = path};
    out->data += look->body, out->skip += (size_t)look->body, out->size = own;
  }
  return KCL_OK;
}

int kcl_open_lines(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                   kcl_text *out) {
  *out = (kcl_text){.name = path};
  int rc = look->dealt ? deal(c, path, look, held, out) : open_own(c, path, look, out);
  if (rc) kcl_text_close(out);
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
