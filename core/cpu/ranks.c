/* Stages of the native executor on several ranks (core/program/ranks.h): the work of one thread before a stage and after it. Compiled
 * once per scalar type.
 */
#include "core/cpu/state.h"

static void send_halo(const kcl_cpu *e, const kcl_halo *h, const kcl_stage *s, const bool *active) {
  scalar *out = h->out, *in = h->in;
  for (int c = 0; c < e->k->nrhs; c++) {
    const scalar *x = vector_of(e, s->x, c);
    for (int64_t i = 0; active[c] && i < h->sends; i++) out[i * h->width + c] = x[h->send[i]];
    for (int64_t i = 0; active[c] && i < h->own; i++) in[i * h->width + c] = x[h->take[i]];
  }
  h->begin(h);
}

/* Adds the share of sum [boundary rows], which is added to y, to a dot of y: in the dot's first chunk. */
static void add_to_dot(const kcl_cpu *e, const kcl_halo *h, const kcl_stage *s, const scalar *sum,
                       int c) {
  int number;
  const kcl_op *o = kcl_stage_halo_dot(s, &number);
  if (!o) return;
  const scalar *other = vector_of(e, o->x == s->y ? o->y : o->x, c);
  scalar *to = latest_sums(e) + (c * e->dots + number) * e->chunks;
  for (int64_t i = 0; i < h->boundary->rows; i++) {
    const scalar u = other[h->row[i]], x = o->x == s->y ? sum[i] : u, y = o->x == s->y ? u : sum[i];
    *to = s_fma(o->plain ? x : s_conj(x), y, *to);
  }
}

/* y = y + B x' for one right-hand side: B is the boundary, x' the elements of other ranks. */
static void add_boundary(const kcl_cpu *e, const kcl_halo *h, const kcl_stage *s, int c) {
  scalar *y = vector_of(e, s->y, c);
  const kcl_stored *B = h->boundary;
  const scalar *in = h->in;
  scalar *one = h->one, *sum = h->sum;
  for (int64_t i = 0; h->width > 1 && i < h->own + h->count; i++) one[i] = in[i * h->width + c];
  B->format->rows(B, h->width > 1 ? one : in, sum, 0, B->rows);
  for (int64_t i = 0; i < B->rows; i++) y[h->row[i]] = s_add(y[h->row[i]], sum[i]);
  add_to_dot(e, h, s, sum, c);
}

/* Copies the received elements of each owner behind this rank's own. */
static void collect_halo(const kcl_halo *h) {
  for (int i = 0; i < h->owners; i++) {
    const kcl_received *part = &h->received[i];
    scalar *to = (scalar *)h->in + (h->own + part->first) * h->width;
    if (part->from != to) memcpy(to, part->from, (size_t)(part->count * h->width) * sizeof *to);
  }
}

static void receive_halo(const kcl_cpu *e, const kcl_halo *h, const kcl_stage *s,
                         const bool *active) {
  h->end(h);
  if (h->boundary) collect_halo(h);
  for (int c = 0; c < e->k->nrhs && h->boundary; c++)
    if (active[c]) add_boundary(e, h, s, c);
}

enum { KCL_CPU_MOST_SUMS = KCL_PARTS * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS };

/* Stores the sums over all ranks, all [active dots, parts], as the partial sums of the first chunk; the others are zero. */
static void store_chunk_sums(const kcl_cpu *e, const kcl_stage *s, const bool *active,
                             const double *all, scalar *partial) {
  const int dots = kcl_stage_dots(s);
  for (int c = 0; c < e->k->nrhs; c++)
    for (int d = 0; d < dots && active[c]; d++) {
      scalar *own = partial + (c * e->dots + d) * e->chunks;
      real *parts = (real *)own;
      for (int i = 1; i < e->chunks; i++) own[i] = s_make(0);
      for (int p = 0; p < KCL_PARTS; p++) parts[p] = (real)*all++;
    }
}

