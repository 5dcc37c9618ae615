/* See checkpoint.h: one file of several ranks. Rank 0 has it. Vectors are whole in it, in the order of the rows, so that any number of
 * ranks can read x; the states of the executors follow each other. Every function here is called by all ranks, and fails on all or
 * on none. In one process they are the functions of solver/checkpoint/file.h. */
#include "solver/checkpoint.h"

bool kcl_checkpoint_here(const kcl_system *s) {
  const kcl_ranks *r = kcl_system_ranks(s);
  return !r || !r->rank;
}

uint64_t kcl_checkpoint_total(const kcl_system *s, uint64_t own) {
  kcl_ranks *r = kcl_system_ranks(s);
  double part[4]; /* of 16 bits: their sums are exact */
  uint64_t total = 0;
  if (!r) return own;
  for (int i = 0; i < 4; i++) part[i] = (double)(own >> 16 * i & 0xffff);
  r->sum(r, KCL_OK, 4, part);
  for (int i = 0; i < 4; i++) total += (uint64_t)part[i] << 16 * i;
  return total;
}

kcl_fingerprint kcl_checkpoint_fingerprint(const kcl_system *s) {
  kcl_fingerprint f = {0, 0};
  if (s->distribution)
    s->distribution->fingerprint(s->distribution, &f);
  else if (!s->shell)
    kcl_fingerprint_add(&f, &(kcl_placed_rows){.A = s->A});
  return (kcl_fingerprint){kcl_checkpoint_total(s, f.structure), kcl_checkpoint_total(s, f.values)};
}

static int put_piece(void *file, const void *data, size_t size) {
  return kcl_checkpoint_put(file, data, size);
}

static int get_piece(void *file, void *data, size_t size) {
  return kcl_checkpoint_get(file, data, size);
}

int kcl_checkpoint_put_parts(const kcl_system *s, kcl_checkpoint_writer *w, const void *own,
                             size_t size) {
  kcl_distribution *d = s->distribution;
  kcl_file_parts to = {.file = w, .put = put_piece};
  return d ? d->collect(d, own, size, &to) : kcl_checkpoint_put(w, own, size);
}

int kcl_checkpoint_get_parts(const kcl_system *s, kcl_checkpoint_reader *r, void *own,
                             size_t size) {
  kcl_distribution *d = s->distribution;
  kcl_file_parts from = {.file = r, .get = get_piece};
  return d ? d->deal(d, own, size, &from) : kcl_checkpoint_get(r, own, size);
}

int kcl_checkpoint_get_shared(const kcl_system *s, kcl_checkpoint_reader *r, void *data,
                              size_t size) {
  kcl_distribution *d = s->distribution;
  int rc = kcl_checkpoint_here(s) ? kcl_checkpoint_get(r, data, size) : KCL_OK;
  if (!d || (rc = kcl_ranks_agree(kcl_system_ranks(s), rc))) return rc;
  d->tell(d, data, size);
  return KCL_OK;
}

typedef struct shared_beginning {
  kcl_saved_head head;
  uint64_t size;
  int64_t predecessor;
  char why[KCL_MESSAGE], path[KCL_MESSAGE];
} shared_beginning;

/* Rank 0 has read it; the others get it. */
static int share_beginning(const kcl_system *s, kcl_checkpoint_reader *r) {
  kcl_distribution *d = s->distribution;
  const bool here = kcl_checkpoint_here(s);
  shared_beginning b = {.predecessor = 0};
  if (here) {
    b.head = r->head, b.size = r->size, b.predecessor = r->predecessor;
    snprintf(b.why, sizeof b.why, "%s", r->why), snprintf(b.path, sizeof b.path, "%s", r->path);
  }
  d->tell(d, &b, sizeof b);
  int rc = KCL_OK;
  if (!here) {
    r->ctx = s->ctx, r->head = b.head, r->size = b.size, r->predecessor = b.predecessor != 0;
    memcpy(r->why, b.why, sizeof r->why);
    r->path = strdup(b.path);
    rc = kcl_alloc(s->ctx, b.head.words, 1, "a checkpoint", (void **)&r->words);
    if (!rc && !r->path) rc = kcl_fail(s->ctx, KCL_MEMORY, "out of memory: a checkpoint");
  }
  if ((rc = d->agree(d, rc, 0))) return rc;
  d->tell(d, r->words, (size_t)b.head.words);
  return KCL_OK;
}

int kcl_checkpoint_begin_reading(const kcl_system *s, const char *path,
                                 kcl_checkpoint_reader **out) {
  kcl_distribution *d = s->distribution;
  int rc = kcl_checkpoint_here(s)
               ? kcl_checkpoint_read(s->ctx, path, out)
               : kcl_alloc(s->ctx, 1, sizeof **out, "a checkpoint", (void **)out);
  if (!d) return rc;
  rc = d->agree(d, rc, 0);
  if (!rc) rc = share_beginning(s, *out);
  if (rc) kcl_checkpoint_free(out);
  return rc;
}
