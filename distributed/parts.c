/* A file that rank 0 writes and reads for all (checkpoints): the parts of the ranks travel in pieces, so that rank 0 needs room for
 * one piece, whatever the size of the system, and no other rank has to see the file. */
#include "distributed/distributed.h"

enum { PART_PIECE = 4 << 20 };

static size_t size_of_piece(size_t left) { return left < PART_PIECE ? left : PART_PIECE; }

/* first [ranks + 1]: where parts begin; a piece. Both to be freed, on failure, too. */
static int open_parts(kcl_comm *c, size_t size, int64_t **first, char **piece) {
  int rc = kcl_alloc(c->ctx, c->ranks.count + 1, sizeof **first, "parts", (void **)first);
  *piece = NULL;
  if (!rc && !c->ranks.rank)
    rc = kcl_alloc_unset(c->ctx, PART_PIECE, 1, "a piece of a file", (void **)piece);
  if (!(rc = kcl_ranks_agree(&c->ranks, rc))) kcl_comm_offsets(c, (int64_t)size, *first);
  return rc;
}

static void send_part(kcl_comm *c, const char *own, size_t size) {
  for (size_t at = 0; at < size; at += PART_PIECE)
    kcl_comm_exchange(c, 0, own + at, size_of_piece(size - at), 0, NULL, 0);
}

static void receive_part(kcl_comm *c, char *own, size_t size) {
  for (size_t at = 0; at < size; at += PART_PIECE)
    kcl_comm_exchange(c, 0, NULL, 0, 0, own + at, size_of_piece(size - at));
}

/* The part of rank p goes on to put(), unless that has failed before. */
static int collect_part(kcl_comm *c, int p, size_t size, char *piece, kcl_file_parts *to) {
  int rc = KCL_OK;
  for (size_t at = 0; at < size; at += PART_PIECE) {
    const size_t n = size_of_piece(size - at);
    kcl_comm_exchange(c, p, NULL, 0, p, piece, n);
    if (!rc) rc = to->put(to->file, piece, n);
  }
  return rc;
}

static int deal_part(kcl_comm *c, int p, size_t size, char *piece, kcl_file_parts *from) {
  int rc = KCL_OK;
  for (size_t at = 0; at < size; at += PART_PIECE) {
    const size_t n = size_of_piece(size - at);
    if (!rc) rc = from->get(from->file, piece, n);
    if (rc) memset(piece, 0, n);
    kcl_comm_exchange(c, p, piece, n, p, NULL, 0);
  }
  return rc;
}

/* Rank 0 moves its own part between memory and the file, then those of the others. collects: into the file. */
static int move_rank_parts(kcl_distribution *self, void *own, size_t size, bool collects,
                           kcl_file_parts *file) {
  kcl_comm *c = ((kcl_distributed *)self)->comm;
  KCL_OWNED int64_t *first = NULL;
  KCL_OWNED char *piece = NULL;
  int rc = open_parts(c, size, &first, &piece);
  if (rc) return rc;
  if (!c->ranks.rank)
    rc = collects ? file->put(file->file, own, size) : file->get(file->file, own, size);
  else if (collects)
    send_part(c, own, size);
  else
    receive_part(c, own, size);
  for (int p = 1; p < c->ranks.count && !c->ranks.rank; p++) {
    const size_t part = (size_t)(first[p + 1] - first[p]);
    const int failed = (collects ? collect_part : deal_part)(c, p, part, piece, file);
    if (!rc) rc = failed;
  }
  return kcl_ranks_agree(&c->ranks, rc);
}

int kcl_distributed_collect(kcl_distribution *self, const void *own, size_t size,
                            kcl_file_parts *to) {
  return move_rank_parts(self, (void *)(uintptr_t)own, size, true, to);
}

int kcl_distributed_deal(kcl_distribution *self, void *own, size_t size, kcl_file_parts *from) {
  return move_rank_parts(self, own, size, false, from);
}

void kcl_distributed_tell(kcl_distribution *self, void *data, size_t size) {
  kcl_comm *c = ((kcl_distributed *)self)->comm;
  for (size_t at = 0; at < size; at += PART_PIECE)
    kcl_tell(c, (char *)data + at, size_of_piece(size - at));
}

void kcl_distributed_fingerprint(const kcl_distribution *self, kcl_fingerprint *f) {
  const kcl_distributed *m = (const kcl_distributed *)self;
  const kcl_domain *d = m->domain;
  const int64_t row = m->comm->ranks.first_row, column = m->comm->column[m->comm->ranks.rank];
  if (m->shell.apply) return;
  kcl_fingerprint_add(
      f, &(kcl_placed_rows){.A = d->given.interior, .first_row = row, .first_column = column});
  kcl_fingerprint_add(
      f, &(kcl_placed_rows){
             .A = d->given.outside, .row = d->row, .column = d->column, .first_row = row});
}