void KCL_TYPED(kcl_cpu_begin_sum)(const kcl_cpu *e, const kcl_stage *s, const bool *active) {
  kcl_ranks *ranks = kcl_program_ranks(e->k);
  double all[KCL_CPU_MOST_SUMS];
  const int dots = kcl_stage_dots(s);
  int n = 0;
  for (int c = 0; c < e->k->nrhs; c++)
    for (int d = 0; d < dots && active[c]; d++) {
      const scalar *own = latest_sums(e) + (c * e->dots + d) * e->chunks;
      scalar total[1] = {s_make(0)};
      const real *parts = (const real *)total;
      for (int i = 0; i < e->chunks; i++) *total = s_add(*total, own[i]);
      for (int p = 0; p < KCL_PARTS; p++) all[n++] = (double)parts[p];
    }
  ranks->begin_sum(ranks, e->failed, n, all);
}

int KCL_TYPED(kcl_cpu_end_sum)(const kcl_cpu *e, const kcl_stage *s, const bool *active,
                               scalar *partial) {
  kcl_ranks *ranks = kcl_program_ranks(e->k);
  double all[KCL_CPU_MOST_SUMS];
  int n = 0;
  for (int c = 0; c < e->k->nrhs; c++) n += active[c] ? KCL_PARTS * kcl_stage_dots(s) : 0;
  const int rc = ranks->end_sum(ranks, n, all);
  store_chunk_sums(e, s, active, all, partial);
  return rc;
}

/* Adds the partial sums of a stage over the ranks by chunks, which are the fixed row blocks of reproducible sums. */
static int sum_chunks_of_all(const kcl_cpu *e, kcl_ranks *ranks, const kcl_stage *s,
                             const bool *active) {
  double *own = e->sums, all[KCL_CPU_MOST_SUMS];
  const int dots = kcl_stage_dots(s), blocks = full_chunks(e, s);
  int n = 0;
  for (int c = 0; c < e->k->nrhs; c++)
    for (int d = 0; d < dots && active[c]; d++) {
      const real *parts = (const real *)(latest_sums(e) + (c * e->dots + d) * e->chunks);
      for (int p = 0; p < KCL_PARTS; p++, n++)
        for (int i = 0; i < blocks; i++) own[n * blocks + i] = (double)parts[i * KCL_PARTS + p];
    }
  const int rc =
      ranks->sum_blocks(ranks, e->failed, sizeof(real) == sizeof(float), n, blocks, own, all);
  store_chunk_sums(e, s, active, all, latest_sums(e));
  return rc;
}

void KCL_TYPED(kcl_cpu_begin_halo)(const kcl_cpu *e, const kcl_stage *s, const bool *active) {
  if (kcl_stage_halo(s)) send_halo(e, kcl_stage_halo(s), s, active);
}

int KCL_TYPED(kcl_cpu_idle)(const kcl_cpu *e, const kcl_stage *s) {
  double nothing[KCL_PARTS * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS] = {0};
  kcl_ranks *ranks = kcl_program_ranks(e->k);
  const kcl_halo *h = kcl_stage_halo(s);
  if (h) h->begin(h), h->end(h);
  const int dots = kcl_stage_dots(s) * e->k->nrhs;
  return dots ? ranks->sum(ranks, e->failed, dots * KCL_PARTS, nothing) : KCL_OK;
}

void KCL_TYPED(kcl_cpu_end_halo)(const kcl_cpu *e, const kcl_stage *s, const bool *active) {
  if (kcl_stage_halo(s)) receive_halo(e, kcl_stage_halo(s), s, active);
}

int KCL_TYPED(kcl_cpu_sum)(const kcl_cpu *e, const kcl_stage *s, const bool *active) {
  kcl_ranks *ranks = kcl_program_ranks(e->k);
  if (!ranks || !kcl_stage_dots(s)) return KCL_OK;
  if (ranks->sum_rows) return sum_chunks_of_all(e, ranks, s, active);
  KCL_TYPED(kcl_cpu_begin_sum)(e, s, active);
  return KCL_TYPED(kcl_cpu_end_sum)(e, s, active, latest_sums(e));
}
