/* Stages of the native executor on several ranks (core/program/ranks.h): what one thread does before a stage and after it.
 * For core/cpu/executor.c alone. */
#ifndef KCL_CPU_RANKS_H
#define KCL_CPU_RANKS_H

#include "core/cpu/stage.h"
#include "core/program/ranks.h"

static void begin_halo(const cpu *e, const kcl_halo *h, const kcl_stage *s) {
  const scalar *x = vector(e, s->x, 0);
  scalar *out = h->out;
  for (int64_t i = 0; i < h->sends; i++) out[i] = x[h->send[i]];
  h->begin(h);
}

/* y = y + B x', B the boundary and x' of other ranks. */
static void end_halo(const cpu *e, const kcl_halo *h, const kcl_stage *s) {
  const kcl_matrix *B = h->boundary;
  scalar *y = vector(e, s->y, 0), *sum = h->sum;
  h->end(h);
  if (!B) return;
  B->format->rows(B, h->in, sum, 0, B->rows);
  for (int64_t i = 0; i < B->rows; i++) y[h->row[i]] = s_add(y[h->row[i]], sum[i]);
}

/* Sums of this rank become sums of all, in the place of the first chunk. */
static int sum_over_ranks(const cpu *e, kcl_ranks *ranks, const kcl_stage *s, const bool *active) {
  enum { MOST = 2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS };
  double all[MOST];
  scalar *partial = e->partial[e->parity];
  const int dots = kcl_stage_dots(s);
  int n = 0, at = 0, rc;
  for (int c = 0; c < e->k->nrhs; c++)
    for (int d = 0; d < dots && active[c]; d++) {
      scalar total[1] = {s_make(0)}, *own = partial + (c * e->dots + d) * CHUNKS;
      const real *parts = (const real *)total;
      for (int i = 0; i < CHUNKS; i++) *total = s_add(*total, own[i]), own[i] = s_make(0);
      for (int p = 0; p < KCL_PARTS; p++) all[n++] = (double)parts[p];
    }
  rc = ranks->sum(ranks, KCL_OK, n, all);
  for (int c = 0; c < e->k->nrhs; c++)
    for (int d = 0; d < dots && active[c]; d++) {
      real *parts = (real *)(partial + (c * e->dots + d) * CHUNKS);
      for (int p = 0; p < KCL_PARTS; p++) parts[p] = (real)all[at++];
    }
  return rc;
}

/* Before the threads begin with a stage, and after they have ended it. */
static void begin_on_ranks(const cpu *e, const kcl_stage *s) {
  if (s->A && s->A->halo) begin_halo(e, s->A->halo, s);
}

/* A stage in which no right-hand side is active, where other ranks take part in it. */
static int idle_on_ranks(const cpu *e, const kcl_stage *s) {
  double nothing[KCL_PARTS * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS] = {0};
  kcl_ranks *ranks = kcl_program_ranks(e->k);
  if (s->A && s->A->halo) s->A->halo->begin(s->A->halo), s->A->halo->end(s->A->halo);
  const int dots = kcl_stage_dots(s) * e->k->nrhs;
  return dots ? ranks->sum(ranks, KCL_OK, dots * KCL_PARTS, nothing) : KCL_OK;
}

static int end_on_ranks(const cpu *e, const kcl_stage *s, const bool *active) {
  kcl_ranks *ranks = kcl_program_ranks(e->k);
  if (s->A && s->A->halo) end_halo(e, s->A->halo, s);
  return ranks && kcl_stage_dots(s) ? sum_over_ranks(e, ranks, s, active) : KCL_OK;
}

#endif
