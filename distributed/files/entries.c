/* Entries go from the ranks that parsed them to the owners of their rows; of a symmetric file also to the owners of their
 * columns. A round sends one block of each rank, whose memory is released at once; what arrives is listed by source and
 * round, which is the order of the file. Memory beyond the entries: twice a block of text. */
#include "distributed/files/files.h"

typedef struct exchange {
  kcl_comm *c;
  const kcl_own_entries *x;
  const mm_entries *e;
  int64_t rounds;
  int64_t *to, *from;         /* [ranks] entries in all */
  int64_t *at;                /* [ranks] */
  int *counts[2], *places[2]; /* [ranks] words of a round: sent, received */
  uint64_t *buffer, *words;   /* sent; received so far end here */
  mm_block *list;             /* [ranks, rounds] */
} exchange;

static void free_exchange(exchange *s) {
  free(s->to), free(s->counts[0]), free(s->buffer), free(s->list);
}

static int owner_of_row(const kcl_comm *c, int64_t row, int guess) {
  if (row >= c->first[guess] && row < c->first[guess + 1]) return guess;
  return (int)kcl_first_offset_from(c->first + 1, 0, c->ranks.count - 1, row + 1);
}

static void send_entry(const exchange *s, int p, uint64_t place, const uint64_t *value) {
  const int width = s->e->width;
  const int64_t k = s->at[p]++;
  if (!s->buffer) return;
  uint64_t *to = s->buffer + k * (width + 1);
  to[0] = place;
  for (int q = 0; q < width; q++) to[1 + q] = value[q];
}

/* Block k to the buffer, or counted alone; s->at: where each rank's entries go, from `index` of the first entry on. */
static void route(const exchange *s, int64_t k, int64_t index) {
  const mm_block *b = &s->e->block[k];
  const int64_t rows = s->c->ranks.rows;
  const uint64_t *w = b->words;
  int p = 0, q = 0;
  for (int64_t i = 0; i < b->count; i++, w += s->e->stride) {
    const int64_t n = index + i;
    const uint64_t place =
        s->x->coordinate ? w[0] : (uint64_t)(n % rows) | (uint64_t)(n / rows) << 32;
    send_entry(s, p = owner_of_row(s->c, mm_row(place), p), place, w + s->x->coordinate);
    if (!s->x->mirrored || mm_row(place) == mm_col(place)) continue;
    q = owner_of_row(s->c, mm_col(place), q);
    if (q != p) send_entry(s, q, place, w + s->x->coordinate);
  }
}

static int allocate_entries(exchange *s) {
  const int ranks = s->c->ranks.count;
  kcl_context *ctx = s->c->ctx;
  int64_t most = 0;
  KCL_CALL(kcl_alloc(ctx, 3 * (int64_t)ranks, sizeof *s->to, "the ranks", (void **)&s->to));
  KCL_CALL(kcl_alloc(ctx, 4 * (int64_t)ranks, sizeof(int), "the ranks", (void **)&s->counts[0]));
  KCL_CALL(kcl_alloc(ctx, ranks * s->rounds, sizeof *s->list, "blocks", (void **)&s->list));
  for (int64_t k = 0; k < s->e->blocks; k++)
    most = s->e->block[k].count > most ? s->e->block[k].count : most;
  most *= (s->x->mirrored ? 2 : 1) * (s->e->width + 1);
  KCL_CALL(kcl_alloc_unset(ctx, most, 8, "entries on their way", (void **)&s->buffer));
  s->from = s->to + ranks, s->at = s->from + ranks;
  s->counts[1] = s->counts[0] + ranks, s->places[0] = s->counts[1] + ranks;
  s->places[1] = s->places[0] + ranks;
  return KCL_OK;
}

static void count_all(exchange *s) {
  uint64_t *buffer = s->buffer;
  int64_t index = s->x->index;
  MPI_Request request;
  s->buffer = NULL;
  for (int64_t k = 0; k < s->e->blocks; index += s->e->block[k++].count) route(s, k, index);
  s->buffer = buffer;
  for (int p = 0; p < s->c->ranks.count; p++) s->to[p] = s->at[p];
  MPI_Ialltoall(s->to, 1, MPI_INT64_T, s->from, 1, MPI_INT64_T, s->c->comm, &request);
  kcl_comm_wait(1, &request);
}

/* Words of this round, from the entries of block k by owner. */
static void plan_round(exchange *s, int64_t k, int64_t index) {
  const int ranks = s->c->ranks.count, stride = s->e->width + 1;
  uint64_t *buffer = s->buffer;
  MPI_Request request;
  for (int p = 0; p < ranks; p++) s->at[p] = 0;
  s->buffer = NULL;
  if (k < s->e->blocks) route(s, k, index);
  s->buffer = buffer;
  for (int p = 0; p < ranks; p++) s->counts[0][p] = (int)s->at[p] * stride;
  MPI_Ialltoall(s->counts[0], 1, MPI_INT, s->counts[1], 1, MPI_INT, s->c->comm, &request);
  for (int i = 0; i < 2; i++) {
    if (i) kcl_comm_wait(1, &request);
    for (int p = 0, at = 0; p < ranks; at += s->counts[i][p++]) s->places[i][p] = at;
  }
  for (int p = 0; p < ranks; p++) s->at[p] = s->places[0][p] / stride;
}

static void send_round(exchange *s, int64_t k, int64_t index) {
  const int ranks = s->c->ranks.count, stride = s->e->width + 1;
  MPI_Request request;
  plan_round(s, k, index);
  if (k < s->e->blocks) {
    const mm_block *b = &s->e->block[k];
    route(s, k, index);
    kcl_text_release((char *)b->words, (char *)(b->words + b->count * s->e->stride));
  }
  MPI_Ialltoallv(s->buffer, s->counts[0], s->places[0], MPI_UINT64_T, s->words, s->counts[1],
                 s->places[1], MPI_UINT64_T, s->c->comm, &request);
  kcl_comm_wait(1, &request);
  for (int p = 0; p < ranks; p++) {
    s->list[p * s->rounds + k] =
        (mm_block){.words = s->words + s->places[1][p], .count = s->counts[1][p] / stride};
  }
  s->words += s->places[1][ranks - 1] + s->counts[1][ranks - 1];
}

/* The blocks that are not empty become those of *out. */
static void list_blocks(exchange *s, mm_entries *out) {
  free(out->block);
  out->block = s->list, out->blocks = 0, s->list = NULL;
  for (int64_t k = 0; k < s->c->ranks.count * s->rounds; k++)
    if (out->block[k].count) out->block[out->blocks++] = out->block[k];
}

int kcl_exchange_entries(kcl_comm *c, const kcl_own_entries *x, mm_entries *out) {
  KCL_OWNED_BY(free_exchange) exchange s = {.c = c, .x = x, .e = x->e};
  int64_t total = 0, index = x->index;
  *out = (mm_entries){0};
  s.rounds = (int64_t)kcl_comm_largest(c, (double)x->e->blocks);
  KCL_CALL(kcl_comm_agree(c, allocate_entries(&s)));
  count_all(&s);
  for (int p = 0; p < c->ranks.count; p++) total += s.from[p];
  KCL_CALL(kcl_comm_agree(c, mm_entries_alloc(c->ctx, x->e->width, total, out, &s.words)));
  for (int64_t k = 0; k < s.rounds; k++) {
    send_round(&s, k, index);
    if (k < x->e->blocks) index += x->e->block[k].count;
  }
  list_blocks(&s, out);
  return KCL_OK;
}
